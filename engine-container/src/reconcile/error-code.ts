import type { ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import type { ForgeError } from '#core/ports/forge.ts';
import type { StoreError } from '#core/ports/store.ts';

export function codeOfForge({ kind }: ForgeError): ReconcileErrorCode {
  return kind === 'denied' || kind === 'archived' || kind === 'missing'
    ? 'forge_access_denied'
    : 'forge_unreachable';
}

export function codeOfStore({ kind }: StoreError): ReconcileErrorCode {
  if (kind === 'too_large') return 'record_too_large';
  return kind === 'fenced' || kind === 'lost_race' ? 'lease_lost' : 'engine_error';
}
