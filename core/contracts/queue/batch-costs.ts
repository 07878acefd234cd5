import * as z from 'zod';
import type { NodeRow } from '../../domain/queue/batch.ts';

/** Costs of a batch. Null: made before they were counted. */
export const BATCH_COSTS = {
  gate_runs: z.int().nullable(),
  /** Requests to the forge while the batch was ahead; of a root whose batch has ended. Null as well where it is not known in full. */
  forge_calls: z.int().nullable(),
  /** Bodies of these requests and of their answers, in bytes. */
  forge_bytes: z.int().nullable(),
};

export function viewCosts({ gateRuns, forgeCalls, forgeBytes }: NodeRow) {
  return {
    gate_runs: gateRuns ?? null,
    forge_calls: forgeCalls ?? null,
    forge_bytes: forgeBytes ?? null,
  };
}
