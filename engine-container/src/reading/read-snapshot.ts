import { withFile } from '#core/contracts/repos/settings-seen.ts';
import { type BranchProtection, branchRef } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { countedLabels } from '#core/domain/repos/priority.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { known, mapKnown, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { ForgeSight } from '#core/domain/wakes/forge-sight.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { Clock, Ids } from '#core/ports/system.ts';
import { landingOf } from '../queue/batches/pipeline.ts';
import type { KnownForge, QueueRecord } from '../queue/record/record.ts';
import type { ConfirmBounce, FocusView, Snapshot } from '../queue/snapshot.ts';
import { isBranchRuled } from '../reconcile/find-ruled-branch.ts';
import type { ReconcilerDeps } from '../reconcile/reconciler-deps.ts';
import { askHeld } from './ask-held.ts';
import { CheckClock } from './check-clock.ts';
import { baseAt, baseFromFocus, isBlockerLookDue, nextBehindLanding, tipFromPull } from './landing-view.ts';
import { byUrgency, LookBudget } from './look-budget.ts';
import { LookReads, type TryRead } from './look-reads.ts';
import { BaseReader } from './read-base.ts';
import { CommitReader, type History } from './read-commits.ts';
import { FocusReader } from './read-focus.ts';
import { GateReader } from './read-gates.ts';
import { readKnownForge } from './read-known-forge.ts';
import { readOutsidePulls } from './read-outside-pulls.ts';
import { readRecalled, readUnheard } from './read-recalled.ts';
import { ownerOf } from './read-renewals.ts';
import { readSchedules, sightIn, toSeen } from './read-schedules.ts';
import { isRuleDue, readHook } from './read-set-up.ts';
import { isBaseNews, readSettings } from './read-settings-file.ts';
import { type TimelineMemory, TimelineReader } from './read-timelines.ts';
import { type LandingReading, TraceReader } from './read-traces.ts';
import { TwinReader } from './read-twins.ts';
import { ViewReader } from './read-views.ts';
import { type PatrolMemory, StatusPatrol } from './status-patrol.ts';

/** Enough for a batch, sixteen cuts and their retries in one pass. */
const FRESH_IDS_MAX = 40;

/** A merge takes a second or two; one that takes longer may have a reason that the pull request itself shows. */
const OWN_LOOK_AGE_MS = 3_000;

/** Reads the one picture of a pass. Whatever cannot be read is unknown; the first reason is kept for the outcome. */
export class SnapshotReader {
  readonly #forge: EngineForge;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #confirmBounce: ConfirmBounce;
  readonly #repo: ManagedRepo;
  readonly #commits: CommitReader;
  readonly #traces: TraceReader;
  readonly #base: BaseReader;
  readonly #gates: GateReader;
  readonly #patrol: StatusPatrol;
  readonly #timelines: TimelineReader;
  readonly #budget: LookBudget;
  readonly #queueName: string;
  readonly #twins: TwinReader;
  readonly #views: ViewReader;
  readonly #focus: FocusReader;
  #protection: Reading<BranchProtection | null> = UNKNOWN;
  #knownForge: Reading<KnownForge> | null = null;

  /** Of the last look: what could not be read, and whether it was cut short. */
  readonly reads: LookReads;
  readonly #tryRead: TryRead;
  /** Of the last look at everything; null: not all of it is known. */
  sight: ForgeSight | null = null;
  /** The last look at everything read the base, or saw that there is none: the repository is shown under its name. */
  isRepoSeen = false;

  constructor(
    deps: Pick<ReconcilerDeps, 'clock' | 'ids' | 'confirmBounce'> & {
      forge: EngineForge;
      queueName: string;
      mayRead: () => boolean;
      patrol: PatrolMemory;
      timelines: TimelineMemory;
    },
    repo: ManagedRepo,
  ) {
    this.#forge = deps.forge;
    this.#patrol = new StatusPatrol(deps.patrol);
    this.#timelines = new TimelineReader(deps.forge, deps.timelines);
    this.#clock = deps.clock;
    this.reads = new LookReads(deps.mayRead);
    this.#tryRead = this.reads.tryRead;
    this.#ids = deps.ids;
    this.#confirmBounce = deps.confirmBounce ?? 'adaptive';
    this.#repo = repo;
    this.#queueName = deps.queueName;
    this.#budget = new LookBudget(deps.clock, this.#tryRead);
    this.#twins = new TwinReader(deps.forge, repo, this.#tryRead);
    this.#views = new ViewReader({
      forge: deps.forge,
      baseBranch: repo.baseBranch,
      context: repo.statusContext,
      budget: this.#budget,
      twins: this.#twins,
      owner: ownerOf(repo),
      rules: repo,
      tryRead: this.#tryRead,
    });
    this.#commits = new CommitReader(deps.forge, this.#tryRead, repo.baseBranch);
    this.#focus = new FocusReader({
      clock: deps.clock,
      forge: deps.forge,
      baseBranch: repo.baseBranch,
      tryRead: this.#tryRead,
      checks: new CheckClock(deps.clock, repo.mergeStyle),
      commits: this.#commits,
      twins: this.#twins,
      views: this.#views,
      timelines: this.#timelines,
    });
    this.#traces = new TraceReader(deps.forge, this.#tryRead, this.#commits, this.#twins);
    this.#base = new BaseReader({ ...deps, commits: this.#commits, tryRead: this.#tryRead }, repo.baseBranch);
    this.#gates = new GateReader(deps.forge, deps.clock, this.#tryRead);
  }

  /** The last look had no time for some pull requests: another one goes on with them. */
  get isUnfinished(): boolean {
    return this.#budget.isSpent || this.#timelines.isUnfinished || this.#focus.isUnfinished;
  }

  /** Everything anew. An idle repo costs one list (and one page more per 50 open pull requests), one without any also its tip and its id. */
  async readAll(record: QueueRecord, fence: number): Promise<Snapshot> {
    const begunAt = this.#clock.now();
    this.reads.begin();
    const listed = await this.#tryRead(() => this.#forge.listOpenPullRequests());
    this.#budget.begin();
    this.#timelines.begin(record.forge?.version ?? null);
    const ofBase = mapKnown(listed, (all) => all.filter((pull) => pull.baseRef === this.#repo.baseBranch));
    const pulls = byUrgency(record, ofBase);
    if (listed.known) this.#twins.keep(listed.value, record);
    if (pulls.known) this.#focus.open = pulls.value;
    const schedules = pulls.known
      ? await readSchedules(
          this.#timelines,
          this.#clock,
          this.#budget.tryRead,
          record,
          pulls.value,
          countedLabels(withFile(this.#repo, record.settingsSeen)),
        )
      : null;
    const seen = toSeen(schedules ?? []);
    const isBusy = seen.some(({ isScheduled }) => isScheduled) || record.batches.length > 0;
    const tip = await this.#base.readTip(record, pulls);
    this.sight = sightIn(tip, schedules);
    this.isRepoSeen = tip.known;
    const needsBase = isBusy || isBaseNews(this.#repo, record, tip);
    if (isBusy) this.#knownForge = await readKnownForge(this.#forge, this.#clock, this.#tryRead, record);
    const nameInTheWay = await this.#readNameInTheWay(record);
    const ruled = record.ruledBranch;
    const isOwnBranchRuled =
      ruled === undefined ? undefined : await this.#tryRead(() => isBranchRuled(this.#forge, ruled));
    // Its owner is told of the rule before anything waits: it is looked at once.
    if (needsBase || isRuleDue(this.#repo, record, begunAt))
      this.#protection = await this.#tryRead(() => this.#forge.readProtection(this.#repo.baseBranch));
    const base = needsBase ? await this.#base.read(record, tip) : UNKNOWN;
    const file = await readSettings(this.#forge, this.#tryRead, this.#repo, {
      record,
      base,
      begunAt,
      clock: this.#clock,
    });
    const patrolled = this.#patrol.choose(record, seen, begunAt);
    const { views: listedViews, readings } = await this.#views.readAll(
      record,
      this.#protection,
      schedules ?? [],
      patrolled,
    );
    this.#patrol.noteRead(patrolled, listedViews, begunAt);
    const traces = await this.#traces.readDue(record, this.#clock.now());
    if (record.recall !== undefined || record.reread !== undefined) await this.#views.needBotLogin();
    const recalled = await readRecalled(this.#forge, this.#repo.baseBranch, this.#budget, record);
    const { baseBranch } = this.#repo;
    const views = await askHeld(this.#forge, baseBranch, this.#tryRead, record, listedViews, fence);
    const focus = await this.#focus.readNext(record);
    if (schedules !== null) await this.#focus.readDeparted(record, views, focus, fence);
    const isInFlight = record.batches.length > 0;
    if (pulls.known) await this.#timelines.goOn(pulls.value, this.#budget.tryRead, isInFlight);
    const rest = {
      ...(await this.#readBlockers(record, focus)),
      ...traces,
      ...(await readOutsidePulls(this.#forge, this.#tryRead, record, baseBranch, fence)),
      ...(await readUnheard(this.#forge, this.#tryRead, record, this.#clock.now())),
      ...(await readHook(this.#forge, this.#clock, this.#tryRead, { repo: this.#repo, record })),
      gates: await this.#gates.read(record),
    };
    return {
      ...this.#frame(fence, begunAt, { ...record, ...file }),
      ...file,
      ...recalled,
      ...(nameInTheWay === undefined ? {} : { nameInTheWay }),
      ...(listed.known && tip.known && tip.value === null ? { isBaseMissing: true } : {}),
      ...(isOwnBranchRuled === undefined ? {} : { isOwnBranchRuled }),
      full: true,
      tried: this.#views.tried,
      // A base that is known says that the forge answers: then what is unknown would be held against its pull request.
      base: this.reads.isCutShort ? UNKNOWN : base,
      pulls: schedules === null ? UNKNOWN : known(views),
      readings: schedules === null ? null : readings,
      focus,
      ...rest,
    };
  }

  /** Only what is in flight: the pull request that lands, and its base. The list is the one read before. */
  async readInFlight(
    record: QueueRecord,
    fence: number,
    before: Snapshot,
    withGates: boolean,
  ): Promise<Snapshot> {
    const begunAt = this.#clock.now();
    this.reads.begin();
    const { tip, ...landing } = await this.#readLanding(record);
    return {
      ...this.#frame(fence, begunAt, record),
      full: false,
      ...landing,
      ...(await this.#readBlockers(record, landing.focus)),
      base:
        baseFromFocus(record, landing.focus, this.#repo.baseBranch) ??
        (tip === null ? UNKNOWN : known(baseAt(record, tip))),
      pulls: before.pulls,
      readings: null,
      ...(await readUnheard(this.#forge, this.#tryRead, record, this.#clock.now())),
      gates: withGates ? await this.#gates.read(record) : new Map(),
    };
  }

  async #readNameInTheWay({ nameInTheWay: known }: QueueRecord): Promise<Snapshot['nameInTheWay']> {
    if (known === undefined) return undefined;
    const { branches, isNamesake } = known;
    const forge = this.#forge;
    return this.#tryRead(() =>
      isNamesake ? forge.findNamesake(this.#repo.baseBranch) : forge.findRefInTheWay(branches),
    );
  }

  /** Why the merge that is awaited may not come: rule, reviews, checks, files and dependencies, all read anew, and what is taken for the base. */
  async #readBlockers(
    record: QueueRecord,
    focus: Snapshot['focus'],
  ): Promise<Partial<Pick<Snapshot, 'blockers' | 'protection' | 'namesake' | 'keptHead'>>> {
    const { pr, scheduledBy } = landingOf(record) ?? {};
    if (pr === undefined || !isBlockerLookDue(record, this.#clock.now())) return {};
    const seen = focus.get(pr);
    if (seen?.known !== true || seen.value.pull.merged) return {};
    const { baseBranch } = this.#repo;
    const namesake = await this.#tryRead(() => this.#forge.findNamesake(baseBranch));
    const keptHead = await this.#tryRead(() => this.#forge.readKeptHead(pr));
    this.#protection = await this.#tryRead(() => this.#forge.readProtection(baseBranch));
    const protection = this.#protection;
    if (!protection.known || protection.value === null)
      return { namesake, keptHead, protection, blockers: UNKNOWN };
    this.#budget.begin();
    return {
      namesake,
      keptHead,
      protection,
      blockers: known(await this.#views.readAnew(protection.value, seen.value.pull, scheduledBy)),
    };
  }

  #frame(fence: number, begunAt: EpochMs, { settingsSeen }: Pick<QueueRecord, 'settingsSeen'>) {
    return {
      now: this.#clock.now(),
      begunAt,
      fence,
      repo: withFile(this.#repo, settingsSeen),
      queueName: this.#queueName,
      botLogin: this.#views.botLogin,
      ids: Array.from({ length: FRESH_IDS_MAX }, () => this.#ids.uuid()),
      protection: this.#protection,
      confirmBounce: this.#confirmBounce,
      ...(this.#focus.gone.size === 0 ? {} : { gone: new Set(this.#focus.gone) }),
      ...(this.#focus.merged === null ? {} : { merged: this.#focus.merged }),
      ...(this.#knownForge === null ? {} : { forge: this.#knownForge }),
    };
  }

  /**
   * A merge that is awaited, seen without asking for it: the pull request behind it shows the live tip of the base and
   * is to be looked at next anyway; behind the last one the branch itself shows its tip and all parents since. Only
   * where that tip is strange, or stays what it was, is the one that lands read itself.
   */
  async #readLanding(record: QueueRecord): Promise<LandingReading> {
    const landing = landingOf(record);
    if (landing === null || landing.postedAt === null || landing.takeBack !== null)
      return this.#readNext(record);
    // The tip alone does not say which of them was merged.
    if (this.#twins.ofLanding(record).length > 0) return this.#readNext(record);
    const behind = nextBehindLanding(record);
    const focus = new Map<PullRequestNumber, Reading<FocusView>>();
    let history: History | null = null;
    let tip: CommitSha | null = null;
    if (behind === null) {
      history = await this.#commits.readHistory(record, branchRef(this.#repo.baseBranch), landing.baseBefore);
      tip = history?.tip ?? null;
    } else {
      const view = await this.#focus.readOne(record, behind);
      focus.set(behind, view);
      tip = tipFromPull(view, this.#repo.baseBranch);
    }
    if (tip === landing.baseBefore && this.#clock.now() - landing.postedAt < OWN_LOOK_AGE_MS)
      return { ownMerge: 'not_yet', focus, tip };
    const tree = tip === null || tip === landing.baseBefore ? UNKNOWN : await this.#commits.readTreeId(tip);
    if (tip === null || !tree.known || tree.value !== landing.tree) return this.#readNext(record);
    const stands = history === null ? null : await this.#commits.contains(history, tip, landing.baseBefore);
    if (stands !== null && !stands.known) return this.#readNext(record);
    // The tree does not say whose merge it is: a twin may have appeared since the post.
    const traces =
      history === null ? {} : await this.#traces.readWith(record, landing, history, this.#clock.now());
    if (traces === null) return this.#readNext(record);
    this.#base.noteLanding(tip);
    const ownMerge = { commit: { sha: tip, tree: tree.value }, standsOnTip: stands?.value ?? null };
    return { ownMerge, focus, tip, ...traces };
  }

  /** Who lands, or is next to, itself; and the history below what landed, once no landing follows at once. */
  async #readNext(record: QueueRecord): Promise<LandingReading> {
    const traces = await this.#traces.readDue(record, this.#clock.now());
    const focus = await this.#focus.readNext(record);
    return { ownMerge: null, focus, tip: null, ...traces };
  }
}
