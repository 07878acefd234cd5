import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import { ForgeError, type ScheduleProbe } from '#core/ports/forge.ts';
import { readPullRequest } from './pulls.ts';
import { readRepoRow } from './repos.ts';
import { cancelAutoMerge } from './setup-pulls.ts';
import { readWholeTimeline } from './timeline.ts';
import { readBotLogin } from './users.ts';
import {
  type ForgeAnswer,
  type ForgeTransport,
  isPage,
  type LeasedTransport,
  unusable,
} from './wire/transport.ts';

export function createScheduleProbe(transport: LeasedTransport): ScheduleProbe {
  return { probeSchedule: (pr, head, scheduleId) => probeSchedule(transport, pr, head, scheduleId) };
}

/**
 * The forge shows a schedule that it has dropped as if it stood, so the one way to know is to ask for another (forge
 * facts, 3.4): 409 means there is one. One that was made by asking is taken back, also by a later attempt when this one
 * dies in between: it is newer than the schedule in question, and the bot's. Until then it must land nothing: it is
 * asked for on the recorded head only, and in a style in which the forge does not merge.
 */
async function probeSchedule(
  transport: ForgeTransport,
  pr: PullRequestNumber,
  head: CommitSha,
  scheduleId: number,
): Promise<'scheduled' | 'lost' | 'unknown'> {
  const path = [...transport.repoPath, 'pulls', String(pr), 'merge'];
  if (!(await isOpenAt(transport, pr, head))) return giveUp(transport, pr, scheduleId);
  const call = {
    method: 'POST',
    label: 'POST pulls/{n}/merge',
    path,
    body: {
      Do: await chooseStyle(transport),
      // Heeded where a version merges at once; a schedule is kept without it.
      head_commit_id: head,
      force_merge: false,
      merge_when_checks_succeed: true,
      delete_branch_after_merge: false,
    },
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 409 && answer.isJson) {
    if (!(await isOwnSchedule(transport, pr, scheduleId)))
      return (await isOpenAt(transport, pr, head)) ? 'scheduled' : 'unknown';
  } else if (isRefusal(answer)) return giveUp(transport, pr, scheduleId);
  else if (answer.status !== 201) throw transport.failure(call, answer);
  else if (isPage(answer)) throw unusable(call, answer.status);
  await cancelAutoMerge(transport, pr);
  return 'lost';
}

/** Takes back the schedule that an earlier attempt may have left, which died between asking and taking back. */
async function giveUp(
  transport: ForgeTransport,
  pr: PullRequestNumber,
  scheduleId: number,
): Promise<'unknown'> {
  if (await isOwnSchedule(transport, pr, scheduleId)) await cancelAutoMerge(transport, pr);
  return 'unknown';
}

async function isOpenAt(transport: ForgeTransport, pr: PullRequestNumber, head: CommitSha): Promise<boolean> {
  try {
    const pull = await readPullRequest(transport, pr);
    return pull.state === 'open' && pull.headSha === head;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'missing') return false;
    throw error;
  }
}

/**
 * Merge style for the probe: one that the repository forbids, which the forge takes for a schedule and refuses when it
 * merges. Where all are allowed, it is the one that merges only a head on top of the base.
 */
async function chooseStyle(transport: ForgeTransport): Promise<string> {
  const row = await readRepoRow(transport);
  const styles = [
    ['fast-forward-only', row.allow_fast_forward_only_merge],
    ['rebase-merge', row.allow_rebase_explicit],
    ['rebase', row.allow_rebase],
    ['squash', row.allow_squash_merge],
    ['merge', row.allow_merge_commits],
  ] as const;
  return styles.find(([, isAllowed]) => isAllowed === false)?.[0] ?? 'fast-forward-only';
}

/**
 * Whether an answer is the forge's own refusal; a bare 500 is one, because it answers an open dependency so. A page of
 * a proxy is none.
 */
function isRefusal(answer: ForgeAnswer): boolean {
  return answer.isJson && [403, 404, 405, 422, 500].includes(answer.status);
}

/**
 * Whether a schedule of the bot stands that is newer than the entry in question. A push that renews an older schedule
 * may be that entry.
 */
async function isOwnSchedule(
  transport: ForgeTransport,
  pr: PullRequestNumber,
  scheduleId: number,
): Promise<boolean> {
  const entries = await readWholeTimeline(transport, pr);
  const last = entries.findLast(({ kind }) => kind === 'scheduled' || kind === 'cancelled');
  if (last?.kind !== 'scheduled' || last.id <= scheduleId) return false;
  return last.user === (await readBotLogin(transport));
}
