import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Log } from '../ports/system.ts';

/**
 * Handles the messages of one invocation in order, and reports the first one that failed with all after it: in a FIFO
 * queue nothing may overtake a failure. The others are deleted by the service.
 */
export async function consumeBatch(
  event: SQSEvent,
  log: Log,
  consume: (record: SQSRecord) => Promise<void>,
  onFailure: (record: SQSRecord) => Promise<void> = async () => {},
): Promise<SQSBatchResponse> {
  for (const [index, record] of event.Records.entries()) {
    try {
      await consume(record);
    } catch (error) {
      log.error('message failed', { message_id: record.messageId, error });
      await onFailure(record);
      const unfinished = event.Records.slice(index);
      return { batchItemFailures: unfinished.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    }
  }
  return { batchItemFailures: [] };
}
