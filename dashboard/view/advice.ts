import type { ResultOf } from '#core/contracts/routes/client.ts';
import { plural, showDuration } from './format.ts';

type Advice = ResultOf<'readFanoutAdvice'>;

export const REPLAY_ASSUMES =
  'A replay takes when pull requests were scheduled, which of them were bounced, and how long gate runs took, and decides anew. It assumes that a runner is free for each gate run, and knows no pauses, priorities or conflicts.';

const WITHOUT: Readonly<Record<NonNullable<Advice['reason']>, (advice: Advice) => string>> = {
  too_few_pull_requests: ({ rests_on, needed }) =>
    `No advice yet: ${plural(rests_on, 'pull request')} landed or bounced in the last weeks, and advice needs ${needed}.`,
  gate_times_unknown: () => 'No advice yet: too few gate runs are stored with how long they took.',
  none_landed: () => 'No advice: none of the pull requests landed.',
  too_many_rows: () => 'No advice: there are more rows than can be counted exactly.',
  out_of_time: () => 'No advice: the replay did not end in time.',
};

/** One sentence: what the advised fan-out would have changed, or why there is no advice. */
export function describeAdvice(advice: Advice): string {
  const { reason, advised, current, replays, rests_on } = advice;
  if (reason !== null) return WITHOUT[reason](advice);
  const on = `This rests on ${rests_on} pull requests.`;
  if (advised === current) return `${current} at once fits the last weeks best. ${on}`;
  if (current === null)
    return `The queue chooses by itself; of the fixed numbers ${advised} at once fits the last weeks best. ${on}`;
  const [now, then] = [current, advised].map((each) => replays.find(({ fanout }) => fanout === each));
  if (now === undefined || then === undefined) return `${advised} at once is advised. ${on}`;
  const of = (replay: typeof now) => showDuration(replay.wait.p50_seconds);
  const mean = (replay: typeof now) => showDuration(replay.wait.mean_seconds);
  return `With ${advised} instead of ${current}: median ${of(then)} instead of ${of(now)}, mean ${mean(then)} instead of ${mean(now)}, ${moreRuns(now.runs, then.runs)}. ${on}`;
}

function moreRuns(now: number, then: number): string {
  if (now === then) return 'as many gate runs';
  const percent = Math.round((100 * Math.abs(then - now)) / Math.max(1, now));
  return `${percent === 0 ? 'under 1' : percent} % ${then > now ? 'more' : 'fewer'} gate runs`;
}
