import type { TenantId } from '../../../domain/ids.ts';
import { record, text } from './codec.ts';

/** The row that a guard points at: the address guard, the identity guard and the hook look-up have the same shape. */
export interface Guard {
  readonly tenantId: TenantId;
  readonly id: string;
}

export const guard = record<Guard>({ tenantId: ['tenant_id', text], id: ['guards_id', text] });
