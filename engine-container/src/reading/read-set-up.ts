import type { EpochMs } from '#core/domain/ids.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { hookStateOf, isSetUpLookDue } from '#core/domain/set-up/hook-seen.ts';
import type { ForgeReader } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { Snapshot } from '../queue/snapshot.ts';
import type { TryRead } from './look-reads.ts';

/**
 * A rule that the service manages is looked at once in `HOOK_LOOK_EVERY_MS` even where nothing is scheduled, and right after the
 * service has set it up: from then on the base is guarded.
 */
export function isRuleDue(repo: ManagedRepo, { rule }: Pick<QueueRecord, 'rule'>, now: EpochMs): boolean {
  if (rule === undefined || rule.at < (repo.provisioning.lastProvisionedAt ?? 0)) return true;
  return repo.protectionRequested && isSetUpLookDue(rule.lookedAt ?? rule.at, now);
}

/** Is the hook still as it was registered? One call in `HOOK_LOOK_EVERY_MS` at most, where the repository has a hook of its own. */
export async function readHook(
  forge: Pick<ForgeReader, 'listOwnHooks'>,
  clock: Clock,
  tryRead: TryRead,
  { repo, record }: { readonly repo: ManagedRepo; readonly record: Pick<QueueRecord, 'hook'> },
): Promise<Pick<Snapshot, 'hook'>> {
  const { hookId, wakeupMode } = repo;
  const seenAt = record.hook?.at ?? Number.NEGATIVE_INFINITY;
  if (hookId === null || wakeupMode !== 'webhook' || !isSetUpLookDue(seenAt, clock.now())) return {};
  return { hook: await tryRead(async () => hookStateOf(hookId, await forge.listOwnHooks())) };
}
