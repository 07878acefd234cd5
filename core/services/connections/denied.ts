import { AppError, type ErrorCode } from '../../contracts/errors.ts';
import { describeRefusalCause } from '../../domain/forge/refusal-cause.ts';
import { describeMissingScopes, type TokenScope } from '../../domain/forge/token-scopes.ts';
import type { ReconcileOutcome } from '../../domain/repos/repo.ts';
import { type ForgeError, isOldName } from '../../ports/forge.ts';
import { isNotThere, type NotThere } from './same-repo.ts';

/** The forge refused the token; where it said which scope is missing, so do the words. */
export function accessDenied(missingScopes: readonly TokenScope[]): AppError {
  const message = describeMissingScopes(missingScopes);
  return new AppError('forge_access_denied', message === null ? {} : { message });
}

/** A use case that ended without the forge, or without the repository. */
export function failedAs(kind: ErrorCode | NotThere): AppError {
  if (!isNotThere(kind)) return new AppError(kind);
  return new AppError('forge_access_denied', { message: describeRefusalCause(kind) });
}

/** A call that the forge denied. Under an old name of the repository its token is in order. */
export function deniedCall(error: ForgeError): AppError {
  if (!isOldName(error)) return accessDenied(error.missingScopes);
  return new AppError('forge_access_denied', { message: describeRefusalCause('moved') });
}

/** The forge refused the look of the engine that was waited for: the words are those of the page of the queue. */
export function deniedLook({
  missingScopes = [],
  refusal,
}: Pick<ReconcileOutcome, 'missingScopes' | 'refusal'>): AppError {
  if (refusal === undefined) return accessDenied(missingScopes);
  return new AppError('forge_access_denied', { message: describeRefusalCause(refusal) });
}
