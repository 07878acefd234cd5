import { readSettingsSeen } from '../../../contracts/repos/settings-seen.ts';
import type { ForgeVersion } from '../../../domain/forge/forge-version.ts';
import { REFUSAL_CAUSE_NAMES, type RefusalCause } from '../../../domain/forge/refusal-cause.ts';
import { TOKEN_SCOPES } from '../../../domain/forge/token-scopes.ts';

import type { EpochMs } from '../../../domain/ids.ts';
import { RECONCILE_ERROR_CODES, type ReconcileOutcome } from '../../../domain/repos/repo.ts';
import type { SettingsSeen } from '../../../domain/repos/settings-file.ts';
import { HOOK_STATES, type HookSeen } from '../../../domain/set-up/hook-seen.ts';
import { PROTECTION_REASONS, type RuleSeen } from '../../../domain/set-up/provisioning.ts';
import type { ForgeSight, KnownSight, NewestPull } from '../../../domain/wakes/forge-sight.ts';
import type { EngineReport } from '../../../ports/store.ts';
import {
  type Codec,
  flag,
  listOf,
  nullable,
  oneOf,
  oneOfKnown,
  optional,
  record,
  seen,
  text,
  whole,
} from './codec.ts';

const ruleSeen = record<RuleSeen>({
  at: ['at', whole],
  lookedAt: ['looked_at', optional(whole) as Codec<number>],
  context: ['context', optional(text) as Codec<string>],
  reasons: ['reasons', listOf(oneOf(PROTECTION_REASONS))],
});

const hookSeen = record<HookSeen>({
  since: ['since', whole],
  at: ['at', whole],
  state: ['state', oneOf(HOOK_STATES)],
});

const forgeVersion = record<ForgeVersion>({
  kind: ['kind', oneOf(['forgejo', 'gitea'])],
  major: ['major', whole],
  minor: ['minor', whole],
  patch: ['patch', whole],
});

const forgeSight = {
  tip: ['tip', nullable(text)],
  newest: [
    'newest',
    nullable(
      record<NewestPull>({ pr: ['pr', whole], head: ['head', text], updatedAt: ['updated_at', whole] }),
    ),
  ],
  isSettled: ['settled', flag],
} as const;

/**
 * Codec of what was read of the settings file. An unreadable value counts as none, and the next look that reads the
 * file writes it again.
 */
const settingsSeen: Codec<SettingsSeen | undefined> = {
  write: (seen) => (seen === undefined ? undefined : JSON.stringify(seen)),
  read: (raw) => (typeof raw === 'string' ? readSettingsSeen(raw) : undefined),
};

/** A failure that only a newer release can name is still a failure. */
const errorCode = nullable(oneOfKnown(RECONCILE_ERROR_CODES, 'engine_error'));

export const engineReport = record<EngineReport>({
  fence: ['fence', whole],
  at: ['at', whole],
  errorCode: ['error_code', errorCode],
  missingScopes: ['missing_scopes', seen(listOf(oneOf(TOKEN_SCOPES)))],
  refusal: ['refusal', seen(oneOf(REFUSAL_CAUSE_NAMES)) as Codec<RefusalCause>],
  wakeAt: ['wake_at', nullable(whole)],
  logTail: ['log_tail', listOf(text)],
  rule: ['rule', seen(ruleSeen) as Codec<RuleSeen>],
  forge: ['forge', seen(forgeVersion) as Codec<ForgeVersion>],
  sight: ['sight', seen(record<ForgeSight>(forgeSight)) as Codec<ForgeSight>],
  hook: ['hook', seen(hookSeen) as Codec<HookSeen>],
  settingsSeen: ['settings_seen', settingsSeen as Codec<SettingsSeen>],
});

export const reconcileOutcome = record<ReconcileOutcome>({
  ranAt: ['ran_at', whole],
  ok: ['ok', flag],
  errorCode: ['error_code', errorCode],
  missingScopes: ['missing_scopes', seen(listOf(oneOf(TOKEN_SCOPES)))],
  refusal: ['refusal', seen(oneOf(REFUSAL_CAUSE_NAMES)) as Codec<RefusalCause>],
  keyFault: ['key_fault', optional(text) as Codec<string>],
  retryingSince: ['retrying_since', optional(whole) as Codec<EpochMs>],
  slowFailures: ['slow_failures', optional(whole) as Codec<number>],
  heldMs: ['held_ms', optional(whole) as Codec<number>],
  lastGoodAt: ['last_good_at', optional(whole) as Codec<EpochMs>],
  rule: ['rule', seen(ruleSeen) as Codec<RuleSeen>],
  forge: ['forge', seen(forgeVersion) as Codec<ForgeVersion>],
  sight: ['sight', seen(record<KnownSight>({ ...forgeSight, since: ['since', whole] })) as Codec<KnownSight>],
  hook: ['hook', seen(hookSeen) as Codec<HookSeen>],
  settingsSeen: ['settings_seen', settingsSeen as Codec<SettingsSeen>],
});
