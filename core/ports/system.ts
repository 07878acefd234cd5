import type { ConnectionId, EpochMs, RepoId, TenantId } from '../domain/ids.ts';
import type { QueueFigures, RepoSize } from '../domain/queue/queue-metrics.ts';
import type { SealedCredential } from '../domain/repos/repo.ts';
import type { Secret } from '../secret.ts';

export interface Clock {
  /** Wall clock, epoch ms. */
  now(): EpochMs;
  /** Monotonic ms, for deadlines only. */
  monotonic(): number;
  sleep(ms: number): Promise<void>;
}

export interface Ids {
  uuid(): string;
}

/** Structured log: static message, data as fields. Never a token, body, title or e-mail. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Figures for operators, by the size of a repository, never by its name. Best effort. */
export interface Meter {
  measure(size: RepoSize, figures: QueueFigures): void;
}

export type VaultErrorKind = 'undecryptable' | 'unavailable';
export class VaultError extends Error {
  override readonly name = 'VaultError';
  /** `keyFault`: what the key service says of the key itself; no repetition mends it. */
  constructor(
    readonly kind: VaultErrorKind,
    readonly keyFault: string | null = null,
  ) {
    super(`vault: ${kind}`);
  }
}

/** Which row a credential belongs to, and to which forge it is sent; bound to what is sealed (A96). */
export interface CredentialOwner {
  readonly tenantId: TenantId;
  readonly connectionId: ConnectionId;
  /** Of the row that says where the token goes. Its origin alone counts. */
  readonly instanceUrl: string;
}

export interface Vault {
  seal(owner: CredentialOwner, token: Secret<string>): Promise<SealedCredential>;
  open(owner: CredentialOwner, sealed: SealedCredential): Promise<Secret<string>>;
}

/** A glance that is due, after the look that was woken as `wakeSeq`. */
export interface DueGlance {
  readonly repoId: RepoId;
  readonly wakeSeq: number;
  /** Counts the glances since that look, from 1. */
  readonly step: number;
}

export interface WakeQueue {
  /** At most one delivery per (repo, wakeSeq); group = repo. */
  sendWake(repoId: RepoId, wakeSeq: number): Promise<void>;
  /** Delivered through the delayed queue; `delayMs` is rounded up to whole seconds, at most 900 s. */
  sendDelayedWake(repoId: RepoId, wakeSeq: number, delayMs: number): Promise<void>;
  /** At most one delivery per (repo, wakeSeq, step), in the line of the repo's wakes. */
  sendGlance(glance: DueGlance): Promise<void>;
  /** As a delayed wake. */
  sendDelayedGlance(glance: DueGlance, delayMs: number): Promise<void>;
}

/** Wakes that failed for good. Those that were taken come back unless they are dropped. */
export interface DeadWakes {
  /** A few of them; none: there are none. */
  take(): Promise<
    readonly {
      readonly id: string;
      /** Null: the message is no wake. */
      readonly repoId: RepoId | null;
      drop(): Promise<void>;
    }[]
  >;
}

/** The six strings of the internal reconcile request. */
export interface ReconcileRequest {
  readonly tenantId: TenantId;
  readonly repoSlug: string;
  readonly baseBranch: string;
  readonly queueName: string;
  readonly instanceUrl: string;
  readonly token: Secret<string>;
}

/**
 * `ok`: engine succeeded. `failed`: it answered 500. `refused`: 4xx, a bug of ours. `unreachable`: no connection, nothing
 * was sent. `starting`: the same, and a task of it is on its way. `lost`: sent but not answered; the engine may still be at work, so its lease must run out by itself (A40).
 * `unchanged`: not asked, because a look has shown that it would come to what its last reconcile came to.
 */
export type EngineAnswer = 'ok' | 'failed' | 'unreachable' | 'starting' | 'lost' | 'refused' | 'unchanged';

/** `wind_down`: take back what stands and begin nothing, as when the queue is off. */
export type ReconcileCommand = 'reconcile' | 'wind_down';

/** The fields of the signed stamp beside the body, whose six strings the contract fixes. */
export interface ReconcileOrder {
  /** Of the lease that the worker holds: a late request cannot act under a newer one. */
  readonly fence: number;
  readonly command: ReconcileCommand;
}

export interface EnginePort {
  reconcile(request: ReconcileRequest, order: ReconcileOrder): Promise<EngineAnswer>;
  isHealthy(): Promise<boolean>;
}
