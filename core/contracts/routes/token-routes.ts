import { CreatedToken, CreateTokenBody, TokenList } from '../tenants/api-token.ts';
import type { RouteSpec } from './route-spec.ts';

/** API tokens. No token opens these: what a token may do is decided by a person. */
export const TOKEN_ROUTES = [
  {
    id: 'listTokens',
    method: 'GET',
    path: '/api/v1/tokens',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: TokenList },
    errors: ['db_error'],
  },
  {
    id: 'createToken',
    method: 'POST',
    path: '/api/v1/tokens',
    surface: 'api',
    auth: 'bearer',
    body: CreateTokenBody,
    replies: { 201: CreatedToken },
    errors: [
      'invalid_body',
      'invalid_field',
      'missing_fields',
      'not_found',
      'token_limit_exceeded',
      'db_error',
    ] as const,
  },
  {
    id: 'deleteToken',
    method: 'DELETE',
    path: '/api/v1/tokens/{id}',
    surface: 'api',
    auth: 'bearer',
    replies: { 204: null },
    errors: ['not_found', 'db_error'],
  },
] as const satisfies readonly RouteSpec[];
