import * as z from 'zod';
import { HOOK_STATES } from '../../domain/set-up/hook-seen.ts';
import { PROTECTION_REASONS } from '../../domain/set-up/provisioning.ts';
import {
  type GlanceAnswer,
  type GlanceRequest,
  LOOK_FAULTS,
  type LookAnswer,
  type LookMemory,
  type LookRequest,
} from '../../ports/idle-look.ts';
import { Secret } from '../../secret.ts';
import { HttpsUrl, RepoSlug } from './reconcile.ts';

const time = z.int();
const Memory = z.strictObject({
  tip: z.string().nullable(),
  pulls: z
    .array(
      z.strictObject({
        pr: z.int(),
        head: z.string(),
        updatedAt: time,
        seenAt: time,
        readAt: time,
      }),
    )
    .readonly(),
  blindUntil: time.nullable(),
  hookAt: time.optional(),
  ruleAt: time.optional(),
});
const SetUp = z.discriminatedUnion('part', [
  z.strictObject({ part: z.literal('hook'), hookId: z.string(), was: z.enum(HOOK_STATES) }),
  z.strictObject({ part: z.literal('rule'), was: z.array(z.enum(PROTECTION_REASONS)).readonly() }),
]);
const Request = z.strictObject({
  instance_url: HttpsUrl,
  repo_slug: RepoSlug,
  base_branch: z.string().min(1),
  status_context: z.string().min(1),
  repo_id: z.int().nullable(),
  token: z.string().min(1),
  set_up: SetUp.nullable(),
  memory: Memory.nullable(),
});
const GlanceBody = z.strictObject({
  instance_url: HttpsUrl,
  repo_slug: RepoSlug,
  glance_at: z.string().min(1),
  token: z.string().min(1),
});
const Glanced = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('seen'),
    tip: z.string().nullable(),
    newest: z.strictObject({ pr: z.int(), head: z.string(), updatedAt: time }).nullable(),
  }),
  z.strictObject({ kind: z.literal('failed') }),
]);
const Answer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['idle', 'needed']), memory: Memory }),
  z.strictObject({ kind: z.literal('failed'), fault: z.enum(LOOK_FAULTS) }),
]);

/** The payload of one invocation. The token is in it once; a synchronous invocation keeps no payload. */
export function writeLookRequest(request: LookRequest): string {
  return JSON.stringify({
    instance_url: request.instanceUrl,
    repo_slug: request.repoSlug,
    base_branch: request.baseBranch,
    status_context: request.statusContext,
    repo_id: request.repoId,
    token: request.token.reveal(),
    set_up: request.setUp,
    memory: request.memory,
  } satisfies z.input<typeof Request>);
}

/** Null: not such a request. No error quotes it, because it holds a token. */
export function readLookRequest(payload: unknown): LookRequest | null {
  const parsed = Request.safeParse(payload);
  if (!parsed.success) return null;
  const { instance_url, repo_slug, base_branch, status_context, repo_id, token, set_up, memory } =
    parsed.data;
  return {
    instanceUrl: instance_url,
    repoSlug: repo_slug,
    baseBranch: base_branch,
    statusContext: status_context,
    repoId: repo_id,
    token: new Secret(token),
    setUp: set_up,
    memory,
  };
}

/** Null: not such an answer. */
export function readLookAnswer(payload: unknown): LookAnswer | null {
  return Answer.safeParse(payload).data ?? null;
}

/** The payload of a glance, which the function of idle looks answers as well; `glance_at` is the branch. */
export function writeGlanceRequest({ instanceUrl, repoSlug, baseBranch, token }: GlanceRequest): string {
  return JSON.stringify({
    instance_url: instanceUrl,
    repo_slug: repoSlug,
    glance_at: baseBranch,
    token: token.reveal(),
  } satisfies z.input<typeof GlanceBody>);
}

/** Null: not such a request. */
export function readGlanceRequest(payload: unknown): GlanceRequest | null {
  const parsed = GlanceBody.safeParse(payload);
  if (!parsed.success) return null;
  const { instance_url: instanceUrl, repo_slug: repoSlug, glance_at: baseBranch, token } = parsed.data;
  return { instanceUrl, repoSlug, baseBranch, token: new Secret(token) };
}

/** Null: not such an answer. */
export function readGlanceAnswer(payload: unknown): GlanceAnswer | null {
  return Glanced.safeParse(payload).data ?? null;
}

/** As it is stored beside the record; null: not such a memory. */
export function readLookMemory(stored: unknown): LookMemory | null {
  return Memory.safeParse(stored).data ?? null;
}
