import { describeAdvice, REPLAY_ASSUMES } from '../dashboard/view/advice.ts';
import { showDuration } from '../dashboard/view/format.ts';
import { type Asked, EXIT, emit, type Repo } from './asked.ts';

/** Prints which fan-out fits the last weeks best, and what each would have changed. */
export async function fanout(asked: Asked, repo: Repo): Promise<number> {
  const advice = await asked.api.readFanoutAdvice({ id: repo.id });
  emit(asked, advice, () => [
    describeAdvice(advice),
    ...advice.replays.map(
      ({ fanout: runsAtOnce, wait, runs }) =>
        `${runsAtOnce} at once: median ${showDuration(wait.p50_seconds)}, 95th percentile ${showDuration(wait.p95_seconds)}, ${runs} gate runs`,
    ),
    ...(advice.replays.length === 0 ? [] : [REPLAY_ASSUMES]),
  ]);
  return EXIT.ok;
}
