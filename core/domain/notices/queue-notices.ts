import type { RefusalCause } from '../forge/refusal-cause.ts';
import type { RepoId } from '../ids.ts';
import { codeOfEvent, isSetAside } from '../pulls/find-pull-code.ts';
import { PULL_CODES } from '../pulls/pull-code-table.ts';
import type { ActivityEvent } from '../queue/batch.ts';
import { type StandstillCause, sayStandstill } from '../queue/standstill.ts';
import { sayTime } from '../repos/pause.ts';
import type { ManagedRepo } from '../repos/repo.ts';
import { type DriftKind, sayDrift } from '../set-up/drift.ts';
import { sinceEarliest } from '../set-up/drift-since.ts';
import { type Notice, nameOfPull, sayNextStep, toLinks, toPlainLine, urlOfPull } from './notice.ts';
import { NOTICE_WAYS, type PullTopic, WATCHED_TOPICS, waysOf } from './notice-topics.ts';
import { pullPageOf } from './service-pages.ts';

type RepoName = Pick<ManagedRepo, 'id' | 'instanceUrl' | 'slug' | 'baseBranch'>;

/** News of a queue that no event stands for. `since`: null where it is not known. */
export type Trouble = { readonly repoId: RepoId; readonly since: number | null } & (
  | {
      readonly topic: 'stuck';
      readonly name: StandstillCause;
      readonly usualMs: number | null;
      /** Of the runner that is waited for; absent: not known. */
      readonly labels?: readonly string[];
    }
  | {
      readonly topic: 'drift';
      readonly name: DriftKind;
      /** Of `rights`: why the forge refuses; absent: its answer does not tell. */
      readonly refusal?: RefusalCause;
    }
);

const HAPPENED: Readonly<Record<PullTopic, string>> = {
  bounced: 'was bounced by the merge queue',
  refused: 'is refused by the merge queue for now',
  landed: 'was landed by the merge queue',
};

/** The news of a pull request, behind its name: the same to its author and to the places of the queue. */
export function sayHappened(
  topic: PullTopic,
  { event, reason }: Pick<ActivityEvent, 'event' | 'reason'>,
): string {
  if (isSetAside(event, reason)) return 'is set aside by the merge queue for now';
  return reason === 'unverified' ? 'was merged, but not as it was proven' : HAPPENED[topic];
}

/** In the words of its status: where it stands, why, and the next step. `runUrl`: the failing gate run; null: none is known. */
export function describePullNotice(
  topic: PullTopic,
  repo: RepoName,
  event: Pick<ActivityEvent, 'event' | 'pr' | 'title' | 'reason'>,
  pageUrl: string,
  runUrl: string | null,
): Notice {
  const code = codeOfEvent(event.event, event.reason);
  const words = code === null ? null : PULL_CODES[code];
  return {
    subject: `${toPlainLine(repo.slug)} #${event.pr} ${sayHappened(topic, event)}`,
    lines: [
      nameOfPull(repo.slug, event),
      ...(words === null ? [] : [`Status: ${words.says}`, sayNextStep(words.next)]),
    ],
    links: toLinks([
      ['Pull request', urlOfPull(repo, event.pr)],
      ['Gate run', runUrl],
      ['Queue', pullPageOf(pageUrl, event.pr)],
    ]),
  };
}

export function describeTrouble(repo: RepoName, trouble: Trouble, pageUrl: string): Notice {
  const queue = `${toPlainLine(repo.slug)} (${toPlainLine(repo.baseBranch)})`;
  const { says, next } =
    trouble.topic === 'stuck'
      ? sayStandstill({ ...trouble, cause: trouble.name })
      : sayDrift({ ...trouble, kind: trouble.name });
  const usualMs = trouble.topic === 'stuck' ? trouble.usualMs : null;
  return {
    subject:
      trouble.topic === 'stuck'
        ? `The merge queue of ${queue} stands still`
        : `The setup of the merge queue of ${queue} has changed`,
    lines: [
      `${says}${saySince(trouble)}.`,
      ...(usualMs === null ? [] : [`It usually takes at most ${Math.ceil(usualMs / 60_000)} min.`]),
      sayNextStep(next),
    ],
    links: toLinks([['Queue', pageUrl]]),
  };
}

function saySince({ topic, name, since }: Trouble): string {
  if (since === null) return '';
  return `, since ${sayTime(since)}${topic === 'drift' && sinceEarliest(name) ? ' at the earliest' : ''}`;
}

/** Asked for by hand, to see that a place is reached. */
export function describeTest(repo: RepoName, pageUrl: string): Notice {
  return {
    subject: `A test from the merge queue of ${toPlainLine(repo.slug)}`,
    lines: ['Notices reach this place. This one is a test: nothing has happened.'],
    links: toLinks([['Queue', pageUrl]]),
  };
}

/** Whether a place of this repository is to be told of what is looked for. */
export function isWatched(repo: Pick<ManagedRepo, 'noticeTopics' | 'notification' | 'tombstone'>): boolean {
  const { notification } = repo;
  if (notification === null || repo.tombstone) return false;
  // The tick also looks for news that no change of the table has told the webhook.
  if (notification.webhook !== null && repo.noticeTopics.webhook.length > 0) return true;
  const ways = WATCHED_TOPICS.flatMap((topic) => waysOf(repo, topic));
  return NOTICE_WAYS.some((way) => notification[way] !== null && ways.includes(way));
}
