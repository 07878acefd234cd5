import { HOOK_LOOK_EVERY_MS, hookStateOf } from '#core/domain/hook-seen.ts';
import type { ManagedRepo } from '#core/domain/repo.ts';
import type { Reading } from '#core/domain/result.ts';
import type { ForgeReader } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import type { QueueRecord } from './queue/record.ts';
import type { Snapshot } from './queue/snapshot.ts';

/** Is the hook still as it was registered? One call in `HOOK_LOOK_EVERY_MS` at most, where the repository has a hook of its own. */
export async function readHook(
  forge: Pick<ForgeReader, 'listOwnHooks'>,
  clock: Clock,
  attempt: <T>(read: () => Promise<T>) => Promise<Reading<T>>,
  { repo, record }: { readonly repo: ManagedRepo; readonly record: Pick<QueueRecord, 'hook'> },
): Promise<Pick<Snapshot, 'hook'>> {
  const { hookId, wakeupMode } = repo;
  const seenAt = record.hook?.at ?? Number.NEGATIVE_INFINITY;
  if (hookId === null || wakeupMode !== 'webhook' || clock.now() - seenAt < HOOK_LOOK_EVERY_MS) return {};
  return { hook: await attempt(async () => hookStateOf(hookId, await forge.listOwnHooks())) };
}
