import { BASE_RED_RECHECK_MS, GATE_PHASE_ALARM_AGE_MS, GATE_RETRY_BACKOFF_MS } from '#core/domain/limits.ts';
import type { KnownTree } from './actions.ts';
import {
  addEvidence,
  frontierOf,
  isConfirmedFailure,
  type Verdict,
  verdictOf,
  verdictOfPrefix,
} from './evidence.ts';
import { bounce } from './landing.ts';
import { createNode, moveNode, type Pass, raise, resolveNode, retireNode, wakeNoLaterThan } from './pass.ts';
import { chooseCuts } from './policy.ts';
import type { Node, Root } from './record.ts';
import { cutRootAt, park, startTeardown, workBranchOf } from './root.ts';
import { isTerminal } from './transitions.ts';

/** Node that probes the bare base before anybody is blamed on it (D-09, A35). */
export const BASE_NODE_ID = 'b';

/** Reads the verdicts of finished runs into the ledger. Cancelled and broken runs are nobody's fault (A22, D-07). */
export function observeGates(pass: Pass): void {
  const { root } = pass.record;
  if (root === null) return;
  for (const node of root.nodes) {
    if (node.state !== 'gating' || node.sha === null || node.tree === null) continue;
    const reading = pass.s.gates.get(node.id);
    if (reading === undefined || !reading.known) continue;
    const gate = reading.value;
    if (gate.kind === 'none') {
      noticeMissingRun(pass, node);
      continue;
    }
    node.runKey = gate.runId;
    node.runUrl = gate.url;
    if (gate.kind === 'running') continue;
    node.verdict = gate.verdict;
    if (gate.verdict === 'success' || gate.verdict === 'failure') {
      const gateKey = node.nodeId === BASE_NODE_ID ? root.baseGateKey : root.gateKey;
      if (gateKey === null) continue;
      addEvidence(pass.record, {
        tree: node.tree,
        gate: gateKey,
        verdict: gate.verdict,
        runKey: gate.runId,
        runUrl: gate.url,
        sha: node.sha,
        at: pass.s.now,
      });
      node.state = 'done';
      retireNode(pass, node);
    } else retryNode(pass, root, node);
  }
}

/** A run that is late is waited for; it costs nobody anything but time (D-06, A20). */
function noticeMissingRun(pass: Pass, node: Node): void {
  const age = pass.s.now - (node.stagedAt ?? pass.s.now);
  if (age >= GATE_PHASE_ALARM_AGE_MS) pass.alarms.push({ name: 'gate_phase_age', pr: null });
}

/** The same members again under a new attempt and a new row, after a back-off; then the root gives up honestly. */
function retryNode(pass: Pass, root: Root, node: Node): void {
  const backoffMs = GATE_RETRY_BACKOFF_MS[node.faults];
  if (backoffMs === undefined) {
    raise(pass, 'engine_error');
    startTeardown(pass, root, 'gate_infrastructure');
    return;
  }
  const parent = root.nodes.find((candidate) => candidate.id === node.parentId) ?? null;
  const again = createNode(pass, root, { nodeId: node.nodeId, parent, from: node.from, to: node.to });
  if (again === null) return;
  again.attempt = node.attempt + 1;
  again.faults = node.faults + 1;
  again.retryAt = pass.s.now + backoffMs;
  resolveNode(pass, root, node, 'error', `gate_${node.verdict}`);
}

/** Moves the search for the longest proven prefix one step on: hold, supersede, split, confirm, probe, bounce. */
export function advanceSearch(pass: Pass): void {
  const { root } = pass.record;
  if (root === null || root.teardown !== null || root.chain.length === 0) return;
  const { low, high } = frontierOf(pass.record, root);
  settleProven(pass, root, low);
  if (high === null) {
    const open = root.nodes.some((node) => node.to > low && node.to <= root.limit && node.state !== 'done');
    // Nothing failed, nothing runs, nothing more is proven: what is left starts afresh on the new base.
    if (low < root.limit && !open) cutRootAt(root, low);
    return;
  }
  const failing = failingNode(root, high);
  if (failing === undefined) {
    supersedeBeyond(pass, root, high);
    return cutRootAt(root, low);
  }
  // Older evidence names a failing prefix inside a batch whose own run is still out: that run is waited for.
  if (failing.to > high && failing.state !== 'done') return;
  if (failing.to === high) supersedeBeyond(pass, root, high);
  const leftRuns = root.nodes.some((node) => node.to > low && node.to < high && node.state !== 'done');
  if (leftRuns) {
    if (failing.state === 'done') moveNode(pass, failing, 'held_failure');
  } else if (failing.to === high && high - low === 1) judgeSuspect(pass, root, failing, low, high);
  else split(pass, root, failing, low, high);
}

/** Everything up to a proven prefix is proven, whoever ran; runs still out for it are not needed any more. */
function settleProven(pass: Pass, root: Root, low: number): void {
  for (const node of root.nodes) {
    if (node.nodeId === BASE_NODE_ID || isTerminal(node.outcome) || node.to > low) continue;
    if (node.state !== 'done') retireNode(pass, node);
    if (node.to <= root.landed) resolveNode(pass, root, node, 'success');
  }
  const probe = root.nodes.find((node) => node.nodeId === BASE_NODE_ID && !isTerminal(node.outcome));
  if (probe !== undefined && low > 0) resolveNode(pass, root, probe, 'superseded');
}

/** The node that speaks for the failing prefix: the one that ends there, else the smallest that reaches over it. */
function failingNode(root: Root, high: number): Node | undefined {
  return root.nodes
    .filter((node) => node.from < high && node.to >= high && !isTerminal(node.outcome))
    .sort((a, b) => b.to - a.to)
    .at(-1);
}

function supersedeBeyond(pass: Pass, root: Root, high: number): void {
  for (const node of root.nodes) {
    if (node.to > high && !isTerminal(node.outcome)) resolveNode(pass, root, node, 'superseded');
  }
}

/** A failed batch becomes consecutive intervals, each staged on everything before it (A14, D-97). */
function split(pass: Pass, root: Root, failing: Node, low: number, high: number): void {
  const cuts = chooseCuts(low, high, pass.s.repo.bisectFanout);
  const proven = failing.from < low ? [low] : [];
  const beyond = failing.to > high ? [failing.to] : [];
  const edges = [failing.from, ...proven, ...cuts, high, ...beyond];
  if (pass.idsUsed + edges.length > pass.s.ids.length) {
    pass.pollMs = 0;
    return;
  }
  resolveNode(pass, root, failing, 'bisected');
  for (let index = 1; index < edges.length; index += 1) {
    const from = edges[index - 1] ?? 0;
    const to = edges[index] ?? high;
    const child = createNode(pass, root, { nodeId: `${failing.nodeId}.${index}`, parent: failing, from, to });
    if (child === null) return;
    const verdict = verdictOfPrefix(pass.record, root, to);
    if (to < high && verdict.pass === null) continue;
    // The tree is one that already has its verdict: evidence is reused, no branch, no run (A27).
    child.state = 'done';
    child.gateSource = 'cached';
    child.sha = failing.sha;
    child.tree = failing.tree;
    child.runUrl = failing.runUrl;
    child.verdict = verdict.pass === null ? 'failure' : 'success';
    moveNode(pass, child, verdict.pass === null ? 'held_failure' : 'held_success');
  }
}

/**
 * One suspect is left. It is bounced only on direct failing evidence, confirmed by a second run of the same tree, as
 * the last element of a chain whose every earlier element is proven, on a base that is proven (D-08, D-09).
 */
function judgeSuspect(pass: Pass, root: Root, suspect: Node, low: number, high: number): void {
  const verdict = verdictOfPrefix(pass.record, root, high);
  const guilty = isConfirmedFailure(verdict);
  if (!guilty && suspect.state === 'done') runAgain(pass, suspect);
  const base = low > 0 ? 'proven' : judgeBase(pass, root);
  if (base === 'undecided' || !guilty) return;
  const member = root.members[high - 1];
  if (member === undefined) return;
  if (base === 'red') {
    raise(pass, 'base_red');
    pass.alarms.push({ name: 'base_red', pr: null });
    root.fates.push(
      park(pass, member, {
        reason: 'base_red',
        baseTree: root.baseTree,
        until: pass.s.now + BASE_RED_RECHECK_MS,
      }),
    );
    resolveNode(pass, root, suspect, 'error', 'base_red');
  } else {
    bounce(pass, root, high - 1, 'gate_failed', latestRunUrl(verdict));
    resolveNode(pass, root, suspect, 'bounced');
  }
  cutRootAt(root, low);
}

function latestRunUrl(verdict: Verdict): string | null {
  return verdict.failures.at(-1)?.runUrl ?? null;
}

/** Is the bare base green? Its own run says so, with the same two strikes as anybody. */
function judgeBase(pass: Pass, root: Root): 'proven' | 'red' | 'undecided' {
  // A base without the gate file cannot be run; the pull request that adds the gate stands for itself.
  if (root.baseGateKey === null) return 'proven';
  // A base nobody repairs by a commit may have been red by accident: old failures are looked at again.
  const verdict = verdictOf(
    pass.record,
    root.baseTree,
    root.baseGateKey,
    null,
    pass.s.now - BASE_RED_RECHECK_MS,
  );
  const probe = root.nodes.filter((node) => node.nodeId === BASE_NODE_ID).at(-1);
  const live = probe !== undefined && !isTerminal(probe.outcome);
  if (verdict.pass !== null) {
    if (live) resolveNode(pass, root, probe, 'success');
    return 'proven';
  }
  if (isConfirmedFailure(verdict)) {
    if (live) resolveNode(pass, root, probe, 'error', 'base_red');
    return 'red';
  }
  if (!live) createNode(pass, root, { nodeId: BASE_NODE_ID, parent: root.nodes[0] ?? null, from: 0, to: 0 });
  else if (probe.state === 'done') runAgain(pass, probe);
  return 'undecided';
}

function runAgain(pass: Pass, node: Node): void {
  node.attempt += 1;
  node.state = 'wanted';
  node.gateSource = null;
  node.verdict = 'none';
  node.runKey = null;
  node.runUrl = null;
  moveNode(pass, node, 'running');
}

/** Stages what is wanted, as many runs at once as the fan-out allows: suspects and base first, then cuts in order (A28). */
export function stageWanted(pass: Pass): void {
  const { root } = pass.record;
  const { repo, now } = pass.s;
  if (root === null || root.teardown !== null || pass.record.halted !== null) return;
  let running = root.nodes.filter((node) => node.state === 'gating').length;
  const wanted = root.nodes.filter((node) => node.state === 'wanted').sort((a, b) => a.to - b.to);
  for (const node of wanted) {
    if (node.retryAt !== null && node.retryAt > now) {
      wakeNoLaterThan(pass, node.retryAt);
      continue;
    }
    if (running >= repo.bisectFanout) return;
    running += 1;
    stageNode(pass, root, node);
  }
}

function stageNode(pass: Pass, root: Root, node: Node): void {
  const { baseBranch } = pass.s.repo;
  const run8 = root.runId.slice(0, 8);
  if (root.chain.length === 0) {
    node.branch = stagingBranch(baseBranch);
    root.builds += 1;
    pass.actions.push({
      kind: 'stage_root',
      runId: root.runId,
      nodeRow: node.id,
      branch: node.branch,
      workBranch: workBranchOf(baseBranch, root),
      baseSha: root.baseSha,
      members: root.members.map(({ pr, head }) => ({
        pr,
        head,
        mergeBase: knownMergeBase(pass, root, pr, head),
      })),
      knownTrees: knownTrees(pass, root),
    });
    return;
  }
  // The root keeps the plain name; whatever runs beside it or after it has a name of its own (D-10).
  node.branch = `${stagingBranch(baseBranch)}-${run8}-${node.nodeId}${node.attempt === 1 ? '' : `-a${node.attempt}`}`;
  if (node.to === 0) {
    pass.actions.push({ kind: 'stage_base', nodeRow: node.id, branch: node.branch, sha: root.tip });
    return;
  }
  const tree = root.chain[node.to - 1]?.tree;
  const ontoTree = root.landed === 0 ? root.baseTree : root.chain[root.landed - 1]?.tree;
  if (tree === undefined || ontoTree === undefined) return;
  pass.actions.push({
    kind: 'stage_tree',
    nodeRow: node.id,
    branch: node.branch,
    onto: root.tip,
    ontoTree,
    tree,
    message: `mq: ${run8} ${node.nodeId} attempt ${node.attempt}`,
  });
}

export function stagingBranch(base: string): string {
  return `mq/${base}/staging`;
}

/** The forge's own fork point, only where it was computed for exactly this base and head (forge facts, 6.2). */
function knownMergeBase(pass: Pass, root: Root, pr: number, head: string): string | null {
  if (!pass.s.pulls.known) return null;
  const pull = pass.s.pulls.value.find((view) => view.pull.number === pr)?.pull;
  const exact = pull?.mergeable === true && pull.headSha === head && pull.baseTip === root.baseSha;
  return exact ? pull.mergeBase : null;
}

/** Ledger entries that may answer for this root's trees; a retest of any member asks for fresh ones. */
function knownTrees(pass: Pass, root: Root): KnownTree[] {
  const after = root.members
    .map((member) => pass.record.line.find((entry) => entry.pr === member.pr)?.retestAfter ?? null)
    .reduce<number | null>((latest, at) => (at !== null && at > (latest ?? 0) ? at : latest), null);
  const known = new Map<string, KnownTree>();
  for (const { tree, gate, verdict, at } of pass.record.evidence) {
    const key = `${tree} ${gate}`;
    // A pass proves the tree whatever failed before.
    if ((after === null || at > after) && known.get(key)?.verdict !== 'success')
      known.set(key, { tree, gate, verdict });
  }
  return [...known.values()];
}
