import * as z from 'zod';
import { urlOfPull } from '../../domain/notices/notice.ts';
import type { Trouble } from '../../domain/notices/queue-notices.ts';
import { codeOfEvent, PULL_CODE_NAMES } from '../../domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '../../domain/pulls/pull-code-table.ts';
import type { ActivityEvent } from '../../domain/queue/batch.ts';
import { STANDSTILL_CAUSES, sayStandstill } from '../../domain/queue/standstill.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { DRIFT_KINDS, sayDrift } from '../../domain/set-up/drift.ts';
import { formatTime, formatTimeOrNull, Time, Uuid } from '../fields.ts';

const Repository = z.object({
  id: Uuid,
  name: z.string(),
  instance_url: z.string(),
  base_branch: z.string(),
});
const Words = { says: z.string(), next: z.string() };
const PullData = z.object({
  repository: Repository,
  pull_request: z.object({ number: z.int(), title: z.string(), head: z.string(), url: z.string() }),
  /** Of the closed list; null: one that this version does not know, and then it has no words. */
  code: z.enum(PULL_CODE_NAMES).nullable(),
  says: z.string().nullable(),
  next: z.string().nullable(),
  run_url: z.string().nullable(),
});

/** The body of a request to a webhook of notices. */
export const NoticePayload = z.discriminatedUnion('type', [
  z.object({
    type: z.enum(['pull_request.bounced', 'pull_request.refused', 'pull_request.landed']),
    timestamp: Time,
    data: PullData,
  }),
  z.object({
    type: z.literal('queue.stuck'),
    timestamp: Time,
    data: z.object({
      repository: Repository,
      cause: z.enum(STANDSTILL_CAUSES),
      since: Time.nullable(),
      usual_seconds: z.int().nullable(),
      ...Words,
    }),
  }),
  z.object({
    type: z.literal('setup.drift'),
    timestamp: Time,
    data: z.object({
      repository: Repository,
      kind: z.enum(DRIFT_KINDS),
      since: Time.nullable(),
      ...Words,
    }),
  }),
  z.object({ type: z.literal('test'), timestamp: Time, data: z.object({ repository: Repository }) }),
]);
export type NoticePayload = z.infer<typeof NoticePayload>;

export function toPullPayload(
  topic: 'bounced' | 'refused' | 'landed',
  repo: ManagedRepo,
  event: ActivityEvent,
  runUrl: string | null,
): NoticePayload {
  const code = codeOfEvent(event.event, event.reason);
  const words = code === null ? null : PULL_CODES[code];
  const { pr: number, title, head } = event;
  return {
    type: `pull_request.${topic}`,
    timestamp: formatTime(event.at),
    data: {
      repository: toRepository(repo),
      pull_request: { number, title, head, url: urlOfPull(repo, number) },
      code,
      says: words?.says ?? null,
      next: words?.next ?? null,
      run_url: runUrl,
    },
  };
}

export function toTroublePayload(repo: ManagedRepo, trouble: Trouble, at: number): NoticePayload {
  const timestamp = formatTime(at);
  const since = formatTimeOrNull(trouble.since);
  const repository = toRepository(repo);
  if (trouble.topic === 'drift') {
    const { says, next } = sayDrift({ ...trouble, kind: trouble.name });
    return { type: 'setup.drift', timestamp, data: { repository, kind: trouble.name, since, says, next } };
  }
  const { says, next } = sayStandstill({ ...trouble, cause: trouble.name });
  const usual_seconds = trouble.usualMs === null ? null : Math.round(trouble.usualMs / 1000);
  const data = { repository, cause: trouble.name, since, usual_seconds, says, next };
  return { type: 'queue.stuck', timestamp, data };
}

export function toTestPayload(repo: ManagedRepo, at: number): NoticePayload {
  return { type: 'test', timestamp: formatTime(at), data: { repository: toRepository(repo) } };
}

function toRepository({ id, slug, instanceUrl, baseBranch }: ManagedRepo): z.infer<typeof Repository> {
  return { id, name: slug, instance_url: instanceUrl, base_branch: baseBranch };
}
