import { GATE_KINDS } from '../../../domain/forge/status-gate.ts';
import type { BackportedPull, BackportTry } from '../../../domain/pulls/backport.ts';
import { type FreezeWindow, WEEK_DAYS } from '../../../domain/repos/freeze.ts';
import { MERGE_STYLES } from '../../../domain/repos/merge-style.ts';
import { PAUSE_KINDS, type Pause } from '../../../domain/repos/pause.ts';
import type { ManagedRepo } from '../../../domain/repos/repo.ts';
import { DEFAULT_SETTINGS } from '../../../domain/repos/repo-settings.ts';
import {
  CI_GATE_STATUSES,
  type CiGate,
  type GateProbe,
  PROTECTION_OBSERVATIONS,
  PROTECTION_REASONS,
  type ProtectionObservation,
  type ProvisioningRecord,
  UNPROVISIONED,
  WAKEUP_MODES,
  WEBHOOK_OBSERVATIONS,
} from '../../../domain/set-up/provisioning.ts';
import { REPAIR_RESULTS, REPAIRS, type Repair } from '../../../domain/set-up/repair-note.ts';
import { backportedPull, backportTry } from './backport-items.ts';
import {
  type Codec,
  defaulted,
  flag,
  listOf,
  nullable,
  oneOf,
  oneOfKnown,
  optional,
  record,
  secretText,
  seen,
  text,
  whole,
} from './codec.ts';
import { noticeChoice, notification } from './notice-settings.ts';

const knownObservation = record<ProtectionObservation>({
  kind: ['kind', oneOf(PROTECTION_OBSERVATIONS)],
  ruleName: ['rule_name', nullable(text)],
  reasons: ['reasons', listOf(oneOf(PROTECTION_REASONS))],
});
const anyObservation = record({
  kind: ['kind', text],
  ruleName: ['rule_name', nullable(text)],
  reasons: ['reasons', listOf(text)],
});
/** One with a word that only a newer release knows counts as an attempt without a usable answer: its owner tries again. */
const protectionObservation: Codec<ProtectionObservation> = {
  ...knownObservation,
  read: (raw) => {
    const { ruleName } = anyObservation.read(raw);
    return seen(knownObservation).read(raw) ?? { kind: 'failed', ruleName, reasons: [] };
  },
};

const provisioning = record<ProvisioningRecord>({
  webhook: ['webhook', oneOfKnown(WEBHOOK_OBSERVATIONS, 'failed')],
  protection: ['protection', protectionObservation],
  strayContexts: ['stray_contexts', listOf(text)],
  lastProvisionedAt: ['last_provisioned_at', nullable(whole)],
});

const gateProbe = record<GateProbe>({
  sha: ['sha', text],
  branch: ['branch', text],
  gateBlob: ['gate_blob', text],
  madeAt: ['made_at', whole],
});

const ciGate = record<CiGate>({
  status: ['status', oneOfKnown(CI_GATE_STATUSES, 'awaiting_validation')],
  url: ['url', nullable(text)],
  setupPr: ['setup_pr', nullable(whole)],
  probe: ['probe', nullable(gateProbe)],
});

/** Codec of a list of names that older rows lack; they get an empty one. */
const names = defaulted(listOf(text), []);

const freezeWindow = record<FreezeWindow>({
  reason: ['reason', text],
  days: ['days', listOf(oneOf(WEEK_DAYS))],
  from: ['from', text],
  to: ['to', text],
  first: ['first', nullable(text)],
  last: ['last', nullable(text)],
});

const pause = record<Pause>({
  // Of a newer release: one that holds the most.
  kind: ['kind', oneOfKnown(PAUSE_KINDS, 'pause')],
  reason: ['reason', nullable(text)],
  since: ['since', whole],
  until: ['until', nullable(whole)],
});

const repair = record<Repair>({
  kind: ['kind', oneOf(REPAIRS)],
  at: ['at', whole],
  result: ['result', oneOfKnown(REPAIR_RESULTS, 'failed')],
});

/**
 * Settings of a repo. What decides which pull requests land, and how, is never guessed: a word there that only a newer
 * release knows makes the row unreadable, and its queue stands still. Wake state is another row (`WakeState`), so that a wake never fights with a PATCH. */
export type RepoSettings = Omit<ManagedRepo, 'wakeSeq' | 'dueAt' | 'stopUntil' | 'heard'>;

export const repoSettings = record<RepoSettings>({
  id: ['repo_id', text],
  tenantId: ['tenant_id', text],
  connectionId: ['connection_id', text],
  instanceUrl: ['instance_url', text],
  slug: ['slug', text],
  baseBranch: ['base_branch', text],
  statusContext: ['status_context', text],
  mergeStyle: ['merge_style', oneOf(MERGE_STYLES)],
  automerge: ['automerge', flag],
  wakeupMode: ['wakeup_mode', oneOf(WAKEUP_MODES)],
  queueEnabled: ['queue_enabled', flag],
  enabledAt: ['enabled_at', whole],
  batchLingerSeconds: ['batch_linger_seconds', whole],
  batchTarget: ['batch_target', whole],
  bisectFanout: ['bisect_fanout', whole],
  // Rows of before the engine could choose have a number.
  fanoutAuto: ['fanout_auto', defaulted(flag, DEFAULT_SETTINGS.fanoutAuto)],
  autoRunsPer100Landed: ['auto_runs_per_100_landed', defaulted(whole, DEFAULT_SETTINGS.autoRunsPer100Landed)],
  // Rows of before deadlines have none.
  gateTimeoutMinutes: [
    'gate_timeout_minutes',
    defaulted(nullable(whole), DEFAULT_SETTINGS.gateTimeoutMinutes),
  ],
  // Rows of before runs of heads counted do not ask for them.
  reuseCi: ['reuse_ci', defaulted(flag, DEFAULT_SETTINGS.reuseCi)],
  // Rows of before repairs allow none.
  repairSetup: ['repair_setup', defaulted(flag, DEFAULT_SETTINGS.repairSetup)],
  repairs: ['repairs', seen(listOf(repair)) as Codec<readonly Repair[]>],
  // Rows of before backports ask for none.
  backports: ['backports', defaulted(flag, DEFAULT_SETTINGS.backports)],
  // Rows of before the service read the file do not ask for it.
  settingsFile: ['settings_file', defaulted(flag, DEFAULT_SETTINGS.settingsFile)],
  backported: ['backported', optional(listOf(backportedPull)) as Codec<readonly BackportedPull[]>],
  backportTries: ['backport_tries', optional(listOf(backportTry)) as Codec<readonly BackportTry[]>],
  // Rows of before gates by statuses have the workflow.
  gate: ['gate', defaulted(oneOf(GATE_KINDS), DEFAULT_SETTINGS.gate)],
  gateContexts: ['gate_contexts', names],
  gateAuthors: ['gate_authors', names],
  // Rows of before priorities have none.
  incidentLabels: ['incident_labels', names],
  highLabels: ['high_labels', names],
  lowLabels: ['low_labels', names],
  priorityPeople: ['priority_people', names],
  // Rows of before freeze windows have none.
  freezeWindows: ['freeze_windows', defaulted(listOf(freezeWindow), DEFAULT_SETTINGS.freezeWindows)],
  freezeTimeZone: ['freeze_time_zone', defaulted(text, DEFAULT_SETTINGS.freezeTimeZone)],
  freezeExemptLabels: ['freeze_exempt_labels', names],
  // Rows of before rules about who may schedule have none.
  schedulePeople: ['schedule_people', names],
  scheduleTeams: ['schedule_teams', names],
  scheduleOwn: ['schedule_own', defaulted(flag, DEFAULT_SETTINGS.scheduleOwn)],
  bots: ['bots', names],
  botApproval: ['bot_approval', defaulted(flag, DEFAULT_SETTINGS.botApproval)],
  authorQueuedMax: ['author_queued_max', defaulted(whole, DEFAULT_SETTINGS.authorQueuedMax)],
  botQueuedMax: ['bot_queued_max', defaulted(whole, DEFAULT_SETTINGS.botQueuedMax)],
  headAttemptsMax: ['head_attempts_max', defaulted(whole, DEFAULT_SETTINGS.headAttemptsMax)],
  // Rows of before places chose their topics are told of bounces.
  noticeTopics: ['notice_topics', defaulted(noticeChoice, DEFAULT_SETTINGS.noticeTopics)],
  // Rows of before pauses have none.
  pause: ['pause', defaulted(nullable(pause), null)],
  webhookSecret: ['webhook_secret', nullable(secretText)],
  webhookSecretOf: ['webhook_secret_of', optional(text) as Codec<string>],
  hookId: ['hook_id', nullable(text)],
  // Rows of before provisioning have none of the three.
  provisioning: ['provisioning', defaulted(provisioning, UNPROVISIONED.provisioning)],
  protectionRequested: ['protection_requested', defaulted(flag, UNPROVISIONED.protectionRequested)],
  ciGate: ['ci_gate', defaulted(ciGate, UNPROVISIONED.ciGate)],
  // Rows of before notifications have none.
  notification: ['notification', defaulted(nullable(notification), null)],
  createdAt: ['created_at', whole],
  updatedAt: ['updated_at', whole],
  verifiedAt: ['verified_at', optional(whole) as Codec<number>],
  version: ['version', whole],
  tombstone: ['tombstone', flag],
});
