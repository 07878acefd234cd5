import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import {
  DeduplicationScope,
  FifoThroughputLimit,
  type IQueue,
  Queue,
  QueueEncryption,
} from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { WAKE_DELIVERIES_MAX, WAKE_HIDDEN_MS } from '../../core/domain/limits.ts';
import type { Grantee } from './data-table.ts';
import type { Monitoring } from './monitoring.ts';
import type { ServiceFunction } from './service-function.ts';

export interface WakeQueueProps {
  readonly monitoring: Monitoring;
  /** Time-out of the functions that receive delayed and dead wakes. */
  readonly forwardTimeout: Duration;
  /** Wakes that are answered at once. */
  readonly workersMax: number;
}

/**
 * Visibility time-out of a message in time-outs of its consumer, as AWS advises for Lambda (A119). Wakes themselves
 * become visible sooner.
 */
const VISIBILITY_FACTOR = 6;
const DEAD_LETTER_RETENTION = Duration.days(14);
/** How long a wake is kept: the tick has woken the repository many times by then. */
const WAKE_RETENTION = Duration.hours(6);

/** The wake queue (FIFO, group = repo), its delayed sibling, and the dead letters of both. */
export class WakeQueue extends Construct {
  readonly wakes: Queue;
  readonly deadWakes: Queue;
  readonly delayed: Queue;
  /** Dead letters of delayed wakes, ticks and notices; dead wakes have a queue of their own. */
  readonly deadLetters: Queue;
  readonly #workersMax: number;

  constructor(scope: Construct, id: string, props: WakeQueueProps) {
    super(scope, id);
    this.#workersMax = props.workersMax;
    const common = { enforceSSL: true, encryption: QueueEncryption.SQS_MANAGED };
    const deadLetters = { ...common, retentionPeriod: DEAD_LETTER_RETENTION };
    this.deadWakes = new Queue(this, 'DeadWakes', {
      ...deadLetters,
      fifo: true,
      // Asked once in five minutes: without a wait an answer may be empty although something is there.
      receiveMessageWaitTime: Duration.seconds(1),
      visibilityTimeout: Duration.seconds(props.forwardTimeout.toSeconds() * VISIBILITY_FACTOR),
    });
    this.wakes = new Queue(this, 'Wakes', {
      ...common,
      fifo: true,
      // By content every wake of a repo would be equal, and one per five minutes would survive (E9).
      contentBasedDeduplication: false,
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      retentionPeriod: WAKE_RETENTION,
      visibilityTimeout: Duration.millis(WAKE_HIDDEN_MS),
      deadLetterQueue: { queue: this.deadWakes, maxReceiveCount: WAKE_DELIVERIES_MAX },
    });
    this.deadLetters = new Queue(this, 'DeadLetters', deadLetters);
    // A FIFO queue refuses a delay per message, hence a standard queue whose consumer forwards.
    this.delayed = new Queue(this, 'Delayed', {
      ...common,
      retentionPeriod: WAKE_RETENTION,
      visibilityTimeout: Duration.seconds(props.forwardTimeout.toSeconds() * VISIBILITY_FACTOR),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: WAKE_DELIVERIES_MAX },
    });
    this.#addAlarms(props.monitoring);
  }

  grantSend(grantee: Grantee): void {
    grantee.setEnv('WAKE_QUEUE_URL', this.wakes.queueUrl);
    grantee.allow(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.wakes.queueArn] }));
  }

  grantSendDelayed(grantee: Grantee): void {
    grantee.setEnv('DELAYED_WAKE_QUEUE_URL', this.delayed.queueUrl);
    grantee.allow(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.delayed.queueArn] }));
  }

  /**
   * Delivers wakes to the worker, one repository for each invocation, so that a time-out or a failure of one leaves the
   * others alone (A49).
   */
  deliverWakesTo(consumer: ServiceFunction): void {
    consumer.setEnv('WORKERS_MAX', String(this.#workersMax));
    this.#deliver(consumer, this.wakes, 'Wakes', this.#workersMax);
  }

  /**
   * Lets the tick take dead wakes. They are read at each tick, because a queue that is polled all the time costs as
   * much as all others of a service at rest.
   */
  grantTakeDead(grantee: Grantee): void {
    grantee.setEnv('DEAD_WAKES_URL', this.deadWakes.queueUrl);
    grantee.allow(
      new PolicyStatement({
        actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage'],
        resources: [this.deadWakes.queueArn],
      }),
    );
  }

  deliverDelayedTo(consumer: ServiceFunction): void {
    this.#deliver(consumer, this.delayed, 'Delayed');
  }

  #deliver(consumer: ServiceFunction, queue: IQueue, id: string, maximumConcurrency?: number): void {
    consumer.allow(
      new PolicyStatement({
        actions: [
          'sqs:ReceiveMessage',
          'sqs:DeleteMessage',
          'sqs:GetQueueAttributes',
          'sqs:ChangeMessageVisibility',
        ],
        resources: [queue.queueArn],
      }),
    );
    const mapping = new CfnEventSourceMapping(this, `${id}Delivery`, {
      eventSourceArn: queue.queueArn,
      functionName: consumer.fn.functionName,
      batchSize: 1,
      functionResponseTypes: ['ReportBatchItemFailures'],
      ...(maximumConcurrency === undefined ? {} : { scalingConfig: { maximumConcurrency } }),
    });
    // The service checks the right to receive when the mapping is made.
    mapping.node.addDependency(consumer.role);
  }

  #addAlarms(monitoring: Monitoring): void {
    monitoring.addDeadLetterAlarm(
      this,
      'DeadLettersAlarm',
      this.deadLetters,
      'A delayed wake, a tick or a notice was given up.',
    );
    // Of wakes that workers leave alone. One that fails five times is gone before, and its age with it: OutageLinesAlarm.
    monitoring.addBacklogAlarm(
      this,
      'WakesAgeAlarm',
      this.wakes,
      Duration.minutes(15),
      'Repositories wait for a worker.',
    );
  }
}
