import type { EpochMs, RepoId } from '../../domain/ids.ts';
import { DUE_TOLERANCE_MS, LOOK_BLIND_MS, LOOK_SETTLED_MS } from '../../domain/limits.ts';
import type { Obligations } from '../../domain/queue/obligations.ts';
import type { ManagedRepo, ReconcileOutcome } from '../../domain/repos/repo.ts';
import { isSetUpLookDue } from '../../domain/set-up/hook-seen.ts';
import { isOfFastClock } from '../../domain/wakes/clocks.ts';
import {
  type IdleLooker,
  LOOK_FAULTS,
  type LookAnswer,
  type LookMemory,
  type LookStore,
  type SetUpQuestion,
} from '../../ports/idle-look.ts';
import type { DispatchStore, EngineReport } from '../../ports/store.ts';
import type { Clock, EnginePort, Log, ReconcileRequest } from '../../ports/system.ts';
import { isOff } from '../wind-down/wind-down.ts';

export interface IdleLookDeps {
  readonly store: Pick<DispatchStore, 'getRepo' | 'loadReconcileOutcome' | 'loadReport' | 'readObligations'> &
    Pick<LookStore, 'loadLook' | 'saveLook' | 'noteEngineNeeded'>;
  readonly looker: Pick<IdleLooker, 'look'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** The outcome of a look: nothing to do, or the engine is asked and this is remembered when it went well. */
type Looked =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'ask_engine'; readonly memory: LookMemory | null };

const ASK_ENGINE: Looked = { kind: 'ask_engine', memory: null };

/**
 * The engine for one repo, asked only when it is needed: a repo with an empty queue, nothing in flight and a settled
 * outcome is looked at without it, so that it can sleep. Whatever cannot be read or is not certain needs the engine.
 */
export function createLookingEngine(deps: IdleLookDeps, engine: EnginePort, repoId: RepoId): EnginePort {
  return {
    async reconcile(request, order) {
      const isPlain = order.command === 'reconcile';
      const look = isPlain ? lookFirst(deps, repoId, request) : Promise.resolve(ASK_ENGINE);
      const looked = await look.catch((error: unknown): Looked => {
        deps.log.warn('no idle look, the engine is asked', { repo_id: repoId, error });
        return ASK_ENGINE;
      });
      if (looked.kind === 'unchanged') return 'unchanged';
      deps.log.info('the engine is needed', { repo_id: repoId });
      await tryTo(deps, () => deps.store.noteEngineNeeded(deps.clock.now()));
      const answer = await engine.reconcile(request, order);
      const { memory } = looked;
      if (answer === 'ok' && memory !== null) await tryTo(deps, () => deps.store.saveLook(repoId, memory));
      return answer;
    },
    isHealthy: () => engine.isHealthy(),
  };
}

/** The tick keeps the engine up without the note, as long as it was not put to sleep; the memory costs one look. */
async function tryTo(deps: IdleLookDeps, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    deps.log.warn('an idle look could not be written down', { error });
  }
}

async function lookFirst(deps: IdleLookDeps, repoId: RepoId, request: ReconcileRequest): Promise<Looked> {
  const now = deps.clock.now();
  const repo = await deps.store.getRepo(repoId);
  if (repo === null || isOff(repo)) return ASK_ENGINE;
  const [obligations, outcome, report, memory] = await Promise.all([
    deps.store.readObligations(repoId),
    deps.store.loadReconcileOutcome(repo),
    deps.store.loadReport(repoId),
    deps.store.loadLook(repoId),
  ]);
  if (obligations === null || !isQuiet(repo, obligations, outcome, report)) return ASK_ENGINE;
  if (memory !== null && (memory.blindUntil ?? 0) > now) return ASK_ENGINE;
  const { instanceUrl, repoSlug, baseBranch, token } = request;
  const { statusContext } = repo;
  const answer = await deps.looker.look({
    instanceUrl,
    repoSlug,
    baseBranch,
    token,
    statusContext,
    repoId: obligations.repoId ?? null,
    memory,
    setUp: askOfSetUp(repo, outcome, memory, now),
  });
  deps.log.info('idle look', { repo_id: repoId, answer: answer.kind });
  return judge(deps, { repoId, outcome, engineAt: report?.at ?? null, memory, answer, now });
}

/** The queue has nothing to do, the engine waits for nothing, and its last outcome is about this very set-up. */
function isQuiet(
  repo: ManagedRepo,
  obligations: Obligations,
  outcome: ReconcileOutcome | null,
  report: EngineReport | null,
): outcome is ReconcileOutcome {
  if (!obligations.atRest || outcome === null || report === null) return false;
  if (outcome.ranAt - repo.updatedAt < LOOK_SETTLED_MS) return false;
  // After a failure the engine always asks for another look soon; the look answers that one.
  return outcome.ok ? report.wakeAt === null : faultOf(outcome) !== null;
}

/**
 * The part of the set-up that is due: hook and rule in turn, each once in an hour, and never in the same look. The engine
 * reads it again when it differs, and by the same rule: a little later than by its own hour, because clocks differ.
 */
function askOfSetUp(
  { wakeupMode, hookId, protectionRequested }: ManagedRepo,
  { hook, rule }: ReconcileOutcome,
  memory: LookMemory | null,
  now: EpochMs,
): SetUpQuestion | null {
  // One of before a clock was set back hides none that was made since.
  const isDue = (...looks: readonly (EpochMs | undefined)[]): boolean =>
    isSetUpLookDue(
      Math.max(...looks.map((at = 0) => (isOfFastClock(at, now) ? 0 : at))),
      now - DUE_TOLERANCE_MS,
    );
  if (wakeupMode === 'webhook' && hookId !== null && hook !== undefined && isDue(hook.at, memory?.hookAt))
    return { part: 'hook', hookId, was: hook.state };
  const isManaged = protectionRequested && rule !== undefined;
  if (isManaged && isDue(rule.at, rule.lookedAt, memory?.ruleAt)) return { part: 'rule', was: rule.reasons };
  return null;
}

function faultOf({ errorCode }: ReconcileOutcome) {
  return LOOK_FAULTS.find((fault) => fault === errorCode) ?? null;
}

async function judge(
  deps: IdleLookDeps,
  seen: {
    readonly repoId: RepoId;
    readonly outcome: ReconcileOutcome | null;
    /** When the engine looked last. */
    readonly engineAt: EpochMs | null;
    readonly memory: LookMemory | null;
    readonly answer: LookAnswer;
    readonly now: EpochMs;
  },
): Promise<Looked> {
  const { repoId, outcome, engineAt, memory, answer, now } = seen;
  if (answer.kind === 'failed') {
    // The same fault again needs no engine for a while. After that it may be the look's own: some forges are reached by
    // the engine only, and one failure of theirs must not keep it from being asked for ever.
    const isRecent = engineAt !== null && now - engineAt < LOOK_BLIND_MS;
    if (outcome?.errorCode === answer.fault && isRecent) return { kind: 'unchanged' };
    const known = memory ?? { tip: null, pulls: [] };
    return { kind: 'ask_engine', memory: { ...known, blindUntil: now + LOOK_BLIND_MS } };
  }
  if (answer.kind === 'needed' || outcome?.ok !== true) return { kind: 'ask_engine', memory: answer.memory };
  if (!isSame(memory, answer.memory)) await tryTo(deps, () => deps.store.saveLook(repoId, answer.memory));
  return { kind: 'unchanged' };
}

function isSame(one: LookMemory | null, other: LookMemory): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
