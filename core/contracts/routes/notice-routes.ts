import { MailboxAsked } from '../notices/mailbox.ts';
import * as notices from '../notices/notice-webhook.ts';
import { BODY, OWN } from './route-errors.ts';
import type { RouteSpec } from './route-spec.ts';

/** Places of notices of a repository, beside its settings. */
export const NOTICE_ROUTES = [
  {
    id: 'askConfirmation',
    method: 'POST',
    path: '/api/v1/user/repos/{id}/notification/confirm',
    surface: 'api',
    auth: 'bearer',
    scope: 'settings:write',
    replies: { 200: MailboxAsked },
    errors: OWN,
  },
  {
    id: 'setNoticeWebhook',
    method: 'PUT',
    path: '/api/v1/user/repos/{id}/notification/webhook',
    surface: 'forge-ops',
    auth: 'bearer',
    scope: 'settings:write',
    body: notices.NoticeWebhookBody,
    replies: { 200: notices.NoticeWebhookMade },
    errors: [...BODY, 'missing_fields', ...OWN, 'decryption_error'],
  },
  {
    id: 'removeNoticeWebhook',
    method: 'DELETE',
    path: '/api/v1/user/repos/{id}/notification/webhook',
    surface: 'forge-ops',
    auth: 'bearer',
    scope: 'settings:write',
    replies: { 204: null },
    errors: OWN,
  },
  {
    id: 'listDeliveries',
    method: 'GET',
    path: '/api/v1/user/repos/{id}/notification/deliveries',
    surface: 'api',
    auth: 'bearer',
    scope: 'read',
    replies: { 200: notices.DeliveryList },
    errors: OWN,
  },
  {
    id: 'testNotices',
    method: 'POST',
    path: '/api/v1/user/repos/{id}/notification/test',
    surface: 'api',
    auth: 'bearer',
    scope: 'settings:write',
    replies: { 200: notices.NoticesAsked },
    errors: OWN,
  },
] as const satisfies readonly RouteSpec[];
