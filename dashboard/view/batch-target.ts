import { BATCH_PULL_REQUESTS_MAX } from '#core/domain/limits.ts';

/** When the wait for more pull requests ends, besides its time; `target` is `batch_target`. */
export function describeTarget(target: number): string {
  if (target === 0) return `No number: ends the wait at ${BATCH_PULL_REQUESTS_MAX}, the largest batch.`;
  if (target > BATCH_PULL_REQUESTS_MAX)
    return `Ends the wait once ${BATCH_PULL_REQUESTS_MAX} are ready: no batch is larger.`;
  return `Ends the wait once ${target} ${target === 1 ? 'is' : 'are'} ready.`;
}
