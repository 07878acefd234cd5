import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { parseWakeMessage } from '../../contracts/events.ts';
import type { DeadWakes } from '../../ports/system.ts';

/** One call takes so many. */
const TAKEN_MAX = 10;

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
        repoId: parseWakeMessage(Body)?.repoId ?? null,
        drop: async () => {
          await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        },
      }));
    },
  };
}
