import type { GateReading, PullRequest } from '#core/domain/forge/forge.ts';
import { hashText } from '#core/domain/hash-text.ts';
import type { EpochMs, NodeRowId, PullRequestNumber, TreeHash } from '#core/domain/ids.ts';
import { gateFileName } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { known, type Reading } from '#core/domain/result.ts';
import type { Action, ActionOutcome } from '../queue/actions.ts';
import { nextToLand } from '../queue/batches/pipeline.ts';
import type { QueueRecord, Staged } from '../queue/record/record.ts';
import type { FocusView, PullRequestView, Snapshot } from '../queue/snapshot.ts';
import type { JudgedRun, ReplayPlan, Stay } from './replay-plan.ts';

interface Run {
  readonly id: string;
  readonly sha: string;
  readonly endsAt: EpochMs;
  readonly verdict: 'success' | 'failure';
  isCancelled: boolean;
}

interface Scheduled {
  readonly number: PullRequestNumber;
  readonly at: EpochMs;
}

const GATE = 'gate';
const BOT = 'replay';
const IDS_PER_LOOK = 40;

/**
 * A forge that exists only in a replay: a tree is the set of pull requests in it, a merge is immediate, a gate run fails
 * with each tree that has a bounced one in it and takes as long as the one that began nearest to it. A runner is free
 * for each gate run. It answers `decide` with snapshots and carries out what `decide` asks for.
 */
export class ReplayForge {
  readonly runs: Run[] = [];
  readonly mergedAt = new Map<PullRequestNumber, EpochMs>();
  readonly #plan: ReplayPlan;
  readonly #repo: ManagedRepo;
  readonly #queueName: string;
  readonly #open = new Map<PullRequestNumber, Scheduled>();
  readonly #members = new Map<TreeHash, readonly PullRequestNumber[]>();
  readonly #attempts = new Map<TreeHash, number>();
  readonly #treeOf = new Map<string, TreeHash>();
  readonly #parents = new Map<string, string>();
  #base: string;
  #landed: readonly PullRequestNumber[] = [];
  #ids = 0;

  constructor(plan: ReplayPlan, repo: ManagedRepo, queueName: string) {
    this.#plan = plan;
    this.#repo = repo;
    this.#queueName = queueName;
    this.#base = this.#commit(this.#tree([]), null);
  }

  /** Numbers of a replay are places in its plan, from 1. */
  schedule(number: PullRequestNumber, { at }: Stay): void {
    this.#open.set(number, { number, at });
  }

  /** When the next gate run ends after `now`; infinite: none is out. */
  nextEnd(now: EpochMs): EpochMs {
    let next = Number.POSITIVE_INFINITY;
    for (const run of this.runs)
      if (!run.isCancelled && run.endsAt > now && run.endsAt < next) next = run.endsAt;
    return next;
  }

  look(now: EpochMs, record: QueueRecord, full: boolean): Snapshot {
    return {
      now,
      fence: 1,
      repo: this.#repo,
      queueName: this.#queueName,
      full,
      botLogin: known(BOT),
      ids: Array.from({ length: IDS_PER_LOOK }, () => this.#uuid()),
      base: known({ sha: this.#base, tree: this.#treeAt(this.#base) }),
      protection: known({
        scope: 'full',
        ruleName: this.#repo.baseBranch,
        statusCheckEnabled: true,
        requiredContexts: [record.context],
        requiredApprovals: 0,
        blockOnRejectedReviews: false,
        blockOnOfficialReviewRequests: false,
        blockOnOutdatedBranch: false,
        ignoreStaleApprovals: false,
        dismissStaleApprovals: false,
        directPushAllowed: false,
      }),
      pulls: known(full ? [...this.#open.values()].map((each) => this.#view(each)) : []),
      readings: full ? [] : null,
      focus: this.#focus(record),
      gates: this.#gates(now, record),
    };
  }

  perform(now: EpochMs, action: Action): ActionOutcome {
    switch (action.kind) {
      case 'stage_batch':
        return this.#stageBatch(now, action);
      case 'stage_tree': {
        if (!action.isAnchored && action.groundSha !== this.#base) return { kind: 'base_moved' };
        const sha = this.#commit(action.tree, action.groundSha);
        this.#start(now, sha, action.tree);
        return { kind: 'tree_staged', sha };
      }
      case 'post_status':
        if (action.state === 'success') this.#merge(now, action.pr);
        return { kind: 'done' };
      case 'cancel_gate_run': {
        const run = this.runs.find(({ id }) => id === action.runKey);
        if (run !== undefined && run.endsAt > now) run.isCancelled = true;
        return { kind: 'done' };
      }
      case 'probe_schedule':
        return { kind: 'schedule', found: 'scheduled' };
      case 'delete_branch':
        return { kind: 'done' };
    }
  }

  #stageBatch(now: EpochMs, action: Extract<Action, { kind: 'stage_batch' }>): ActionOutcome {
    if (action.headsBelow === null && action.groundSha !== this.#base) return { kind: 'base_moved' };
    const verdicts = new Map(action.knownTrees.map(({ tree, verdict }) => [tree, verdict]));
    const chain: Staged[] = [];
    let members = this.#members.get(this.#treeAt(action.groundSha)) ?? [];
    let parent = action.groundSha;
    for (const { pr } of action.members) {
      if (verdicts.get(chain.at(-1)?.tree ?? '') === 'failure') break;
      members = [...members, pr];
      const tree = this.#tree(members);
      parent = this.#commit(tree, parent);
      chain.push({ sha: parent, tree });
    }
    const last = chain.at(-1);
    if (last === undefined) return { kind: 'base_moved' };
    const isDecided = verdicts.has(last.tree);
    if (!isDecided) this.#start(now, last.sha, last.tree);
    const file = gateFileName(this.#queueName);
    return {
      kind: 'batch_staged',
      chain,
      gateKey: GATE,
      baseGate: { file, id: GATE },
      gateFile: file,
      published: isDecided ? null : { sha: last.sha },
      cut: chain.length === action.members.length ? null : { index: chain.length, reason: 'known_failure' },
    };
  }

  #start(now: EpochMs, sha: string, tree: TreeHash): void {
    const attempt = (this.#attempts.get(tree) ?? 0) + 1;
    this.#attempts.set(tree, attempt);
    const isBad = (this.#members.get(tree) ?? []).some((number) => this.#plan.stays[number - 1]?.isBad);
    const isFlake = shareOf(`${tree} ${attempt}`) < this.#plan.flakeShare;
    const verdict = isBad || isFlake ? 'failure' : 'success';
    this.#ids += 1;
    const endsAt = now + durationAt(this.#plan.runs, now, verdict);
    this.runs.push({ id: `run-${this.#ids}`, sha, endsAt, verdict, isCancelled: false });
  }

  #merge(now: EpochMs, pr: PullRequestNumber): void {
    if (!this.#open.delete(pr)) return;
    this.#landed = [...this.#landed, pr];
    this.#base = this.#commit(this.#tree(this.#landed), this.#base);
    this.mergedAt.set(pr, now);
  }

  #view({ number, at }: Scheduled): PullRequestView {
    return {
      pull: this.#pull(number, true),
      schedule: known({ kind: 'bound', id: number, at }),
      reviews: null,
      statuses: null,
    };
  }

  #pull(number: PullRequestNumber, isOpen: boolean): PullRequest {
    return {
      number,
      title: '',
      state: isOpen ? 'open' : 'closed',
      draft: false,
      mergeable: true,
      merged: !isOpen,
      mergeCommitSha: isOpen ? null : this.#base,
      mergeBase: this.#base,
      baseRef: this.#repo.baseBranch,
      baseTip: this.#base,
      headRef: `branch-${number}`,
      // An author each: the turns of authors are no part of what is stored.
      headSha: `head-${number}`,
      fromFork: false,
      agit: false,
      author: `author-${number}`,
      updatedAt: 0,
    };
  }

  #focus(record: QueueRecord): ReadonlyMap<PullRequestNumber, Reading<FocusView>> {
    const batch = nextToLand(record);
    const next = batch?.landing?.pr ?? batch?.members[batch.landed]?.pr;
    if (next === undefined) return new Map();
    const isOpen = this.#open.has(next);
    const parent = this.#parents.get(this.#base);
    const commit = {
      sha: this.#base,
      tree: this.#treeAt(this.#base),
      message: '',
      parents: parent === undefined ? [] : [parent],
    };
    const merge = isOpen ? null : known({ commit, standsOnTip: true });
    const opensAnother = known(null);
    return new Map([
      [
        next,
        known({ pull: this.#pull(next, isOpen), schedule: null, opensAnother, merge, strangeTip: null }),
      ],
    ]);
  }

  #gates(now: EpochMs, record: QueueRecord): ReadonlyMap<NodeRowId, Reading<GateReading>> {
    const gates = new Map<NodeRowId, Reading<GateReading>>();
    for (const node of record.batches.flatMap(({ nodes }) => nodes)) {
      if (node.state !== 'gating') continue;
      const run = this.runs.findLast(({ sha }) => sha === node.sha);
      if (run === undefined) continue;
      const seen = { runId: run.id, url: null } as const;
      gates.set(
        node.id,
        known(
          run.endsAt <= now
            ? { kind: 'finished', verdict: run.verdict, ...seen }
            : { kind: 'running', ...seen },
        ),
      );
    }
    return gates;
  }

  /** Two orders of the same pull requests are one tree. */
  #tree(members: readonly PullRequestNumber[]): TreeHash {
    const tree = `tree ${[...members].sort((one, other) => one - other).join(' ')}`;
    if (!this.#members.has(tree)) this.#members.set(tree, members);
    return tree;
  }

  #treeAt(commit: string): TreeHash {
    return this.#treeOf.get(commit) ?? '';
  }

  #commit(tree: TreeHash, parent: string | null): string {
    this.#ids += 1;
    const sha = `commit-${this.#ids}`;
    this.#treeOf.set(sha, tree);
    if (parent !== null) this.#parents.set(sha, parent);
    return sha;
  }

  #uuid(): string {
    this.#ids += 1;
    return `${this.#ids.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
  }
}

/** How long the run with this verdict took that began nearest to a time; of another verdict where none had this one. */
function durationAt(runs: readonly JudgedRun[], at: EpochMs, verdict: JudgedRun['verdict']): number {
  const same = runs.filter((run) => run.verdict === verdict);
  let nearest: JudgedRun | undefined;
  for (const run of same.length > 0 ? same : runs)
    if (nearest === undefined || Math.abs(run.at - at) < Math.abs(nearest.at - at)) nearest = run;
  return nearest?.ms ?? 0;
}

/** In [0, 1), the same for the same text: whether a run flakes depends on its tree alone, not on the fan-out. */
function shareOf(text: string): number {
  let hash = hashText(text);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 12;
  return (hash >>> 0) / 2 ** 32;
}
