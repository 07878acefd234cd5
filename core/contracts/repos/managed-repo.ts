import * as z from 'zod';
import { type ForgeVersion, isSeenVersion, nameVersion } from '../../domain/forge/forge-version.ts';
import { MERGE_STYLES } from '../../domain/repos/merge-style.ts';
import {
  type Connection,
  describeOutcome,
  type ManagedRepo,
  RECONCILE_ERROR_CODES,
  type ReconcileOutcome,
} from '../../domain/repos/repo.ts';
import {
  CI_GATE_STATUSES,
  PROTECTION_STATUSES,
  type ProvisioningView,
  viewProvisioning,
  WEBHOOK_STATUSES,
} from '../../domain/set-up/provisioning.ts';
import { SET_UP_CHECKS, SET_UP_STATES } from '../../domain/set-up/set-up-checks.ts';
import { lastDeliveryOf } from '../../domain/wakes/heard-events.ts';
import { LEASE_STATES, type LeaseState } from '../../domain/wakes/lease.ts';
import {
  BaseBranch,
  formatTime,
  formatTimeOrNull,
  MergeStyle,
  Slug,
  StatusContext,
  Time,
  Uuid,
  WakeupMode,
} from '../fields.ts';
import { Notification } from '../notices/notification.ts';
import { PauseView, toPauseView } from './pause.ts';
import { GIVEN_SETTINGS, SHOWN_SETTINGS, toShownSettings } from './repo-settings.ts';
import { FileSettingsView, toFileSettings } from './settings-file-view.ts';

export const Provisioning = z.object({
  webhook: z.object({ status: z.enum(WEBHOOK_STATUSES) }),
  protection: z.object({
    status: z.enum(PROTECTION_STATUSES),
    id: z.string().optional(),
    detail: z.string().nullable(),
    required: z.boolean().nullable(),
  }),
  ci_gate: z.object({ status: z.enum(CI_GATE_STATUSES), url: z.string().nullable() }),
  last_provisioned_at: Time.nullable(),
});

const ReconcileView = z.object({
  ran_at: Time.nullable(),
  ok: z.boolean().nullable(),
  error: z.string().nullable(),
  error_code: z.enum(RECONCILE_ERROR_CODES).nullable(),
});

const RepoConnectionView = z.object({
  bot_username: z.string(),
  instance_url: z.string(),
  token_type: z.literal('pat'),
});

/** `seen`: the service has been run against this version; another one is told, and nothing is refused. */
const ForgeView = z.object({ version: z.string(), seen: z.boolean() });

/** The complete safe view: `notification` is write-only and no secret is among its fields. */
export const ManagedRepoView = z.object({
  id: Uuid,
  name: z.string(),
  base_branch: z.string(),
  status_context: z.string(),
  merge_style: z.enum(MERGE_STYLES),
  automerge: z.boolean(),
  instance_url: z.string(),
  forge_conn_id: Uuid,
  connection: RepoConnectionView.nullable(),
  provisioning: Provisioning,
  reconcile: ReconcileView,
  created_at: Time,
  updated_at: Time,
  /** Null: the forge was not asked yet, or names no version. */
  forge: ForgeView.nullable(),
  /** When a delivery of the webhook arrived last, to the hour; null: none was seen. */
  last_delivery_at: Time.nullable(),
  /** When an event of each kind arrived, to the hour; null: unknown, as none has. */
  gate_events: z.object({ status: Time.nullable(), run: Time.nullable() }),
  hold_reason: z.enum(['payment_required']).nullable(),
  /** Null: not paused. One whose `until` has passed is over. */
  pause: PauseView.nullable(),
  ...SHOWN_SETTINGS,
  file_settings: FileSettingsView,
});
export type ManagedRepoView = z.infer<typeof ManagedRepoView>;
export const ManagedRepoList = z.array(ManagedRepoView);

/** Inline credentials are refused by name: to ignore them silently would teach clients to send secrets (D-49). */
const NOT_ACCEPTED = {
  instance_url: z.never().optional(),
  forge_url: z.never().optional(),
  token: z.never().optional(),
  forge_token: z.never().optional(),
  bot_login: z.never().optional(),
  bot_username: z.never().optional(),
  username: z.never().optional(),
  password: z.never().optional(),
};

export const EnrollRepoBody = z.object({
  connection_id: z.string(),
  repo_slug: Slug,
  base_branch: BaseBranch.optional(),
  status_context: StatusContext.optional(),
  merge_style: MergeStyle.optional(),
  automerge: z.boolean().optional(),
  wakeup_mode: WakeupMode.optional(),
  notification: Notification.nullable().optional(),
  ...NOT_ACCEPTED,
});
export const EnrolledRepo = ManagedRepoView.pick({
  id: true,
  name: true,
  base_branch: true,
  status_context: true,
  merge_style: true,
  automerge: true,
  instance_url: true,
  forge_conn_id: true,
  provisioning: true,
});

export const PatchRepoBody = z.object({
  ...GIVEN_SETTINGS,
  status_context: StatusContext.optional(),
  notification: Notification.nullable().optional(),
  // Known, and settled at enrollment (D-50).
  base_branch: z.never().optional(),
  merge_style: z.never().optional(),
  automerge: z.never().optional(),
  repo_slug: z.never().optional(),
  connection_id: z.never().optional(),
});
export type PatchRepoBody = z.infer<typeof PatchRepoBody>;

export const ProvisionedRepo = z.object({ provisioning: Provisioning });
export const ProtectBody = z.object({ enabled: z.boolean() });
export const ProtectedRepo = z.object({ protection_requested: z.boolean(), provisioning: Provisioning });

export const ManualReconcile = z.object({
  reconcile: z.object({ ran_at: Time, ok: z.boolean(), error: z.string().nullable() }),
  log_tail: z.array(z.string()),
});

export const SetupPull = z.object({
  ci_gate: z.object({
    status: z.literal('setup_pr_open'),
    number: z.int(),
    url: z.string().nullable(),
  }),
});
/** `fix`: null where it is ok. */
const SetUpCheckView = z.object({
  check: z.enum(SET_UP_CHECKS),
  state: z.enum(SET_UP_STATES),
  says: z.string(),
  fix: z.string().nullable(),
});
export const GateVerification = z.object({
  ci_gate: z.object({
    status: z.enum(CI_GATE_STATUSES),
    url: z.string().nullable(),
    probe: z.object({
      sha: z.string(),
      state: z.enum(['pending', 'success', 'failure']),
      contexts: z
        .array(z.object({ context: z.string(), author: z.string(), state: z.string() }))
        .readonly()
        .optional(),
    }),
  }),
  checks: z.array(SetUpCheckView),
});

export const LeaseStateView = z.enum(LEASE_STATES);
export const QueueStatus = z.object({
  queue_name: z.string(),
  repos: z.array(ManagedRepoView.extend({ lease_state: LeaseStateView })),
});

export function toProvisioning(
  repo: ManagedRepo,
  outcome: ReconcileOutcome | undefined,
): z.infer<typeof Provisioning> {
  const view: ProvisioningView = viewProvisioning(repo, outcome?.rule);
  const { protection } = view;
  return {
    webhook: view.webhook,
    protection: {
      status: protection.status,
      ...(protection.id === null ? {} : { id: protection.id }),
      detail: protection.detail,
      required: protection.required,
    },
    ci_gate: view.ciGate,
    last_provisioned_at: formatTimeOrNull(view.lastProvisionedAt),
  };
}

/** No outcome yet: all four are null, never "ok". */
export function toReconcileView(outcome: ReconcileOutcome | undefined): z.infer<typeof ReconcileView> {
  const code = outcome?.errorCode ?? null;
  return {
    ran_at: formatTimeOrNull(outcome?.ranAt),
    ok: outcome?.ok ?? null,
    error: outcome === undefined ? null : describeOutcome(outcome),
    error_code: code,
  };
}

export interface RepoRows {
  readonly repo: ManagedRepo;
  /** Undefined when its row is missing. */
  readonly connection: Pick<Connection, 'botUsername' | 'instanceUrl'> | undefined;
  readonly outcome: ReconcileOutcome | undefined;
}

export interface RepoFacts extends RepoRows {
  readonly isOnHold: boolean;
}

export function toRepoConnectionView(
  connection: RepoRows['connection'],
): z.infer<typeof RepoConnectionView> | null {
  if (connection === undefined) return null;
  return { bot_username: connection.botUsername, instance_url: connection.instanceUrl, token_type: 'pat' };
}

export function toManagedRepoView(facts: RepoFacts): ManagedRepoView {
  const { repo } = facts;
  return {
    ...toEnrolledRepo(repo, facts.outcome),
    connection: toRepoConnectionView(facts.connection),
    reconcile: toReconcileView(facts.outcome),
    created_at: formatTime(repo.createdAt),
    updated_at: formatTime(repo.updatedAt),
    forge: toForgeView(facts.outcome?.forge),
    last_delivery_at: formatTimeOrNull(lastDeliveryOf(repo.heard)),
    gate_events: {
      status: formatTimeOrNull(repo.heard?.status),
      run: formatTimeOrNull(repo.heard?.run),
    },
    hold_reason: facts.isOnHold ? 'payment_required' : null,
    pause: toPauseView(repo),
    ...toShownSettings(repo),
    file_settings: toFileSettings(repo, facts.outcome?.settingsSeen),
  };
}

function toForgeView(version: ForgeVersion | undefined): z.infer<typeof ForgeView> | null {
  return version === undefined ? null : { version: nameVersion(version), seen: isSeenVersion(version) };
}

export function toEnrolledRepo(repo: ManagedRepo, outcome?: ReconcileOutcome): z.infer<typeof EnrolledRepo> {
  return {
    id: repo.id,
    name: repo.slug,
    base_branch: repo.baseBranch,
    status_context: repo.statusContext,
    merge_style: repo.mergeStyle,
    automerge: repo.automerge,
    instance_url: repo.instanceUrl,
    forge_conn_id: repo.connectionId,
    provisioning: toProvisioning(repo, outcome),
  };
}

export function toQueueStatusEntry(facts: RepoFacts, leaseState: LeaseState) {
  return { ...toManagedRepoView(facts), lease_state: leaseState };
}
