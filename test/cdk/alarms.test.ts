import { readdirSync, readFileSync } from 'node:fs';
import { FULL, type Resource, readTemplate } from '../support/template.ts';

const template = readTemplate();
const alarms = template.ofType('AWS::CloudWatch::Alarm');
const filters = template.ofType('AWS::Logs::MetricFilter').map(([id, { Properties }]) => ({
  name: /(\w+)Line[0-9A-F]{8}$/.exec(id)?.[1] ?? null,
  pattern: String(Properties.FilterPattern),
  logGroup: String(Properties.LogGroupName.Ref).replace(/[0-9A-F]{8}$/, ''),
  metric: Properties.MetricTransformations[0],
}));
const lines = filters.filter(({ name }) => name !== null);
const runbook = readFileSync('docs/runbook.md', 'utf8');

const idOf = (alarm: Resource): string =>
  /#(\w+)$/.exec(alarm.Properties.AlarmDescription)?.[1] ?? 'no anchor';
const alarmNamed = (name: string): Resource => {
  const found = alarms.find(([, each]) => idOf(each) === name.toLowerCase());
  if (found === undefined) throw new Error(`no alarm ${name}`);
  return found[1];
};
/** Names of lines have those of their constructs before them. */
const lineNamed = (name: string) => {
  const found = lines.find((line) => line.name?.endsWith(name));
  if (found === undefined) throw new Error(`no line ${name}`);
  return found;
};

describe('the runbook', () => {
  const sections = [...runbook.matchAll(/^### (\w+)\n+((?:(?!^##).*\n)*)/gm)].map(
    ([, name = '', text = '']) => ({
      name,
      text,
    }),
  );

  test('every alarm and every line that raises one has its section, and no section is left over', () => {
    const names = sections.map(({ name }) => name);
    for (const [, alarm] of alarms) {
      expect(names.map((name) => name.toLowerCase())).toContain(idOf(alarm));
    }
    const ofLines = names.filter((name) => !name.endsWith('Alarm'));
    for (const name of ofLines) lineNamed(name);
    for (const line of lines) {
      expect([line.name, ofLines.some((name) => line.name?.endsWith(name))]).toEqual([line.name, true]);
    }
    expect(names.filter((name) => name.endsWith('Alarm')).length).toBe(alarms.length);
  });

  test('every section says what it means, what to look at and what to do', () => {
    for (const { name, text } of sections) {
      expect([name, text]).toEqual([
        name,
        expect.stringMatching(/\*\*Meaning\.\*\* .+\*\*Look\.\*\* .+\*\*Do\.\*\* .+/s),
      ]);
    }
  });

  test('every section gives the query that shows what happened, or the name of one that is saved', () => {
    for (const { name, text } of sections) {
      expect([name, text]).toEqual([
        name,
        expect.stringMatching(/\n```\n.+\n```\n|saved quer(y|ies), `<stack>\//s),
      ]);
    }
  });

  test('every log group that it names is there', () => {
    const groups = template.ofType('AWS::Logs::LogGroup').map(([id]) => id.replace(/[0-9A-F]{8}$/, ''));
    const named = [...runbook.matchAll(/Log group: `(\w+)`/g)].map(([, name]) => name ?? '');
    expect(named.length).toBeGreaterThan(20);
    for (const name of named) expect(groups).toContain(name);
  });

  /** They ask another log for the cause: that of the engine, and the lines of the worker. */
  const ASKS_FOR_CAUSE = ['EngineErrors', 'WakesLost'];

  test('the section of a line asks a log for the very words that raise its alarm', () => {
    const wanted = lines.flatMap(({ name, pattern }) =>
      [...pattern.matchAll(/\$\.message = "([^"]+)"/g)].map(([, words = '']) => ({ name, words })),
    );
    expect(wanted.length).toBeGreaterThan(20);
    const unasked = wanted.filter(({ name, words }) => {
      const section = sections.find((each) => name?.endsWith(each.name));
      const [, query = ''] = /\n```\n(.+)\n```\n/.exec(section?.text ?? '') ?? [];
      if (section === undefined || ASKS_FOR_CAUSE.includes(section.name)) return false;
      return !query.includes(`'${words}'`);
    });
    expect(unasked).toEqual([]);
  });

  test('the section of a line asks the log in which that line stands', () => {
    const asking = sections.filter(({ name }) => !name.endsWith('Alarm') && !ASKS_FOR_CAUSE.includes(name));
    expect(asking.length).toBeGreaterThan(20);
    for (const { name, text } of asking) {
      const [, asked = ''] = /Log group: `(\w+)`/.exec(text) ?? [];
      const groups = lines.filter((line) => line.name?.endsWith(name)).map(({ logGroup }) => logGroup);
      expect([name, groups]).toEqual([name, expect.arrayContaining([asked])]);
    }
  });

  test('a section stands among the pages or the tickets, as its alarm or line is one', () => {
    const [, pages = '', tickets = ''] = runbook.split(/^## (?:Pages|Tickets)$/m);
    const namesIn = (part: string): readonly string[] =>
      [...part.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name);
    const isPage = (alarm: Resource | undefined): boolean =>
      alarm?.Properties.AlarmDescription.startsWith('[page]');
    const severityOf = (name: string): string => {
      const own = name.endsWith('Alarm')
        ? alarmNamed(name)
        : alarms.find(([, each]) => each.Properties.MetricName === lineNamed(name).metric.MetricName)?.[1];
      return `${name}: ${isPage(own) ? 'page' : 'ticket'}`;
    };
    expect(namesIn(pages).map(severityOf)).toEqual(namesIn(pages).map((name) => `${name}: page`));
    expect(namesIn(tickets).map(severityOf)).toEqual(namesIn(tickets).map((name) => `${name}: ticket`));
    expect(namesIn(pages).length + namesIn(tickets).length).toBe(sections.length);
    // The table at the top: who is told nothing of it there is told that no person is harmed.
    const listed = [...runbook.matchAll(/^\| \[(\w+)\]\(#(\w+)\)/gm)].map(([, name = '', anchor]) => {
      expect(anchor).toBe(name.toLowerCase());
      return name;
    });
    expect(listed.sort()).toEqual(
      namesIn(pages)
        .filter((name) => name.endsWith('Alarm'))
        .sort(),
    );
  });

  /** `by` is a word of the language of queries, and a field of the worker's lines. */
  test('no query names the field `by` without its quotes', () => {
    const queries = [...runbook.matchAll(/\n```\n(.+)\n```\n/g)].map(([, query = '']) => query);
    const ofLogs = queries.filter((query) => !query.startsWith('SELECT '));
    expect(ofLogs.length).toBeGreaterThan(30);
    const bare = /(?:by|and|or|,|\|)\s*\bby\b(?!`)/;
    expect(ofLogs.filter((query) => bare.test(query.replaceAll('`by`', 'quoted')))).toEqual([]);
  });

  test('every line that it asks a log for is written by the code', () => {
    const written = readAllSources();
    const asked = [...runbook.matchAll(/message (?:=|in) (\[[^\]]+\]|'[^']+')/g)].flatMap(([, words = '']) =>
      [...words.matchAll(/'([^']+)'/g)].map(([, word]) => word ?? ''),
    );
    expect(asked.length).toBeGreaterThan(15);
    for (const word of asked) expect([word, written.includes(`'${word}'`)]).toEqual([word, true]);
  });
});

test('a function whose sessions an identity provider verifies has the line IdentityAway, and no other function', () => {
  const watched = lines.map(({ name }) => name).filter((name) => name?.endsWith('IdentityAway'));
  expect(watched.sort()).toEqual(
    ['Admin', 'Advice', 'Api', 'Billing', 'Connections', 'Evidence', 'ForgeOps', 'RealtimeConnect'].map(
      (name) => `${name}IdentityAway`,
    ),
  );
});

const OWN_ALARMS: [name: string, word: string, alarm: string, threshold: number][] = [
  ['TreeMismatch', 'tree_mismatch', 'UnprovenLandingAlarm', 1],
  ['UnverifiedLanding', 'unverified_landing', 'UnprovenLandingAlarm', 1],
  ['AdminKeyUsed', 'the admin key was used', 'AdminKeyAlarm', 1],
  // Such lines come with each tick as long as the trouble lasts.
  ['WakesLost', 'a wake failed for good', 'OutageLinesAlarm', 3],
  ['EngineDown', 'absent', 'OutageLinesAlarm', 2],
];

describe('alarms', () => {
  test('which page and which are tickets', () => {
    const bySeverity = (severity: string): string[] =>
      alarms
        .filter(([, alarm]) => alarm.Properties.AlarmDescription.startsWith(`[${severity}]`))
        .map(([, alarm]) => idOf(alarm))
        .sort();
    expect(bySeverity('page')).toEqual([
      'outagelinesalarm',
      'pagelinesalarm',
      'queuesstandstillalarm',
      'servererroralarm',
      'tickstalealarm',
      'unprovenlandingalarm',
      'wakesagealarm',
    ]);
    expect(bySeverity('ticket')).toEqual([
      'adminkeyalarm',
      'deadlettersalarm',
      'edgeerrorsalarm',
      'enginecpualarm',
      'enginememoryalarm',
      'streamagealarm',
      'tablethrottledalarm',
      'throttledalarm',
      'ticketlinesalarm',
    ]);
  });

  test('every alarm says how urgent it is, tells those who asked for that, and tells them when it is over', () => {
    for (const [, alarm] of alarms) {
      const [, severity] =
        /^\[(page|ticket)\] .+ Runbook: docs\/runbook\.md#\w+$/.exec(alarm.Properties.AlarmDescription) ?? [];
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

  /**
   * `ignore` keeps the state, which is INSUFFICIENT_DATA for a new alarm ("Configuring how CloudWatch alarms treat missing
   * data", https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html).
   */
  test('a stack that was just created has no data, and no alarm takes that for trouble', () => {
    const treated = alarms.map(([, alarm]) => [idOf(alarm), alarm.Properties.TreatMissingData]);
    expect(treated.filter(([, how]) => how !== 'notBreaching')).toEqual([['tickstalealarm', 'ignore']]);
  });

  /**
   * FILL gives a missing period a value, REPEAT the most recent actual one ("Using math expressions with CloudWatch
   * metrics", https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html). No document says what
   * FILL makes of a metric that has no value at all in the range that is looked at: zeros, or nothing. This expression needs
   * neither: with zeros its first half is missing and the alarm keeps its state; with nothing all of it is.
   */
  test('a tick that is missing pages once there has been one, and stays an alarm until there is one again', () => {
    const { Metrics, TreatMissingData } = alarmNamed('TickStaleAlarm').Properties;
    expect(Metrics[0].Expression).toBe('IF(FILL(beats, REPEAT) > 0 AND FILL(beats, 0) < 1, 1, 0)');
    expect(TreatMissingData).toBe('ignore');
    const { MetricName } = Metrics[1].MetricStat.Metric;
    expect(filters.find(({ metric }) => metric.MetricName === MetricName)?.pattern).toBe(
      '{ ($.message = "tick") && (($.failed = 0) || ($.woken > 0)) }',
    );
  });

  test('queues that stand still for 15 minutes page: the engine was needed, and answered for none', () => {
    const { Metrics, AlarmDescription, EvaluationPeriods } = alarmNamed('QueuesStandStillAlarm').Properties;
    expect([AlarmDescription.slice(0, 6), EvaluationPeriods]).toEqual(['[page]', 3]);
    const [judged, ...counted] = Metrics;
    expect(judged.Expression).toBe('IF(FILL(expected, 0) > 0 AND FILL(beats, 0) < 1, 1, 0)');
    const found = Object.fromEntries(
      counted.map(
        ({
          Id,
          MetricStat,
        }: {
          Id: string;
          MetricStat: { Metric: { MetricName: string }; Period: number };
        }) => {
          expect(MetricStat.Period).toBe(300);
          return [Id, filters.find(({ metric }) => metric.MetricName === MetricStat.Metric.MetricName)];
        },
      ),
    );
    expect(found.expected?.pattern).toBe('{ $.message = "the engine is needed" }');
    expect(found.beats?.pattern).toMatch(
      /^\{ \(\$\.message = "reconciled"\) && \(\$\.by = "engine"\) && \(\(\$\.ok IS TRUE\) \|\| .*"forge_unreachable"/,
    );
    // An error of the service's own is no answer, and an engine that never answered has answered zero times.
    expect(found.beats?.pattern).not.toMatch(
      /engine_error|lease_lost|decryption_error|(?<!gate_)timeout|engine_starting/,
    );
    expect(found.beats?.metric.DefaultValue).toBe(0);
  });

  /**
   * "Alarms that evaluate metrics in the AWS/DynamoDB namespace always ignore missing data even if you choose a different
   * option" (https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html, TreatMissingData):
   * such an alarm would never be over, because a quiet table reports no throttles.
   */
  test('throttles of the table are an expression with a value in quiet periods', () => {
    const { Metrics } = alarmNamed('TableThrottledAlarm').Properties;
    expect(Metrics[0].Expression).toBe('FILL(reads, 0) + FILL(writes, 0)');
    expect(
      Metrics.slice(1).map(({ MetricStat }: { MetricStat: { Metric: object } }) => MetricStat.Metric),
    ).toEqual(
      ['ReadThrottleEvents', 'WriteThrottleEvents'].map((MetricName) => ({
        Namespace: 'AWS/DynamoDB',
        MetricName,
        Dimensions: [{ Name: 'TableName', Value: { Ref: expect.stringMatching(/^DataTable/) } }],
      })),
    );
  });

  /**
   * "The TableName dimension returns the ReadThrottleEvents for the table, but not for any global secondary indexes"
   * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html).
   */
  test('with more workers than by default throttles of each index count as well', () => {
    const [, large] =
      readTemplate({ workersMax: '60' })
        .ofType('AWS::CloudWatch::Alarm')
        .find(([, each]) => idOf(each) === 'tablethrottledalarm') ?? [];
    const [judged, ...counted] = large?.Properties.Metrics ?? [];
    expect(judged.Expression).toBe(
      ['', 'gsi1', 'gsi2'].map((index) => `FILL(reads${index}, 0) + FILL(writes${index}, 0)`).join(' + '),
    );
    const indexes = template
      .ofType('AWS::DynamoDB::GlobalTable')
      .flatMap(([, { Properties }]) => Properties.GlobalSecondaryIndexes)
      .map(({ IndexName }: { IndexName: string }) => IndexName);
    expect(indexes).toHaveLength(2);
    for (const MetricName of ['ReadThrottleEvents', 'WriteThrottleEvents']) {
      const named = counted
        .map(
          ({ MetricStat }: { MetricStat: { Metric: { MetricName: string; Dimensions: object[] } } }) =>
            MetricStat.Metric,
        )
        .filter((metric: { MetricName: string }) => metric.MetricName === MetricName)
        .map(({ Dimensions }: { Dimensions: { Name: string; Value: unknown }[] }) =>
          Dimensions.filter(({ Name }) => Name === 'GlobalSecondaryIndexName').map(({ Value }) => Value),
        );
      expect(named).toEqual([[], ...indexes.map((index: string) => [index])]);
    }
  });

  /**
   * The age is that of "the oldest non-deleted message in the queue"
   * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html), and a message that
   * was taken `maxReceiveCount` times is in another one
   * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html).
   */
  test('a worker that fails for several repositories pages, whatever the age of their wakes', () => {
    const age = alarmNamed('WakesAgeAlarm').Properties;
    const wakes = template.get(age.Dimensions[0].Value['Fn::GetAtt'][0]).Properties;
    const livesAtMost = wakes.RedrivePolicy.maxReceiveCount * wakes.VisibilityTimeout;
    expect(livesAtMost).toBeLessThan(age.Threshold);
    const lost = alarmNamed('OutageLinesAlarm').Properties;
    const { metric } = lineNamed('WakesLost');
    const ticks = lost.Period / 300;
    const isRaisedBy = (repos: number): boolean =>
      Number(metric.MetricValue) * repos * ticks >= lost.Threshold * lost.EvaluationPeriods;
    expect([isRaisedBy(1), isRaisedBy(2)]).toEqual([false, true]);
  });

  /**
   * `!=` and `*` in a JSON filter: "Filter pattern syntax for metric filters"
   * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html). The gateway's own
   * metric has a route only where detailed metrics are paid for ("Monitor CloudWatch metrics for HTTP APIs",
   * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html).
   */
  test('5xx of the API are counted but those of the health of the engine, for which a stranger may ask', () => {
    const { Namespace, MetricName, Threshold } = alarmNamed('ServerErrorAlarm').Properties;
    expect([Namespace, Threshold]).toEqual(['Mergeyard', 5]);
    expect(filters.find(({ metric }) => metric.MetricName === MetricName)?.pattern).toBe(
      '{ ($.status = "5*") && ($.route != "GET /api/container-health") }',
    );
    expect(
      template.ofType('AWS::ApiGatewayV2::Route').map(([, { Properties }]) => Properties.RouteKey),
    ).toContain('GET /api/container-health');
    const [, stage] =
      template
        .ofType('AWS::ApiGatewayV2::Stage')
        .find(([, { Properties }]) =>
          /"route":"\$context.routeKey"/.test(Properties.AccessLogSettings?.Format),
        ) ?? [];
    expect(stage?.Properties.AccessLogSettings.Format).toContain('"status":"$context.status"');
  });

  /**
   * "You must be in the US East (N. Virginia) Region" to see these metrics
   * (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/programming-cloudwatch-metrics.html).
   */
  test('the alarm of the edge is made where its metrics are, and nothing else names it', () => {
    const [[id = ''] = []] = alarms.filter(([, each]) => idOf(each) === 'edgeerrorsalarm');
    const condition = (template.get(id) as unknown as { Condition: string }).Condition;
    expect(template.conditions[condition]).toEqual({ 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] });
    const others = Object.entries(template.resources).filter(([other]) => other !== id);
    expect(JSON.stringify([others, template.outputs])).not.toContain(`"${id}"`);
  });

  test.each([
    ['ForeignStatusWriter', 'foreign_status_writer', 'PageLinesAlarm', 1],
    ['SuccessStands', 'success_stands', 'PageLinesAlarm', 1],
    ['RecordTooLarge', 'record_too_large', 'PageLinesAlarm', 1],
    ['DecryptFailed', 'a token does not open', 'PageLinesAlarm', 1],
    ['KeyRefused', 'the credential key is refused', 'PageLinesAlarm', 1],
    ['BaseRed', 'base_red', 'TicketLinesAlarm', 1],
    ['GatePhaseAge', 'gate_phase_age', 'TicketLinesAlarm', 1],
    ['FenceLost', 'lease_lost', 'TicketLinesAlarm', 3],
    ['WakesFailed', 'message failed', 'TicketLinesAlarm', 10],
    ['SocketConnectFailed', 'connect failed', 'TicketLinesAlarm', 3],
    ['WakeWrittenOff', 'a wake failed for good', 'TicketLinesAlarm', 1],
    ['DeadWakesKept', 'dead wakes could not be written off', 'TicketLinesAlarm', 2],
    ['OperatorsRefused', 'an operator was refused', 'TicketLinesAlarm', 10],
    ['PaidForNothing', 'a customer has two living subscriptions', 'TicketLinesAlarm', 1],
    ['PaidForNothing', 'a subscription outlives its tenant', 'TicketLinesAlarm', 1],
    ...OWN_ALARMS,
  ])('%s counts lines of a log that say %s (A120)', (name, word, alarm, threshold) => {
    const { pattern, metric } = lineNamed(name);
    expect(pattern).toContain(`"${word}"`);
    const { Properties } = alarmNamed(alarm);
    expect(Properties).toMatchObject({
      Namespace: 'Mergeyard',
      MetricName: metric.MetricName,
      Period: 600,
      Statistic: 'Sum',
    });
    // So many lines within the period reach the threshold, and one fewer does not.
    const points = Number(metric.MetricValue);
    expect(points * threshold).toBeGreaterThanOrEqual(Properties.Threshold);
    expect(points * (threshold - 1)).toBeLessThan(Properties.Threshold);
  });

  /**
   * "The actions happen only on state transitions, and are not performed again if the condition persists" (CloudWatch user
   * guide, "Alarm actions", https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-actions.html): a line that
   * comes while its alarm lasts is in no mail.
   */
  test('what nothing else may silence has an alarm that no other line counts into', () => {
    for (const alarm of new Set(OWN_ALARMS.map(([, , each]) => each))) {
      const { MetricName } = alarmNamed(alarm).Properties;
      const counted = lines.filter(({ metric }) => metric.MetricName === MetricName);
      const own = OWN_ALARMS.filter(([, , each]) => each === alarm).map(([, word]) => word);
      expect(counted.map(({ pattern }) => own.some((word) => pattern.includes(`"${word}"`)))).toEqual(
        own.map(() => true),
      );
    }
  });

  /** The words are written in the source and counted by the template; nothing else connects the two. */
  test('every line that a filter counts is written somewhere', () => {
    const written = readAllSources();
    // Status codes are written by the gateway; lines of this type by Lambda, with these words as `status`
    // (https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html, platform.report).
    const ours = filters.filter(
      ({ pattern }) => !/\$\.type = "platform\.report"|\$\.status = "5/.test(pattern),
    );
    expect(ours.length).toBeGreaterThan(12);
    for (const { pattern } of ours) {
      for (const [, word = ''] of pattern.matchAll(/"([^"]+)"/g)) {
        expect([word, written.includes(`'${word}'`)]).toEqual([word, true]);
      }
    }
  });

  test('the saved query of a severity shows the lines that its alarm counts, of every log concerned', () => {
    const queries = template.ofType('AWS::Logs::QueryDefinition').map(([, { Properties }]) => Properties);
    expect(queries).toHaveLength(2);
    for (const { Name, QueryString, LogGroupNames } of queries) {
      const severity = /page lines/.test(JSON.stringify(Name)) ? 'page' : 'ticket';
      const metrics = alarms
        .filter(([, alarm]) => alarm.Properties.AlarmDescription.startsWith(`[${severity}]`))
        .map(([, alarm]) => alarm.Properties.MetricName);
      const counted = lines.filter(({ metric }) => metrics.includes(metric.MetricName));
      expect(counted.length).toBeGreaterThan(5);
      for (const { pattern } of counted) {
        for (const [, word] of pattern.matchAll(/"([^"]+)"/g)) expect(QueryString).toContain(`'${word}'`);
      }
      expect(LogGroupNames.length).toBeGreaterThan(2);
    }
  });

  test('one dashboard shows all of them that are always there', () => {
    const body = JSON.stringify(template.only('AWS::CloudWatch::Dashboard').Properties.DashboardBody);
    for (const [id, alarm] of alarms) {
      if (idOf(alarm) !== 'edgeerrorsalarm') expect(body).toContain(`"${id}"`);
    }
  });

  test('an address gets the mail of both topics', () => {
    const mailed = readTemplate(FULL);
    expect(mailed.ofType('AWS::SNS::Subscription')).toHaveLength(2);
  });
});

function readAllSources(): string {
  return ['engine-container/src', 'lambdas', 'core'].flatMap(readSources).join('\n');
}

function readSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8'));
}
