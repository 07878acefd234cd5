import type { EpochMs } from '../../../domain/ids.ts';
import { optional, record, text, whole } from './codec.ts';

export interface LeaseRow {
  readonly fence: number;
  readonly expiresAt: EpochMs;
  /** Holder of the lease; absent once released. */
  readonly owner: string | undefined;
}

export const leaseRow = record<LeaseRow>({
  fence: ['fence', whole],
  expiresAt: ['expires_at', whole],
  owner: ['owner', optional(text)],
});
