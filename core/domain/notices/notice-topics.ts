import type { ActivityEvent } from '../queue/batch.ts';
import { SECRET_WAYS } from './notice-ways.ts';

/** Topics that a place can be told of, by the choice of the owner. */
export const NOTICE_TOPICS = ['bounced', 'refused', 'landed', 'stuck', 'drift'] as const;
export type NoticeTopic = (typeof NOTICE_TOPICS)[number];
/** Topics that an event of a pull request tells of. */
export type PullTopic = Exclude<NoticeTopic, (typeof WATCHED_TOPICS)[number]>;

export const NOTICE_WAYS = ['email', ...SECRET_WAYS] as const;
export type NoticeWay = (typeof NOTICE_WAYS)[number];

/** The topics of each way. */
export type NoticeChoice = Readonly<Record<NoticeWay, readonly NoticeTopic[]>>;

export interface NoticeSettings {
  readonly noticeTopics: NoticeChoice;
}

/** One value for each way. */
export function mapWays<T>(toValue: (way: NoticeWay) => T): Record<NoticeWay, T> {
  return Object.fromEntries(NOTICE_WAYS.map((way) => [way, toValue(way)])) as Record<NoticeWay, T>;
}

/** The topics of a repository that chose none. */
export const DEFAULT_TOPICS: readonly NoticeTopic[] = ['bounced'];
export const DEFAULT_CHOICE: NoticeChoice = mapWays(() => DEFAULT_TOPICS);

/** The topics that no event tells of: they are looked for. */
export const WATCHED_TOPICS = ['stuck', 'drift'] as const satisfies readonly NoticeTopic[];

/** The others: an event of a pull request tells of them. An author may be told of each. */
export const PULL_TOPICS = NOTICE_TOPICS.filter((topic): topic is PullTopic =>
  WATCHED_TOPICS.every((watched) => watched !== topic),
);

/** Null: no place is told of it. */
export function topicOfEvent({ event }: Pick<ActivityEvent, 'event'>): PullTopic | null {
  if (event === 'pr_bounced') return 'bounced';
  if (event === 'pr_refused') return 'refused';
  return event === 'pr_landed' ? 'landed' : null;
}

/** The ways that are to be told of a topic. */
export function waysOf({ noticeTopics }: NoticeSettings, topic: NoticeTopic): readonly NoticeWay[] {
  return NOTICE_WAYS.filter((way) => noticeTopics[way].includes(topic));
}
