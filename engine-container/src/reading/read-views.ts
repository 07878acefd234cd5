import type { BranchProtection, CommitStatus, PullRequest } from '#core/domain/forge/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import type { ScheduleRules } from '#core/domain/repos/schedule-rules.ts';
import { known, mapKnown, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { isOpened, needsReviews, otherContexts, outsideOf } from '../queue/admission/admission.ts';
import type { PullRequestReading } from '../queue/admission/readings.ts';
import { type CountedReviews, summarize } from '../queue/admission/reviews.ts';
import { asksApproval, asksTeams, countedBots } from '../queue/admission/schedule-breach.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { FocusView, PullRequestView } from '../queue/snapshot.ts';
import { isPromised } from '../queue/words/gone-words.ts';
import { unlessGone } from './is-gone.ts';
import type { LookBudget } from './look-budget.ts';
import type { TryRead } from './look-reads.ts';
import { NamedTeams } from './named-teams.ts';
import { isAnyProtected, nameOfQuestion } from './protected-change.ts';
import { RenewalReader } from './read-renewals.ts';
import { RightsReader } from './read-rights.ts';
import { labelsOf, type ReadPullRequest } from './read-schedules.ts';
import type { TwinReader } from './read-twins.ts';

/** Id of its own schedule, or of one that the head moved away from; 0: none. */
function scheduleIdOf({ schedule }: PullRequestReading): number {
  return schedule.kind === 'none' ? 0 : schedule.id;
}

function viewOf(counted: Reading<CountedReviews> | null): Pick<PullRequestView, 'reviews' | 'approvedBy'> {
  if (counted === null || !counted.known) return { reviews: counted };
  const { reviews, ...approvals } = counted.value;
  return { reviews: known(reviews), ...approvals };
}

export interface ViewDeps {
  readonly forge: EngineForge;
  readonly baseBranch: string;
  readonly context: string;
  readonly tryRead: TryRead;
  readonly budget: LookBudget;
  readonly twins: TwinReader;
  /** The account that the repository belongs to. */
  readonly owner: string;
  readonly rules: ScheduleRules;
}

/** The facts that admission needs of one pull request beside its schedule, as far as the rule asks for it. */
export class ViewReader {
  readonly #forge: EngineForge;
  readonly #baseBranch: string;
  readonly #context: string;
  readonly #tryRead: TryRead;
  readonly #budget: LookBudget;
  readonly #twins: TwinReader;
  readonly #rights: RightsReader;
  readonly #renewals: RenewalReader;
  readonly #rules: ScheduleRules;
  readonly #teams: NamedTeams;
  /** Accounts whose approvals are told apart. */
  readonly #bots: readonly string[];
  readonly #tried = new Set<PullRequestNumber>();
  #botLogin: Reading<string> = UNKNOWN;

  constructor(deps: ViewDeps) {
    this.#forge = deps.forge;
    this.#baseBranch = deps.baseBranch;
    this.#context = deps.context;
    this.#tryRead = deps.tryRead;
    this.#budget = deps.budget;
    this.#twins = deps.twins;
    this.#rules = deps.rules;
    this.#teams = new NamedTeams(deps);
    this.#rights = new RightsReader(deps);
    this.#bots = countedBots(deps.rules);
    this.#renewals = new RenewalReader({
      forge: deps.forge,
      budget: deps.budget,
      owner: deps.owner,
      rules: deps.rules,
      teams: this.#teams,
      mayWrite: (login) => this.#rights.mayWrite(login),
      botLogin: async () => {
        await this.needBotLogin();
        return this.#botLogin;
      },
    });
  }

  get botLogin(): Reading<string> {
    return this.#botLogin;
  }

  /** Those whose statuses were asked for in this reconcile, answered or not. */
  get tried(): ReadonlySet<PullRequestNumber> {
    return this.#tried;
  }

  async needBotLogin(): Promise<void> {
    if (!this.#botLogin.known) this.#botLogin = await this.#tryRead(() => this.#forge.readBotLogin());
  }

  /** All of the open list, and what of it is kept for the next look. */
  async readAll(
    record: QueueRecord,
    rule: Reading<BranchProtection | null>,
    scheduled: readonly ReadPullRequest[],
    patrolled: readonly PullRequest[],
  ): Promise<{ readonly views: PullRequestView[]; readonly readings: PullRequestReading[] }> {
    const views: PullRequestView[] = [];
    const readings: PullRequestReading[] = [];
    for (const listed of scheduled) {
      const each = await this.#renew(record, rule, listed);
      const view = await this.#read(record, rule, each, patrolled.includes(each.pull));
      views.push(view);
      if (each.reading.known) readings.push(this.#keep(each.reading.value, rule, view));
    }
    return { views, readings };
  }

  async #renew(
    record: QueueRecord,
    rule: Reading<BranchProtection | null>,
    listed: ReadPullRequest,
  ): Promise<ReadPullRequest> {
    const { pull, reading } = listed;
    if (!reading.known) return listed;
    const isOutside = async (): Promise<Reading<boolean>> => {
      const author = await this.#readAuthorWrites(pull, reading.value.authorWrites);
      return author?.known === false ? author : known(outsideOf(pull, author) !== null);
    };
    const asked = { pull, rule: rule.known ? rule.value : null, isOutside };
    const read = await this.#renewals.read(record, reading.value, asked);
    if (!read.known || read.value.reviews === reading.value.reviews) return { pull, reading: read };
    return { pull, reading: known(this.#withBots(read.value)) };
  }

  /** Reviews that were counted with other bots are counted anew. */
  #withBots({ reviewBots: _, ...reading }: PullRequestReading): PullRequestReading {
    const reviewBots = this.#bots.join(' ');
    return reviewBots === '' ? reading : { ...reading, reviewBots };
  }

  #cachedReviews({ reviews, approvedBy, reviewBots = '' }: PullRequestReading): CountedReviews | null {
    if (reviews === null || reviewBots !== this.#bots.join(' ')) return null;
    return { reviews, ...(approvedBy === undefined ? {} : { approvedBy }) };
  }

  async #read(
    record: QueueRecord,
    rule: Reading<BranchProtection | null>,
    { pull, reading }: ReadPullRequest,
    isPatrolled: boolean,
  ): Promise<PullRequestView> {
    const schedule: PullRequestView['schedule'] = mapKnown(reading, ({ schedule }) => schedule);
    const protection = rule.known ? rule.value : null;
    const isScheduled = schedule.known && schedule.value.kind !== 'none';
    const labels = labelsOf(reading);
    // A success may stand on a head from before this pull request was, and opens it the moment that it is scheduled.
    const isNews =
      isUntried(record, pull.number) ||
      (reading.known && reading.value.checkedFor !== scheduleIdOf(reading.value));
    if (!isScheduled || protection === null) {
      const statuses = isPatrolled || isNews ? await this.#readStatuses(pull) : null;
      // Words of the queue that are untrue are replaced; words of another account are not.
      if (statuses?.known === true && isPromised(statuses.value, this.#context)) await this.needBotLogin();
      return { pull, schedule, reviews: null, statuses, ...labels };
    }
    let counted: Reading<CountedReviews> | null = null;
    const cachedAuthor = reading.known ? reading.value.authorWrites : undefined;
    const authorWrites = await this.#readAuthorWrites(pull, cachedAuthor);
    const isByBot = schedule.known && asksApproval(this.#rules, schedule.value);
    const isBlocked = record.entries.some(
      (entry) => entry.pr === pull.number && entry.head === pull.headSha && entry.isBlocked,
    );
    const isHidden = isBlocked && protection.scope === 'summary';
    if (isHidden || isByBot || needsReviews(protection, outsideOf(pull, authorWrites) !== null)) {
      // A review that is deleted leaves no trace.
      const cached = reading.known && !isBlocked ? this.#cachedReviews(reading.value) : null;
      counted = cached === null ? await this.#countReviews(pull) : known(cached);
    }
    const isUnread = record.rebuilding || record.unread?.includes(pull.number) === true;
    const isAsked = isUnread || isBlocked || otherContexts(protection, this.#context).length > 0;
    if (isAsked) await this.needBotLogin();
    const statuses = isAsked || isPatrolled || isNews ? await this.#readStatuses(pull) : null;
    const opensAnother = await this.#twins.opensAnother(pull);
    const author = authorWrites === undefined ? {} : { authorWrites };
    const { by } = schedule.value;
    const scheduler = isBlocked ? await this.#rights.readMerger(this.#teams, protection, by) : {};
    const place = asksTeams(this.#rules, by) ? { teamPlace: await this.#teams.find(by) } : {};
    const blocks = await this.#readBlocks(
      protection,
      pull,
      isBlocked || !reading.known ? null : reading.value,
    );
    return {
      pull,
      schedule,
      ...viewOf(counted),
      statuses,
      opensAnother,
      ...author,
      ...scheduler,
      ...place,
      ...blocks,
      ...labels,
    };
  }

  /** Right before its `success`: what may have changed without a trace on the pull request itself. */
  async readLast(
    pull: PullRequest,
    told: FocusView['schedule'],
    cached: PullRequestReading | undefined,
  ): Promise<Pick<FocusView, 'opensAnother' | 'approvals'>> {
    const opensAnother = await this.#twins.opensAnotherNow(pull);
    const schedule = told?.known === true ? told.value : cached?.schedule;
    const authorWrites = await this.#readAuthorWrites(pull, cached?.authorWrites);
    if (authorWrites?.known === false) return { opensAnother, approvals: UNKNOWN };
    const outside = outsideOf(pull, authorWrites);
    const isByBot = schedule !== undefined && asksApproval(this.#rules, schedule);
    if (outside === null && !isByBot) return { opensAnother };
    const counted = await this.#countReviews(pull, this.#tryRead);
    return { opensAnother, approvals: mapKnown(counted, (count) => ({ ...count, outside })) };
  }

  /**
   * All that may keep the forge from merging it, whatever was read of it before.
   *
   * @param scheduler who scheduled it; undefined: not known
   */
  async readAnew(
    rule: BranchProtection,
    pull: PullRequest,
    scheduler: string | undefined,
  ): Promise<PullRequestView> {
    const counted = await this.#countReviews(pull);
    const statuses = await this.#readStatuses(pull);
    return {
      pull,
      schedule: UNKNOWN,
      ...viewOf(counted),
      statuses,
      ...(await this.#rights.readMerger(this.#teams, rule, scheduler)),
      ...(await this.#readBlocks(rule, pull, null)),
    };
  }

  /** Files and dependencies, as far as the rule and the timeline speak of them; without a reading, asked anyway. */
  async #readBlocks(
    { protectedFilePatterns: patterns = [] }: BranchProtection,
    pull: PullRequest,
    reading: PullRequestReading | null,
  ): Promise<Pick<PullRequestView, 'touchesProtected' | 'dependencies'>> {
    const files =
      patterns.length === 0
        ? {}
        : { touchesProtected: await this.#readTouchesProtected(patterns, pull, reading) };
    if (reading !== null && reading.mayDepend !== true) return files;
    // A dependency is closed without a trace on the pull request.
    const isClear = reading?.openDependencies === 0;
    const dependencies = isClear
      ? known({ open: 0, hidden: 0 })
      : await this.#budget.tryRead(() => this.#forge.countDependencies(pull.number));
    return { ...files, dependencies };
  }

  async #readTouchesProtected(
    patterns: readonly string[],
    pull: PullRequest,
    reading: PullRequestReading | null,
  ): Promise<Reading<boolean>> {
    const kept = reading?.protectedFiles;
    if (kept?.patterns === nameOfQuestion(patterns, pull.mergeBase)) return known(kept.touched);
    return this.#budget.tryRead(async () =>
      isAnyProtected(await this.#forge.listChangedFiles(pull.number), patterns),
    );
  }

  #countReviews(
    { number, headSha }: PullRequest,
    tryRead: TryRead = this.#budget.tryRead,
  ): Promise<Reading<CountedReviews>> {
    return tryRead(async () =>
      summarize(await this.#forge.listReviews(number), headSha, { bots: this.#bots }),
    );
  }

  /** Unknown, and no failure, where the repository does not have the head: its author may bring that about (forge facts, 3.4). */
  async #readStatuses({ number, headSha }: PullRequest): Promise<Reading<readonly CommitStatus[]>> {
    const read = await this.#budget.tryRead(() => {
      this.#tried.add(number);
      return unlessGone(this.#forge, this.#baseBranch, () => this.#forge.readStatuses(headSha));
    });
    const statuses = read.known && read.value !== null ? known(read.value) : UNKNOWN;
    // Only then does it matter who wrote it.
    if (statuses.known && isOpened(statuses.value, this.#context)) await this.needBotLogin();
    return statuses;
  }

  /** Who pushed the head of a fork or by AGit need not be able to write here: nothing hangs on their author. */
  async #readAuthorWrites(
    pull: PullRequest,
    cached: boolean | undefined,
  ): Promise<Reading<boolean> | undefined> {
    if (outsideOf(pull, undefined) !== null) return undefined;
    if (cached !== undefined) return known(cached);
    return this.#rights.mayWrite(pull.author);
  }

  /** The part that is still true at the next look, while nothing touches the pull request. */
  #keep(
    reading: PullRequestReading,
    rule: Reading<BranchProtection | null>,
    {
      pull: { mergeBase },
      reviews,
      approvedBy,
      statuses,
      authorWrites,
      touchesProtected,
      dependencies,
    }: PullRequestView,
  ): PullRequestReading {
    const isChecked = statuses?.known === true && !isOpened(statuses.value, this.#context);
    const patterns = rule.known ? (rule.value?.protectedFilePatterns ?? []) : [];
    const { approvedBy: _, ...rest } = this.#withBots(reading);
    return {
      ...rest,
      reviews: reviews?.known === true ? reviews.value : null,
      ...(approvedBy === undefined ? {} : { approvedBy }),
      ...(isChecked ? { checkedFor: scheduleIdOf(reading) } : {}),
      // Rights are given without an event, so that one who has none is asked for at each look, once for each author.
      ...(authorWrites?.known === true && authorWrites.value ? { authorWrites: true } : {}),
      ...(dependencies?.known === true ? { openDependencies: dependencies.value.open } : {}),
      ...(touchesProtected?.known === true
        ? {
            protectedFiles: {
              patterns: nameOfQuestion(patterns, mergeBase),
              touched: touchesProtected.value,
            },
          }
        : {}),
    };
  }
}

/** No look has come to it since the record may have been put back. */
function isUntried({ reread }: QueueRecord, pr: PullRequestNumber): boolean {
  return reread !== undefined && (reread.untried?.includes(pr) ?? true);
}
