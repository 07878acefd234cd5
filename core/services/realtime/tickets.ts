import { AppError } from '../../contracts/errors.ts';
import { hashTicket, makeTicket } from '../../contracts/realtime/ticket.ts';
import { TICKET_TTL_MS } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { RealtimeStore } from '../../ports/account-store.ts';
import { StoreError } from '../../ports/store.ts';
import type { Clock } from '../../ports/system.ts';

export interface TicketDeps {
  readonly store: Pick<RealtimeStore, 'saveTicket' | 'redeemTicket'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** A ticket for one socket of this tenant. Only its hash is stored. */
export async function issueTicket(deps: TicketDeps, tenantId: TenantId): Promise<string> {
  const ticket = makeTicket();
  try {
    await deps.store.saveTicket(hashTicket(ticket) ?? '', tenantId, deps.clock.now() + TICKET_TTL_MS);
  } catch (error) {
    // The dashboard polls instead (A116).
    if (error instanceof StoreError) throw new AppError('realtime_unavailable');
    throw error;
  }
  return ticket;
}

/** The tenant a ticket was issued to; it is used up by that. Null when it is none, was used, or is too old (A93). */
export async function redeemTicket(deps: TicketDeps, ticket: string): Promise<TenantId | null> {
  const hash = hashTicket(ticket);
  return hash === null ? null : deps.store.redeemTicket(hash);
}
