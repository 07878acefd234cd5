import type { BranchProtection, CommitStatus, PullRequest } from '#core/domain/forge.ts';
import { asksForkForMergeRight } from '#core/domain/forge-version.ts';
import type { BatchId, CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { ManagedRepo } from '#core/domain/repo.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { Clock, Ids } from '#core/ports/system.ts';
import {
  areLinesDue,
  baseAt,
  baseFromFocus,
  landingOf,
  nextBehindLanding,
  nextPullRequest,
  tipFromPull,
  untracedOf,
  verifiedTipTree,
} from './landing-view.ts';
import { isOpened, isOpenedBy, needsReviews, otherContexts } from './queue/admission.ts';
import { readSchedule } from './queue/eligibility.ts';
import { BASE_NODE_ID, type PullRequestReading, type QueueRecord, type Staged } from './queue/record.ts';
import type { ConfirmBounce, FocusView, GateView, PullRequestView, Snapshot } from './queue/snapshot.ts';
import { CommitReader, type History } from './read-commits.ts';
import { readRecalled } from './read-recalled.ts';
import { StatusPatrol } from './status-patrol.ts';

/** Enough for a root, sixteen cuts and their retries in one pass. */
const FRESH_IDS_MAX = 40;
const READING_SETTLE_MS = 2_000;

/**
 * How long a pull request may show the new tip of its base and the check against the old one. A rebase that is set off
 * meanwhile fails, and its schedule is lost (seen on Forgejo 15.0.3). The forge counts through its open ones in turn.
 */
const BASE_SETTLE_MS = 3_000;
const BASE_SETTLE_PER_PULL_MS = 25;
const BASE_SETTLE_MS_MAX = 10_000;

/** A merge takes a second or two; one that takes longer may have a reason that the pull request itself shows. */
const OWN_LOOK_AGE_MS = 3_000;

/** A run that has not begun by then may never: its branch may have been deleted before the forge got to it (E7). */
const BRANCH_LOOK_AGE_MS = 60_000;

/** The base was seen to end in a merge of ours so short a time ago that nobody need ask again. */
const TIP_FRESH_MS = 2_000;

type LandingReading = Pick<Snapshot, 'ownMerge' | 'focus' | 'traces'> & { readonly tip: CommitSha | null };

/** Its own schedule or one that the head moved away from; 0 = none. */
function scheduleIdOf({ schedule }: PullRequestReading): number {
  return schedule.kind === 'none' ? 0 : schedule.id;
}

function isOf(reading: PullRequestReading, pull: PullRequest): boolean {
  return reading.head === pull.headSha && reading.updatedAt === pull.updatedAt;
}

/**
 * The forge's time stamps have a resolution of 1 s: what was read within that second may have changed again unseen. Both
 * times are ours, because the forge's clock may be ahead of ours or behind.
 */
function isSettled({ seenAt, readAt }: PullRequestReading): boolean {
  return seenAt !== undefined && readAt !== undefined && readAt - seenAt >= READING_SETTLE_MS;
}

function isPosted(record: QueueRecord): boolean {
  return landingOf(record)?.postedAt != null;
}

function isOrMayBeScheduled(reading: Reading<PullRequestReading>): boolean {
  return !reading.known || reading.value.schedule.kind !== 'none';
}

/** Reads the one picture of a pass. Whatever cannot be read is unknown; the first reason is kept for the outcome. */
export class SnapshotReader {
  readonly #forge: EngineForge;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #confirmBounce: ConfirmBounce;
  readonly #repo: ManagedRepo;
  readonly #commits: CommitReader;
  readonly #patrol = new StatusPatrol();
  /** When a tip of the base was first seen. */
  readonly #tips = new Map<CommitSha, EpochMs>();
  #openPulls = 0;
  /** Open pull requests to other branches, by the last look at all. */
  #elsewhere: readonly PullRequest[] = [];
  readonly #otherRules = new Map<string, Reading<BranchProtection | null>>();
  #landedTip: { readonly sha: CommitSha; readonly at: EpochMs } | null = null;
  #failure: ForgeError | null = null;
  #botLogin: Reading<string> = UNKNOWN;
  #protection: Reading<BranchProtection | null> = UNKNOWN;
  #asksFork: Reading<boolean> = UNKNOWN;

  constructor(
    deps: { forge: EngineForge; clock: Clock; ids: Ids; confirmBounce?: ConfirmBounce },
    repo: ManagedRepo,
  ) {
    this.#forge = deps.forge;
    this.#clock = deps.clock;
    this.#ids = deps.ids;
    this.#confirmBounce = deps.confirmBounce ?? 'adaptive';
    this.#repo = repo;
    this.#commits = new CommitReader(deps.forge, (read) => this.#attempt(read));
  }

  /** Why something stayed unknown since the last call; null when all was read. */
  takeFailure(): ForgeError | null {
    const failure = this.#failure;
    this.#failure = null;
    return failure;
  }

  /** Everything anew. An idle repo costs one list (and one page more per 50 open pull requests), one without any also its tip. */
  async readAll(record: QueueRecord, fence: number): Promise<Snapshot> {
    const listed = await this.#attempt(() => this.#forge.listOpenPullRequests());
    const { baseBranch } = this.#repo;
    const pulls = listed.known
      ? known(listed.value.filter(({ baseRef }) => baseRef === baseBranch))
      : UNKNOWN;
    if (listed.known) this.#elsewhere = listed.value.filter(({ baseRef }) => baseRef !== baseBranch);
    if (pulls.known) this.#openPulls = pulls.value.length;
    const schedules = pulls.known ? await this.#readSchedules(record, pulls.value) : null;
    const scheduled = schedules?.some(({ reading }) => isOrMayBeScheduled(reading)) ?? false;
    const isBusy = scheduled || record.roots.length > 0;
    // Without work the base matters only if it moves past the queue (A39).
    const tip = isBusy || record.baseSeen !== null ? await this.#readTip(pulls) : UNKNOWN;
    const needsBase = isBusy || (tip.known && tip.value !== record.baseSeen?.sha);
    if (needsBase)
      this.#protection = await this.#attempt(() => this.#forge.readProtection(this.#repo.baseBranch));
    const base = needsBase ? await this.#readBase(record, tip) : UNKNOWN;
    const views: PullRequestView[] = [];
    const readings: PullRequestReading[] = [];
    const seen = (schedules ?? []).map(({ pull, reading }) => ({
      pull,
      isScheduled: isOrMayBeScheduled(reading),
    }));
    const patrolled = this.#patrol.choose(record, seen, this.#clock.now());
    for (const { pull, reading } of schedules ?? []) {
      const view = await this.#readView(record, pull, reading, patrolled.includes(pull));
      views.push(view);
      if (!reading.known) continue;
      const reviews = view.reviews?.known === true ? view.reviews.value : null;
      const isChecked =
        view.statuses?.known === true && !isOpened(view.statuses.value, this.#repo.statusContext);
      const checked = isChecked ? { checkedFor: scheduleIdOf(reading.value) } : {};
      readings.push({ ...reading.value, reviews, ...checked });
    }
    const traces = await this.#readDueTraces(record);
    const isRecalling = (record.recall ?? []).length > 0;
    if (isRecalling && !this.#botLogin.known) await this.#readBotLogin();
    const recalled = isRecalling
      ? await readRecalled(this.#forge, (read) => this.#attempt(read), record)
      : undefined;
    return {
      ...this.#frame(fence),
      ...(recalled === undefined ? {} : { recalled }),
      full: true,
      base,
      pulls: schedules === null ? UNKNOWN : known(views),
      readings: schedules === null ? null : readings,
      focus: await this.#readFocus(record, schedules === null ? null : views, true),
      ...(traces === undefined ? {} : { traces }),
      ...(await this.#readUnheard(record)),
      gates: await this.#readGates(record),
    };
  }

  /** Only what is in flight: the pull request that lands, and its base. The list is the one read before. */
  async readInFlight(
    record: QueueRecord,
    fence: number,
    before: Snapshot,
    withGates: boolean,
  ): Promise<Snapshot> {
    const { tip, ...landing } = await this.#readLanding(record);
    return {
      ...this.#frame(fence),
      full: false,
      ...landing,
      base:
        baseFromFocus(record, landing.focus, this.#repo.baseBranch) ??
        (tip === null ? UNKNOWN : known(baseAt(record, tip))),
      pulls: before.pulls,
      readings: null,
      ...(await this.#readUnheard(record)),
      gates: withGates ? await this.#readGates(record) : new Map(),
    };
  }

  #frame(fence: number) {
    return {
      now: this.#clock.now(),
      fence,
      repo: this.#repo,
      botLogin: this.#botLogin,
      ids: Array.from({ length: FRESH_IDS_MAX }, () => this.#ids.uuid()),
      protection: this.#protection,
      confirmBounce: this.#confirmBounce,
      asksFork: this.#asksFork,
    };
  }

  async #readSchedules(record: QueueRecord, pulls: readonly PullRequest[]) {
    const earlier = new Map(record.readings.map((reading) => [reading.pr, reading]));
    const result: { pull: PullRequest; reading: Reading<PullRequestReading> }[] = [];
    for (const pull of pulls) {
      const cached = earlier.get(pull.number);
      if (cached !== undefined && isOf(cached, pull) && isSettled(cached)) {
        result.push({ pull, reading: known(cached) });
        continue;
      }
      const now = this.#clock.now();
      const seenAt = cached !== undefined && isOf(cached, pull) ? (cached.seenAt ?? now) : now;
      const timeline = await this.#attempt(() => this.#forge.readTimeline(pull.number));
      const reading: Reading<PullRequestReading> = timeline.known
        ? known({
            pr: pull.number,
            head: pull.headSha,
            updatedAt: pull.updatedAt,
            schedule: readSchedule(timeline.value, pull.headSha),
            reviews: null,
            ...{ seenAt, readAt: now },
            ...(cached?.head === pull.headSha && cached.checkedFor !== undefined
              ? { checkedFor: cached.checkedFor }
              : {}),
          })
        : UNKNOWN;
      result.push({ pull, reading });
    }
    return result;
  }

  async #readView(
    record: QueueRecord,
    pull: PullRequest,
    reading: Reading<PullRequestReading>,
    isPatrolled: boolean,
  ): Promise<PullRequestView> {
    const schedule: PullRequestView['schedule'] = reading.known ? known(reading.value.schedule) : UNKNOWN;
    const protection = this.#protection.known ? this.#protection.value : null;
    const isScheduled = schedule.known && schedule.value.kind !== 'none';
    // A success may stand on a head from before this pull request was, and opens it the moment that it is scheduled.
    const isNews = reading.known && reading.value.checkedFor !== scheduleIdOf(reading.value);
    if (!isScheduled || protection === null) {
      const statuses = isPatrolled || isNews ? await this.#readStatuses(pull) : null;
      return { pull, schedule, reviews: null, statuses };
    }
    if (pull.fromFork && !this.#asksFork.known) this.#asksFork = await this.#readAsksFork();
    let reviews: PullRequestView['reviews'] = null;
    if (needsReviews(protection, pull.fromFork)) {
      const cached = reading.known ? reading.value.reviews : null;
      reviews =
        cached === null ? await this.#attempt(() => this.#forge.listReviews(pull.number)) : known(cached);
    }
    const isAsked = record.rebuilding || otherContexts(protection, this.#repo.statusContext).length > 0;
    if (isAsked && !this.#botLogin.known) await this.#readBotLogin();
    const statuses = isAsked || isPatrolled || isNews ? await this.#readStatuses(pull) : null;
    const opensAnother = await this.#opensAnother(pull.headSha, this.#elsewhere);
    return { pull, schedule, reviews, statuses, opensAnother };
  }

  /** Would a `success` on this head open one of these, to other branches, as well? A status belongs to the commit (D-17). */
  async #opensAnother(head: CommitSha, others: readonly PullRequest[]): Promise<Reading<boolean>> {
    const bases = new Set(others.filter(({ headSha }) => headSha === head).map(({ baseRef }) => baseRef));
    bases.delete(this.#repo.baseBranch);
    for (const base of bases) {
      const rule =
        this.#otherRules.get(base) ?? (await this.#attempt(() => this.#forge.readProtection(base)));
      if (!rule.known) return UNKNOWN;
      this.#otherRules.set(base, rule);
      if (rule.value !== null && isOpenedBy(rule.value, this.#repo.statusContext)) return known(true);
    }
    return known(false);
  }

  /** The same, asked anew: since the last look at all, somebody may have opened or pushed one. */
  async #opensAnotherNow(head: CommitSha): Promise<Reading<boolean>> {
    const touched = await this.#attempt(() => this.#forge.listTouchedPullRequests());
    return touched.known ? this.#opensAnother(head, [...this.#elsewhere, ...touched.value]) : UNKNOWN;
  }

  async #readStatuses(pull: PullRequest): Promise<Reading<readonly CommitStatus[]>> {
    const statuses = await this.#attempt(() => this.#forge.readStatuses(pull.headSha));
    // Only then does it matter who wrote it.
    if (statuses.known && isOpened(statuses.value, this.#repo.statusContext) && !this.#botLogin.known)
      await this.#readBotLogin();
    return statuses;
  }

  async #readUnheard({ unheard = [] }: QueueRecord): Promise<Pick<Snapshot, 'unheard'>> {
    const due = unheard.filter(({ lookAt }) => lookAt <= this.#clock.now());
    if (due.length === 0) return {};
    const read = new Map<CommitSha, Reading<readonly CommitStatus[]>>();
    for (const { sha } of due) read.set(sha, await this.#attempt(() => this.#forge.readStatuses(sha)));
    return { unheard: read };
  }

  async #readBotLogin(): Promise<void> {
    this.#botLogin = await this.#attempt(() => this.#forge.readBotLogin());
  }

  async #readAsksFork(): Promise<Reading<boolean>> {
    const version = await this.#attempt(() => this.#forge.readVersion());
    if (!version.known || version.value === null) return UNKNOWN;
    return known(asksForkForMergeRight(version.value));
  }

  /** Every open pull request shows the live tip of its base: where all agree, nobody need ask. */
  async #readTip(pulls: Reading<readonly PullRequest[]>): Promise<Reading<CommitSha | null>> {
    const shown = new Set(pulls.known ? pulls.value.map((pull) => pull.baseTip) : []);
    const [only = null] = shown;
    if (shown.size === 1) return known(only);
    const seen = this.#landedTip;
    if (shown.size === 0 && seen !== null && this.#clock.now() - seen.at <= TIP_FRESH_MS)
      return known(seen.sha);
    return this.#attempt(() => this.#forge.readBranchTip(this.#repo.baseBranch));
  }

  async #readBase(record: QueueRecord, tip: Reading<CommitSha | null>): Promise<Reading<Staged>> {
    if (!tip.known || tip.value === null) return UNKNOWN;
    const sha = tip.value;
    const tree = verifiedTipTree(record, sha) ?? (record.baseSeen?.sha === sha ? record.baseSeen.tree : null);
    if (tree !== null) return known({ sha, tree });
    const read = await this.#commits.readTreeId(sha);
    return read.known ? known({ sha, tree: read.value }) : UNKNOWN;
  }

  /** The pull request that lands or is next to, and (in a full look) those of the line that left the open list. */
  async #readFocus(record: QueueRecord, views: readonly PullRequestView[] | null, full: boolean) {
    const focus = new Map<PullRequestNumber, Reading<FocusView>>();
    const next = nextPullRequest(record);
    if (next !== null) focus.set(next, await this.#readOne(record, next));
    if (full && views !== null) {
      const open = new Set(views.map((view) => view.pull.number));
      for (const { pr } of record.line) {
        if (!open.has(pr) && !focus.has(pr)) focus.set(pr, await this.#readOne(record, pr));
      }
    }
    return focus;
  }

  /**
   * A merge that is awaited, seen without asking for it: the pull request behind it shows the live tip of the base and
   * is to be looked at next anyway; behind the last one the branch itself shows its tip and all parents since. Only
   * where that tip is strange, or stays what it was, is the one that lands read itself.
   */
  async #readLanding(record: QueueRecord): Promise<LandingReading> {
    const landing = landingOf(record);
    if (landing === null || landing.postedAt === null || landing.revoke !== null)
      return this.#readNext(record);
    const behind = nextBehindLanding(record);
    const focus = new Map<PullRequestNumber, Reading<FocusView>>();
    let history: History | null = null;
    let tip: CommitSha | null = null;
    if (behind === null) {
      history = await this.#commits.readHistory(record, this.#repo.baseBranch, landing.baseBefore);
      tip = history?.tip ?? null;
    } else {
      const view = await this.#readOne(record, behind);
      focus.set(behind, view);
      tip = tipFromPull(view, this.#repo.baseBranch);
    }
    if (tip === landing.baseBefore && this.#clock.now() - landing.postedAt < OWN_LOOK_AGE_MS)
      return { ownMerge: 'not_yet', focus, tip };
    const tree = tip === null || tip === landing.baseBefore ? UNKNOWN : await this.#commits.readTreeId(tip);
    if (tip === null || !tree.known || tree.value !== landing.tree) return this.#readNext(record);
    const stands = history === null ? null : await this.#commits.contains(history, tip, landing.baseBefore);
    if (stands !== null && !stands.known) return this.#readNext(record);
    this.#landedTip = { sha: tip, at: this.#clock.now() };
    const ownMerge = { commit: { sha: tip, tree: tree.value }, standsOnTip: stands?.value ?? null };
    return {
      ownMerge,
      focus,
      tip,
      ...(history === null ? {} : { traces: await this.#commits.traceAll(record, history) }),
    };
  }

  /** Who lands, or is next to, itself; and the history below what landed, once nobody follows at once. */
  async #readNext(record: QueueRecord): Promise<LandingReading> {
    const traces = await this.#readDueTraces(record);
    const focus = await this.#readFocus(record, null, false);
    return { ownMerge: null, focus, tip: null, ...(traces === undefined ? {} : { traces }) };
  }

  async #readDueTraces(record: QueueRecord): Promise<Snapshot['traces']> {
    const [first] = untracedOf(record);
    if (first === undefined || record.tip === null || !areLinesDue(record, this.#clock.now()))
      return undefined;
    const history = await this.#commits.readHistory(record, record.tip, first.baseBefore);
    return history === null ? new Map() : this.#commits.traceAll(record, history);
  }

  async #readOne(record: QueueRecord, pr: PullRequestNumber): Promise<Reading<FocusView>> {
    const pull = await this.#attempt(() => this.#forge.readPullRequest(pr));
    if (!pull.known) return UNKNOWN;
    const tip = record.tip ?? undefined;
    const inRoot = record.roots.some((root) => root.members.some((member) => member.pr === pr));
    if (pull.value.merged) {
      const { mergeCommitSha } = pull.value;
      const merge =
        !inRoot || mergeCommitSha === null ? null : await this.#commits.readMerge(mergeCommitSha, tip);
      return known({ pull: pull.value, schedule: null, merge, strangeTip: null });
    }
    const cached = record.readings.find((reading) => reading.pr === pr);
    const unchanged = cached !== undefined && isOf(cached, pull.value) && isSettled(cached);
    let schedule: FocusView['schedule'] = null;
    if (!unchanged) {
      const timeline = await this.#attempt(() => this.#forge.readTimeline(pr));
      schedule = timeline.known ? known(readSchedule(timeline.value, pull.value.headSha)) : UNKNOWN;
    }
    const landing = landingOf(record)?.pr === pr;
    const mayPost = pr === nextBehindLanding(record) || (pr === nextPullRequest(record) && !isPosted(record));
    const opensAnother = mayPost ? await this.#opensAnotherNow(pull.value.headSha) : null;
    const strange = landing && tip !== undefined && pull.value.baseTip !== tip;
    const strangeTip = strange ? await this.#commits.readMerge(pull.value.baseTip, tip) : null;
    const mergeable = pull.value.mergeable && this.#isChecked(record, pull.value.baseTip);
    return known({
      ...{ pull: { ...pull.value, mergeable }, schedule, merge: null, strangeTip },
      ...(opensAnother === null ? {} : { opensAnother }),
    });
  }

  /** Whether "mergeable" can be about this tip by now. Other styles than a rebase do not depend on it. */
  #isChecked(record: QueueRecord, tip: CommitSha): boolean {
    if (this.#repo.mergeStyle !== 'rebase') return true;
    const now = this.#clock.now();
    const seen = this.#tips.get(tip) ?? now;
    this.#tips.set(tip, seen);
    const since = record.baseSeen?.sha === tip ? Math.min(seen, record.baseSeen.at ?? seen) : seen;
    const settleMs = BASE_SETTLE_MS + BASE_SETTLE_PER_PULL_MS * this.#openPulls;
    return now - since >= Math.min(settleMs, BASE_SETTLE_MS_MAX);
  }

  async #readGates(record: QueueRecord): Promise<ReadonlyMap<BatchId, Reading<GateView>>> {
    const gates = new Map<BatchId, Reading<GateView>>();
    for (const root of record.roots) {
      for (const node of root.nodes) {
        const { sha, branch, stagedAt } = node;
        const gateFile = node.nodeId === BASE_NODE_ID ? (root.baseGateFile ?? root.gateFile) : root.gateFile;
        if (node.state !== 'gating' || sha === null || branch === null || gateFile === null) continue;
        const run = { sha, branch, stagedAt, gateFile };
        gates.set(node.id, await this.#attempt(() => this.#readGate(run)));
      }
    }
    return gates;
  }

  async #readGate(run: {
    readonly sha: CommitSha;
    readonly branch: string;
    readonly stagedAt: EpochMs | null;
    readonly gateFile: string;
  }): Promise<GateView> {
    const gate = await this.#forge.readGate(run.sha, run.branch, run.gateFile);
    const isLate = this.#clock.now() - (run.stagedAt ?? this.#clock.now()) >= BRANCH_LOOK_AGE_MS;
    if (gate.kind !== 'none' || !isLate) return gate;
    return (await this.#forge.readBranchTip(run.branch)) === null ? { kind: 'branch_gone' } : gate;
  }

  async #attempt<T>(read: () => Promise<T>): Promise<Reading<T>> {
    try {
      return known(await read());
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      this.#failure ??= error;
      return UNKNOWN;
    }
  }
}
