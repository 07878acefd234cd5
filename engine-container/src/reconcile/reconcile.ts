import { LOG_TAIL_LINES_MAX } from '#core/domain/api-limits.ts';
import type { EpochMs } from '#core/domain/ids.ts';
import { RECONCILE_BUDGET_MS, RECONCILE_PASSES_MAX, WAKE_DELAY_MS_MAX } from '#core/domain/limits.ts';
import type { ManagedRepo, ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import type { ForgeSight } from '#core/domain/wakes/forge-sight.ts';
import type { HeldLease } from '#core/domain/wakes/lease.ts';
import { earlier } from '#core/domain/wakes/wake-rule.ts';
import { type EngineForge, ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import { StoreError } from '#core/ports/store.ts';
import type { ReconcileRequest } from '#core/ports/system.ts';
import { type Action, type ActionOutcome, isStaging } from '../queue/actions.ts';
import { decide } from '../queue/decide.ts';
import { fold } from '../queue/fold.ts';
import { forgetUnsent } from '../queue/landing/unsent.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { Snapshot } from '../queue/snapshot.ts';
import { Looks } from '../reading/looks.ts';
import { SnapshotReader } from '../reading/read-snapshot.ts';
import { AnotherRepo, RepoIdentity } from '../reading/repo-identity.ts';
import { toldSettings } from '../reading/settings-changes.ts';
import { RepoObjects } from '../staging/repo-objects.ts';
import { StagedTreeMismatch } from '../staging/stage-trees.ts';
import { RecordKeeper } from '../stored-record/record-keeper.ts';
import { afterFailure, isOfEverything, isTakingBack } from './action-kinds.ts';
import { adoptRecord, withLearned } from './adopt-record.ts';
import type { EngineMemory, RepoDirectories } from './engine-memory.ts';
import { codeOfForge, codeOfStore } from './error-code.ts';
import { findRuledBranch } from './find-ruled-branch.ts';
import { isRefusedAlone } from './is-refused-alone.ts';
import { perform, queuePageFor } from './perform.ts';
import type { MeasuredDeps } from './reconciler-deps.ts';
import { type Refused, readRefusal, wakeAfter, withArchive } from './refusal-cause.ts';
import { seenByRecord } from './seen-by-record.ts';
import { SteadyClock } from './steady-clock.ts';
import { takeBackUnrecorded } from './take-back.ts';
import type { RaisedAlarm, ToldAlarms } from './told-alarms.ts';

/** Time kept back at the end of a reconcile for storing what was done. */
const WRAP_UP_MS = 2_000;

/** One reconcile: looks, decisions and actions, until there is nothing to do at once. */
export class Reconcile {
  readonly #deps: MeasuredDeps;
  readonly #clock: SteadyClock;
  readonly #repo: ManagedRepo;
  readonly #held: HeldLease;
  readonly #queueName: string;
  readonly #forge: EngineForge;
  readonly #objects: RepoObjects;
  readonly #memory: RepoDirectories;
  readonly #deadline: number;
  readonly #keeper: RecordKeeper;
  readonly #alarms: ToldAlarms;
  #errorCode: ReconcileErrorCode | null = null;
  #lookCode: ReconcileErrorCode | null = null;
  #refused: Refused = {};
  #isRepoSeen = false;
  #wakeAt: EpochMs | null = null;
  #sight: ForgeSight | null = null;
  /** The forge asked not to be called before. */
  #retryAt: EpochMs | null = null;
  #takesAllBack = false;
  #hasActed = false;
  readonly #identity = new RepoIdentity();
  readonly #logTail: string[] = [];

  constructor(
    deps: MeasuredDeps,
    request: ReconcileRequest,
    repo: ManagedRepo,
    held: HeldLease,
    memory: EngineMemory,
  ) {
    this.#clock = new SteadyClock(deps.clock, memory.engine);
    this.#deps = { ...deps, clock: this.#clock };
    this.#repo = repo;
    this.#held = held;
    this.#queueName = request.queueName;
    this.#deadline = this.#clock.monotonic() + RECONCILE_BUDGET_MS;
    const { onCall, onAnswer } = deps.spent;
    this.#forge = this.#identity.guard(deps.forgeFor(request, held, () => this.#mayRead(), onCall, onAnswer));
    this.#memory = memory.open(repo);
    this.#alarms = memory.alarms;
    this.#objects = new RepoObjects(this.#forge, this.#memory, () => this.#isOutOfTime());
    const own = memory.recordOf(repo.id);
    this.#keeper = new RecordKeeper({ ...deps, clock: this.#clock, repo, held, memory: own });
  }

  /** Null when all went well. Whatever happens, a report is left for the worker (A48). */
  async run(): Promise<ReconcileErrorCode | null> {
    try {
      await this.#work();
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'too_large') await this.#takeBack();
      this.#errorCode = this.#classify(error);
    }
    const ended = { code: this.#errorCode, lookCode: this.#lookCode, wakeAt: this.#wakeAt };
    this.#wakeAt = wakeAfter(ended, this.#keeper.saved, this.#clock.now());
    if (this.#retryAt !== null) this.#wakeAt = Math.max(this.#wakeAt ?? 0, this.#retryAt);
    this.#deps.spent.close(this.#keeper.saved.batches);
    try {
      await this.#deps.store.saveReport(this.#held, {
        fence: this.#held.fence,
        at: this.#deps.clock.now(),
        errorCode: this.#errorCode,
        ...withArchive(this.#refused, this.#keeper.saved),
        wakeAt: this.#wakeAt,
        logTail: this.#logTail.slice(-LOG_TAIL_LINES_MAX),
        ...seenByRecord(this.#keeper.saved),
        ...(this.#sight === null ? {} : { sight: this.#sight }),
      });
    } catch (error) {
      this.#errorCode ??= this.#classify(error);
    }
    return this.#errorCode;
  }

  /** Before anything is told: what stands now could not be watched. */
  async #takeBack(): Promise<void> {
    this.#takesAllBack = true;
    const ok = await takeBackUnrecorded(this.#forge, this.#repo.baseBranch, this.#keeper.posted);
    this.#tell([], [{ name: 'record_too_large', pr: null, ok }]);
    await this.#keeper.saveDone(this.#deps.clock.now());
    // It fits no better a moment later: a look too early would only cost calls.
    this.#wakeAt = this.#deps.clock.now() + WAKE_DELAY_MS_MAX;
  }

  async #work(): Promise<void> {
    if ((await this.#keeper.load(this.#deps.clock.now())) === 'unreadable') {
      this.#deps.log.error('queue record unreadable, set aside', { repo_id: this.#repo.id });
      await this.#deps.store.quarantineQueueRecord(this.#held);
      this.#errorCode = 'engine_error';
      return;
    }
    await this.#passes();
  }

  async #passes(): Promise<void> {
    const { clock, store } = this.#deps;
    const reader = this.#openReader();
    const looks = new Looks({ clock, reader, repo: this.#repo, fence: this.#held.fence, store });
    const { log } = this.#deps;
    let record = adoptRecord(this.#keeper.saved, this.#knowledge, { log, repoId: this.#repo.id });
    let refresh = true;
    let nextStartAt: EpochMs | null = null;
    for (let pass = 0; pass < RECONCILE_PASSES_MAX; pass += 1) {
      const snapshot = await looks.look(record, refresh);
      if (snapshot === null) {
        this.#wakeAt = clock.now();
        break;
      }
      this.#keeper.tellBy(snapshot.repo);
      if (snapshot.full) {
        this.#sight = reader.sight;
        this.#isRepoSeen = reader.isRepoSeen;
      }
      const failure = reader.reads.takeFailure();
      // What a look at all of it failed on is not mended because one at what is in flight asks for less.
      if (snapshot.full || failure !== null)
        this.#lookCode = failure === null ? null : this.#classify(failure);
      this.#errorCode = this.#lookCode;
      // The rest of a later look is only left for the next reconcile.
      if (pass === 0 && reader.reads.isCutShort) this.#errorCode ??= 'timeout';
      const decision = decide(snapshot, record);
      record = decision.record;
      this.#errorCode ??= decision.errorCode;
      // Only a full look says when the next batch may start.
      if (snapshot.full) nextStartAt = decision.nextStartAt;
      this.#wakeAt = earlier(decision.wakeAt, nextStartAt);
      this.#tell(decision.log, decision.alarms);
      this.#keeper.close(decision.closedBatches);
      this.#keeper.collect(decision.events, snapshot.now);
      await this.#keeper.save(record, snapshot.now);
      const result = await this.#performAll(snapshot, record, decision.actions);
      record = result.record;
      this.#keeper.noteDone(record);
      if (result.ended === 'failed' || this.#retryAt !== null) break;
      const isReadInPart = reader.isUnfinished || reader.reads.isCutShort;
      const wantedMs = isReadInPart ? 0 : decision.pollMs;
      if (result.ended === null && wantedMs === null) break;
      const pollMs = wantedMs ?? 0;
      const isLate = clock.monotonic() + pollMs > this.#deadline || this.#held.isPastDeadline();
      const isLast = pass + 1 === RECONCILE_PASSES_MAX;
      if (result.ended === 'unfinished' || isLate || isLast || reader.reads.isCutShort) {
        // Work is left: the next wake goes on from what is stored and read.
        this.#wakeAt = clock.now();
        break;
      }
      refresh = decision.refresh || reader.isUnfinished || result.refresh;
      if (pollMs > 0) await clock.sleep(pollMs);
    }
    await this.#keeper.save(withLearned(record, this.#knowledge), clock.now());
  }

  get #knowledge() {
    return { identity: this.#identity, memory: this.#memory, clock: this.#clock };
  }

  #openReader(): SnapshotReader {
    const forge = this.#forge;
    const queueName = this.#queueName;
    const mayRead = () => this.#mayRead();
    const { patrol, timelines } = this.#memory;
    return new SnapshotReader({ ...this.#deps, forge, queueName, patrol, timelines, mayRead }, this.#repo);
  }

  async #performAll(
    snapshot: Snapshot,
    start: QueueRecord,
    actions: readonly Action[],
  ): Promise<{ record: QueueRecord; refresh: boolean; ended: 'failed' | 'unfinished' | null }> {
    let record = start;
    let refresh = false;
    let ended: 'failed' | 'unfinished' | null = null;
    let isOver = false;
    for (const action of actions) {
      // What takes a success back waits behind nothing that fails or has no end.
      if (isOver && !isTakingBack(action)) {
        record = forgetUnsent(record, action);
        continue;
      }
      this.#keeper.noteDone(record);
      if (this.#isLeftForLater(action)) {
        record = forgetUnsent(record, action);
        ended = 'unfinished';
        isOver = true;
        continue;
      }
      this.#hasActed = true;
      const outcome = await this.#perform(action, snapshot);
      const folded = fold(snapshot, record, action, outcome, this.#deps.clock.now());
      record = folded.record;
      this.#tell(folded.log, folded.alarms);
      this.#keeper.collect(folded.events, folded.s.now);
      if (outcome.kind === 'unfinished') {
        ended = 'unfinished';
        isOver = true;
        continue;
      }
      if (outcome.kind === 'failed') {
        const next = afterFailure(action, outcome.forgeAnswers, this.#retryAt !== null);
        if (next !== 'goes_on' && !isOver) ended = 'failed';
        if (next === 'stops') break;
        isOver ||= next === 'takes_back';
        continue;
      }
      refresh ||= folded.refresh;
      this.#errorCode ??= folded.errorCode;
      // Staging is the costly step: a crash right after it must not repeat it.
      if (action.kind === 'stage_batch' || action.kind === 'stage_tree')
        await this.#keeper.save(record, folded.s.now);
    }
    return { record, refresh, ended };
  }

  /** The forge is asked nothing once the budget is spent, but for what has to be known to take a success back. */
  #mayRead(): boolean {
    return this.#takesAllBack || this.#deps.clock.monotonic() <= this.#deadline;
  }

  /** Past the budget nothing is begun but what takes a success back. Each reconcile begins one thing: else none ever would. */
  #isLeftForLater(action: Action): boolean {
    return !this.#mayRead() && this.#hasActed && !isTakingBack(action);
  }

  #isOutOfTime(): boolean {
    return this.#deps.clock.monotonic() + WRAP_UP_MS >= this.#deadline || this.#held.isPastDeadline();
  }

  async #perform(action: Action, snapshot: Snapshot): Promise<ActionOutcome> {
    try {
      return await perform(
        this.#held,
        {
          forge: this.#forge,
          objects: this.#objects,
          clock: this.#clock,
          baseBranch: this.#repo.baseBranch,
          queueName: this.#queueName,
          mergeStyle: this.#repo.mergeStyle,
          isOutOfTime: () => this.#isOutOfTime(),
          settings: toldSettings(this.#repo, this.#keeper.saved),
          queuePage: queuePageFor(this.#deps, this.#repo),
        },
        action,
      );
    } catch (error) {
      if (error instanceof ReadNotBegun) return { kind: 'unfinished' };
      const isForeseen = error instanceof ForgeError || error instanceof StagedTreeMismatch;
      // One batch that the program itself cannot plan must not keep all others from being planned.
      if (error instanceof AnotherRepo || (!isForeseen && !isStaging(action))) throw error;
      const code = this.#classify(error);
      const ruled = await findRuledBranch(this.#forge, action, error);
      const isRuled = ruled !== null;
      const forgeAnswers = isRuled || (await this.#doesForgeAnswer(error, action, snapshot));
      // A token that reads and writes was not refused, and a forge that answers is not away.
      const isOfCall = forgeAnswers && (code === 'forge_access_denied' || code === 'forge_unreachable');
      const told = isOfCall ? 'forge_call_failed' : code;
      this.#errorCode ??= isRuled ? 'protection_conflict' : told;
      this.#deps.log.warn('action failed', {
        repo_id: this.#repo.id,
        action: action.kind,
        outcome: error instanceof Error ? error.name : 'unknown',
      });
      const failure = { kind: 'failed', forgeAnswers, isRefused: told === 'forge_access_denied' } as const;
      return { ...failure, ...(isRuled ? { ruledBranch: ruled } : {}) };
    }
  }

  /** Tells a failure of one thing from one of everything: by its kind, and by whether the base still reads. */
  async #doesForgeAnswer(error: unknown, action: Action, { pulls, base }: Snapshot): Promise<boolean> {
    // One head that takes all of the time must not look as if the forge were away: this look has read the list.
    if (this.#held.isPastDeadline() || this.#deps.clock.monotonic() >= this.#deadline)
      return isTakingBack(action) && pulls.known && base.known;
    try {
      if (isOfEverything(action, error)) return await isRefusedAlone(this.#forge, action, error);
      return (await this.#forge.readBranchTip(this.#repo.baseBranch)) !== null;
    } catch (silence) {
      if (silence instanceof ForgeError) return false;
      throw silence;
    }
  }

  #tell(lines: readonly string[], alarms: readonly RaisedAlarm[]): void {
    this.#logTail.push(...lines);
    for (const alarm of alarms) this.#alarms.raise(this.#deps.log, this.#clock.now(), this.#repo.id, alarm);
  }

  /** The only place where an exception becomes a code; its text goes no further (D-78). */
  #classify(error: unknown): ReconcileErrorCode {
    if (error instanceof ForgeError) {
      if (this.#held.isPastDeadline()) return 'timeout';
      this.#refused = { ...readRefusal(error, this.#isRepoSeen), ...this.#refused };
      if (error.retryAfterMs !== null) {
        this.#retryAt = Math.max(this.#retryAt ?? 0, this.#deps.clock.now() + error.retryAfterMs);
      }
      return codeOfForge(error);
    }
    if (error instanceof StoreError) return codeOfStore(error);
    if (error instanceof AnotherRepo) {
      this.#refused = { refusal: 'replaced' };
      return 'forge_access_denied';
    }
    const { name, stack } = error instanceof Error ? error : { name: 'unknown' };
    // Frames only: the text of a foreign error may quote what it choked on.
    const frames = stack?.split('\n    at ').slice(1, 5) ?? [];
    this.#deps.log.error('reconcile failed', { repo_id: this.#repo.id, outcome: name, frames });
    return 'engine_error';
  }
}
