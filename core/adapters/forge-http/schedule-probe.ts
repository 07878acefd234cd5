import type { PullRequestNumber } from '#core/domain/ids.ts';
import type { ScheduleProbe } from '#core/ports/forge.ts';
import { cancelAutoMerge } from './setup-pulls.ts';
import { readTimeline } from './timeline.ts';
import type { ForgeAnswer, ForgeTransport } from './transport.ts';
import { readBotLogin } from './users.ts';

export function createScheduleProbe(transport: ForgeTransport): ScheduleProbe {
  return { probeSchedule: (pr, scheduleId) => probeSchedule(transport, pr, scheduleId) };
}

/**
 * The forge shows a schedule that it has dropped as if it stood, so the one way to know is to ask for another (forge
 * facts, 3.4): 409 means there is one. One that was made by asking is taken back, also by a later attempt when this one
 * dies in between: it is newer than the schedule in question, and the bot's.
 */
async function probeSchedule(
  transport: ForgeTransport,
  pr: PullRequestNumber,
  scheduleId: number,
): Promise<'scheduled' | 'lost' | 'unknown'> {
  const call = {
    method: 'POST',
    label: 'POST pulls/{n}/merge',
    path: [...transport.repoPath, 'pulls', String(pr), 'merge'],
    body: {
      Do: 'merge',
      force_merge: false,
      merge_when_checks_succeed: true,
      delete_branch_after_merge: false,
    },
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 409 && answer.isJson) {
    if (!(await isOwnSchedule(transport, pr, scheduleId))) return 'scheduled';
  } else if (isRefusal(answer)) return 'unknown';
  else if (answer.status !== 201) throw transport.failure(call, answer);
  await cancelAutoMerge(transport, pr);
  return 'lost';
}

/** The forge's own no, a bare 500 among them: an open dependency ends so. A proxy's page says nothing. */
function isRefusal(answer: ForgeAnswer): boolean {
  return answer.isJson && [403, 404, 405, 422, 500].includes(answer.status);
}

async function isOwnSchedule(
  transport: ForgeTransport,
  pr: PullRequestNumber,
  scheduleId: number,
): Promise<boolean> {
  const last = (await readTimeline(transport, pr)).findLast((entry) => entry.kind === 'scheduled');
  if (last === undefined || last.id === scheduleId) return false;
  return last.user === (await readBotLogin(transport));
}
