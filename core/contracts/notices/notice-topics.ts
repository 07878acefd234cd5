import * as z from 'zod';
import { DEFAULT_TOPICS, mapWays, NOTICE_TOPICS } from '../../domain/notices/notice-topics.ts';

const Topics = z
  .array(z.enum(NOTICE_TOPICS))
  .max(NOTICE_TOPICS.length)
  .refine((topics) => new Set(topics).size === topics.length)
  .readonly();

/** A way that is left out is told what a repository is told that chose nothing. */
export const GivenTopics = z.object(mapWays(() => Topics.default([...DEFAULT_TOPICS]))).readonly();
export const ShownTopics = z.object(mapWays(() => z.array(z.enum(NOTICE_TOPICS)).readonly())).readonly();
