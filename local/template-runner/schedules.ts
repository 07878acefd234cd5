import { randomUUID } from 'node:crypto';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Json, LogSink } from '../../core/ports/invocable.ts';
import type { FunctionPool } from './function-pool.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from './resolver.ts';
import { fail } from './template.ts';

export interface ScheduleTarget {
  readonly target: FunctionPool;
  readonly attemptsMax: number;
  readonly deadLetterQueueUrl: string | null;
}

export interface ScheduleSpec {
  readonly id: string;
  readonly expression: string;
  readonly targets: readonly ScheduleTarget[];
}

const MINUTE_MS = 60_000;

/** Minutes between two firings. Only what divides an hour evenly, or a plain rate, is understood. */
export function parseEveryMinutes(expression: string): number {
  const rate = /^rate\((\d+) minutes?\)$/.exec(expression)?.[1];
  const cron = /^cron\((?:\*|0)\/(\d+) \* \* \* \? \*\)$/.exec(expression)?.[1];
  const minutes = Number(rate ?? cron);
  if (!Number.isInteger(minutes) || minutes < 1 || (cron !== undefined && 60 % minutes !== 0)) {
    return fail(expression, 'this schedule is not understood');
  }
  return minutes;
}

/** One schedule rule: fires on whole multiples of its interval, and whenever it is told to. */
export class Schedule {
  readonly spec: ScheduleSpec;
  readonly #sqs: SQSClient;
  readonly #log: LogSink;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(spec: ScheduleSpec, sqs: SQSClient, log: LogSink) {
    this.spec = spec;
    this.#sqs = sqs;
    this.#log = log;
    this.#everyMs = parseEveryMinutes(spec.expression) * MINUTE_MS;
  }

  start(): void {
    const untilNext = this.#everyMs - (Date.now() % this.#everyMs);
    this.#timer = setTimeout(() => {
      this.start();
      void this.fire();
    }, untilNext);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Resolves when every target has run or was given up. */
  async fire(): Promise<void> {
    const event: Json = {
      version: '0',
      id: randomUUID(),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: LOCAL_ACCOUNT,
      time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
      region: LOCAL_REGION,
      resources: [`arn:aws:events:${LOCAL_REGION}:${LOCAL_ACCOUNT}:rule/${this.spec.id}`],
      detail: {},
    };
    await Promise.all(this.spec.targets.map((target) => this.#deliver(target, event)));
  }

  async #deliver(target: ScheduleTarget, event: Json): Promise<void> {
    for (let attempt = 1; attempt <= target.attemptsMax; attempt += 1) {
      try {
        await target.target.invoke(event);
        return;
      } catch (error) {
        this.#log('schedule', `${this.spec.id} attempt ${attempt}: ${String(error)}\n`);
      }
    }
    if (target.deadLetterQueueUrl === null) return;
    await this.#sqs.send(
      new SendMessageCommand({ QueueUrl: target.deadLetterQueueUrl, MessageBody: JSON.stringify(event) }),
    );
  }
}
