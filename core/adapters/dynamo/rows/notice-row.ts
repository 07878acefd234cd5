import { REFUSAL_CAUSE_NAMES, type RefusalCause } from '../../../domain/forge/refusal-cause.ts';
import { WATCHED_TOPICS } from '../../../domain/notices/notice-topics.ts';
import type { Trouble } from '../../../domain/notices/queue-notices.ts';
import type { DeliveryName } from '../../../domain/notices/webhook-delivery.ts';
import { STANDSTILL_CAUSES } from '../../../domain/queue/standstill.ts';
import { DRIFT_KINDS } from '../../../domain/set-up/drift.ts';
import { NOTICE_KINDS, type NoticeRequest } from '../../../ports/notifier.ts';
import { type Codec, listOf, nullable, oneOf, optional, record, text, whole } from './codec.ts';

interface TroubleRow {
  readonly repoId: string;
  readonly topic: Trouble['topic'];
  readonly name: Trouble['name'];
  readonly since: number | null;
  readonly usualMs?: number | null;
  readonly labels?: readonly string[];
  readonly refusal?: RefusalCause;
}

const trouble = record<TroubleRow>({
  repoId: ['repo_id', text],
  topic: ['topic', oneOf(WATCHED_TOPICS)],
  name: ['name', oneOf([...STANDSTILL_CAUSES, ...DRIFT_KINDS])],
  since: ['since', nullable(whole)],
  usualMs: ['usual_ms', optional(nullable(whole)) as Codec<number | null>],
  labels: ['labels', optional(listOf(text)) as Codec<readonly string[]>],
  refusal: ['refusal', optional(oneOf(REFUSAL_CAUSE_NAMES)) as Codec<RefusalCause>],
});

const delivery = record<DeliveryName>({
  repoId: ['repo_id', text],
  at: ['at', whole],
  id: ['id', text],
});

export const noticeRow = record<NoticeRequest>({
  kind: ['kind', oneOf(NOTICE_KINDS)],
  tenantId: ['tenant_id', text],
  subject: ['subject', text],
  email: ['email', nullable(text)],
  trouble: ['trouble', optional(trouble) as unknown as Codec<Trouble>],
  delivery: ['delivery', optional(delivery) as Codec<DeliveryName>],
  repoId: ['repo_id', optional(text) as Codec<string>],
  at: ['at', optional(whole) as Codec<number>],
});
