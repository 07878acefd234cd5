import { setTimeout as wait } from 'node:timers/promises';
import { type Invocable, isObject, type Json, type LogSink } from '../../../ports/invocable.ts';

/** How the changes of a table are given to a function. */
export interface Delivery {
  readonly target: Invocable;
  readonly batchSize: number;
  readonly windowMs: number;
  /** Attempts beyond the first. */
  readonly retries: number;
  readonly maxAgeMs: number;
  readonly reportsFailures: boolean;
  readonly bisects: boolean;
  /** Called with each batch that was given up. */
  readonly giveUp: (batch: readonly Json[]) => Promise<void>;
}

const RETRY_MS = 200;

/** Calls the target with the batch, and again with what failed of it, until all is taken, given up or too old. */
export async function deliver(
  delivery: Delivery,
  batch: readonly Json[],
  tried: number,
  log: LogSink,
  signal: AbortSignal,
): Promise<void> {
  const fresh = batch.filter((record) => ageOf(record) <= delivery.maxAgeMs);
  if (fresh.length === 0 || signal.aborted) return;
  const failed = await invoke(delivery, fresh, log);
  if (failed.length === 0 || signal.aborted) return;
  if (tried >= delivery.retries) return delivery.giveUp(failed);
  await wait(RETRY_MS * 2 ** tried, undefined, { signal }).catch(() => undefined);
  if (!delivery.bisects || failed.length === 1 || failed.length < fresh.length) {
    return deliver(delivery, failed, tried + 1, log, signal);
  }
  const middle = Math.ceil(failed.length / 2);
  await deliver(delivery, failed.slice(0, middle), tried + 1, log, signal);
  await deliver(delivery, failed.slice(middle), tried + 1, log, signal);
}

/** Records to deliver again: from the first one reported, or all of them when the function threw. */
async function invoke(delivery: Delivery, batch: readonly Json[], log: LogSink): Promise<readonly Json[]> {
  let answer: Json;
  try {
    answer = await delivery.target.invoke({ Records: batch });
  } catch (error) {
    log('stream', `${error instanceof Error ? error.message : 'error'}\n`);
    return batch;
  }
  const reported = isObject(answer) && delivery.reportsFailures ? answer.batchItemFailures : undefined;
  if (!Array.isArray(reported) || reported.length === 0) return [];
  const ids = new Set(reported.map((each) => (isObject(each) ? String(each.itemIdentifier) : '')));
  const first = batch.findIndex((record) => ids.has(sequenceOf(record)));
  return first === -1 ? batch : batch.slice(first);
}

export function sequenceOf(record: Json): string {
  const change = isObject(record) ? record.dynamodb : undefined;
  return isObject(change) ? String(change.SequenceNumber) : '';
}

function ageOf(record: Json): number {
  const change = isObject(record) ? record.dynamodb : undefined;
  const seconds = isObject(change) ? Number(change.ApproximateCreationDateTime) : Number.NaN;
  return Number.isNaN(seconds) ? 0 : Date.now() - seconds * 1000;
}
