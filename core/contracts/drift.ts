import * as z from 'zod';
import { DRIFT_KINDS, DRIFTS, type Drift } from '../domain/drift.ts';
import { formatTimeOrNull, Time } from './fields.ts';

export const DriftView = z.object({
  kind: z.enum(DRIFT_KINDS),
  /** First look that saw it; null: not known. */
  since: Time.nullable(),
  /** Forges do not say who changed a rule, a hook or a right. */
  by: z.literal('unknown'),
  says: z.string(),
  next: z.string(),
});

export function toDriftView({ kind, since }: Drift): z.infer<typeof DriftView> {
  return { kind, since: formatTimeOrNull(since), by: 'unknown', ...DRIFTS[kind] };
}
