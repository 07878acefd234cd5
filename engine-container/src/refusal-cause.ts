import type { RefusalCause } from '#core/domain/refusal-cause.ts';
import type { ForgeError } from '#core/ports/forge.ts';
import type { EngineReport } from '#core/ports/store.ts';
import { isOldName } from '#core/services/verify-claim.ts';
import type { QueueRecord } from './queue/record/record.ts';

const PULLS = 'GET pulls';

/** The facts that an error of the forge tells of a refusal of the queue as a whole; empty: none. */
export type Refused = Pick<EngineReport, 'missingScopes' | 'refusal'>;

/** @param isRepoSeen - The base branch was read, or seen to be absent, so the repository is there under its name. */
export function readRefusal(error: ForgeError, isRepoSeen: boolean): Refused {
  const { missingScopes } = error;
  const refusal = causeOf(error, isRepoSeen);
  return {
    ...(missingScopes.length === 0 ? {} : { missingScopes }),
    ...(refusal === null ? {} : { refusal }),
  };
}

/** An archived repository refuses the queue before the first write is tried. */
export function withArchive(
  refused: Refused,
  { archivedSince }: Pick<QueueRecord, 'archivedSince'>,
): Refused {
  return archivedSince === undefined ? refused : { ...refused, refusal: 'archived' };
}

/**
 * Null: the answer does not tell. Facts of the forges: a write to an archived repository is answered with 423, a call under an
 * old name with a redirect, and the list of pull requests with 404 where they are switched off.
 */
function causeOf(error: ForgeError, isRepoSeen: boolean): RefusalCause | null {
  const { kind, status, call } = error;
  if (isOldName(error)) return 'moved';
  if (kind === 'archived') return 'archived';
  if (kind === 'missing') {
    if (call !== PULLS) return null;
    return isRepoSeen ? 'pulls_hidden' : 'not_shown';
  }
  return kind === 'denied' && status === 401 ? 'token_unknown' : null;
}
