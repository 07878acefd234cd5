import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { isObject, type Json } from '../../core/ports/invocable.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION, type Resolver } from './resolver.ts';
import { asObject, fail, type Resource, type Template } from './template.ts';

/** Attributes that the API takes under the template's own names. */
const ATTRIBUTES = [
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
  'VisibilityTimeout',
  'MessageRetentionPeriod',
  'DelaySeconds',
  'ReceiveMessageWaitTimeSeconds',
] as const;

/** Creates every queue of the template, dead letters first, since the others name them. */
export async function createQueues(template: Template, resolver: Resolver, client: SQSClient): Promise<void> {
  const queues = template.ofType('AWS::SQS::Queue');
  const hasDeadLetters = (queue: Resource): boolean => queue.properties.RedrivePolicy !== undefined;
  for (const queue of [...queues.filter((each) => !hasDeadLetters(each)), ...queues.filter(hasDeadLetters)]) {
    const given = asObject(resolver.resolve(queue.properties, queue.id), queue.id);
    const name = given.FifoQueue === true ? `${queue.id}.fifo` : queue.id;
    const attributes = Object.fromEntries(
      ATTRIBUTES.flatMap((key) => (given[key] === undefined ? [] : [[key, textOf(given[key])]])),
    );
    if (isObject(given.RedrivePolicy)) attributes.RedrivePolicy = JSON.stringify(given.RedrivePolicy);
    const { QueueUrl: url } = await client.send(
      new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
    );
    const arn = `arn:aws:sqs:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${name}`;
    resolver.define(queue.id, {
      ref: url ?? fail(queue.id, 'the queue has no URL'),
      attributes: { Arn: arn, QueueName: name },
    });
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
