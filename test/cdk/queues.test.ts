import { readFileSync } from 'node:fs';
import { LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS } from '#core/domain/limits.ts';
import { listOf, type Resource, readTemplate } from '../support/template.ts';

const template = readTemplate();
const queueMappings = template
  .ofType('AWS::Lambda::EventSourceMapping')
  .filter(([, { Properties }]) => /Queue|Dead/.test(Properties.EventSourceArn['Fn::GetAtt'][0]));

const queueOf = (mapping: Resource): Resource =>
  template.get(mapping.Properties.EventSourceArn['Fn::GetAtt'][0]);

function deadLetterIds(): string[] {
  const targetOf = (value: { 'Fn::GetAtt': string[] } | undefined): string[] =>
    value?.['Fn::GetAtt'].slice(0, 1) ?? [];
  return [
    ...template
      .ofType('AWS::SQS::Queue')
      .flatMap(([, { Properties }]) => targetOf(Properties.RedrivePolicy?.deadLetterTargetArn)),
    ...template
      .ofType('AWS::Events::Rule')
      .flatMap(([, { Properties }]) =>
        Properties.Targets.flatMap((target: { DeadLetterConfig: { Arn: { 'Fn::GetAtt': string[] } } }) =>
          targetOf(target.DeadLetterConfig.Arn),
        ),
      ),
    ...template
      .ofType('AWS::Lambda::EventSourceMapping')
      .flatMap(([, { Properties }]) => targetOf(Properties.DestinationConfig?.OnFailure?.Destination)),
  ];
}

describe('queues (A119)', () => {
  /**
   * A wait eliminates "false empty responses (when messages are available but aren't included in a response)"
   * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/best-practices-setting-up-long-polling.html).
   */
  test('the tick finds the dead wakes that are there: its one question waits', () => {
    const url = template.functionNamed('Tick').Properties.Environment.Variables.DEAD_WAKES_URL;
    expect(template.get(url.Ref).Properties.ReceiveMessageWaitTimeSeconds).toBe(1);
  });

  /**
   * "Event source mappings don't account for reserved concurrency and can process more messages off your queue than can be sent
   * to your function" (https://repost.aws/knowledge-center/lambda-sqs-scaling): each refusal counts as a delivery.
   */
  test('a restore stops the deliveries of the queues before it stops the functions, and starts them again', () => {
    const restore = /^## Restore\n(.+?)^## /ms.exec(readFileSync('docs/operate.md', 'utf8'))?.[1] ?? '';
    const [, off = '', on = ''] = /^3\. (.+?)^5\. (.+?)$/ms.exec(restore) ?? [];
    const stopped = off.indexOf('update-event-source-mapping --no-enabled');
    expect(stopped).toBeGreaterThan(0);
    expect(off.indexOf('put-function-concurrency')).toBeGreaterThan(stopped);
    for (const [id] of queueMappings) {
      expect(off.slice(stopped)).toContain(`\`${id.replace(/[0-9A-F]{8}$/, '')}…\``);
    }
    expect(on).toContain('update-event-source-mapping --enabled');
  });

  /**
   * The service refuses a mapping whose function may run for longer than its messages stay hidden, and advises six times
   * the time-out, so that it can try again what it throttled
   * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html). Wakes have less: the message of a worker
   * that was killed hides all other messages of its repo meanwhile, each batch is one message, and the limit of
   * concurrent deliveries keeps the service from receiving what it would throttle
   * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html).
   */
  test('a wake of a killed worker comes back within 90 s, and no function runs for longer than its message is hidden', () => {
    const ids = queueMappings.map(([id]) => id.replace(/Delivery.*/, ''));
    expect(ids.sort()).toEqual(['QueueDelayed', 'QueueWakes']);
    for (const [id, mapping] of queueMappings) {
      const timeout = template.get(mapping.Properties.FunctionName.Ref).Properties.Timeout;
      const hidden = queueOf(mapping).Properties.VisibilityTimeout;
      if (id.startsWith('QueueWakesDelivery')) {
        expect(hidden).toBeGreaterThanOrEqual(timeout + 15);
        expect(hidden).toBeLessThanOrEqual(90);
        // The lease of the killed worker is over by then, and so is the grace after it.
        expect(hidden * 1000).toBeGreaterThan(LEASE_TTL_MS + LEASE_TAKEOVER_GRACE_MS);
        expect(mapping.Properties.ScalingConfig.MaximumConcurrency).toBeGreaterThanOrEqual(2);
      } else expect(hidden).toBeGreaterThanOrEqual(6 * timeout);
      expect(mapping.Properties).toMatchObject({
        BatchSize: 1,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      });
    }
  });

  test('at most twenty reconciles run at once', () => {
    const worker = queueMappings.find(([id]) => id.startsWith('QueueWakesDelivery'));
    expect(worker?.[1].Properties.ScalingConfig).toEqual({ MaximumConcurrency: 20 });
  });

  test('the wake queue is FIFO per repo, and so are its dead letters', () => {
    const fifo = template.ofType('AWS::SQS::Queue').filter(([, { Properties }]) => Properties.FifoQueue);
    expect(fifo.map(([id]) => id.replace(/[0-9A-F]{8}$/, '')).sort()).toEqual([
      'QueueDeadWakes',
      'QueueWakes',
    ]);
    const [, wakes] = fifo.find(([id]) => id.startsWith('QueueWakes')) ?? [];
    expect(wakes?.Properties).toMatchObject({
      ContentBasedDeduplication: false,
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      RedrivePolicy: { maxReceiveCount: 5 },
    });
  });

  test('every queue has dead letters or is dead letters, it or these have an alarm, and it is encrypted', () => {
    const dead = deadLetterIds();
    // What the tick takes has an alarm in the lines of the tick (WakeWrittenOff, WakesLost, DeadWakesKept).
    const takenByTick = template.functionNamed('Tick').Properties.Environment.Variables.DEAD_WAKES_URL.Ref;
    const alarms = JSON.stringify(
      template.ofType('AWS::CloudWatch::Alarm').map(([, alarm]) => alarm.Properties.Dimensions),
    );
    for (const [id, queue] of template.ofType('AWS::SQS::Queue')) {
      expect([id, queue.Properties.RedrivePolicy !== undefined || dead.includes(id)]).toEqual([id, true]);
      const [letters] = queue.Properties.RedrivePolicy?.deadLetterTargetArn['Fn::GetAtt'] ?? [id];
      const hasAlarm = [id, letters].some((each) => alarms.includes(`"${each}"`)) || id === takenByTick;
      expect([id, hasAlarm]).toEqual([id, true]);
      expect(queue.Properties.SqsManagedSseEnabled).toBe(true);
    }
  });

  test('every queue and topic refuses plain HTTP', () => {
    const policies = JSON.stringify(
      ['AWS::SQS::QueuePolicy', 'AWS::SNS::TopicPolicy'].flatMap((type) =>
        template.ofType(type).map(([, policy]) => policy.Properties),
      ),
    );
    const all = [...template.ofType('AWS::SQS::Queue'), ...template.ofType('AWS::SNS::Topic')];
    for (const [id] of all) expect(policies).toContain(`"Ref":"${id}"`);
    expect(policies.match(/aws:SecureTransport/g)).toHaveLength(all.length);
  });
});

describe('schedule (A60)', () => {
  test('is every five minutes, enabled, with retries and dead letters', () => {
    const { Properties } = template.only('AWS::Events::Rule');
    expect(Properties).toMatchObject({ ScheduleExpression: 'cron(*/5 * * * ? *)', State: 'ENABLED' });
    expect(Properties.Targets).toEqual([
      expect.objectContaining({ RetryPolicy: expect.anything(), DeadLetterConfig: expect.anything() }),
    ]);
  });

  /** https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html: six hours and two tries else. */
  test('a tick that Lambda holds back is dropped once the next one is there', () => {
    const { Properties } = template.only('AWS::Lambda::EventInvokeConfig');
    expect(Properties).toMatchObject({ MaximumEventAgeInSeconds: 300, MaximumRetryAttempts: 0 });
    expect(JSON.stringify(Properties.FunctionName)).toMatch(/"TickFunction[0-9A-F]{8}"/);
  });
});

/**
 * Lambda ends a chain of about sixteen invocations that lead to each other over queues, and the message that it stops hides
 * its group until it is dead. The wakes of a waiting repository are such a chain on purpose, and what ends them is the
 * message of an older wake, which is dropped (https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html).
 */
describe('a chain of wakes (A119)', () => {
  const functions = template.ofType('AWS::Lambda::Function');
  const idsIn = (value: unknown): readonly string[] =>
    [...JSON.stringify(value).matchAll(/"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/g)].map(([, id = '']) => id);

  /** What a function may send to or call, and what a queue is delivered to. */
  function leadsTo(id: string): readonly string[] {
    const delivered = queueMappings
      .filter(([, { Properties }]) => idsIn(Properties.EventSourceArn).includes(id))
      .flatMap(([, { Properties }]) => idsIn(Properties.FunctionName));
    const role = template.resources[id]?.Properties.Role;
    if (role === undefined) return delivered;
    const [roleId = ''] = idsIn(role);
    const holder = roleId.replace(/[0-9A-F]{8}$/, '');
    const sends = template
      .allowed()
      .filter((each) => each.holder === holder)
      .filter(({ Action }) => listOf(Action).some((each) => /^(sqs:SendMessage|lambda:Invoke)/.test(each)));
    return [...delivered, ...sends.flatMap(({ Resource }) => idsIn(Resource))];
  }

  function isOnCycle(start: string): boolean {
    const seen = new Set<string>();
    const open = [...leadsTo(start)];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === start) return true;
      if (!seen.has(next)) open.push(...leadsTo(next));
      seen.add(next);
    }
    return false;
  }

  test('may go on for as long as a repository waits, and nothing else may call itself for long', () => {
    const allowed = functions.filter(([, { Properties }]) => Properties.RecursiveLoop === 'Allow');
    const names = template.functionNames();
    const nameOf = ([id]: (typeof functions)[number]) => names.get(id);
    const looping = functions.filter(([id]) => isOnCycle(id)).map(nameOf);
    expect(looping).toEqual(expect.arrayContaining(['Worker', 'WakeForward']));
    expect(allowed.map(nameOf)).toEqual(looping);
  });
});
