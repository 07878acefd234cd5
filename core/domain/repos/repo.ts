import type { Secret } from '../../secret.ts';
import type { ForgeVersion } from '../forge/forge-version.ts';
import { describeRefusalCause, type RefusalCause } from '../forge/refusal-cause.ts';
import { describeMissingScopes, type TokenScope } from '../forge/token-scopes.ts';
import type { ConnectionId, EpochMs, RepoId, TenantId } from '../ids.ts';
import type { NotificationTargets } from '../notices/notice-ways.ts';
import type { BackportedPull, BackportTry } from '../pulls/backport.ts';
import type { HookSeen } from '../set-up/hook-seen.ts';
import type { CiGate, ProvisioningRecord, RuleSeen } from '../set-up/provisioning.ts';
import type { Repair } from '../set-up/repair-note.ts';
import type { KnownSight } from '../wakes/forge-sight.ts';
import type { HeardEvents } from '../wakes/heard-events.ts';
import type { MergeStyle } from './merge-style.ts';
import type { Pause } from './pause.ts';
import type { QueueSettings } from './repo-settings.ts';
import type { SettingsSeen } from './settings-file.ts';

export const RECONCILE_ERROR_CODES = [
  'forge_unreachable',
  'forge_call_failed',
  'forge_access_denied',
  'decryption_error',
  'connection_not_found',
  'gate_missing',
  'foreign_gate_status',
  'gate_timeout',
  'protection_conflict',
  'base_missing',
  'branch_name_taken',
  'another_queue',
  'success_stands',
  'base_red',
  'tree_mismatch',
  'record_too_large',
  'lease_lost',
  'timeout',
  'gate_infrastructure',
  'engine_starting',
  'engine_error',
] as const;
/** `reconcile.error_code` (D-78). */
export type ReconcileErrorCode = (typeof RECONCILE_ERROR_CODES)[number];

/** One fixed sentence per code: what `reconcile.error` says (D-78). Never a raw message. */
export const RECONCILE_ERROR_SENTENCES: Readonly<Record<ReconcileErrorCode, string>> = {
  forge_unreachable:
    'The forge could not be reached or did not answer as a forge; the queue looks again soon.',
  forge_call_failed:
    'The forge answers, but it fails on a request of the queue, which tries it again by itself; look for errors in the log of the forge, and of a proxy before it.',
  forge_access_denied:
    'The forge refused the queue; check that its token has the scopes, and that the account of the bot is active there and still has its rights on the repository.',
  decryption_error: 'The stored token could not be decrypted; store the token again.',
  connection_not_found: 'The connection of this repository no longer exists.',
  gate_missing:
    'The gate is missing: merge the setup pull request; for a gate by statuses, name its contexts and accounts in the setup.',
  gate_timeout:
    'The gate did not end within its deadline, in two attempts; check its runners, or the contexts that did not answer.',
  foreign_gate_status:
    'An account that is not one of the accounts of the gate posted a status under one of its contexts. Such a status does not count; check the gate on the setup page.',
  protection_conflict:
    'A branch rule keeps the queue from landing; the setup page says which, and what to do.',
  base_missing:
    'The branch that this queue serves is not on the forge: create it or give it its name back, or add its new name with "Add repositories" and press "Remove from the queue" in the settings of this one.',
  branch_name_taken:
    'A branch or tag stands in the way: where the queue needs its own branches, which begin with its name, or as refs/heads/ with the name of the base, which stops every merge, or, on Forgejo and Gitea before 1.25.4, a tag with the name of the base, into which it would merge; rename or delete it.',
  another_queue:
    'Another queue lands pull requests on this branch, so this one is stopped; switch one of them off, then this one off and on.',
  success_stands:
    'A success that no longer holds cannot be taken back from a pull request, so nothing else lands; cancel its auto-merge or close it.',
  base_red: 'The base branch itself fails the gate; pull requests wait until it is repaired.',
  tree_mismatch: 'A landed tree is not the tree that was proven; the queue of this repository is stopped.',
  record_too_large:
    'The queue holds more pull requests than its record has room for, so nothing lands; cancel the auto-merge of some of them.',
  lease_lost: 'Another worker has taken over this repository, and goes on there.',
  timeout: 'The look ran out of time; the next look goes on where it stopped.',
  gate_infrastructure:
    'The CI broke off the gate run again and again without a verdict; check the runners. No pull request is blamed.',
  engine_starting: 'The engine was asleep and is being started; ask again in a minute.',
  engine_error: 'The look failed; the queue tries again by itself.',
};

export interface ReconcileOutcome {
  readonly ranAt: EpochMs;
  readonly ok: boolean;
  readonly errorCode: ReconcileErrorCode | null;
  /** Of which the token would need one, where the forge has said so. */
  readonly missingScopes?: readonly TokenScope[];
  /** Of `forge_access_denied`: why, where the answer of the forge tells. */
  readonly refusal?: RefusalCause;
  /** Fault of the key that seals tokens, by its name at the key service; absent: the key was not refused. */
  readonly keyFault?: string;
  /** Since when nothing but failures that pass came of it; absent when this one was none. */
  readonly retryingSince?: EpochMs;
  /** How many in a row, with this one, held a worker for long and came to nothing; absent: this one did not. */
  readonly slowFailures?: number;
  /** How long this one held its worker; absent: less than `LONG_RECONCILE_MS`. */
  readonly heldMs?: number;
  /** Of the last one that went well; the store keeps it. Absent: none did since it is kept. */
  readonly lastGoodAt?: EpochMs;
  /** Absent: this reconcile did not see the rule of the base; what was seen before stays stored. */
  readonly rule?: RuleSeen;
  /** The same of the version of its forge. */
  readonly forge?: ForgeVersion;
  /** The same of the sight of its branch. */
  readonly sight?: KnownSight;
  /** The same of its hook. */
  readonly hook?: HookSeen;
  /** The same of its settings file. */
  readonly settingsSeen?: SettingsSeen;
}

/** As it is stored: one that went well is the last that did. */
export function withLastGood(outcome: ReconcileOutcome): ReconcileOutcome {
  return outcome.ok ? { ...outcome, lastGoodAt: outcome.ranAt } : outcome;
}

/** The text of `reconcile.error`; null after a look that went well. */
export function describeOutcome(
  outcome: Pick<ReconcileOutcome, 'errorCode' | 'missingScopes' | 'refusal'>,
): string | null {
  const { errorCode, missingScopes = [], refusal } = outcome;
  if (errorCode === null) return null;
  const words = RECONCILE_ERROR_SENTENCES[errorCode];
  if (errorCode !== 'forge_access_denied') return words;
  if (refusal !== undefined) return describeRefusalCause(refusal);
  return describeMissingScopes(missingScopes) ?? words;
}

/** A managed repository with the settings that the engine obeys. Times in epoch ms. */
export interface ManagedRepo extends QueueSettings {
  readonly id: RepoId;
  readonly tenantId: TenantId;
  readonly connectionId: ConnectionId;
  /** As typed by the user; compared in its normal form only (D-46). */
  readonly instanceUrl: string;
  /** `owner/name` as typed; compared in lower case. */
  readonly slug: string;
  readonly baseBranch: string;
  readonly statusContext: string;
  readonly mergeStyle: MergeStyle;
  readonly automerge: boolean;
  /** Last time the queue was switched on: lifts a stop that is older (tree_mismatch). */
  readonly enabledAt: EpochMs;
  /** Signs the forge's webhook deliveries; null until a hook was registered. Never leaves the store but for verifying. */
  readonly webhookSecret: Secret<string> | null;
  /** Deleted branch of the same repository whose hook this is now: the secret is sealed to its id. Absent: to its own. */
  readonly webhookSecretOf?: RepoId;
  /** Unguessable id in the hook's URL (`?r=`, D-31); null until a hook was registered. */
  readonly hookId: string | null;
  readonly provisioning: ProvisioningRecord;
  /** The owner opted in to our managing the branch rule. */
  readonly protectionRequested: boolean;
  readonly ciGate: CiGate;
  /** Of the last day, oldest first. Absent: none. */
  readonly repairs?: readonly Repair[];
  /** Landings whose labels were looked at, oldest first. Absent: none. */
  readonly backported?: readonly BackportedPull[];
  /** Landings that were tried and not dealt with. Absent: none. */
  readonly backportTries?: readonly BackportTry[];
  /** Null: no notices are sent. */
  readonly notification: NotificationTargets | null;
  /** Grows with every wake; a wake during a reconcile is noticed at its end (E9). */
  readonly wakeSeq: number;
  /** When the repo is next due; null while disabled. */
  readonly dueAt: EpochMs | null;
  /** Null: its owner has not paused it. One whose end has passed is as good as none. */
  readonly pause: Pause | null;
  /** Its owner asked to switch it off: until then nothing is begun, and what stands is taken back. Absent: never asked. */
  readonly stopUntil?: EpochMs;
  /** Events of its gate that arrived. Absent: none did since this is kept. */
  readonly heard?: HeardEvents;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  /** When the forge last said that the connection's bot can write there. Absent: a claim that was never verified. */
  readonly verifiedAt?: EpochMs;
  /** Row version for conditional updates. */
  readonly version: number;
  /** Being deleted: no worker starts any more. */
  readonly tombstone: boolean;
}

export interface Connection {
  readonly id: ConnectionId;
  readonly tenantId: TenantId;
  readonly instanceUrl: string;
  readonly botUsername: string;
  readonly credential: SealedCredential;
  /** When the forge last said that this token is this bot's; null = never (D-45). */
  readonly verifiedAt: EpochMs | null;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly deleting: boolean;
}

/** A forge token at rest: AES-256-GCM under a data key of its own, itself wrapped by KMS. All byte fields base64. */
export interface SealedCredential {
  /** `v3` is written; `v1` and `v2` are read; anything else is `unrecognised` and fails closed (A97). */
  readonly format: string;
  /** Counter of the key-encryption key that wrapped the data key. */
  readonly keyVersion: number;
  readonly encryptedToken: string;
  readonly tokenNonce: string;
  /** Absent in format v1, which had no envelope. */
  readonly encryptedDek: string | null;
}
