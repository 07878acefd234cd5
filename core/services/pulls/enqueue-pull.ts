import { AppError } from '../../contracts/errors.ts';
import type { CommitSha, PullRequestNumber, TenantId } from '../../domain/ids.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { ForgeError, isOldName } from '../../ports/forge.ts';
import type { ForgePerson, OpenForgePerson, SeenPull } from '../../ports/forge-person.ts';
import type { DispatchStore } from '../../ports/store.ts';
import type { Clock } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import { deniedCall, failedAs } from '../connections/denied.ts';
import { sameRepo } from '../connections/same-repo.ts';
import { loadOwnRepo } from '../repos/owned.ts';
import { type AuditDeps, recordChange } from '../tenants/audit.ts';
import { tryWake, type WakeDeps } from '../wakes/send-wakes.ts';

/** A check of a forge ends within a second or two; the call ends long before its function does. */
const SCHEDULE_TRIES_MAX = 4;
const STEADY_TRIES_MAX = 2;
const SCHEDULE_AGAIN_AFTER_MS = 1_500;
/** A merge that the forge has begun ends within seconds. */
const MERGE_LOOKS_MAX = 5;
const MERGE_LOOK_AGAIN_MS = 1_500;

export interface EnqueueDeps extends AuditDeps {
  readonly store: Pick<DispatchStore, 'getRepo' | 'getConnection' | 'readObligations'> &
    AuditDeps['store'] &
    WakeDeps['store'];
  readonly queue: WakeDeps['queue'];
  readonly clock: WakeDeps['clock'] & Pick<Clock, 'sleep'>;
  readonly openPerson: OpenForgePerson;
}

/** One pull request of an own repository, and the forge as the person sees it. */
export interface Asked {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly number: PullRequestNumber;
  /** The person's own; null: none was sent. It is held for this call alone. */
  readonly token: Secret<string> | null;
}

/**
 * Asks the forge for the schedule of `head` with the person's own token, so that the forge decides who may. The service
 * adds no right of its own: its bot's token is refused.
 */
export async function enqueuePull(
  deps: EnqueueDeps,
  asked: Asked,
  head: CommitSha,
): Promise<{ readonly already: boolean }> {
  const { repo, token } = await load(deps, asked);
  if (!repo.queueEnabled) throw new AppError('queue_not_ready');
  const person = await open(deps, repo, token);
  const { number } = asked;
  const answer = await onForge(async () => {
    // The forge would take it, and merge nothing.
    if ((await refuseBot(deps, repo, person)).isJob) throw new AppError('forge_token_of_job');
    const seen = await refuseOther(repo, person, number, head);
    await refuseUnprotected(repo, person);
    const scheduled = await scheduleOnceChecked(deps, { repo, person }, number, seen);
    // A schedule binds no head: one that was pushed between the two calls was not asked for.
    if (scheduled === 'scheduled' && (await person.readPull(number)).headSha !== head) {
      await person.cancel(number);
      throw new AppError('head_moved');
    }
    return scheduled;
  });
  await settle(deps, repo, 'pull.enqueue', number);
  return { already: answer === 'already' };
}

/**
 * A forge that checks for conflicts just now, as after each change of a branch rule or of the base, refuses with the words of
 * a conflict (forge facts): it is asked again for some seconds while it does not call the pull request mergeable.
 */
async function scheduleOnceChecked(
  { clock }: Pick<EnqueueDeps, 'clock'>,
  { repo, person }: { readonly repo: ManagedRepo; readonly person: ForgePerson },
  number: PullRequestNumber,
  { headSha: head, mergeable: isMergeable }: SeenPull,
): Promise<'scheduled' | 'already'> {
  let wasMergeable = isMergeable;
  for (let tried = 1; ; tried += 1) {
    const answer = await person.schedule(number, repo.mergeStyle, head);
    if (answer !== 'refused') return answer;
    // It may have been merged, closed or pushed since it was read: that is the reason then.
    const { mergeable } = await refuseOther(repo, person, number, head);
    // No check went on. A merge may be under way by another schedule, which shows at the next look.
    const isSteady = wasMergeable && mergeable;
    if (tried >= (isSteady ? STEADY_TRIES_MAX : SCHEDULE_TRIES_MAX)) throw new AppError('schedule_refused');
    wasMergeable = mergeable;
    await clock.sleep(SCHEDULE_AGAIN_AFTER_MS);
  }
}

/** Takes the schedule back, also one that another person made where the forge lets this one. `pull_merged`: too late. */
export async function dequeuePull(deps: EnqueueDeps, asked: Asked): Promise<void> {
  const { repo, token } = await load(deps, asked);
  const person = await open(deps, repo, token);
  await onForge(async () => {
    await refuseBot(deps, repo, person);
    const mightLand = await mayBeLanding(deps, repo, asked.number);
    const answer = await person.cancel(asked.number);
    // A success may have been posted meanwhile: its intent is stored before.
    const mayLand = mightLand || (await mayBeLanding(deps, repo, asked.number));
    if (answer === 'not_scheduled' || mayLand)
      await refuseMerged(deps, person, asked.number, mayLand ? MERGE_LOOKS_MAX : 1);
  });
  await settle(deps, repo, 'pull.dequeue', asked.number);
}

/** A success of the queue may stand for it: by that the forge merges. */
async function mayBeLanding(
  { store }: Pick<EnqueueDeps, 'store'>,
  { id }: Pick<ManagedRepo, 'id'>,
  number: PullRequestNumber,
): Promise<boolean> {
  const { prs = [], heads = [] } = (await store.readObligations(id))?.left ?? {};
  return prs.includes(number) || heads.some(({ pr, isMereWord }) => pr === number && isMereWord !== true);
}

/** A forge takes the cancelling of a schedule by which it merges just now, and goes on merging. */
async function refuseMerged(
  { clock }: Pick<EnqueueDeps, 'clock'>,
  person: ForgePerson,
  number: PullRequestNumber,
  looks: number,
): Promise<void> {
  for (let looked = 1; ; looked += 1) {
    if ((await person.readPull(number)).merged) throw new AppError('pull_merged');
    if (looked >= looks) return;
    await clock.sleep(MERGE_LOOK_AGAIN_MS);
  }
}

async function load(
  { store }: EnqueueDeps,
  { tenantId, id, token }: Asked,
): Promise<{ readonly repo: ManagedRepo; readonly token: Secret<string> }> {
  const repo = await loadOwnRepo(store, tenantId, id);
  if (token === null) throw new AppError('forge_token_required');
  return { repo, token };
}

/** In another repository that has the name by now, the person asked for nothing; under a former name no token is at fault. */
async function open(
  { store, openPerson }: EnqueueDeps,
  repo: ManagedRepo,
  token: Secret<string>,
): Promise<ForgePerson> {
  const person = await sameRepo(store, repo, openPerson(repo, token));
  if (typeof person === 'string') throw failedAs(person);
  return person;
}

async function refuseBot(
  deps: EnqueueDeps,
  repo: ManagedRepo,
  person: ForgePerson,
): ReturnType<ForgePerson['readAccount']> {
  const connection = await deps.store.getConnection(repo.tenantId, repo.connectionId);
  if (connection === null || connection.deleting) throw new AppError('connection_not_found');
  const account = await person.readAccount();
  if (account.login.toLowerCase() === connection.botUsername.toLowerCase())
    throw new AppError('forge_token_of_bot');
  return account;
}

async function refuseOther(
  repo: ManagedRepo,
  person: ForgePerson,
  number: PullRequestNumber,
  head: CommitSha,
): Promise<SeenPull> {
  const pull = await person.readPull(number);
  if (pull.merged) throw new AppError('pull_merged');
  if (pull.state !== 'open' || pull.baseRef !== repo.baseBranch) throw new AppError('pull_not_open');
  if (pull.headSha !== head) throw new AppError('head_moved');
  return pull;
}

/** Where no rule asks for the status of the queue, the forge would merge at once, and nothing would be proven. */
async function refuseUnprotected(repo: ManagedRepo, person: ForgePerson): Promise<void> {
  const rule = await person.readProtection(repo.baseBranch);
  const asks = rule?.statusCheckEnabled === true && rule.requiredContexts.includes(repo.statusContext);
  if (!asks) throw new AppError('branch_not_protected');
}

async function onForge<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (isOldName(error)) throw deniedCall(error);
    if (error.kind === 'denied') throw new AppError('forge_token_refused');
    // What the person may not see is not there for them either.
    if (error.kind === 'missing') throw new AppError('pull_not_open');
    throw new AppError('forge_unreachable');
  }
}

async function settle(
  deps: EnqueueDeps,
  repo: ManagedRepo,
  action: string,
  number: PullRequestNumber,
): Promise<void> {
  await recordChange(deps, repo.tenantId, action, `${repo.id}#${number}`);
  await tryWake(deps, repo.id);
}
