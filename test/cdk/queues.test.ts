import { readdirSync, readFileSync } from 'node:fs';
import { LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS } from '#core/domain/limits.ts';
import { FULL, type Resource, readTemplate } from '../support/template.ts';

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
   * The service refuses a mapping whose function may run for longer than its messages stay hidden, and advises six times
   * the time-out, so that it can try again what it throttled
   * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html). Wakes have less: the message of a worker
   * that was killed hides all other messages of its repo meanwhile, each batch is one message, and the limit of
   * concurrent deliveries keeps the service from receiving what it would throttle
   * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html).
   */
  test('a wake of a killed worker comes back within 90 s, and no function runs for longer than its message is hidden', () => {
    const ids = queueMappings.map(([id]) => id.replace(/Delivery.*/, ''));
    expect(ids.sort()).toEqual(['QueueDeadWakes', 'QueueDelayed', 'QueueWakes']);
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

  test('every queue has dead letters or is dead letters, and an alarm, and is encrypted', () => {
    const dead = deadLetterIds();
    const alarms = JSON.stringify(
      template.ofType('AWS::CloudWatch::Alarm').map(([, alarm]) => alarm.Properties.Dimensions),
    );
    for (const [id, queue] of template.ofType('AWS::SQS::Queue')) {
      expect([id, queue.Properties.RedrivePolicy !== undefined || dead.includes(id)]).toEqual([id, true]);
      expect([id, alarms.includes(`"${id}"`)]).toEqual([id, true]);
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
});

describe('alarms', () => {
  const alarms = template.ofType('AWS::CloudWatch::Alarm');
  const idOf = (alarm: Resource): string =>
    /#(\w+)$/.exec(alarm.Properties.AlarmDescription)?.[1] ?? 'no anchor';

  test('every alarm has its section in the runbook, with meaning, look at and fix, and no section is left over', () => {
    const runbook = readFileSync('docs/operate.md', 'utf8');
    const sections = [...runbook.matchAll(/^### (\w+Alarm)\n+([^#]*)/gm)];
    expect(sections.map(([, name]) => name?.toLowerCase()).sort()).toEqual(
      alarms.map(([, alarm]) => idOf(alarm)).sort(),
    );
    for (const [, name, text] of sections) {
      expect([name, text]).toEqual([name, expect.stringMatching(/Meaning: .+ Look at: .+ Fix: .+/s)]);
    }
  });

  test('every alarm says how urgent it is, and tells those who asked for that', () => {
    for (const [, alarm] of alarms) {
      const [, severity] =
        /^\[(page|ticket)\] .+ Runbook: docs\/operate\.md#\w+$/.exec(alarm.Properties.AlarmDescription) ?? [];
      const topics = [
        { Ref: expect.stringMatching(severity === 'page' ? /^MonitoringPage/ : /^MonitoringTicket/) },
      ];
      expect(alarm.Properties).toMatchObject({ AlarmActions: topics, OKActions: topics });
    }
  });

  /**
   * A topic with a policy of its own has no default one, and CloudWatch needs a statement that lets it publish
   * (https://repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger).
   */
  test('every topic of an alarm lets the alarms of this account publish, and no other account', () => {
    const topics = new Set(
      alarms.flatMap(([, alarm]) => alarm.Properties.AlarmActions).map(({ Ref }) => Ref),
    );
    expect(topics.size).toBe(2);
    for (const Ref of topics) {
      const policies = template
        .ofType('AWS::SNS::TopicPolicy')
        .filter(([, { Properties }]) =>
          Properties.Topics.some((topic: { Ref: string }) => topic.Ref === Ref),
        );
      const allowed = policies
        .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement)
        .filter(({ Effect }: { Effect: string }) => Effect === 'Allow');
      expect(allowed).toEqual([
        expect.objectContaining({
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Action: 'sns:Publish',
          Resource: { Ref },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        }),
      ]);
    }
  });

  test('a stack that was just created has no data, and no alarm takes that for trouble', () => {
    expect(alarms.map(([, alarm]) => alarm.Properties.TreatMissingData)).toEqual(
      alarms.map(() => 'notBreaching'),
    );
  });

  /**
   * FILL gives a missing period a value (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html);
   * without it an alarm waits for more periods than it is told to
   * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html).
   */
  test('queues that stand still for 15 minutes page: repositories were woken, and the engine answered for none', () => {
    const alarm = alarms.find(([, each]) => idOf(each) === 'queuesstandstillalarm')?.[1];
    const { Metrics, AlarmDescription } = alarm?.Properties ?? {};
    expect(AlarmDescription).toMatch(/^\[page\]/);
    const [judged, ...counted] = Metrics;
    expect(judged.Expression).toBe('IF(FILL(expected, 0) > 0 AND FILL(beats, 0) < 1, 1, 0)');
    const patterns = counted.map(
      ({
        Id,
        MetricStat,
      }: {
        Id: string;
        MetricStat: { Metric: { MetricName: string }; Period: number };
      }) => {
        expect(MetricStat.Period).toBe(900);
        const filter = template
          .ofType('AWS::Logs::MetricFilter')
          .find(
            ([, { Properties }]) =>
              Properties.MetricTransformations[0].MetricName === MetricStat.Metric.MetricName,
          )?.[1];
        return [Id, filter?.Properties.FilterPattern];
      },
    );
    expect(Object.fromEntries(patterns)).toEqual({
      expected: '{ ($.message = "tick") && ($.woken > 0) }',
      beats: expect.stringMatching(
        /^\{ \(\$\.message = "reconciled"\) && \(\(\$\.ok IS TRUE\) \|\| .*"forge_unreachable"/,
      ),
    });
    // An error of the service's own is no answer.
    expect(JSON.stringify(patterns)).not.toMatch(
      /engine_error|lease_lost|decryption_error|timeout|engine_starting/,
    );
  });

  test.each([
    ['treemismatchalarm', 'tree_mismatch'],
    ['unverifiedlandingalarm', 'unverified_landing'],
    ['foreignstatuswriteralarm', 'foreign_status_writer'],
    ['successstandsalarm', 'success_stands'],
    ['recordtoolargealarm', 'record_too_large'],
    ['baseredalarm', 'base_red'],
    ['fencelostalarm', 'lease_lost'],
    ['decryptfailedalarm', 'decryption_error'],
    ['enginedownalarm', 'absent'],
    ['wakesfailedalarm', 'message failed'],
    ['socketconnectfailedalarm', 'connect failed'],
  ])('%s counts lines of a log that say %s (A120)', (anchor, word) => {
    const alarm = alarms.find(([, each]) => idOf(each) === anchor)?.[1];
    const filter = template
      .ofType('AWS::Logs::MetricFilter')
      .find(
        ([, { Properties }]) =>
          Properties.MetricTransformations[0].MetricName === alarm?.Properties.MetricName,
      )?.[1];
    expect(filter?.Properties.FilterPattern).toContain(`"${word}"`);
    expect(alarm?.Properties.Namespace).toBe('Mergeyard');
  });

  /** The words are written in the source and counted by the template; nothing else connects the two. */
  test('every line that a filter counts is written somewhere', () => {
    const written = ['engine-container/src', 'lambdas', 'core'].flatMap(readSources).join('\n');
    for (const [, { Properties }] of template.ofType('AWS::Logs::MetricFilter')) {
      for (const [, word = ''] of Properties.FilterPattern.matchAll(/"([^"]+)"/g)) {
        expect([word, written.includes(`'${word}'`)]).toEqual([word, true]);
      }
    }
  });

  test('one dashboard shows all of them', () => {
    const body = JSON.stringify(template.only('AWS::CloudWatch::Dashboard').Properties.DashboardBody);
    for (const [id] of alarms) expect(body).toContain(`"${id}"`);
  });

  test('an address gets the mail of both topics', () => {
    const mailed = readTemplate(FULL);
    expect(mailed.ofType('AWS::SNS::Subscription')).toHaveLength(2);
  });
});

function readSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8'));
}
