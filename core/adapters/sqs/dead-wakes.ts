import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { parseWakeMessage, type WakeMessage } from '../../contracts/internal/wake-message.ts';
import type { RepoId } from '../../domain/ids.ts';
import type { DeadWakes } from '../../ports/system.ts';

/** Messages of one call, the most that SQS takes. */
const TAKEN_MAX = 10;

/**
 * Repository of a dead wake; null for an unreadable message, and for a glance, whose repository the tick looks at
 * again.
 */
function repoOf(message: WakeMessage | null): RepoId | null {
  return message === null || message.glance !== undefined ? null : message.repoId;
}

/** The dead letters of the wake queue. */
export function createDeadWakes(config: {
  readonly client: SQSClient;
  readonly queueUrl: string;
}): DeadWakes {
  const { client, queueUrl: QueueUrl } = config;
  return {
    async take() {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: TAKEN_MAX }),
      );
      return Messages.map(({ Body = '', MessageId = '', ReceiptHandle }) => ({
        id: MessageId,
        repoId: repoOf(parseWakeMessage(Body)),
        drop: async () => {
          await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        },
      }));
    },
  };
}
