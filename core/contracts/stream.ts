import * as z from 'zod';

/** An event of the table's change stream, of which only keys are asked for (`STREAM_VIEW`). */
const streamEventSchema = z.object({
  Records: z.array(
    z.object({
      eventName: z.enum(['INSERT', 'MODIFY', 'REMOVE']),
      dynamodb: z.object({
        Keys: z.object({ pk: z.object({ S: z.string() }), sk: z.object({ S: z.string() }) }),
        SequenceNumber: z.string(),
      }),
    }),
  ),
});

export interface StreamChange {
  readonly kind: 'INSERT' | 'MODIFY' | 'REMOVE';
  readonly pk: string;
  readonly sk: string;
  readonly sequence: string;
}

/** Throws on anything else: a consumer that reads nothing of a stream it does not know would look healthy. */
export function parseStreamEvent(event: unknown): readonly StreamChange[] {
  return streamEventSchema.parse(event).Records.map(({ eventName, dynamodb }) => ({
    kind: eventName,
    pk: dynamodb.Keys.pk.S,
    sk: dynamodb.Keys.sk.S,
    sequence: dynamodb.SequenceNumber,
  }));
}

/** Answer of a consumer that reports failures one by one. */
export interface StreamAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}
