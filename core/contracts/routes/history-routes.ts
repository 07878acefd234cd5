import { EventHistoryQuery, EventHistoryView } from '../queue/event-history.ts';
import type { RouteSpec } from './route-spec.ts';

/** Events of the pull requests of one repository. */
export const HISTORY_ROUTES = [
  {
    id: 'readEvents',
    method: 'GET',
    path: '/api/v1/user/repos/{id}/events',
    surface: 'api',
    auth: 'bearer',
    scope: 'read',
    query: EventHistoryQuery,
    replies: { 200: EventHistoryView },
    errors: ['not_found', 'db_error', 'invalid_field'],
  },
] as const satisfies readonly RouteSpec[];
