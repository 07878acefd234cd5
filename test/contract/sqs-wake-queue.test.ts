import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { createSqsWakeQueue } from '#core/adapters/sqs/wake-queue.ts';
import { parseWakeMessage } from '#core/contracts/internal/wake-message.ts';
import type { WakeQueue } from '#core/ports/system.ts';
import type { Emulator } from '../../local/emulators/dynamo.ts';
import { startSqs } from '../../local/emulators/sqs.ts';
import { LOCAL_AWS } from '../support/local-aws.ts';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

let emulator: Emulator;
let client: SQSClient;

beforeAll(async () => {
  emulator = await startSqs();
  client = new SQSClient({
    endpoint: emulator.endpoint,
    ...LOCAL_AWS,
    maxAttempts: 1,
  });
});

afterAll(async () => {
  client.destroy();
  await emulator.stop();
});

async function createQueues(name: string): Promise<{ wakes: string; delayed: string; queue: WakeQueue }> {
  const create = async (QueueName: string, Attributes: Record<string, string>) => {
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
    if (QueueUrl === undefined) throw new Error('the queue has no URL');
    return QueueUrl;
  };
  const wakes = await create(`${name}.fifo`, {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
  });
  const delayed = await create(`${name}-delayed`, {});
  const queue = createSqsWakeQueue({ client, wakeQueueUrl: wakes, delayedWakeQueueUrl: delayed });
  return { wakes, delayed, queue };
}

async function receive(url: string, waitSeconds = 0) {
  const answer = await client.send(
    new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: waitSeconds }),
  );
  return (answer.Messages ?? []).map((message) => ({
    wake: parseWakeMessage(message.Body ?? ''),
    done: () =>
      client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message.ReceiptHandle })),
  }));
}

describe('SQS wake queue', () => {
  test('queue URLs are on loopback, where the emulator listens', async () => {
    const { wakes } = await createQueues('loopback');
    expect(emulator.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(wakes.startsWith(`${emulator.endpoint}/`)).toBe(true);
  });

  test('one wake is delivered once, also after it was handled; the next one is not swallowed (E9)', async () => {
    const { wakes, queue } = await createQueues('dedup');
    await queue.sendWake('repo-1', 7);
    await queue.sendWake('repo-1', 7);
    const [first, ...others] = await receive(wakes);
    expect(first?.wake).toEqual({ repoId: 'repo-1', wakeSeq: 7 });
    expect(others).toEqual([]);
    await first?.done();
    await queue.sendWake('repo-1', 7);
    expect(await receive(wakes)).toEqual([]);
    await queue.sendWake('repo-1', 8);
    expect((await receive(wakes)).map(({ wake }) => wake?.wakeSeq)).toEqual([8]);
  });

  test('wakes of one repo come one at a time and in order; other repos do not wait (A49)', async () => {
    const { wakes, queue } = await createQueues('groups');
    for (const wakeSeq of [1, 2, 3]) {
      await queue.sendWake('repo-1', wakeSeq);
      await queue.sendWake('repo-2', wakeSeq);
    }
    const seen: Record<string, number[]> = { 'repo-1': [], 'repo-2': [] };
    for (const round of [1, 2, 3]) {
      const messages = await receive(wakes);
      expect(await receive(wakes)).toEqual([]);
      expect(messages.map(({ wake }) => wake?.wakeSeq)).toEqual([round, round]);
      for (const { wake, done } of messages) {
        if (wake !== null) seen[wake.repoId]?.push(wake.wakeSeq);
        await done();
      }
    }
    expect(seen).toEqual({ 'repo-1': [1, 2, 3], 'repo-2': [1, 2, 3] });
  });

  test('a delayed wake arrives after its delay, rounded up to seconds; zero arrives at once', async () => {
    const { delayed, queue } = await createQueues('delay');
    await queue.sendDelayedWake('repo-1', 1, 0);
    expect((await receive(delayed)).map(({ wake }) => wake)).toEqual([{ repoId: 'repo-1', wakeSeq: 1 }]);
    const sentAt = performance.now();
    await queue.sendDelayedWake('repo-1', 2, 1);
    expect(await receive(delayed)).toEqual([]);
    expect((await receive(delayed, 5)).map(({ wake }) => wake?.wakeSeq)).toEqual([2]);
    expect(performance.now() - sentAt).toBeGreaterThan(900);
  });

  test('a glance that is delivered twice goes on once, and swallows no wake of its repo', async () => {
    const { wakes, delayed, queue } = await createQueues('glances');
    const glance = { repoId: 'repo-1', wakeSeq: 7, step: 2 };
    await queue.sendDelayedGlance(glance, 0);
    const sent = { repoId: 'repo-1', wakeSeq: 7, glance: 2 };
    expect((await receive(delayed)).map(({ wake }) => wake)).toEqual([sent]);
    await queue.sendGlance(glance);
    await queue.sendGlance(glance);
    await queue.sendWake('repo-1', 7);
    const [first, ...others] = await receive(wakes);
    expect([first?.wake, others]).toEqual([sent, []]);
    await first?.done();
    expect((await receive(wakes)).map(({ wake }) => wake)).toEqual([{ repoId: 'repo-1', wakeSeq: 7 }]);
  });

  test('a delay beyond what the service takes is cut to it', async () => {
    const { delayed, queue } = await createQueues('longest');
    await queue.sendDelayedWake('repo-1', 3, 86_400_000);
    expect(await receive(delayed)).toEqual([]);
  });
});
