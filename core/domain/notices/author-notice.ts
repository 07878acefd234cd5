import { codeOfEvent } from '../pulls/find-pull-code.ts';
import { PULL_CODES } from '../pulls/pull-code-table.ts';
import type { ActivityEvent } from '../queue/batch.ts';
import type { ManagedRepo } from '../repos/repo.ts';
import { type Notice, toLinks, toPlainLine, urlOfPull } from './notice.ts';
import type { PullTopic } from './notice-topics.ts';
import { HAPPENED } from './queue-notices.ts';

/**
 * To the author, who may be of another account than the queue and may have lost the right to read there: the repository,
 * the number, fixed words and links to the forge, which asks for its own rights. No title: another person may have typed it.
 */
export function describeAuthorNotice(
  topic: PullTopic,
  repo: Pick<ManagedRepo, 'instanceUrl' | 'slug'>,
  event: Pick<ActivityEvent, 'event' | 'pr' | 'reason'>,
  runUrl: string | null,
): Notice {
  const name = `${toPlainLine(repo.slug)} #${event.pr}`;
  const code = codeOfEvent(event.event, event.reason);
  const words = code === null ? null : PULL_CODES[code];
  return {
    subject: `${name} ${HAPPENED[topic]}`,
    lines: [
      `Your pull request ${name} ${HAPPENED[topic]}.`,
      ...(words === null ? [] : [`Status: ${words.says}`, `Next step: ${words.next}`]),
    ],
    links: toLinks([
      ['Pull request', urlOfPull(repo, event.pr)],
      ['Gate run', runUrl],
    ]),
  };
}
