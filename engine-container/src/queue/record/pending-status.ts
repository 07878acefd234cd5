import type { PostedState } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';

/** One status of ours: on which head, and what it says. */
export interface OwnStatus {
  readonly pr: PullRequestNumber;
  readonly sha: CommitSha;
  readonly context: string;
  readonly state: PostedState;
  readonly description: string;
  readonly targetUrl: string | null;
  /** Takes the place of a `success`, which may open a merge until then: written before all others, and never dropped. */
  readonly takesBack?: true;
}

/** A status that is still to be written. */
export interface PendingStatus extends OwnStatus {
  /** Times that the forge refused or failed to write it while it was otherwise well; absent: never. */
  readonly failures?: number;
  /** Not tried again before; absent: at once. */
  readonly retryAt?: EpochMs;
  /** A person was told that the success which it takes back stands. */
  readonly told?: true;
}

/** Is it on this head, under the context of the queue? What is still to be written under one of before is outdated by nothing that is said now. */
export function isUnderContext(
  { context }: { readonly context: string },
  head: CommitSha,
  status: Pick<OwnStatus, 'sha' | 'context'>,
): boolean {
  return status.sha === head && status.context === context;
}

/**
 * A person was told that this head takes no status: a `success` under another context can neither be taken back there. One under the
 * context of the queue would stand as long, and keep all others from landing (decision 0377).
 */
export function isHeadShut(
  {
    context,
    pendingStatuses,
  }: { readonly context: string; readonly pendingStatuses: readonly PendingStatus[] },
  head: CommitSha,
): boolean {
  return pendingStatuses.some((status) => status.sha === head && status.context !== context && status.told);
}

/** Posts of `success` on one head that were never answered, and whose landing is over. */
export interface UnheardPost {
  readonly pr: PullRequestNumber;
  readonly sha: CommitSha;
  readonly context: string;
  /** How many; each is taken back when it appears. */
  readonly posts: number;
  readonly since: EpochMs;
  readonly lookAt: EpochMs;
  /** No status could be written on this head. */
  readonly isUnwritable?: true;
}
