import { createHash } from 'node:crypto';
import type { GateReading, PullRequest } from '#core/domain/forge/forge.ts';
import type { NodeRowId, PullRequestNumber } from '#core/domain/ids.ts';
import { DEFAULT_SERVICE_NAME, gateFileName } from '#core/domain/queue/queue-names.ts';
import { known, type Reading } from '#core/domain/result.ts';
import type {
  Action,
  ActionOutcome,
  CutReason,
  HeadRun,
} from '../../../engine-container/src/queue/actions.ts';
import { nextToLand } from '../../../engine-container/src/queue/batches/pipeline.ts';
import type { QueueRecord, Staged } from '../../../engine-container/src/queue/record/record.ts';
import type { FocusView, PullRequestView, Snapshot } from '../../../engine-container/src/queue/snapshot.ts';
import { givenRepo } from '../../builders/managed-repo.ts';
import { headOf } from '../../builders/queue-record.ts';
import { givenPull, givenRule } from '../../builders/snapshot.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { AutoBudget } from './measure.ts';
import { drawRunMs, type PlannedPullRequest, type Scenario } from './workload.ts';

interface Run {
  readonly id: number;
  readonly sha: string;
  readonly tree: string;
  startsAt: number;
  endsAt: number;
  readonly verdict: 'success' | 'failure';
  cancelledAt: number | null;
}

interface OpenPullRequest {
  readonly planned: PlannedPullRequest;
  scheduleId: number;
  scheduledAt: number;
}

type StagedMember = Extract<Action, { kind: 'stage_batch' }>['members'][number];

const GATE = 'gate';
const BOT = 'mq-bot';
const PEOPLE = { incidentLabels: ['incident'], priorityPeople: ['oncall'] } as const;
const givenStatus = (state: string) => ({
  context: 'ci/own',
  state,
  description: '',
  creator: 'ci',
  createdAt: 0,
});
/** Accounts of the plan that are programs. */
const BOTS = ['agent'] as const;
const LABELLED = [{ name: 'incident', by: 'oncall' }] as const;

/**
 * A forge of sets: a tree is the set of pull requests in it, a merge is immediate, a run knows the truth. It answers
 * `decide` with snapshots and carries its actions out, so that what is measured is the real decision and bookkeeping.
 */
export class SymbolicForge {
  readonly runs: Run[] = [];
  readonly mergedAt = new Map<number, number>();
  readonly #open = new Map<number, OpenPullRequest>();
  readonly #trees = new Map<string, ReadonlySet<number>>();
  readonly #treeOfCommit = new Map<string, string>();
  readonly #parents = new Map<string, string>();
  readonly #byNumber: ReadonlyMap<number, PlannedPullRequest>;
  readonly #provenSets: ReadonlySet<number>[] = [];
  /** Trees that heads had when their own CI passed. */
  readonly #testedTrees = new Map<number, string>();
  readonly #scenario: Scenario;
  readonly #random: SeededRandom;
  #base: string;
  #ids = 0;
  readonly #pushes = new Map<number, number>();
  /** Heads that failed and were scheduled again as they were. */
  readonly again = new Set<number>();
  /** Runs with one of them in their tree. */
  runsAgain = 0;
  unproven = 0;
  mostRuns = 0;
  red = 0;

  constructor(scenario: Scenario, planned: readonly PlannedPullRequest[], random: SeededRandom) {
    this.#scenario = scenario;
    this.#random = random;
    this.#byNumber = new Map(planned.map((each) => [each.number, each]));
    this.#base = this.#commit(this.#tree(new Set()), null);
  }

  schedule(planned: PlannedPullRequest, at: number): void {
    this.#ids += 1;
    this.#open.set(planned.number, { planned, scheduleId: this.#ids, scheduledAt: at });
    if (planned.tested !== true) return;
    const set = new Set([...this.#setOf(this.#base), planned.number]);
    this.#testedTrees.set(planned.number, this.#tree(set));
    this.#provenSets.push(set);
  }

  /** A new head without another change. */
  push(pr: number): void {
    this.#pushes.set(pr, (this.#pushes.get(pr) ?? 0) + 1);
  }

  /** Next time a run ends after `now`; infinite when none is out. */
  nextEnd(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const run of this.runs)
      if (run.cancelledAt === null && run.endsAt > now && run.endsAt < next) next = run.endsAt;
    return next;
  }

  snapshot(now: number, record: QueueRecord, fanout: number | AutoBudget, full: boolean): Snapshot {
    const base = { sha: this.#base, tree: this.#treeOfCommit.get(this.#base) ?? '' };
    return {
      now,
      fence: 1,
      repo: givenRepo({
        ...(typeof fanout === 'number'
          ? { bisectFanout: fanout }
          : { fanoutAuto: true, autoRunsPer100Landed: fanout.runsPer100Landed }),
        reuseCi: this.#scenario.u !== undefined,
        ...PEOPLE,
        bots: BOTS,
        botQueuedMax: this.#scenario.botQueuedMax ?? 0,
      }),
      queueName: DEFAULT_SERVICE_NAME,
      full,
      botLogin: known(BOT),
      ids: Array.from({ length: 40 }, () => this.#uuid()),
      base: known(base),
      protection: known(givenRule()),
      pulls: known(full ? [...this.#open.values()].map((open) => this.#view(open)) : []),
      readings: full ? [] : null,
      focus: this.#focus(record),
      gates: this.#gates(now, record),
    };
  }

  perform(now: number, action: Action): ActionOutcome {
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
        const run = this.runs.find((candidate) => String(candidate.id) === action.runKey);
        if (run !== undefined && run.endsAt > now) this.#cancel(run, now);
        return { kind: 'done' };
      }
      case 'probe_schedule':
        return { kind: 'schedule', found: 'scheduled' };
      case 'delete_branch':
        return { kind: 'done' };
    }
  }

  #stageBatch(now: number, action: Extract<Action, { kind: 'stage_batch' }>): ActionOutcome {
    if (action.headsBelow === null && action.groundSha !== this.#base) return { kind: 'base_moved' };
    const chain: Staged[] = [];
    let set: ReadonlySet<number> =
      this.#trees.get(this.#treeOfCommit.get(action.groundSha) ?? '') ?? new Set();
    let parent = action.groundSha;
    let cut: { readonly index: number; readonly reason: CutReason } | null = null;
    for (const [index, member] of action.members.entries()) {
      const conflicts = this.#byNumber.get(member.pr)?.conflicts ?? [];
      if (conflicts.some((other) => set.has(other))) {
        cut = { index, reason: 'conflict' };
        break;
      }
      if (member.behind.some((tree) => conflicts.some((other) => this.#trees.get(tree)?.has(other)))) {
        cut = { index, reason: 'suspect_ahead' };
        break;
      }
      set = new Set([...set, member.pr]);
      const tree = this.#tree(set);
      parent = this.#commit(tree, parent);
      chain.push({ sha: parent, tree });
      if (index + 1 < action.members.length && this.#isKnown(action, tree, 'failure')) {
        cut = { index: index + 1, reason: 'known_failure' };
        break;
      }
    }
    const last = chain.at(-1);
    if (last === undefined) return { kind: 'nothing_staged', cut: cut ?? { index: 0, reason: 'conflict' } };
    const ofHead = this.#findHeadRun(action.members[chain.length - 1], last.tree);
    const decided = this.#isKnown(action, last.tree, null) || ofHead !== null;
    const isShared = !decided && cut?.reason === 'conflict' && this.#mayShare(action, cut.index);
    if (!decided && !isShared) this.#start(now, last.sha, last.tree);
    return {
      kind: 'batch_staged',
      chain,
      gateKey: GATE,
      baseGate: { file: gateFileName(DEFAULT_SERVICE_NAME), id: GATE },
      gateFile: gateFileName(DEFAULT_SERVICE_NAME),
      published: decided || isShared ? null : { sha: last.sha },
      ...(isShared ? { sharesRun: true } : {}),
      ...(ofHead === null ? {} : { headRun: ofHead }),
      cut,
    };
  }

  /** As the engine does: others of the batch are behind the one that does not go along. */
  #mayShare({ mayShareRun, members }: Extract<Action, { kind: 'stage_batch' }>, cutAt: number): boolean {
    return mayShareRun && cutAt + 1 < members.length;
  }

  #isKnown(
    action: Extract<Action, { kind: 'stage_batch' }>,
    tree: string,
    verdict: 'failure' | null,
  ): boolean {
    return action.knownTrees.some(
      (known) => known.tree === tree && (verdict === null || known.verdict === verdict),
    );
  }

  /** As the engine finds it: of the last member, on exactly the staged tree. */
  #findHeadRun(member: StagedMember | undefined, tree: string): HeadRun | null {
    if (member === undefined || member.ownBranch === null) return null;
    if (this.#testedTrees.get(member.pr) !== tree) return null;
    return { sha: member.head, runKey: `own-${member.pr}`, runUrl: null };
  }

  #setOf(commit: string): ReadonlySet<number> {
    return this.#trees.get(this.#treeOfCommit.get(commit) ?? '') ?? new Set();
  }

  /** The truth about a set: any bad one, or two that clash, and it is red. */
  #isGreen(set: ReadonlySet<number>): boolean {
    for (const number of set) {
      const planned = this.#byNumber.get(number);
      if (planned === undefined || planned.bad) return false;
      if (planned.clashes.some((other) => set.has(other))) return false;
    }
    return true;
  }

  #start(now: number, sha: string, tree: string): void {
    const set = this.#trees.get(tree) ?? new Set();
    if ([...set].some((pr) => this.again.has(pr))) this.runsAgain += 1;
    const flake = this.#random.chance(this.#scenario.f ?? 0);
    const verdict = this.#isGreen(set) && !flake ? 'success' : 'failure';
    this.#ids += 1;
    const startsAt = this.#slotFreeAt(now);
    const endsAt = startsAt + drawRunMs(this.#scenario, this.#random, verdict);
    this.runs.push({ id: this.#ids, sha, tree, startsAt, endsAt, verdict, cancelledAt: null });
    const out = this.runs.filter((run) => run.cancelledAt === null && run.endsAt > now).length;
    this.mostRuns = Math.max(this.mostRuns, out);
  }

  /** With a runner cap a run waits for the first slot that comes free. */
  #slotFreeAt(now: number): number {
    const cap = this.#scenario.C;
    if (cap === undefined) return now;
    const ends = this.runs
      .filter((run) => run.cancelledAt === null && run.endsAt > now)
      .map((run) => run.endsAt)
      .sort((a, b) => a - b);
    return ends.length < cap ? now : (ends[ends.length - cap] ?? now);
  }

  #cancel(run: Run, now: number): void {
    run.cancelledAt = now;
    // Each run in the line moves up: none of them holds a slot while they are placed again, in order.
    const waiting = this.runs.filter((other) => other.cancelledAt === null && other.startsAt > now);
    const lengths = waiting.map((other) => other.endsAt - other.startsAt);
    for (const other of waiting) other.endsAt = now;
    for (const [index, other] of waiting.entries()) {
      other.startsAt = this.#slotFreeAt(now);
      other.endsAt = other.startsAt + (lengths[index] ?? 0);
    }
  }

  #merge(now: number, pr: number): void {
    if (!this.#open.delete(pr)) return;
    const before = this.#trees.get(this.#treeOfCommit.get(this.#base) ?? '') ?? new Set();
    const after = new Set([...before, pr]);
    this.#base = this.#commit(this.#tree(after), this.#base);
    this.mergedAt.set(pr, now);
    for (const run of this.runs) {
      if (run.verdict === 'success' && run.endsAt <= now && !this.#provenTrees.has(run.tree)) {
        this.#provenTrees.add(run.tree);
        this.#provenSets.push(this.#trees.get(run.tree) ?? new Set());
      }
    }
    const isProven = this.#provenSets.some(
      (set) => set.size >= after.size && [...after].every((each) => set.has(each)),
    );
    if (!isProven) this.unproven += 1;
    if (!this.#isGreen(after)) this.red += 1;
  }
  readonly #provenTrees = new Set<string>();

  #view(open: OpenPullRequest): PullRequestView {
    const { author, ownCi } = open.planned;
    return {
      pull: this.#pull(open.planned.number, true),
      schedule: known({
        kind: 'bound',
        id: open.scheduleId,
        at: open.scheduledAt,
        ...(author === undefined ? {} : { by: author }),
      }),
      reviews: null,
      statuses: ownCi === undefined ? null : known([givenStatus(ownCi)]),
      ...(open.planned.isIncident === true ? { labelled: LABELLED } : {}),
    };
  }

  #pull(pr: number, isOpen: boolean): PullRequest {
    const author = this.#byNumber.get(pr)?.author;
    const pushes = this.#pushes.get(pr);
    return givenPull(pr, {
      ...(pushes === undefined ? {} : { headSha: `${headOf(pr)}-${pushes}` }),
      ...(author === undefined ? {} : { author }),
      state: isOpen ? 'open' : 'closed',
      mergeable: !this.#conflictsWithBase(pr),
      merged: !isOpen,
      mergeCommitSha: isOpen ? null : this.#base,
      mergeBase: this.#base,
      baseTip: this.#base,
    });
  }

  #conflictsWithBase(pr: number): boolean {
    const landed = this.#trees.get(this.#treeOfCommit.get(this.#base) ?? '');
    return (this.#byNumber.get(pr)?.conflicts ?? []).some((other) => landed?.has(other));
  }

  #focus(record: QueueRecord): ReadonlyMap<PullRequestNumber, Reading<FocusView>> {
    const focus = new Map<PullRequestNumber, Reading<FocusView>>();
    const batch = nextToLand(record);
    const next = batch?.landing?.pr ?? batch?.members[batch.landed]?.pr;
    if (next === undefined) return focus;
    const isOpen = this.#open.has(next);
    const parent = this.#parents.get(this.#base);
    focus.set(
      next,
      known({
        pull: this.#pull(next, isOpen),
        schedule: null,
        opensAnother: known(null),
        merge: isOpen
          ? null
          : known({
              commit: {
                sha: this.#base,
                tree: this.#treeOfCommit.get(this.#base) ?? '',
                parents: parent === undefined ? [] : [parent],
                message: '',
              },
              standsOnTip: true,
            }),
        strangeTip: null,
      }),
    );
    return focus;
  }

  #gates(now: number, record: QueueRecord): ReadonlyMap<NodeRowId, Reading<GateReading>> {
    const gates = new Map<NodeRowId, Reading<GateReading>>();
    for (const node of record.batches.flatMap((batch) => batch.nodes)) {
      if (node.state !== 'gating') continue;
      const run = this.runs.findLast((candidate) => candidate.sha === node.sha);
      if (run === undefined) continue;
      const runId = String(run.id);
      gates.set(
        node.id,
        known(
          run.endsAt <= now
            ? { kind: 'finished', verdict: run.verdict, runId, url: null }
            : {
                kind: 'running',
                runId,
                url: null,
                ...(run.startsAt > now ? { waitsForRunner: true as const } : {}),
              },
        ),
      );
    }
    return gates;
  }

  #tree(set: ReadonlySet<number>): string {
    const id = createHash('sha1')
      .update([...set].sort((a, b) => a - b).join(' '))
      .digest('hex');
    this.#trees.set(id, set);
    return id;
  }

  #commit(tree: string, parent: string | null): string {
    this.#ids += 1;
    const sha = `commit-${this.#ids}`;
    this.#treeOfCommit.set(sha, tree);
    if (parent !== null) this.#parents.set(sha, parent);
    return sha;
  }

  #uuid(): string {
    this.#ids += 1;
    return `${this.#ids.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
  }
}
