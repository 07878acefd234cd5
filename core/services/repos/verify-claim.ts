import type { TokenScope } from '../../domain/forge/token-scopes.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { normalizeSlug } from '../../domain/url.ts';
import { ForgeError, isOldName } from '../../ports/forge.ts';
import type { ForgeRepo } from '../../ports/forge-admin.ts';
import type { OpenForge } from '../connections/open-forge.ts';
import { isNotThere } from '../connections/same-repo.ts';

/**
 * Whether the bot of a connection can write to the repository that is claimed with it, as far as the forge says.
 * `missing`: the bot sees none of that name. `renamed`: it has another one. `mirror`: it follows another repository. `unreachable`: the forge did not say.
 */
export type ClaimCheck =
  | 'writes'
  | 'read_only'
  | 'missing'
  | 'renamed'
  | 'mirror'
  | 'denied'
  | 'unreachable'
  | 'connection_not_found'
  | 'decryption_error';

export interface CheckedClaim {
  readonly check: ClaimCheck;
  /** Of which the token would need one, where the forge has said so. */
  readonly missingScopes: readonly TokenScope[];
}

export async function checkClaim(openForge: OpenForge, repo: ManagedRepo): Promise<CheckedClaim> {
  const opened = await openForge(repo);
  if (isNotThere(opened.kind)) return checked('renamed');
  if (opened.kind !== 'open') return checked(opened.kind);
  let seen: ForgeRepo;
  try {
    seen = await opened.forge.readRepo();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const { kind, missingScopes } = error;
    if (isOldName(error)) return checked('renamed');
    return { check: kind === 'denied' || kind === 'missing' ? kind : 'unreachable', missingScopes };
  }
  // A forge answers an old name with the repository that was renamed: two names would be two claims on one.
  if (normalizeSlug(seen.fullName) !== normalizeSlug(repo.slug)) return checked('renamed');
  if (seen.isMirror) return checked('mirror');
  return checked(seen.canPush || seen.isAdmin ? 'writes' : 'read_only');
}

function checked(check: ClaimCheck): CheckedClaim {
  return { check, missingScopes: [] };
}

/** Answers that say that a claim was never rightful; silence and our own faults do not. */
export const UNFOUNDED: readonly ClaimCheck[] = [
  'read_only',
  'missing',
  'renamed',
  'denied',
  'connection_not_found',
];
