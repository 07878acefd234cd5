import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  AlarmStatusWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  Metric,
  TextWidget,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** `page`: people are harmed now. `ticket`: somebody should look within a day. Each has a topic of its own. */
const SEVERITIES = ['page', 'ticket'] as const;
type Severity = (typeof SEVERITIES)[number];

/** Namespace of everything counted from our own logs. */
const LOG_METRICS = 'Mergeyard';
/** Where alarms say that help is; one section per alarm, its heading is the alarm's id. */
const RUNBOOK = 'docs/operate.md';

export interface MonitoringProps {
  /** Gets every alarm. @default nobody is subscribed */
  readonly email?: string | undefined;
}

export interface AlarmSpec {
  readonly metric: IMetric;
  readonly severity: Severity;
  /** What is wrong for people when this fires: one sentence. */
  readonly meaning: string;
  /** @default 1 */
  readonly threshold?: number;
  /** @default 1 */
  readonly periods?: number;
  /** Fire when the metric is below the threshold or absent, for heartbeats. @default false */
  readonly isHeartbeat?: boolean;
}

export interface LogAlarmSpec extends Omit<AlarmSpec, 'metric' | 'isHeartbeat'> {
  readonly logGroup: ILogGroup;
  /** Fields of one log line, all of which must match: the static message and, if need be, one more. */
  readonly where: Readonly<Record<string, string | readonly string[]>>;
  /** @default five minutes */
  readonly period?: Duration;
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
  readonly #alarms: Record<Severity, Alarm[]> = { page: [], ticket: [] };

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const makeTopic = (name: string): Topic => {
      const topic = new Topic(this, name, { enforceSSL: true });
      if (props.email !== undefined) topic.addSubscription(new EmailSubscription(props.email));
      return topic;
    };
    this.topics = { page: makeTopic('Page'), ticket: makeTopic('Ticket') };
    this.dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(6) });
  }

  addAlarm(scope: Construct, id: string, spec: AlarmSpec): Alarm {
    const heartbeat: Partial<AlarmProps> = spec.isHeartbeat
      ? {
          comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
          treatMissingData: TreatMissingData.BREACHING,
        }
      : {
          comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
          treatMissingData: TreatMissingData.NOT_BREACHING,
        };
    const alarm = new Alarm(scope, id, {
      metric: spec.metric,
      threshold: spec.threshold ?? 1,
      evaluationPeriods: spec.periods ?? 1,
      alarmDescription: `[${spec.severity}] ${spec.meaning} Runbook: ${RUNBOOK}#${id.toLowerCase()}`,
      ...heartbeat,
    });
    alarm.addAlarmAction(new SnsAction(this.topics[spec.severity]));
    this.#alarms[spec.severity].push(alarm);
    return alarm;
  }

  /** Counts lines of a log; without any there is no data, and no charge for the metric. */
  addLogAlarm(scope: Construct, id: string, spec: LogAlarmSpec): Alarm {
    const metricName = id.replace(/Alarm$/, '');
    const filter = new MetricFilter(scope, `${metricName}Lines`, {
      logGroup: spec.logGroup,
      filterPattern: FilterPattern.all(
        ...Object.entries(spec.where).map(([field, values]) =>
          FilterPattern.any(
            ...[values].flat().map((value) => FilterPattern.stringValue(`$.${field}`, '=', value)),
          ),
        ),
      ),
      metricNamespace: LOG_METRICS,
      // Two deployments in one account must not share a count.
      metricName: `${Stack.of(this).stackName}-${metricName}`,
    });
    const metric = filter.metric({ statistic: 'Sum', period: spec.period ?? Duration.minutes(5) });
    return this.addAlarm(scope, id, { ...spec, metric });
  }

  /** Fires while anything lies in a dead-letter queue (A119). */
  addDeadLetterAlarm(scope: Construct, id: string, queue: IQueue, meaning: string): Alarm {
    return this.addAlarm(scope, id, {
      metric: queue.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(1),
        statistic: 'Maximum',
      }),
      severity: 'ticket',
      meaning,
    });
  }

  /** Fires when the oldest message waits longer than it should. */
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

  /** Called last: health of the queue first, what carries it below. */
  drawDashboard(parts: HealthParts): void {
    const rows: IWidget[][] = [
      [
        new TextWidget({
          markdown: `# Mergeyard\nMeaning and fix of every alarm: \`${RUNBOOK}\``,
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

  /** Throttling of any function of the account and region: they share one limit. */
  addThrottleAlarm(): void {
    this.addAlarm(this, 'ThrottledAlarm', {
      metric: accountThrottles(),
      threshold: 10,
      periods: 2,
      severity: 'ticket',
      meaning: 'Functions are throttled: the account has too little concurrency.',
    });
  }
}

function accountThrottles(): Metric {
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
