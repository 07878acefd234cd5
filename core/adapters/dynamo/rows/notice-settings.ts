import {
  DEFAULT_TOPICS,
  mapWays,
  NOTICE_TOPICS,
  type NoticeChoice,
} from '../../../domain/notices/notice-topics.ts';
import type { NotificationTargets } from '../../../domain/notices/notice-ways.ts';
import { defaulted, listOfKnown, nullable, record, text } from './codec.ts';

export const notification = record<NotificationTargets>({
  email: ['email', nullable(text)],
  slack: ['chat_a', nullable(text)],
  discord: ['chat_b', nullable(text)],
  // Rows of before these two have none.
  matrix: ['matrix', defaulted(nullable(text), null)],
  webhook: ['webhook', defaulted(nullable(text), null)],
});

const topics = defaulted(listOfKnown(NOTICE_TOPICS), DEFAULT_TOPICS);
export const noticeChoice = record<NoticeChoice>(mapWays((way) => [way, topics] as const));
