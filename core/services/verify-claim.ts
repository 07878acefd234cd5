import type { ManagedRepo } from '../domain/repo.ts';
import { normalizeSlug } from '../domain/url.ts';
import { ForgeError } from '../ports/forge.ts';
import type { ForgeRepo } from '../ports/forge-admin.ts';
import type { OpenForge } from './open-forge.ts';

/**
 * Whether the bot of a connection can write to the repository that is claimed with it, as far as the forge says.
 * `missing`: the bot sees none of that name. `unreachable`: the forge did not say.
 */
export type ClaimCheck =
  | 'writes'
  | 'read_only'
  | 'missing'
  | 'denied'
  | 'unreachable'
  | 'connection_not_found'
  | 'decryption_error';

export async function checkClaim(openForge: OpenForge, repo: ManagedRepo): Promise<ClaimCheck> {
  const opened = await openForge(repo);
  if (opened.kind !== 'open') return opened.kind;
  let seen: ForgeRepo;
  try {
    seen = await opened.forge.readRepo();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind === 'denied' || error.kind === 'missing') return error.kind;
    return 'unreachable';
  }
  // A forge answers an old name with the repository that was renamed: two names would be two claims on one.
  if (normalizeSlug(seen.fullName) !== normalizeSlug(repo.slug)) return 'missing';
  return seen.canPush || seen.isAdmin ? 'writes' : 'read_only';
}

/** What says that a claim was never rightful; silence and our own faults do not. */
export const UNFOUNDED: readonly ClaimCheck[] = ['read_only', 'missing', 'denied', 'connection_not_found'];
