import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { ActivityEventName } from '#core/domain/queue/batch.ts';

export interface DecidedEvent {
  readonly event: ActivityEventName;
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly title: string;
  readonly reason: string | null;
  readonly author?: string;
  readonly scheduledAt?: EpochMs;
}
