import { codeOfEvent } from '../pulls/find-pull-code.ts';
import { PULL_CODES } from '../pulls/pull-code-table.ts';
import type { ActivityEvent } from '../queue/batch.ts';
import type { ManagedRepo } from '../repos/repo.ts';
import { type Notice, sayNextStep, toLinks, toPlainLine, urlOfPull } from './notice.ts';
import type { PullTopic } from './notice-topics.ts';
import { sayHappened } from './queue-notices.ts';

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
  const happened = sayHappened(topic, event);
  const code = codeOfEvent(event.event, event.reason);
  const words = code === null ? null : PULL_CODES[code];
  return {
    subject: `${name} ${happened}`,
    lines: [
      `Your pull request ${name} ${happened}.`,
      ...(words === null ? [] : [`Status: ${words.says}`, sayNextStep(words.next)]),
    ],
    links: toLinks([
      ['Pull request', urlOfPull(repo, event.pr)],
      ['Gate run', runUrl],
    ]),
  };
}
