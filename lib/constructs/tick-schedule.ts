import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Monitoring } from './monitoring.ts';
import type { ServiceFunction } from './service-function.ts';

export interface TickScheduleProps {
  readonly monitoring: Monitoring;
  readonly tick: ServiceFunction;
}

/** Two ticks and some slack (D-72: a tick older than 11 minutes is a degradation). */
const HEARTBEAT_PERIOD = Duration.minutes(11);

/** The recurring trigger: every five minutes, whatever the wake mode of a repo (A60). */
export class TickSchedule extends Construct {
  constructor(scope: Construct, id: string, props: TickScheduleProps) {
    super(scope, id);
    const missed = new Queue(this, 'MissedTicks', {
      enforceSSL: true,
      encryption: QueueEncryption.SQS_MANAGED,
      retentionPeriod: Duration.days(14),
    });
    new Rule(this, 'Rule', {
      // Five fields with a star each, as in the contract, plus the year that EventBridge wants.
      schedule: Schedule.expression('cron(*/5 * * * ? *)'),
      targets: [
        new LambdaTarget(props.tick.fn, {
          deadLetterQueue: missed,
          retryAttempts: 2,
          // An older tick is worth nothing: the next one is there.
          maxEventAge: Duration.minutes(5),
        }),
      ],
    });
    props.monitoring.addDeadLetterAlarm(this, 'MissedTicksAlarm', missed, 'A tick could not be delivered.');
    props.monitoring.addHeartbeatAlarm(this, 'TickStaleAlarm', {
      beats: props.tick.fn.metricInvocations({ period: HEARTBEAT_PERIOD, statistic: 'Sum' }),
      period: HEARTBEAT_PERIOD,
      severity: 'page',
      meaning: 'No tick ran for eleven minutes: repositories are reconciled only by webhooks.',
    });
    props.monitoring.addAlarm(this, 'TickFailedAlarm', {
      metric: props.tick.fn.metricErrors({ period: Duration.minutes(5), statistic: 'Sum' }),
      periods: 2,
      severity: 'page',
      meaning: 'The tick fails: due repositories are not dispatched.',
    });
  }
}
