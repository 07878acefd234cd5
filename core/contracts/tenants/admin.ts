import * as z from 'zod';
import {
  ADMIN_CONNECTIONS_MAX,
  ADMIN_PAGE_SIZE_DEFAULT,
  ADMIN_PAGE_SIZE_MAX,
  ADMIN_QUERY_CHARS_MAX,
} from '../../domain/api-limits.ts';
import type { LeaseState } from '../../domain/wakes/lease.ts';
import type { CredentialCounts } from '../../ports/account-store.ts';
import { formatTime, Time, Uuid } from '../fields.ts';
import {
  LeaseStateView,
  ManagedRepoView,
  type RepoRows,
  toProvisioning,
  toReconcileView,
  toRepoConnectionView,
} from '../repos/managed-repo.ts';
import { ConnectionView } from './connection.ts';

/** Digits only: `Number` would also take "1e2", "0x10" and "". */
const Whole = z.string().regex(/^\d{1,15}$/);
const Counting = z.string().regex(/^(?=0*[1-9])\d{1,15}$/);

export const AdminReposQuery = z.object({
  q: z.string().max(ADMIN_QUERY_CHARS_MAX).default(''),
  /** More than the cap is clamped, not refused (D-85). */
  limit: Counting.transform((limit) => Math.min(Number(limit), ADMIN_PAGE_SIZE_MAX)).default(
    ADMIN_PAGE_SIZE_DEFAULT,
  ),
  offset: Whole.transform(Number).default(0),
});

const shape = ManagedRepoView.shape;
const RepoSearchRecord = z.object({
  id: Uuid,
  repo: z.string(),
  base_branch: shape.base_branch,
  status_context: shape.status_context,
  merge_style: shape.merge_style,
  automerge: shape.automerge,
  instance_url: shape.instance_url,
  tenant_id: Uuid,
  owner: Uuid,
  connection: shape.connection,
  wakeup_mode: shape.wakeup_mode,
  provisioning: shape.provisioning,
  created_at: Time,
  updated_at: Time,
  reconcile: shape.reconcile,
  lease_state: LeaseStateView,
});
export const AdminRepos = z.object({
  repos: z.array(RepoSearchRecord),
  limit: z.int(),
  offset: z.int(),
  total: z.int(),
  /** `trouble`: those in trouble first, over all pages. `name`: too many to be sorted by it. */
  order: z.enum(['trouble', 'name']),
});

export const AdminConnections = z.object({
  connections: z.array(ConnectionView).max(ADMIN_CONNECTIONS_MAX),
  connections_total: z.int(),
  connections_truncated: z.boolean(),
});

const FORMATS = ['v3', 'v2', 'v1'] as const;
export const AdminStats = z.object({
  repos_total: z.int(),
  repos_truncated: z.boolean(),
  tenants_total: z.int(),
  connections_total: z.int(),
  connections_truncated: z.boolean(),
  credential_formats: z.object({ v3: z.int(), v2: z.int(), v1: z.int(), unrecognised: z.int() }),
  credential_keks: z.record(z.string(), z.int()),
});

export function toRepoSearchRecord(
  { repo, connection, outcome }: RepoRows,
  leaseState: LeaseState,
): z.infer<typeof RepoSearchRecord> {
  return {
    id: repo.id,
    repo: repo.slug,
    base_branch: repo.baseBranch,
    status_context: repo.statusContext,
    merge_style: repo.mergeStyle,
    automerge: repo.automerge,
    instance_url: repo.instanceUrl,
    tenant_id: repo.tenantId,
    owner: repo.tenantId,
    connection: toRepoConnectionView(connection),
    wakeup_mode: repo.wakeupMode,
    provisioning: toProvisioning(repo, outcome),
    created_at: formatTime(repo.createdAt),
    updated_at: formatTime(repo.updatedAt),
    reconcile: toReconcileView(outcome),
    lease_state: leaseState,
  };
}

/** A credential in none of the known formats fails closed when it is opened; here it is counted (A97). */
export function toCredentialStats(
  counts: CredentialCounts,
): Pick<z.infer<typeof AdminStats>, 'credential_formats' | 'credential_keks'> {
  const known = (format: (typeof FORMATS)[number]): number => counts.formats.get(format) ?? 0;
  const all = [...counts.formats.values()].reduce((sum, each) => sum + each, 0);
  const formats = { v3: known('v3'), v2: known('v2'), v1: known('v1') };
  return {
    credential_formats: { ...formats, unrecognised: all - formats.v3 - formats.v2 - formats.v1 },
    credential_keks: Object.fromEntries([...counts.keyVersions].map(([version, n]) => [String(version), n])),
  };
}
