import { AppError } from '../../contracts/errors.ts';
import { parseForgeDelivery } from '../../contracts/webhooks/forge-event.ts';
import { parseHubSignature } from '../../contracts/webhooks/hub-signature.ts';
import { RATE_LIMITS } from '../../domain/api-limits.ts';
import { WEBHOOK_BODY_BYTES_MAX } from '../../domain/limits.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { webhookSecretOwner } from '../../domain/sealed-text.ts';
import { normalizeInstanceUrl, normalizeSlug } from '../../domain/url.ts';
import { type HeardKind, heardKindOf, isHeardNoteDue } from '../../domain/wakes/heard-events.ts';
import {
  classifyForgeEvent,
  type ForgeEvent,
  type ForgeEventKind,
  obeysWebhooks,
} from '../../domain/wakes/wake-rule.ts';
import type { RateStore } from '../../ports/account-store.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import { type DispatchStore, type LeaseStore, StoreError } from '../../ports/store.ts';
import { VaultError } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import { findReposOnHold, type OnHoldStore, type PlanDeps } from '../billing/plans.ts';
import { type EventWakeDeps, wakeForEvent } from '../wakes/send-wakes.ts';
import type { RefusedDeliveries } from './refused-deliveries.ts';

export interface WebhookDeps extends EventWakeDeps, PlanDeps {
  readonly store: DispatchStore & OnHoldStore;
  /** @default no limit */
  readonly rates?: RateStore;
  readonly leases: Pick<LeaseStore, 'readLeaseState'>;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly queueName: string;
  /** @default none is remembered */
  readonly refused?: RefusedDeliveries;
}

export interface ForgeWebhookRequest {
  /** As received; the signature is over these bytes. */
  readonly body: Uint8Array;
  readonly signature: string | undefined;
  /** Coarse event name. */
  readonly eventType: string | undefined;
  readonly deliveryId: string | undefined;
  /** `?r=` of our own hook URL (D-31). */
  readonly hookId: string | undefined;
  /** Network that it came from. @default all senders are one */
  readonly sender?: string;
}

/** `processed`: the queue will look. `wait_for_reconcile`: so it will, and results are read from the forge only. */
const WEBHOOK_OUTCOMES = ['processed', 'wait_for_reconcile', 'ignored'] as const;
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

/**
 * Takes one delivery. The order is D-31's: size, form of the signature, JSON with a repository, look-up, signature; a sender
 * with too many wrong ones is refused before the look-up. An
 * event never runs the engine; it marks the repo due (A47). Throws `AppError` for every refusal.
 */
export async function acceptForgeWebhook(
  deps: WebhookDeps,
  request: ForgeWebhookRequest,
): Promise<WebhookOutcome> {
  if (request.body.length > WEBHOOK_BODY_BYTES_MAX) throw new AppError('invalid_body');
  const signature = parseHubSignature(request.signature);
  if (signature === null) throw new AppError('invalid_signature');
  const delivery = parseForgeDelivery(request.eventType ?? '', request.body);
  if (delivery === 'malformed') throw new AppError('invalid_body');
  if (delivery === 'no_repository') throw new AppError('missing_fields', { field: 'repository' });
  const target = request.hookId ?? nameAddress(delivery);
  if (deps.refused?.isOver(request.sender ?? '', target)) throw new AppError('invalid_signature');
  const repo = await deps.store.findRepoForHook(
    request.hookId === undefined
      ? { instanceUrl: delivery.instanceUrl, slug: delivery.slug }
      : { hookId: request.hookId },
  );
  // Computed for an unknown repo as well, so that time does not tell which repos are managed.
  const authentic = signature.matches(await openSecret(deps, repo), request.body);
  if (repo === null || repo.tombstone) throw new AppError('not_found');
  if (!authentic) {
    deps.refused?.count(request.sender ?? '', target);
    throw new AppError('invalid_signature');
  }
  if (request.eventType === undefined) throw new AppError('missing_fields', { field: 'event' });
  return deliver(deps, await branchesOf(deps, repo), { ...delivery, deliveryId: request.deliveryId });
}

/** One name for all spellings of an address, as the look-up has it. */
function nameAddress({ instanceUrl, slug }: { readonly instanceUrl: string; readonly slug: string }): string {
  return `${normalizeInstanceUrl(instanceUrl)} ${normalizeSlug(slug)}`;
}

/** One hook serves every managed branch of a repository; whose its secret is does not matter. */
async function branchesOf({ store }: WebhookDeps, repo: ManagedRepo): Promise<readonly ManagedRepo[]> {
  const managed = await store.listReposAt(repo);
  return managed.some(({ id }) => id === repo.id) ? managed : [repo, ...managed];
}

interface Delivery {
  readonly event: ForgeEvent;
  readonly deliveryId: string | undefined;
}

/** The most that any branch made of it. A lease that is held is told once all others were woken. */
async function deliver(
  deps: WebhookDeps,
  branches: readonly ManagedRepo[],
  delivery: Delivery,
): Promise<WebhookOutcome> {
  const outcomes: WebhookOutcome[] = [];
  let held: AppError | null = null;
  for (const repo of branches) {
    try {
      outcomes.push(await deliverTo(deps, repo, delivery));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'lease_held') throw error;
      held = error;
    }
  }
  if (held !== null) throw held;
  return WEBHOOK_OUTCOMES.find((outcome) => outcomes.includes(outcome)) ?? 'ignored';
}

async function deliverTo(deps: WebhookDeps, repo: ManagedRepo, delivery: Delivery): Promise<WebhookOutcome> {
  // Of a queue that is off as well: its owner may be setting it up.
  if (repo.wakeupMode === 'webhook' && !repo.tombstone) await noteHeard(deps, repo, 'delivery');
  if (!obeysWebhooks(repo)) return 'ignored';
  // A sender of this many has marked the repo due long ago (D-52).
  if (await isFlooded(deps, repo)) return 'ignored';
  const kind = await classify(deps, repo, delivery.event);
  if (kind === 'unrelated') return 'ignored';
  await noteHeard(deps, repo, heardKindOf(delivery.event.type));
  // Held for payment: not the sender's mistake (D-34).
  if ((await findReposOnHold(deps, repo.tenantId)).has(repo.id)) return 'ignored';
  return wake(deps, repo, kind, delivery.deliveryId);
}

/** Null, which no signature fits: there is none, or the row is damaged. */
async function openSecret(
  { secrets }: WebhookDeps,
  repo: ManagedRepo | null,
): Promise<Secret<string> | null> {
  if (repo === null || repo.webhookSecret === null) return null;
  try {
    return await secrets.open(webhookSecretOwner(repo), repo.webhookSecret.reveal());
  } catch (error) {
    // A key service that does not answer is a fault of this side, not of the sender.
    if (!(error instanceof VaultError) || error.kind !== 'undecryptable') throw error;
    return null;
  }
}

/** Per repo, and only what its own secret has signed: no other sender can use up its share. */
async function isFlooded(deps: WebhookDeps, repo: ManagedRepo): Promise<boolean> {
  const { perMinute, burst } = RATE_LIMITS.webhook;
  try {
    const answer = await deps.rates?.takeToken(`webhook:${repo.id}`, 60_000 / perMinute, burst);
    return answer?.allowed === false;
  } catch (error) {
    // Open: a limiter that cannot count must not cost an event.
    if (error instanceof StoreError) return false;
    throw error;
  }
}

async function classify(deps: WebhookDeps, repo: ManagedRepo, event: ForgeEvent): Promise<ForgeEventKind> {
  const connection = await deps.store.getConnection(repo.tenantId, repo.connectionId);
  // Without its connection the repo cannot be reconciled anyway; the outcome of the next reconcile says so.
  return classifyForgeEvent(event, {
    baseBranch: repo.baseBranch,
    queueName: deps.queueName,
    botUsername: connection?.botUsername ?? '',
  });
}

/** Best effort: without the note the gate is polled as often as where no event comes, and the set-up says that none was seen. */
async function noteHeard(
  { store, clock }: WebhookDeps,
  repo: ManagedRepo,
  heard: HeardKind | null,
): Promise<void> {
  if (heard === null || !isHeardNoteDue(repo.heard?.[heard], clock.now())) return;
  try {
    await store.noteHeard(repo.id, heard, clock.now());
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

async function wake(
  deps: WebhookDeps,
  repo: ManagedRepo,
  kind: Exclude<ForgeEventKind, 'unrelated'>,
  deliveryId: string | undefined,
): Promise<WebhookOutcome> {
  const claim = deliveryId === undefined ? null : `delivery:${deliveryId}`;
  if (claim !== null && (await deps.store.isDeliveryClaimed(repo.id, claim))) return 'ignored';
  // The mark comes before the 409, so an event that is "dropped" is not lost (D-30).
  if ((await wakeForEvent(deps, repo.id)) === 'gone') return 'ignored';
  // Claimed only now: a delivery whose wake failed is answered with an error, and must count when it is sent again.
  if (claim !== null) await deps.store.claimDelivery(repo.id, claim);
  if (kind === 'news') return 'wait_for_reconcile';
  if (kind === 'queue_change' && (await deps.leases.readLeaseState(repo.id)) === 'held') {
    throw new AppError('lease_held');
  }
  return 'processed';
}
