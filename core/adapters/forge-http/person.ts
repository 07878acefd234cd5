import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { ForgePerson, OpenForgePerson } from '#core/ports/forge-person.ts';
import type { Clock } from '#core/ports/system.ts';
import type { HttpSend } from '../http-guard/http-send.ts';
import { readProtection } from './protection.ts';
import { readPullRequest } from './pulls.ts';
import { readRepoId } from './repos.ts';
import { cancelAutoMerge } from './setup-pulls.ts';
import { readAccount } from './users.ts';
import { createForgeTransport, type ForgeTransport, isPage, unusable } from './wire/transport.ts';

export function createForgePersonOpener(deps: {
  readonly send: HttpSend;
  readonly clock: Pick<Clock, 'now'>;
}): OpenForgePerson {
  return ({ instanceUrl, slug }, token) =>
    createForgePerson(createForgeTransport({ instanceUrl, slug, token, ...deps }));
}

function createForgePerson(transport: ForgeTransport): ForgePerson {
  return {
    readRepoId: () => readRepoId(transport),
    readAccount: () => readAccount(transport),
    readPull: (pr) => readPullRequest(transport, pr),
    readProtection: (base) => readProtection(transport, base),
    schedule: (pr, style, head) => schedule(transport, pr, style, head),
    cancel: (pr) => cancelAutoMerge(transport, pr),
  };
}

/**
 * Statuses with which a forge refuses a schedule. It answers an open dependency with a bare 500 (forge facts, 3), and a
 * quota with 413 (forge facts, 1).
 */
const REFUSALS: readonly number[] = [405, 413, 422, 423, 500];

async function schedule(
  transport: ForgeTransport,
  pr: PullRequestNumber,
  style: MergeStyle,
  head: CommitSha,
): Promise<'scheduled' | 'already' | 'refused'> {
  const call = {
    method: 'POST',
    label: 'POST pulls/{n}/merge',
    path: [...transport.repoPath, 'pulls', String(pr), 'merge'],
    body: {
      Do: style,
      // Heeded where a version merges at once; a schedule is kept without it.
      head_commit_id: head,
      force_merge: false,
      merge_when_checks_succeed: true,
    },
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 200 || answer.status === 201) {
    // The forge sends no body.
    if (isPage(answer)) throw unusable(call, answer.status);
    return 'scheduled';
  }
  if (answer.status === 409 && answer.isJson) return 'already';
  if (answer.isJson && REFUSALS.includes(answer.status)) return 'refused';
  throw transport.failure(call, answer);
}
