import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

export const SEVERITIES = ['page', 'ticket'] as const;

export interface MonitoringProps {
  /** Gets every alarm. @default nobody is subscribed */
  readonly email?: string | undefined;
}

export interface AlarmSpec {
  readonly metric: IMetric;
  readonly severity: (typeof SEVERITIES)[number];
  /** What is wrong for people when this fires: one sentence. */
  readonly meaning: string;
  /** @default 1 */
  readonly threshold?: number;
  /** @default 1 */
  readonly periods?: number;
  /** Fire when the metric is below the threshold or absent, for heartbeats. @default false */
  readonly isHeartbeat?: boolean;
}

/** Registry of alarms: one topic, and each alarm's description says what it means and where the runbook is. */
export class Monitoring extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, props: MonitoringProps = {}) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', { enforceSSL: true });
    if (props.email !== undefined) this.topic.addSubscription(new EmailSubscription(props.email));
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
      alarmDescription: `[${spec.severity}] ${spec.meaning} Runbook: lib/README.md#${id.toLowerCase()}`,
      ...heartbeat,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
    return alarm;
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
}
