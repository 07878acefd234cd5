import type { EpochMs } from '../../../domain/ids.ts';
import { ACTIVITY_EVENTS, type ActivityEvent } from '../../../domain/queue/batch.ts';
import { type Codec, nullable, oneOf, optional, record, text, whole } from './codec.ts';

export const activityEvent = record<ActivityEvent>({
  tenantId: ['tenant_id', text],
  repoId: ['repo_id', text],
  repoSlug: ['repo_slug', text],
  at: ['at', whole],
  event: ['event', oneOf(ACTIVITY_EVENTS)],
  pr: ['pr', whole],
  head: ['head', text],
  title: ['title', text],
  reason: ['reason', nullable(text)],
  author: ['author', optional(text) as Codec<string>],
  scheduledAt: ['scheduled_at', optional(whole) as Codec<EpochMs>],
});
