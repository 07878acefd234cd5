import * as z from 'zod';
import {
  API_TOKEN_DAYS_MAX,
  API_TOKEN_NAME_CHARS_MAX,
  API_TOKEN_REPOS_MAX,
} from '../../domain/api-limits.ts';
import { API_TOKEN_SCOPES, type ApiToken, type ScopeGrant } from '../../domain/tenants/api-token.ts';
import { formatTime, formatTimeOrNull, Time, Uuid } from '../fields.ts';

const Scope = z.object({
  scope: z.enum(API_TOKEN_SCOPES),
  /** Null: all repositories of the tenant, also later ones. */
  repo_ids: z.array(z.uuid()).min(1).max(API_TOKEN_REPOS_MAX).nullable(),
});

export const CreateTokenBody = z.object({
  /** Printable ASCII. */
  name: z
    .string()
    .max(API_TOKEN_NAME_CHARS_MAX)
    .regex(/^[!-~](?:[ -~]*[!-~])?$/),
  expires_in_days: z.int().min(1).max(API_TOKEN_DAYS_MAX),
  scopes: z
    .array(Scope)
    .min(1)
    .max(API_TOKEN_SCOPES.length)
    .refine((scopes) => new Set(scopes.map(({ scope }) => scope)).size === scopes.length),
});

export const TokenView = z.object({
  id: Uuid,
  name: z.string(),
  scopes: z.array(z.object({ scope: z.enum(API_TOKEN_SCOPES), repo_ids: z.array(Uuid).nullable() })),
  created_at: Time,
  expires_at: Time,
  /** To the hour. Null: never used. */
  last_used_at: Time.nullable(),
});
export const TokenList = z.array(TokenView);
/** The only answer that has the token itself. */
export const CreatedToken = TokenView.extend({ token: z.string() });

export function toScopeGrants(scopes: z.output<typeof CreateTokenBody>['scopes']): readonly ScopeGrant[] {
  return scopes.map(({ scope, repo_ids }) => ({
    scope,
    repoIds: repo_ids === null ? null : [...new Set(repo_ids.map((id) => id.toLowerCase()))],
  }));
}

export function toTokenView(token: ApiToken): z.infer<typeof TokenView> {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes.map(({ scope, repoIds }) => ({
      scope,
      repo_ids: repoIds === null ? null : [...repoIds],
    })),
    created_at: formatTime(token.createdAt),
    expires_at: formatTime(token.expiresAt),
    last_used_at: formatTimeOrNull(token.lastUsedAt),
  };
}
