import * as z from 'zod';
import { TICKET_TTL_MS } from '../../domain/api-limits.ts';
import type { RepoId } from '../../domain/ids.ts';
import { MERGE_STYLES } from '../../domain/repos/merge-style.ts';
import {
  type Connection,
  type ManagedRepo,
  RECONCILE_ERROR_CODES,
  type ReconcileOutcome,
} from '../../domain/repos/repo.ts';
import type { ApiToken } from '../../domain/tenants/api-token.ts';
import { BILLING_STATUSES, TIERS } from '../../domain/tenants/billing.ts';
import type { AuditEntry, Organization, Tenant } from '../../ports/account-store.ts';
import type { AuthorNotices } from '../../ports/author-store.ts';
import type { BillingAccount } from '../../ports/billing-store.ts';
import { formatTime, formatTimeOrNull, Time, Uuid } from '../fields.ts';
import { ExportedAuthorNotices, toExportedAuthorNotices } from '../notices/author-notices.ts';
import { ExportedNotification, toExportedNotification } from '../notices/notification.ts';
import { Provisioning, toProvisioning, toReconcileView } from '../repos/managed-repo.ts';
import { SHOWN_SETTINGS, toShownSettings } from '../repos/repo-settings.ts';
import { TokenList, toTokenView } from './api-token.ts';
import { REDACTED } from './redacted.ts';

/** Cookie of a browser session (D-41): only `auth/session`, `logout` and the socket look at it. */
export const SESSION_COOKIE = '__Host-session';

export const Me = z.object({ id: Uuid });
export const SessionState = z.object({ authenticated: z.boolean() });
/** `from`: the network of its first request. `current`: the one that asks. */
export const SessionList = z.object({
  sessions: z.array(
    z.object({ id: Uuid, started_at: Time, from: z.string().nullable(), current: z.boolean() }),
  ),
});
export const OffboardBody = z.object({ confirm: z.string() });
const deleted = z.int().nullable();
export const Offboarded = z.object({
  offboarded: z.literal(true),
  tenant_id: Uuid,
  deleted: z.object({
    reconcile_status: deleted,
    managed_repos: deleted,
    forge_connections: deleted,
    audit_log: deleted,
    billing: deleted,
    organization: deleted,
  }),
});

export const Ticket = z.object({
  ticket: z.string().regex(/^[0-9a-f]{64}$/),
  expires_in: z.literal(TICKET_TTL_MS / 1000),
});

const redacted = z.literal(REDACTED);
const ExportedConnection = z.object({
  id: Uuid,
  tenant_id: Uuid,
  instance_url: z.string(),
  bot_username: z.string(),
  token_type: z.literal('pat'),
  provider: z.literal('forgejo'),
  credential_format: z.string(),
  key_version: z.int(),
  encrypted_token: redacted,
  token_nonce: redacted,
  encrypted_dek: redacted,
  verified_at: Time.nullable(),
  created_at: Time,
  updated_at: Time,
});
const ExportedRepo = z.object({
  id: Uuid,
  tenant_id: Uuid,
  forge_conn_id: Uuid,
  name: z.string(),
  instance_url: z.string(),
  base_branch: z.string(),
  status_context: z.string(),
  merge_style: z.enum(MERGE_STYLES),
  automerge: z.boolean(),
  ...SHOWN_SETTINGS,
  webhook_secret: redacted,
  notification: ExportedNotification.nullable(),
  protection_requested: z.boolean(),
  provisioning: Provisioning,
  created_at: Time,
  updated_at: Time,
});
const ExportedOutcome = z.object({
  repo_id: Uuid,
  ran_at: Time.nullable(),
  ok: z.boolean().nullable(),
  error: z.string().nullable(),
  error_code: z.enum(RECONCILE_ERROR_CODES).nullable(),
});
const ExportedAudit = z.object({
  id: Uuid,
  at: Time,
  actor: z.string(),
  from: z.string().nullable(),
  action: z.string(),
  target: z.string(),
  result: z.enum(['ok', 'failed']),
});

export const TenantExport = z.object({
  // No tenant has keys any more; the field says so instead of being silently absent.
  tenant: z.object({ id: Uuid, created_at: Time, api_key_hash: redacted }),
  forge_connections: z.array(ExportedConnection),
  managed_repos: z.array(ExportedRepo),
  reconcile_status: z.array(ExportedOutcome),
  reconcile_status_truncated: z.boolean(),
  audit_log: z.array(ExportedAudit),
  audit_log_truncated: z.boolean(),
  api_tokens: TokenList,
  author_notices: ExportedAuthorNotices,
  organization: z.object({ id: Uuid, owner_tenant_id: Uuid, name: z.string() }),
  billing: z.object({
    tier: z.enum(TIERS),
    status: z.enum(BILLING_STATUSES),
    customer_id: z.string().nullable(),
    subscription_id: z.string().nullable(),
  }),
});

export type TenantExport = z.input<typeof TenantExport>;
export type Offboarded = z.input<typeof Offboarded>;

export interface ExportFacts {
  readonly tenant: Pick<Tenant, 'id' | 'createdAt'>;
  /** Null: of before it had a row. */
  readonly organization: Organization | null;
  readonly connections: readonly Connection[];
  readonly repos: readonly ManagedRepo[];
  readonly outcomes: readonly (readonly [RepoId, ReconcileOutcome])[];
  readonly outcomesTruncated: boolean;
  readonly audit: readonly AuditEntry[];
  readonly auditTruncated: boolean;
  readonly tokens: readonly ApiToken[];
  readonly authorNotices: readonly AuthorNotices[];
  readonly billing: BillingAccount;
}

export function toTenantExport(facts: ExportFacts): z.infer<typeof TenantExport> {
  const { tenant } = facts;
  const outcomes = new Map(facts.outcomes);
  return {
    tenant: { id: tenant.id, created_at: formatTime(tenant.createdAt), api_key_hash: REDACTED },
    forge_connections: facts.connections.map(toExportedConnection),
    managed_repos: facts.repos.map((repo) => toExportedRepo(repo, outcomes.get(repo.id))),
    reconcile_status: facts.outcomes.map(([id, outcome]) => ({ repo_id: id, ...toReconcileView(outcome) })),
    reconcile_status_truncated: facts.outcomesTruncated,
    audit_log: facts.audit.map(({ id, at, actor, from, action, target, result }) => ({
      id,
      actor,
      from,
      action,
      target,
      result,
      at: formatTime(at),
    })),
    audit_log_truncated: facts.auditTruncated,
    api_tokens: facts.tokens.map(toTokenView),
    author_notices: toExportedAuthorNotices(facts.authorNotices),
    organization: {
      id: facts.organization?.id ?? tenant.id,
      owner_tenant_id: facts.organization?.ownerTenantId ?? tenant.id,
      name: facts.organization?.name ?? 'Personal',
    },
    billing: {
      tier: facts.billing.tier,
      status: facts.billing.status,
      customer_id: facts.billing.customerId,
      subscription_id: facts.billing.subscriptionId,
    },
  };
}

function toExportedConnection(connection: Connection): z.infer<typeof ExportedConnection> {
  return {
    id: connection.id,
    tenant_id: connection.tenantId,
    instance_url: connection.instanceUrl,
    bot_username: connection.botUsername,
    token_type: 'pat',
    provider: 'forgejo',
    credential_format: connection.credential.format,
    key_version: connection.credential.keyVersion,
    encrypted_token: REDACTED,
    token_nonce: REDACTED,
    encrypted_dek: REDACTED,
    verified_at: formatTimeOrNull(connection.verifiedAt),
    created_at: formatTime(connection.createdAt),
    updated_at: formatTime(connection.updatedAt),
  };
}

function toExportedRepo(
  repo: ManagedRepo,
  outcome: ReconcileOutcome | undefined,
): z.infer<typeof ExportedRepo> {
  const { notification } = repo;
  return {
    id: repo.id,
    tenant_id: repo.tenantId,
    forge_conn_id: repo.connectionId,
    name: repo.slug,
    instance_url: repo.instanceUrl,
    base_branch: repo.baseBranch,
    status_context: repo.statusContext,
    merge_style: repo.mergeStyle,
    automerge: repo.automerge,
    ...toShownSettings(repo),
    webhook_secret: REDACTED,
    notification: notification === null ? null : toExportedNotification(notification),
    protection_requested: repo.protectionRequested,
    provisioning: toProvisioning(repo, outcome),
    created_at: formatTime(repo.createdAt),
    updated_at: formatTime(repo.updatedAt),
  };
}
