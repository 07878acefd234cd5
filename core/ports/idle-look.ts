import type { CommitSha, EpochMs, PullRequestNumber, RepoId } from '../domain/ids.ts';
import type { ReconcileErrorCode } from '../domain/repos/repo.ts';
import type { HookState } from '../domain/set-up/hook-seen.ts';
import type { ProtectionReason } from '../domain/set-up/provisioning.ts';
import type { Glance } from '../domain/wakes/forge-sight.ts';
import type { ReconcileRequest } from './system.ts';

/** A pull request that was read and is not scheduled. It stays so until its head or its `updatedAt` changes. */
export interface SeenPull {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly updatedAt: EpochMs;
  /** By our clock: when (`head`, `updatedAt`) was first seen, and when its timeline was read. */
  readonly seenAt: EpochMs;
  readonly readAt: EpochMs;
}

/** The memory of the idle looks at one repo. Losing it costs one reconcile of the engine. */
export interface LookMemory {
  /** Tip of the base that the engine has seen. */
  readonly tip: CommitSha | null;
  readonly pulls: readonly SeenPull[];
  /** The engine reaches this forge and the look does not: no look before then. */
  readonly blindUntil: EpochMs | null;
  /** When a look compared the hook, and the rule of the base, with what is known of them last; absent: none has. */
  readonly hookAt?: EpochMs | undefined;
  readonly ruleAt?: EpochMs | undefined;
}

/** A part of the set-up to be compared in this look, and what the engine saw of it last. */
export type SetUpQuestion =
  | { readonly part: 'hook'; readonly hookId: string; readonly was: HookState }
  | { readonly part: 'rule'; readonly was: readonly ProtectionReason[] };

export interface LookRequest
  extends Pick<ReconcileRequest, 'instanceUrl' | 'repoSlug' | 'baseBranch' | 'token'> {
  readonly statusContext: string;
  /** The id that the forge gave the repository; null: not known. */
  readonly repoId: number | null;
  /** Null: none is due. */
  readonly setUp: SetUpQuestion | null;
  /** Null: the first look. */
  readonly memory: LookMemory | null;
}

/** Outcomes of a forge that does not answer, or refuses. */
export const LOOK_FAULTS = [
  'forge_unreachable',
  'forge_access_denied',
] as const satisfies readonly ReconcileErrorCode[];
export type LookFault = (typeof LOOK_FAULTS)[number];

/** `idle`: nothing is scheduled, and nothing moved. `needed`: the engine has to look. */
export type LookAnswer =
  | { readonly kind: 'idle' | 'needed'; readonly memory: LookMemory }
  | { readonly kind: 'failed'; readonly fault: LookFault };

export type GlanceRequest = Pick<ReconcileRequest, 'instanceUrl' | 'repoSlug' | 'baseBranch' | 'token'>;

/** `failed`: the forge did not answer, or refused. */
export type GlanceAnswer = ({ readonly kind: 'seen' } & Glance) | { readonly kind: 'failed' };

/** Looks at a forge that write nothing. They reject when the look itself did not take place. */
export interface IdleLooker {
  look(request: LookRequest): Promise<LookAnswer>;
  /** Two calls of the forge. */
  glance(request: GlanceRequest): Promise<GlanceAnswer>;
}

/** The memory of idle looks, and since when the engine is needed. */
export interface LookStore {
  loadLook(repoId: RepoId): Promise<LookMemory | null>;
  saveLook(repoId: RepoId, memory: LookMemory): Promise<void>;
  /** When the engine was needed last; null: it never was. */
  loadEngineNeededAt(): Promise<EpochMs | null>;
  /** Writes at most once in `ENGINE_NEED_RENEWED_AFTER_MS`. */
  noteEngineNeeded(at: EpochMs): Promise<void>;
}
