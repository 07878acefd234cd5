import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { FilterPattern } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { fieldIsOneOf, type LineSpec, type Monitoring } from './monitoring.ts';
import type { ServiceFunction } from './service-function.ts';

export interface TickScheduleProps {
  readonly monitoring: Monitoring;
  readonly tick: ServiceFunction;
  readonly deadLetters: IQueue;
}

/** Two ticks and some slack (D-72: a tick older than 11 minutes is a degradation). */
const HEARTBEAT_PERIOD = Duration.minutes(11);

/** The recurring trigger: every five minutes, whatever the wake mode of a repo (A60). */
export class TickSchedule extends Construct {
  constructor(scope: Construct, id: string, props: TickScheduleProps) {
    super(scope, id);
    new Rule(this, 'Rule', {
      // Five fields with a star each, as in the contract, plus the year that EventBridge wants.
      schedule: Schedule.expression('cron(*/5 * * * ? *)'),
      targets: [
        new LambdaTarget(props.tick.fn, {
          deadLetterQueue: props.deadLetters,
          retryAttempts: 2,
          // An older tick is worth nothing: the next one is there.
          maxEventAge: Duration.minutes(5),
        }),
      ],
    });
    // What the rule says ends with the handing over: Lambda keeps the event for six hours of its own, and tries a failed one
    // twice more (https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html).
    props.tick.fn.configureAsyncInvoke({ maxEventAge: Duration.minutes(5), retryAttempts: 0 });
    const { tick, monitoring } = props;
    addLines(monitoring, tick);
    monitoring.addHeartbeatAlarm(this, 'TickStaleAlarm', {
      // One that ran and could wake no repository that was due is none.
      beats: monitoring.countLines(tick, 'Ticks', {
        logGroup: tick.logGroup,
        pattern: FilterPattern.all(
          fieldIsOneOf('message', ['tick']),
          FilterPattern.any(
            FilterPattern.numberValue('$.failed', '=', 0),
            FilterPattern.numberValue('$.woken', '>', 0),
          ),
        ),
        period: HEARTBEAT_PERIOD,
      }),
      period: HEARTBEAT_PERIOD,
      severity: 'page',
      meaning: 'No tick has succeeded for eleven minutes: repositories are reconciled only by webhooks.',
    });
  }
}

/** Adds the lines of a tick that people should know of. */
function addLines(monitoring: Monitoring, tick: ServiceFunction): void {
  const watch = (name: string, spec: Omit<LineSpec, 'logGroup'>): void =>
    monitoring.addLine(tick, name, { logGroup: tick.logGroup, ...spec });
  const where = { message: 'a wake failed for good' };
  watch('WakeWrittenOff', { where, threshold: 1, alarm: 'ticket' });
  // One repository whose wakes always fail has a line at each tick, two in the period: three are of several.
  watch('WakesLost', { where, threshold: 3, alarm: 'outage' });
  // One that is kept has such a line at each tick.
  watch('DeadWakesKept', {
    where: { message: 'dead wakes could not be written off' },
    threshold: 2,
    alarm: 'ticket',
  });
  // An engine that was woken by the last tick is up before the next.
  watch('EngineDown', {
    where: { message: 'engine', state: ['absent', 'unknown'] },
    threshold: 2,
    alarm: 'outage',
  });
}
