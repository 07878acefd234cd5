import type { PullRequest } from '#core/domain/forge/forge.ts';
import { mergesIntoTag } from '#core/domain/forge/forge-version.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import { landingOf } from '../queue/batches/pipeline.ts';
import { givenUpOf } from '../queue/landing/given-up.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { FocusView, PullRequestView } from '../queue/snapshot.ts';
import type { CheckClock } from './check-clock.ts';
import { isBehindOldTip, isMergedForAnother, isNextToPost, nextPullRequest } from './landing-view.ts';
import type { TryRead } from './look-reads.ts';
import type { CommitReader } from './read-commits.ts';
import { readOwnRun } from './read-own-run.ts';
import { readOrNone } from './read-pull.ts';
import { isUntouched, readKnownSchedule } from './read-schedules.ts';
import type { TimelineReader } from './read-timelines.ts';
import type { TwinReader } from './read-twins.ts';
import type { ViewReader } from './read-views.ts';

/** Of those that left the open list, one look reads so many, and for so long: two calls for each that was merged past the queue. */
const DEPARTED_READS_MAX = 20;
const DEPARTED_MS_MAX = 5_000;

export interface FocusDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly forge: EngineForge;
  readonly baseBranch: string;
  readonly tryRead: TryRead;
  readonly checks: CheckClock;
  readonly commits: CommitReader;
  readonly twins: TwinReader;
  readonly views: ViewReader;
  readonly timelines: TimelineReader;
}

type Focus = Map<PullRequestNumber, Reading<FocusView>>;

/** Pull requests that are read one by one: the one that lands or is next to, and those that left the open list. */
export class FocusReader {
  readonly #deps: FocusDeps;
  /** Open pull requests by the last look at all. */
  open: readonly PullRequest[] = [];
  /** Those that the forge says do not exist. */
  readonly gone = new Set<PullRequestNumber>();
  /** Merged the latest, where the base has moved while one lands that is not merged; null: not looked for. */
  merged: Reading<readonly PullRequest[]> | null = null;

  #isUnfinished = false;
  /** Departed ones that a look of this reconcile has asked for. */
  readonly #asked = new Set<PullRequestNumber>();

  constructor(deps: FocusDeps) {
    this.#deps = deps;
  }

  /** The one that lands or is next to, and its twins. */
  async readNext(record: QueueRecord): Promise<Focus> {
    const { twins } = this.#deps;
    const focus: Focus = new Map();
    const next = nextPullRequest(record);
    if (next !== null) focus.set(next, await this.readOne(record, next));
    this.merged = isMergedForAnother(record, focus) ? await twins.readMerged() : null;
    for (const twin of twins.ofLanding(record)) focus.set(twin, await this.readOne(record, twin));
    return focus;
  }

  /** The last look left some that have departed for the next one. */
  get isUnfinished(): boolean {
    return this.#isUnfinished;
  }

  /**
   * Those of the queue that left the open list, some in each look: a call may take ten seconds, and nothing else waits for them. Those
   * that no look of this reconcile has asked for come first, and the next reconcile, which has another fence, begins with another one.
   *
   * @param focus - They are added to it.
   */
  async readDeparted(
    record: QueueRecord,
    views: readonly PullRequestView[],
    focus: Focus,
    fence: number,
  ): Promise<void> {
    const open = new Set(views.map((view) => view.pull.number));
    const departed = record.entries.map(({ pr }) => pr).filter((pr) => !open.has(pr) && !focus.has(pr));
    const first = departed.length === 0 ? 0 : fence % departed.length;
    const { clock } = this.#deps;
    const until = clock.monotonic() + DEPARTED_MS_MAX;
    const rotated = [...departed.slice(first), ...departed.slice(0, first)];
    const inTurn = [
      ...rotated.filter((pr) => !this.#asked.has(pr)),
      ...rotated.filter((pr) => this.#asked.has(pr)),
    ];
    let hasRead = false;
    this.#isUnfinished = false;
    for (const [count, pr] of inTurn.entries()) {
      if (count >= DEPARTED_READS_MAX || clock.monotonic() >= until) {
        // Not where each of them fails, nor for those that were read and are in the queue still.
        this.#isUnfinished = hasRead && !this.#asked.has(pr);
        break;
      }
      this.#asked.add(pr);
      const view = await this.readOne(record, pr);
      focus.set(pr, view);
      hasRead ||= view.known;
    }
  }

  async readOne(record: QueueRecord, pr: PullRequestNumber): Promise<Reading<FocusView>> {
    const { forge, baseBranch, tryRead } = this.#deps;
    const pull = await tryRead(() => readOrNone(forge, baseBranch, pr));
    this.gone.delete(pr);
    if (pull.known && pull.value !== null) {
      const { merged } = pull.value;
      return merged ? this.#describeMerged(record, pull.value) : this.#describeOpen(record, pull.value);
    }
    if (pull.known) this.gone.add(pr);
    return UNKNOWN;
  }

  async #describeMerged(record: QueueRecord, pull: PullRequest): Promise<Reading<FocusView>> {
    const { number, headSha, mergeCommitSha } = pull;
    const inBatch =
      record.batches.some(({ members }) => members.some(({ pr }) => pr === number)) ||
      landingOf(record)?.head === headSha;
    const late = landingOf(record)?.pr === number ? undefined : givenUpOf(record, pull);
    const isOurs = inBatch || late !== undefined;
    const merge =
      !isOurs || mergeCommitSha === null
        ? null
        : await this.#deps.commits.readMerge(mergeCommitSha, late?.baseBefore ?? record.tip ?? undefined);
    const { forge, tryRead } = this.#deps;
    const statuses = isOurs ? undefined : await tryRead(() => forge.readStatuses(headSha));
    return known({
      pull,
      schedule: null,
      merge,
      strangeTip: null,
      ...(statuses === undefined ? {} : { statuses }),
    });
  }

  async #describeOpen(record: QueueRecord, pull: PullRequest): Promise<Reading<FocusView>> {
    const { forge, baseBranch, tryRead, checks, commits, views } = this.#deps;
    const { number: pr, baseTip } = pull;
    const tip = record.tip ?? undefined;
    const cached = record.readings.find((reading) => reading.pr === pr);
    const schedule = await this.#readSchedule(record, pull);
    const mergeable = pull.mergeable && checks.mayBeAbout(record, baseTip, this.open.length);
    const mayPost = mergeable && isNextToPost(record, pull);
    const last = mayPost ? await views.readLast(pull, schedule, cached) : {};
    const ownRun = mayPost ? await readOwnRun(this.#deps, record, pr, this.open) : {};
    const tag =
      mayPost && mergesIntoTag(record.forge?.version ?? null)
        ? { isBaseTagged: await tryRead(() => forge.hasTag(baseBranch)) }
        : {};
    const isStrange = landingOf(record)?.pr === pr && tip !== undefined && baseTip !== tip;
    const strangeTip = isStrange ? await commits.readMerge(baseTip, tip) : null;
    return known({
      pull: { ...pull, mergeable },
      schedule,
      merge: null,
      strangeTip,
      ...last,
      ...ownRun,
      ...tag,
    });
  }

  /** Null: nothing has touched it since it was read, or nothing follows from it yet. */
  async #readSchedule(record: QueueRecord, pull: PullRequest): Promise<FocusView['schedule']> {
    const { timelines, tryRead } = this.#deps;
    const cached = record.readings.find((reading) => reading.pr === pull.number);
    const isUnchanged = cached !== undefined && isUntouched(cached, pull);
    if (isUnchanged || isBehindOldTip(record, pull)) return null;
    const timeline = await tryRead(() => timelines.read(pull));
    return timeline.known && timeline.value !== null
      ? readKnownSchedule(record, pull, timeline.value)
      : UNKNOWN;
  }
}
