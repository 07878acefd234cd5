import type { SQSClient } from '@aws-sdk/client-sqs';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { formatWakeMessage, type WakeMessage } from '../../contracts/internal/wake-message.ts';
import { WAKE_QUEUE_DELAY_S_MAX } from '../../domain/limits.ts';
import type { WakeQueue } from '../../ports/system.ts';

export interface SqsWakeQueueConfig {
  readonly client: SQSClient;
  /** URL of the FIFO queue of wakes: one message of a repository at a time. */
  readonly wakeQueueUrl: string;
  /**
   * URL of the standard queue of delayed wakes. A FIFO queue refuses a delay for single messages, so a consumer
   * forwards them into the FIFO queue.
   */
  readonly delayedWakeQueueUrl: string;
}

/**
 * Sender for functions that send into the FIFO queue alone: the tick and the forwarder have no right to the other
 * queue.
 */
export function createSqsWakeSender(
  config: Pick<SqsWakeQueueConfig, 'client' | 'wakeQueueUrl'>,
): Pick<WakeQueue, 'sendWake' | 'sendGlance'> {
  const send = async (message: WakeMessage, deduplicationId: string): Promise<void> => {
    await config.client.send(
      new SendMessageCommand({
        QueueUrl: config.wakeQueueUrl,
        MessageBody: formatWakeMessage(message),
        MessageGroupId: message.repoId,
        MessageDeduplicationId: deduplicationId,
      }),
    );
  };
  return {
    // Never the repo id alone, nor the body's digest without the count: five minutes of wakes would vanish (E9).
    sendWake: (repoId, wakeSeq) => send({ repoId, wakeSeq }, `${repoId}:${wakeSeq}`),
    // What the delayed queue or a worker delivered twice goes on once.
    sendGlance: ({ repoId, wakeSeq, step }) =>
      send({ repoId, wakeSeq, glance: step }, `${repoId}:${wakeSeq}:glance:${step}`),
  };
}

/** Sends wakes. A failure is the caller's to swallow or to report: the due mark is already stored, the tick follows (A45). */
export function createSqsWakeQueue(config: SqsWakeQueueConfig): WakeQueue {
  const sendDelayed = async (message: WakeMessage, delayMs: number): Promise<void> => {
    const delaySeconds = Math.ceil(Math.max(0, delayMs) / 1000);
    await config.client.send(
      new SendMessageCommand({
        QueueUrl: config.delayedWakeQueueUrl,
        MessageBody: formatWakeMessage(message),
        DelaySeconds: Math.min(delaySeconds, WAKE_QUEUE_DELAY_S_MAX),
      }),
    );
  };
  return {
    ...createSqsWakeSender(config),
    sendDelayedWake: (repoId, wakeSeq, delayMs) => sendDelayed({ repoId, wakeSeq }, delayMs),
    sendDelayedGlance: ({ repoId, wakeSeq, step }, delayMs) =>
      sendDelayed({ repoId, wakeSeq, glance: step }, delayMs),
  };
}
