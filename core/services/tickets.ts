import { createHash, randomBytes } from 'node:crypto';
import { AppError } from '../contracts/errors.ts';
import { TICKET_TTL_MS } from '../domain/api-limits.ts';
import type { TenantId } from '../domain/ids.ts';
import type { RealtimeStore } from '../ports/account-store.ts';
import { StoreError } from '../ports/store.ts';
import type { Clock } from '../ports/system.ts';

export interface TicketDeps {
  readonly store: Pick<RealtimeStore, 'saveTicket' | 'redeemTicket'>;
  readonly clock: Pick<Clock, 'now'>;
}

const TICKET = /^[0-9a-f]{64}$/;

/** A ticket for one socket of this tenant. Only its hash is stored. */
export async function issueTicket(deps: TicketDeps, tenantId: TenantId): Promise<string> {
  const ticket = randomBytes(32).toString('hex');
  try {
    await deps.store.saveTicket(hashOf(ticket), tenantId, deps.clock.now() + TICKET_TTL_MS);
  } catch (error) {
    // The dashboard polls instead (A116).
    if (error instanceof StoreError) throw new AppError('realtime_unavailable');
    throw error;
  }
  return ticket;
}

/** The tenant a ticket was issued to; it is used up by that. Null when it is none, was used, or is too old (A93). */
export async function redeemTicket(deps: TicketDeps, ticket: string): Promise<TenantId | null> {
  return TICKET.test(ticket) ? deps.store.redeemTicket(hashOf(ticket)) : null;
}

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}
