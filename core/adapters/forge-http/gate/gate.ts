import type { GateReading, GateStarter } from '#core/domain/forge/forge.ts';
import { readBotLogin } from '../users.ts';
import type { ForgeTransport } from '../wire/transport.ts';
import { baseName, type GateQuery, readNewestOwnRun, readNewestRun } from './runs.ts';
import { readRunFromStatuses } from './runs-from-statuses.ts';

export type ReadGate = (
  gate: Omit<GateQuery, 'readStarter'>,
  startedBy?: GateStarter,
) => Promise<GateReading>;

/**
 * Reads the gate by the best means this forge has, and remembers for its own lifetime which that is. While Actions is off a forge
 * has no list either: that is not remembered, because the statuses do not tell all that the list does (forge facts, 8).
 */
export function createGateReader(transport: ForgeTransport): ReadGate {
  let means: 'runs' | 'own_runs' | 'statuses' = 'runs';
  let login: string | null = null;
  const readStarter = async (): Promise<string> => {
    login ??= await readBotLogin(transport);
    return login;
  };
  return async (query, startedBy = 'any') => {
    const file = baseName(query.file);
    const gate: GateQuery = { ...query, file, ...(startedBy === 'us' ? { readStarter } : {}) };
    if (means === 'runs') {
      const reading = await readNewestRun(transport, gate);
      if (reading === 'may_be_scoped') means = 'own_runs';
      else if (reading === 'actions_off') return withoutVerdict(await readRunFromStatuses(transport, gate));
      else if (reading !== 'no_list') return reading;
    }
    if (means === 'own_runs') return readNewestOwnRun(transport, gate);
    const reading = await readRunFromStatuses(transport, gate);
    // Only now: a proxy's 404 in front of a forge that is down must not decide for the rest of the work.
    means = 'statuses';
    return reading;
  };
}

/** The same without a verdict: one that is read while Actions is off, or was right before, is not relied on. */
function withoutVerdict(reading: GateReading): GateReading {
  return reading.kind === 'finished' ? { kind: 'running', runId: reading.runId, url: reading.url } : reading;
}
