import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { ProtectionObservation, ProvisioningRecord } from '../../domain/set-up/provisioning.ts';
import { UNPROVISIONED } from '../../domain/set-up/provisioning.ts';
import { StoreError } from '../../ports/store.ts';
import type { Clock } from '../../ports/system.ts';
import type { OpenedForge, OpenForge } from '../connections/open-forge.ts';
import type { NotThere } from '../connections/same-repo.ts';
import { saveRepo } from '../repos/save-repo.ts';
import { requireContext } from './branch-protection.ts';
import { registerWebhook, type WebhookRegistrationDeps } from './webhook-registration.ts';

export interface ProvisioningDeps extends WebhookRegistrationDeps {
  readonly openForge: OpenForge;
  readonly clock: Pick<Clock, 'now'>;
  /** Default of the status context, and what names of our branches begin with (D-91). */
  readonly queueName: string;
}

/**
 * `done`: tried and stored; how it went is in `repo.provisioning`. `db_error`: what was done on the forge could not be
 * recorded; the next attempt repairs it. `repo` is the newest row known.
 */
export interface ProvisioningResult {
  readonly kind: 'done' | 'connection_not_found' | 'decryption_error' | NotThere | 'db_error' | 'not_found';
  readonly repo: ManagedRepo;
}

/**
 * Hook and branch rule, tried once each, as far as the settings ask for them (D-69). Never throws, so that enrollment
 * and settings never fail by it (A56). Touches neither the gate file nor its verification.
 */
export async function provisionRepo(deps: ProvisioningDeps, repo: ManagedRepo): Promise<ProvisioningResult> {
  return attempt(deps, repo, { webhook: true });
}

/** The branch rule alone: after the gate was verified (D-67). */
export async function provisionProtection(
  deps: ProvisioningDeps,
  repo: ManagedRepo,
): Promise<ProvisioningResult> {
  return attempt(deps, repo, { webhook: false });
}

export type ProtectResult =
  | ProvisioningResult
  /** The rule is not as it should be: no answer, no right, or a rule that must not be edited. The opt-in is recorded. */
  | { readonly kind: 'forge_unreachable'; readonly repo: ManagedRepo };

/** The outcome, by the forge or by our own caution, of an attempt that configured nothing (D-90). */
const NOT_CONFIGURED: readonly ProtectionObservation['kind'][] = ['failed', 'denied', 'refused'];

/**
 * Opt-in or out of our managing the branch rule. The opt-in is stored first, so that a later attempt finishes what
 * this one could not. Opting out writes nothing to the forge (A80).
 */
export async function setProtection(
  deps: ProvisioningDeps,
  repo: ManagedRepo,
  enabled: boolean,
): Promise<ProtectResult> {
  const saved = await saveRepo(deps.store, repo, (current) => ({
    protectionRequested: enabled,
    updatedAt: deps.clock.now(),
    provisioning: enabled
      ? current.protectionRequested
        ? current.provisioning
        : forgetRule(current.provisioning)
      : leaveRule(current.provisioning),
  }));
  if (typeof saved === 'string') return { kind: saved === 'gone' ? 'not_found' : 'db_error', repo };
  if (!enabled) return { kind: 'done', repo: saved };
  const result = await provisionProtection(deps, saved);
  const failed = result.kind === 'done' && NOT_CONFIGURED.includes(result.repo.provisioning.protection.kind);
  return failed ? { kind: 'forge_unreachable', repo: result.repo } : result;
}

/** The rule stays on the forge, and asks for our context as it was seen. Every other attempt is over. */
function leaveRule(provisioning: ProvisioningRecord): ProvisioningRecord {
  if (provisioning.protection.kind !== 'required') return forgetRule(provisioning);
  return { ...provisioning, strayContexts: [] };
}

function forgetRule(provisioning: ProvisioningRecord): ProvisioningRecord {
  return { ...provisioning, protection: UNPROVISIONED.provisioning.protection, strayContexts: [] };
}

export type ContextChange =
  | ProvisioningResult
  /** The rule could not be changed, so neither was the setting. */
  | { readonly kind: 'forge_unreachable'; readonly repo: ManagedRepo };

/**
 * Changes the status context, and on a protected branch the required check with it, so that exactly one context of
 * ours remains (A81). The new context is noted as a stray before the forge is touched: should the last store fail, the
 * next attempt knows what to remove. `change` gives other settings of the same request, which
 * are stored in the same step.
 */
export async function changeStatusContext(
  deps: ProvisioningDeps,
  repo: ManagedRepo,
  statusContext: string,
  change: (current: ManagedRepo) => Partial<ManagedRepo> = () => ({}),
): Promise<ContextChange> {
  const old = repo.statusContext;
  const isManaged = repo.protectionRequested && repo.provisioning.protection.kind !== 'not_tried';
  if (old === statusContext || !isManaged) {
    return saveChange(deps, repo, (current) => ({
      ...change(current),
      statusContext,
      ...(old === statusContext || current.protectionRequested
        ? {}
        : { provisioning: forgetRule(current.provisioning) }),
    }));
  }
  const opened = await open(deps, repo);
  if (opened.kind !== 'open') return { kind: opened.kind, repo };
  const noted = await saveRepo(deps.store, repo, ({ provisioning }) => ({
    provisioning: {
      ...provisioning,
      strayContexts: [...new Set([...provisioning.strayContexts, statusContext])],
    },
  }));
  if (typeof noted === 'string') return { kind: noted === 'gone' ? 'not_found' : 'db_error', repo };
  const asked: AskedContext = {
    context: statusContext,
    removed: [...noted.provisioning.strayContexts, old, noted.statusContext].filter(
      (context) => context !== statusContext,
    ),
  };
  const protection = await requireContext(opened.forge, noted, {
    queueName: deps.queueName,
    context: statusContext,
    strayContexts: asked.removed,
    mayWrite: noted.ciGate.status === 'verified' || noted.provisioning.protection.kind === 'required',
  });
  const lastProvisionedAt = deps.clock.now();
  if (protection.kind === 'failed' || protection.kind === 'denied' || protection.kind === 'refused') {
    const kept = await saveChange(deps, noted, ({ provisioning }) => ({
      provisioning: { ...provisioning, lastProvisionedAt },
    }));
    return kept.kind === 'done' ? { kind: 'forge_unreachable', repo: kept.repo } : kept;
  }
  return saveChange(deps, noted, (current) => ({
    ...change(current),
    statusContext,
    provisioning: {
      ...current.provisioning,
      protection,
      strayContexts: straysAfter(asked, current, statusContext),
      lastProvisionedAt,
    },
  }));
}

interface AskedContext {
  readonly context: string;
  readonly removed: readonly string[];
}

/**
 * Contexts of ours that the rule may ask for beside the one that is stored: what another call noted or stored while this
 * one was with the forge. Forgotten, they would be taken for foreign ones and keep every pull request from merging.
 */
function straysAfter(asked: AskedContext, current: ManagedRepo, statusContext: string): readonly string[] {
  const known = new Set([...current.provisioning.strayContexts, current.statusContext, asked.context]);
  return [...known].filter((context) => context !== statusContext && !asked.removed.includes(context));
}

async function saveChange(
  deps: ProvisioningDeps,
  repo: ManagedRepo,
  change: (current: ManagedRepo) => Partial<ManagedRepo>,
): Promise<ProvisioningResult> {
  const updatedAt = deps.clock.now();
  const saved = await saveRepo(deps.store, repo, (current) => ({ ...change(current), updatedAt }));
  if (typeof saved === 'string') return { kind: saved === 'gone' ? 'not_found' : 'db_error', repo };
  return { kind: 'done', repo: saved };
}

/** The branch rule, and with `webhook` the hook too. */
async function attempt(
  deps: ProvisioningDeps,
  start: ManagedRepo,
  { webhook }: { readonly webhook: boolean },
): Promise<ProvisioningResult> {
  const wantsWebhook = webhook && start.wakeupMode === 'webhook';
  const wantsProtection = start.protectionRequested;
  let repo = start;
  let seen: Partial<ProvisioningRecord> = {};
  let asked: AskedContext | null = null;
  let failure: ProvisioningResult['kind'] | null = null;
  if (wantsWebhook || wantsProtection) {
    const opened = await open(deps, repo);
    if (opened.kind !== 'open') {
      failure = opened.kind;
      seen = {
        ...(wantsWebhook ? { webhook: 'failed' as const } : {}),
        ...(wantsProtection ? { protection: FAILED } : {}),
      };
    } else {
      if (wantsWebhook) {
        const registration = await registerWebhook(deps, opened.forge, repo);
        repo = registration.repo;
        if (!registration.stored) failure = 'db_error';
        seen = { webhook: registration.seen };
      }
      if (wantsProtection) {
        const context = repo.statusContext;
        const { strayContexts } = repo.provisioning;
        const removed = strayContexts.filter((stray) => stray !== context);
        const protection = await requireContext(opened.forge, repo, {
          queueName: deps.queueName,
          context,
          strayContexts: removed,
          // A change of context that was cut short is finished whatever the gate is by now.
          mayWrite: repo.ciGate.status === 'verified' || strayContexts.length > 0,
        });
        seen = { ...seen, protection };
        if (protection.kind === 'required') asked = { context, removed };
      }
    }
  }
  const saved = await saveRepo(deps.store, repo, (current) => ({
    provisioning: {
      ...current.provisioning,
      ...seen,
      ...(asked === null ? {} : { strayContexts: straysAfter(asked, current, current.statusContext) }),
      lastProvisionedAt: deps.clock.now(),
    },
  }));
  if (saved === 'gone') return { kind: 'not_found', repo };
  if (saved === 'unavailable') return { kind: 'db_error', repo };
  return { kind: failure ?? 'done', repo: saved };
}

const FAILED: ProtectionObservation = { kind: 'failed', ruleName: null, reasons: [] };

async function open(
  deps: ProvisioningDeps,
  repo: ManagedRepo,
): Promise<OpenedForge | { readonly kind: 'db_error' }> {
  try {
    return await deps.openForge(repo);
  } catch (error) {
    if (error instanceof StoreError) return { kind: 'db_error' };
    throw error;
  }
}
