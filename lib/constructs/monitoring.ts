import { Aws, Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  Metric,
  TextWidget,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  FilterPattern,
  type ILogGroup,
  type JsonPattern,
  MetricFilter,
  QueryDefinition,
  QueryString,
} from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** `page`: people are harmed now. `ticket`: an operator should look within a day. Each has a topic of its own. */
const SEVERITIES = ['page', 'ticket'] as const;
type Severity = (typeof SEVERITIES)[number];

/**
 * Lines share one metric and one alarm, because each alarm has its price whether or not it ever fires. An alarm tells when it
 * begins and not again while it lasts: what nothing else may silence counts into one of its own.
 */
const LINE_ALARMS = {
  page: {
    severity: 'page',
    id: 'PageLinesAlarm',
    meaning: 'A log says that a queue is stopped or unsafe.',
  },
  unproven: {
    severity: 'page',
    id: 'UnprovenLandingAlarm',
    meaning: 'A log says that something landed unproven.',
  },
  outage: {
    severity: 'page',
    id: 'OutageLinesAlarm',
    meaning: 'The log of the tick says that the engine or the worker does not work.',
  },
  ticket: {
    severity: 'ticket',
    id: 'TicketLinesAlarm',
    meaning: 'A log says what a person should look at within a day.',
  },
  adminKey: { severity: 'ticket', id: 'AdminKeyAlarm', meaning: 'The shared admin key was used.' },
} as const satisfies Record<string, { severity: Severity; id: string; meaning: string }>;
type LineAlarm = keyof typeof LINE_ALARMS;

/**
 * Points from which on a line raises its alarm. One line counts `LINES_POINTS / threshold` points, so that lines with
 * different thresholds share an alarm.
 */
const LINES_POINTS = 10;
const LINES_PERIOD = Duration.minutes(10);

/** Namespace of everything counted from our own logs. */
const LOG_METRICS = 'Mergeyard';

export interface MonitoringProps {
  /** E-mail address that gets every alarm. @default no address is subscribed */
  readonly email?: string | undefined;
  /** Address of docs/runbook.md, which has a section for each alarm, headed by the alarm's id. */
  readonly runbook: string;
}

export interface AlarmSpec {
  readonly metric: IMetric;
  readonly severity: Severity;
  /** The harm to people when this fires: one sentence. */
  readonly meaning: string;
  /** @default 1 */
  readonly threshold?: number;
  /** @default 1 */
  readonly periods?: number;
  /** @default a period without data is a good one */
  readonly missing?: TreatMissingData;
  /** Whether the dashboard shows it. The dashboard can name no alarm that some deployments lack. @default true */
  readonly isShown?: boolean;
}

/** A line of a log that a person should know of. */
export interface LineSpec {
  readonly logGroup: ILogGroup;
  /** Fields of the line, all of which must match one of their words: the static message and, if need be, one more. */
  readonly where: Readonly<Record<string, string | readonly string[]>>;
  readonly alarm: LineAlarm;
  /** Number of such lines within `LINES_PERIOD` that raises the alarm. */
  readonly threshold: 1 | 2 | 3 | 10;
}

export interface LogMetricSpec {
  readonly logGroup: ILogGroup;
  readonly pattern: JsonPattern;
  /** The count of each matching line: a field of the line, or a number. @default 1 */
  readonly value?: string;
  /** Whether a period with lines of which none matches has the value 0 instead of none. @default false */
  readonly countsZero?: boolean;
  readonly period: Duration;
}

export interface HealthParts {
  readonly queue: { readonly wakes: IQueue; readonly delayed: IQueue };
  readonly worker: { metricErrors(): IMetric; metricDuration(): IMetric; metricThrottles(): IMetric };
  readonly tick: { metricInvocations(): IMetric };
  readonly api: { metricServerError(): IMetric; metricCount(): IMetric; metricLatency(): IMetric };
}

/** Registry of alarms: a topic per severity, a dashboard of all, and in each description what it means and where help is. */
export class Monitoring extends Construct {
  readonly topics: Readonly<Record<Severity, Topic>>;
  readonly dashboard: Dashboard;
  readonly #runbook: string;
  readonly #alarms: Record<Severity, Alarm[]> = { page: [], ticket: [] };
  readonly #lines: LineSpec[] = [];

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.#runbook = props.runbook;
    const makeTopic = (name: string): Topic => {
      const topic = new Topic(this, name, { enforceSSL: true });
      // The policy that `enforceSSL` makes takes the place of the default one, which let the account's own alarms publish.
      topic.addToResourcePolicy(
        new PolicyStatement({
          sid: 'AlarmsPublish',
          principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
          actions: ['sns:Publish'],
          resources: [topic.topicArn],
          conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
        }),
      );
      if (props.email !== undefined) topic.addSubscription(new EmailSubscription(props.email));
      return topic;
    };
    this.topics = { page: makeTopic('Page'), ticket: makeTopic('Ticket') };
    this.dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(6) });
  }

  addAlarm(scope: Construct, id: string, spec: AlarmSpec): Alarm {
    const alarm = new Alarm(scope, id, {
      metric: spec.metric,
      threshold: spec.threshold ?? 1,
      evaluationPeriods: spec.periods ?? 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: spec.missing ?? TreatMissingData.NOT_BREACHING,
      alarmDescription: `[${spec.severity}] ${spec.meaning} Runbook: ${this.#runbook}#${id.toLowerCase()}`,
    });
    const tell = new SnsAction(this.topics[spec.severity]);
    alarm.addAlarmAction(tell);
    alarm.addOkAction(tell);
    if (spec.isShown ?? true) this.#alarms[spec.severity].push(alarm);
    return alarm;
  }

  /** `name` is that of its section in the runbook. Without any line there is no data, and no charge for the metric. */
  addLine(scope: Construct, name: string, spec: LineSpec): void {
    new MetricFilter(scope, `${name}Line`, {
      logGroup: spec.logGroup,
      filterPattern: matchAll(spec.where),
      metricNamespace: LOG_METRICS,
      metricName: this.#lineMetricName(spec.alarm),
      // Rounded up: three of four points are more than ten.
      metricValue: String(Math.ceil(LINES_POINTS / spec.threshold)),
    });
    this.#lines.push(spec);
  }

  /** Called when every line is known: the alarms, and for each severity a saved query that shows its lines. */
  watchLines(): void {
    for (const [name, { id, severity, meaning }] of Object.entries(LINE_ALARMS)) {
      this.addAlarm(this, id, {
        metric: new Metric({
          namespace: LOG_METRICS,
          metricName: this.#lineMetricName(name as LineAlarm),
          statistic: 'Sum',
          period: LINES_PERIOD,
        }),
        threshold: LINES_POINTS,
        severity,
        meaning,
      });
    }
    for (const severity of SEVERITIES) this.#saveQuery(severity);
  }

  #saveQuery(severity: Severity): void {
    const lines = this.#lines.filter(({ alarm }) => LINE_ALARMS[alarm].severity === severity);
    new QueryDefinition(this, `${severity}Lines`, {
      queryDefinitionName: `${Stack.of(this).stackName}/${severity} lines`,
      logGroups: [...new Set(lines.map(({ logGroup }) => logGroup))],
      queryString: new QueryString({
        fields: ['@timestamp', 'message', 'alarm', 'error_code', 'state', 'repo_id', 'pr', '@log'],
        filterStatements: [lines.map(({ where }) => `(${queryOf(where)})`).join(' or ')],
        sort: '@timestamp desc',
        limit: 100,
      }),
    });
  }

  #lineMetricName(alarm: LineAlarm): string {
    // Two deployments in one account must not share a count.
    return `${Stack.of(this).stackName}-${alarm}-lines`;
  }

  /** Metric of the sum that the matching lines count, for each period. A period without lines has no data. */
  countLines(scope: Construct, name: string, spec: LogMetricSpec): Metric {
    const filter = new MetricFilter(scope, `${name}Lines`, {
      logGroup: spec.logGroup,
      filterPattern: spec.pattern,
      metricNamespace: LOG_METRICS,
      // Two deployments in one account must not share a count.
      metricName: `${Stack.of(this).stackName}-${name}`,
      metricValue: spec.value ?? '1',
      ...(spec.countsZero === true ? { defaultValue: 0 } : {}),
    });
    return filter.metric({ statistic: 'Sum', period: spec.period });
  }

  /**
   * Fires when nothing of `beats` was counted in a period in which `expected`, where given, counted something. What was not
   * reported counts as 0 (FILL), because a metric that is only missing makes an alarm wait for several more periods. Without
   * `expected` there has to be an earlier beat (REPEAT): a stack that was just made has missed none. When the last beat is
   * out of sight the expression has no value, and the alarm stays what it is.
   */
  addHeartbeatAlarm(
    scope: Construct,
    id: string,
    spec: Omit<AlarmSpec, 'metric' | 'threshold' | 'missing'> & {
      readonly beats: IMetric;
      readonly expected?: IMetric;
      readonly period: Duration;
    },
  ): Alarm {
    const { beats, expected, period, ...rest } = spec;
    const isExpected = expected === undefined ? 'FILL(beats, REPEAT) > 0' : 'FILL(expected, 0) > 0';
    const metric = new MathExpression({
      expression: `IF(${isExpected} AND FILL(beats, 0) < 1, 1, 0)`,
      usingMetrics: { beats, ...(expected === undefined ? {} : { expected }) },
      period,
    });
    const missing = expected === undefined ? TreatMissingData.IGNORE : TreatMissingData.NOT_BREACHING;
    return this.addAlarm(scope, id, { ...rest, metric, missing });
  }

  /** Alarm that fires while a dead-letter queue holds a message (A119). */
  addDeadLetterAlarm(scope: Construct, id: string, queue: IQueue, meaning: string): Alarm {
    const each = { period: Duration.minutes(1), statistic: 'Maximum' };
    const metric = queue.metricApproximateNumberOfMessagesVisible(each);
    return this.addAlarm(scope, id, { metric, severity: 'ticket', meaning });
  }

  /** Alarm that fires when the oldest message is older than `maxAge`. */
  addBacklogAlarm(scope: Construct, id: string, queue: IQueue, maxAge: Duration, meaning: string): Alarm {
    return this.addAlarm(scope, id, {
      metric: queue.metricApproximateAgeOfOldestMessage({
        period: Duration.minutes(1),
        statistic: 'Maximum',
      }),
      threshold: maxAge.toSeconds(),
      periods: 3,
      severity: 'page',
      meaning,
    });
  }

  /** Fills the dashboard, once every alarm is known: the health of the queue on top, the infrastructure below. */
  drawDashboard(parts: HealthParts): void {
    const rows: IWidget[][] = [
      [
        new TextWidget({
          markdown: `# Mergeyard\nMeaning and fix of every alarm: ${this.#runbook}`,
          width: 24,
          height: 2,
        }),
      ],
      SEVERITIES.map(
        (severity) =>
          new AlarmStatusWidget({ title: severity, alarms: this.#alarms[severity], width: 12, height: 5 }),
      ),
      [
        graph('Oldest wake (s)', [
          parts.queue.wakes.metricApproximateAgeOfOldestMessage(),
          parts.queue.delayed.metricApproximateAgeOfOldestMessage(),
        ]),
        graph('Ticks', [parts.tick.metricInvocations()]),
        graph('Worker', [parts.worker.metricErrors(), parts.worker.metricThrottles()]),
        graph('Reconcile (ms)', [parts.worker.metricDuration()]),
      ],
      [
        graph('Requests', [parts.api.metricCount()]),
        graph('5xx', [parts.api.metricServerError()]),
        graph('Latency (ms)', [parts.api.metricLatency()]),
        graph('Throttled functions', [accountThrottles()]),
      ],
    ];
    for (const row of rows) this.dashboard.addWidgets(...row);
  }
}

/** Filter pattern of the lines whose fields are each one of their words. */
function matchAll(where: LineSpec['where']): JsonPattern {
  return FilterPattern.all(
    ...Object.entries(where).map(([field, words]) => fieldIsOneOf(field, [words].flat())),
  );
}

/** Condition of Logs Insights for the lines that `matchAll` matches. */
function queryOf(where: LineSpec['where']): string {
  return Object.entries(where)
    .map(
      ([field, words]) =>
        `${field} in [${[words]
          .flat()
          .map((word) => `'${word}'`)
          .join(', ')}]`,
    )
    .join(' and ');
}

/** Filter pattern of the lines in which a field is one of these words. */
export function fieldIsOneOf(field: string, words: readonly string[]): JsonPattern {
  return FilterPattern.any(...words.map((word) => FilterPattern.stringValue(`$.${field}`, '=', word)));
}

/** Metric of the throttles of all functions of the account in this region, which share one limit. */
export function accountThrottles(): Metric {
  return new Metric({
    namespace: 'AWS/Lambda',
    metricName: 'Throttles',
    statistic: 'Sum',
    period: Duration.minutes(5),
  });
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: 6, height: 6 });
}
