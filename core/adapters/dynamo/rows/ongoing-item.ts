import type { EpochMs } from '../../../domain/ids.ts';
import { type OngoingReconcile, STANDINGS } from '../../../domain/wakes/fairness.ts';
import { mapOf, oneOf, record, text, whole } from './codec.ts';

interface OngoingRow extends Omit<OngoingReconcile, 'id'> {
  readonly until: EpochMs;
}

export interface OngoingReconciles {
  readonly version: number;
  /** Ongoing reconciles by their ids. */
  readonly runs: Readonly<Record<string, OngoingRow>>;
}

export const ongoingReconciles = record<OngoingReconciles>({
  version: ['version', whole],
  runs: [
    'runs',
    mapOf(
      record<OngoingRow>({
        repoId: ['repo_id', text],
        tenantId: ['tenant_id', text],
        host: ['host', text],
        standing: ['standing', oneOf(STANDINGS)],
        until: ['until', whole],
      }),
    ),
  ],
});
