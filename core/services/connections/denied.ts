import { AppError } from '../../contracts/errors.ts';
import { describeMissingScopes, type TokenScope } from '../../domain/forge/token-scopes.ts';

/** The forge refused the token; where it said which scope is missing, so do the words. */
export function accessDenied(missingScopes: readonly TokenScope[]): AppError {
  const message = describeMissingScopes(missingScopes);
  return new AppError('forge_access_denied', message === null ? {} : { message });
}
