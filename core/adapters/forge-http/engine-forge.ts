import type { HeldLease } from '#core/domain/wakes/lease.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { createForgeReader } from './reader.ts';
import { createScheduleProbe } from './schedule-probe.ts';
import { createForgeStager } from './stager.ts';
import { createStatusWriter } from './status-writer.ts';
import { createLeasedTransport, type ForgeTransportConfig } from './wire/transport.ts';

/**
 * Everything that the engine does on a forge under this lease. Only the engine imports it, because it includes the
 * status writer (A6).
 */
export function createEngineForge(
  held: HeldLease,
  config: Omit<ForgeTransportConfig, 'mayCall'>,
): EngineForge {
  const transport = createLeasedTransport(held, config);
  return {
    ...createForgeReader(transport),
    ...createForgeStager(transport),
    ...createScheduleProbe(transport),
    ...createStatusWriter(transport),
  };
}
