import { EnqueueBody, EnqueuedPull } from '../pulls/enqueue.ts';
import { GateLogView } from '../pulls/gate-log.ts';
import { PullStoryView } from '../pulls/pull-story.ts';
import { BODY, ON_TOKEN, OWN } from './route-errors.ts';
import type { RouteSpec } from './route-spec.ts';

const BY_PERSON = [
  'not_found',
  'connection_not_found',
  'db_error',
  'forge_access_denied',
  'forge_unreachable',
  'pull_not_open',
  'pull_merged',
  'forge_token_required',
  'forge_token_refused',
  'forge_token_of_bot',
] as const;

/** One pull request of a repository: its story, the log of its gate run, its schedule by a person. */
export const PULL_ROUTES = [
  {
    id: 'readPull',
    method: 'GET',
    path: '/api/v1/user/repos/{id}/pulls/{number}',
    surface: 'api',
    auth: 'bearer',
    scope: 'read',
    replies: { 200: PullStoryView },
    errors: OWN,
  },
  {
    id: 'readGateLog',
    method: 'GET',
    path: '/api/v1/user/repos/{id}/pulls/{number}/gate-log',
    surface: 'forge-ops',
    auth: 'bearer',
    scope: 'read',
    rate: 'gate_log',
    replies: { 200: GateLogView },
    errors: ON_TOKEN,
  },
  {
    id: 'enqueuePull',
    method: 'PUT',
    path: '/api/v1/user/repos/{id}/pulls/{number}/queue',
    surface: 'forge-ops',
    auth: 'bearer',
    scope: 'queue:write',
    rate: 'enqueue',
    forgeToken: true,
    body: EnqueueBody,
    replies: { 200: EnqueuedPull },
    errors: [
      ...BODY,
      'missing_fields',
      ...BY_PERSON,
      'forge_token_of_job',
      'queue_not_ready',
      'head_moved',
      'branch_not_protected',
      'schedule_refused',
    ],
  },
  {
    id: 'dequeuePull',
    method: 'DELETE',
    path: '/api/v1/user/repos/{id}/pulls/{number}/queue',
    surface: 'forge-ops',
    auth: 'bearer',
    scope: 'queue:write',
    rate: 'enqueue',
    forgeToken: true,
    replies: { 204: null },
    errors: BY_PERSON,
  },
] as const satisfies readonly RouteSpec[];
