import { createHash, randomBytes } from 'node:crypto';

const TICKET = /^[0-9a-f]{64}$/;

/** 256 random bits, as the contract spells them. */
export function makeTicket(): string {
  return randomBytes(32).toString('hex');
}

/** The stored part of a ticket. Null for a text that is none. */
export function hashTicket(ticket: string): string | null {
  return TICKET.test(ticket) ? createHash('sha256').update(ticket).digest('hex') : null;
}
