import type { ForgeVersion } from '#core/domain/forge/forge-version.ts';
import { FORGE_VERSION_KEPT_MS } from '#core/domain/limits.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import { type EngineForge, ForgeError, isVersionHidden } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import type { KnownForge, QueueRecord } from '../queue/record/record.ts';
import type { TryRead } from './look-reads.ts';

/** Which forge this is. Asked anew now and then: it may have been upgraded. */
export async function readKnownForge(
  forge: EngineForge,
  clock: Clock,
  tryRead: TryRead,
  { forge: kept }: QueueRecord,
): Promise<Reading<KnownForge>> {
  const now = clock.now();
  if (kept !== undefined && now - kept.readAt < FORGE_VERSION_KEPT_MS) return known(kept);
  const version = await tryRead(() => readUnlessHidden(forge, kept?.version ?? null));
  if (version.known) return known({ version: version.value, readAt: now });
  return kept === undefined ? UNKNOWN : known(kept);
}

/**
 * Some forges hide their version: then it is unknown, and nothing waits for it. The page of a proxy may stand there for a moment
 * only: a version that was known before stays known.
 */
async function readUnlessHidden(
  forge: EngineForge,
  before: ForgeVersion | null,
): Promise<ForgeVersion | null> {
  try {
    return await forge.readVersion();
  } catch (error) {
    if (!(error instanceof ForgeError && isVersionHidden(error))) throw error;
    return error.kind === 'unreachable' ? before : null;
  }
}
