import type { GateReading } from '#core/domain/forge/forge.ts';
import type { ForgeTransport } from '../wire/transport.ts';
import { baseName, type GateQuery, type RunList, readNewestRun } from './runs.ts';
import { readRunFromStatuses } from './runs-from-statuses.ts';

export type ReadGate = (gate: GateQuery) => Promise<GateReading>;

/** Reads the gate by the best means this forge has, and remembers for its own lifetime which that is. */
export function createGateReader(transport: ForgeTransport): ReadGate {
  let listsRuns: boolean | null = null;
  let list: RunList = 'all';
  return async (query) => {
    const gate = { ...query, file: baseName(query.file) };
    if (listsRuns !== false) {
      let reading = await readNewestRun(transport, gate, list);
      if (reading === 'may_be_scoped') {
        list = 'own';
        reading = await readNewestRun(transport, gate, list);
      }
      if (reading !== 'no_list' && reading !== 'may_be_scoped') {
        listsRuns = true;
        return reading;
      }
    }
    const reading = await readRunFromStatuses(transport, gate);
    // Only now: a proxy's 404 in front of a forge that is down must not decide for the rest of the work.
    listsRuns = false;
    return reading;
  };
}
