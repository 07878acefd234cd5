import { hashText } from '../hash-text.ts';
import type { EpochMs, RepoId, TenantId } from '../ids.ts';
import {
  FORGE_TIMEOUT_MS,
  HOST_RECONCILES_MAX,
  LONG_RECONCILE_MS,
  LONG_RECONCILE_SHARE,
  SECTION_WORKERS_MIN,
  SLOW_RECONCILES_MAX,
  SLOW_RETRY_MS,
  TENANT_RECONCILES_MAX,
  UNPROVEN_RECONCILES_MAX,
  WORKERS_MAX,
} from '../limits.ts';
import { parseUrl } from '../parse-url.ts';
import type { ReconcileErrorCode, ReconcileOutcome } from '../repos/repo.ts';
import { isOfFastClock } from './clocks.ts';

/** A reconcile that a worker is busy with, as the limits of concurrent ones see it. */
export interface OngoingReconcile {
  /** Of this reconcile alone: a repository may have a lost one beside it. */
  readonly id: string;
  readonly repoId: RepoId;
  readonly tenantId: TenantId;
  /** Host and port of the forge, whatever its address looks like otherwise. */
  readonly host: string;
  readonly standing: Standing;
}

/** The standing of a repository, by its last reconcile. `new`: it had none. `slow`: it held a worker for long and came to nothing, or it often does. */
export const STANDINGS = ['proven', 'new', 'slow'] as const;
export type Standing = (typeof STANDINGS)[number];

export function hostOf(instanceUrl: string): string {
  return parseUrl(instanceUrl)?.host.replace(/\.+(?=:|$)/, '') ?? '';
}

export function standingOf(last: ReconcileOutcome | null, now: EpochMs): Standing {
  if (last === null) return 'new';
  return (last.slowFailures ?? 0) > 0 || isOftenLong(last, now) ? 'slow' : 'proven';
}

/** A repository whose reconciles come to something, while a hundred like it that wake themselves would hold every worker. */
function isOftenLong({ heldMs = 0, ranAt }: ReconcileOutcome, now: EpochMs): boolean {
  if (isOfFastClock(ranAt, now)) return false;
  const sinceItBegan = now - ranAt + heldMs;
  return heldMs >= LONG_RECONCILE_MS && heldMs > LONG_RECONCILE_SHARE * sinceItBegan;
}

/**
 * Whether one more reconcile may begin beside these. Half of the workers are left to repositories that answer in time,
 * however many others there are, and no tenant and no forge has all of the rest. Of the rest some are left to new ones. The
 * limits are those of `WORKERS_MAX`; a deployment with more or fewer `workers` has as much more or less of each.
 */
export function mayBegin(
  others: readonly OngoingReconcile[],
  next: OngoingReconcile,
  workers: number,
): boolean {
  const share = (limit: number): number => Math.max(1, Math.floor((limit * workers) / WORKERS_MAX));
  const count = (isAlike: (other: OngoingReconcile) => boolean): number => others.filter(isAlike).length;
  if (count(({ tenantId }) => tenantId === next.tenantId) >= share(TENANT_RECONCILES_MAX)) return false;
  if (count(({ host }) => host === next.host) >= share(HOST_RECONCILES_MAX)) return false;
  if (next.standing === 'proven') return true;
  if (count(({ standing }) => standing !== 'proven') >= share(UNPROVEN_RECONCILES_MAX)) return false;
  return next.standing === 'new' || count(({ standing }) => standing === 'slow') < share(SLOW_RECONCILES_MAX);
}

/** Workers of which one tenant may have all of `own`: where there is one tenant alone, its share is no protection of others. */
export function workersOfOneTenant(own: number): number {
  return Math.ceil((own * WORKERS_MAX) / TENANT_RECONCILES_MAX);
}

/**
 * Many workers are told apart by the repository into sections, each with the limits of its part of them: one picture of
 * hundreds would be written a hundred times a second, by one worker after the other.
 */
export function sectionOf(
  repoId: RepoId,
  workers: number,
): { readonly section: number; readonly workers: number } {
  const sections = countSections(workers);
  return { section: hashText(repoId) % sections, workers: workers / sections };
}

export function countSections(workers: number): number {
  return Math.max(1, Math.floor(workers / SECTION_WORKERS_MIN));
}

/** The codes of a reconcile that waited for the forge or the engine in vain. */
const IN_VAIN: readonly (ReconcileErrorCode | null)[] = ['timeout', 'forge_unreachable', 'forge_call_failed'];

/** `heldMs`: how long the worker was busy with it. One that failed at once costs others nothing. */
export function isSlowFailure(errorCode: ReconcileErrorCode | null, heldMs: number): boolean {
  return IN_VAIN.includes(errorCode) && heldMs >= FORGE_TIMEOUT_MS;
}

/** Until the next look after so many slow failures in a row: twice as long after each. */
export function slowRetryMs(slowFailures: number): number {
  return slowFailures === 0 ? 0 : SLOW_RETRY_MS * 2 ** (slowFailures - 1);
}
