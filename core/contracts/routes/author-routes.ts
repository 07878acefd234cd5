import { AuthorNoticesBody, AuthorNoticesView } from '../notices/author-notices.ts';
import type { RouteSpec } from './route-spec.ts';

/** Mails to a person about the pull requests that they open. */
export const AUTHOR_ROUTES = [
  {
    id: 'readAuthorNotices',
    method: 'GET',
    path: '/api/v1/author-notices',
    surface: 'api',
    auth: 'bearer',
    replies: { 200: AuthorNoticesView },
    errors: ['db_error'],
  },
  {
    id: 'setAuthorNotices',
    method: 'PUT',
    path: '/api/v1/author-notices',
    // Asks a forge whose token it is given, and keeps no token.
    surface: 'connections',
    auth: 'bearer',
    rate: 'create_connection',
    forgeToken: true,
    body: AuthorNoticesBody,
    replies: { 200: AuthorNoticesView },
    errors: [
      'invalid_body',
      'invalid_field',
      'missing_fields',
      'queue_locked',
      'db_error',
      'forge_token_required',
      'forge_token_refused',
      'forge_unreachable',
      'author_login_limit',
    ],
  },
] as const satisfies readonly RouteSpec[];
