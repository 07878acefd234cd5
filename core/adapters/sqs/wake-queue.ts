import type { SQSClient } from '@aws-sdk/client-sqs';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { formatWakeMessage } from '../../contracts/events.ts';
import { WAKE_QUEUE_DELAY_MAX_S } from '../../domain/limits.ts';
import type { WakeQueue } from '../../ports/system.ts';

export interface SqsWakeQueueConfig {
  readonly client: SQSClient;
  /** FIFO: one message of a repo at a time. */
  readonly wakeQueueUrl: string;
  /** Standard, because a FIFO queue refuses a delay per message; its consumer forwards into the FIFO queue. */
  readonly delayedWakeQueueUrl: string;
}

/** For what sends into the FIFO queue only: the tick and the forwarder have no right to the other. */
export function createSqsWakeSender(
  config: Pick<SqsWakeQueueConfig, 'client' | 'wakeQueueUrl'>,
): Pick<WakeQueue, 'sendWake'> {
  return {
    async sendWake(repoId, wakeSeq) {
      await config.client.send(
        new SendMessageCommand({
          QueueUrl: config.wakeQueueUrl,
          MessageBody: formatWakeMessage({ repoId, wakeSeq }),
          MessageGroupId: repoId,
          // Never the repo id alone, nor the body's digest without the count: five minutes of wakes would vanish (E9).
          MessageDeduplicationId: `${repoId}:${wakeSeq}`,
        }),
      );
    },
  };
}

/** Sends wakes. A failure is the caller's to swallow or to report: the due mark is already stored, the tick follows (A45). */
export function createSqsWakeQueue(config: SqsWakeQueueConfig): WakeQueue {
  return {
    ...createSqsWakeSender(config),

    async sendDelayedWake(repoId, wakeSeq, delayMs) {
      const delaySeconds = Math.ceil(Math.max(0, delayMs) / 1000);
      await config.client.send(
        new SendMessageCommand({
          QueueUrl: config.delayedWakeQueueUrl,
          MessageBody: formatWakeMessage({ repoId, wakeSeq }),
          DelaySeconds: Math.min(delaySeconds, WAKE_QUEUE_DELAY_MAX_S),
        }),
      );
    },
  };
}
