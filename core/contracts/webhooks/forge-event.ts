import * as z from 'zod';
import type { ForgeEvent } from '../../domain/wakes/wake-rule.ts';

/** The parts of a forge's webhook body that routing needs. Tolerant: forges add fields and leave some out. */
const text = z.string().min(1);
const Repository = z.object({ full_name: text, html_url: text });
const Body = z.object({
  repository: Repository.optional().catch(undefined),
  // Forgejo's action_run events have their repository here only.
  run: z.object({ repository: Repository }).optional().catch(undefined),
  action: text.optional().catch(undefined),
  ref: text.optional().catch(undefined),
  sender: z.object({ login: text }).optional().catch(undefined),
  pull_request: z
    .object({ base: z.object({ ref: text }) })
    .optional()
    .catch(undefined),
});

export interface ForgeDelivery {
  /** Base address of the instance as the forge spells it. */
  readonly instanceUrl: string;
  readonly slug: string;
  readonly event: ForgeEvent;
}

/** `malformed`: not a JSON object. `no_repository`: nothing says which repository it is about. */
export function parseForgeDelivery(
  type: string,
  bytes: Uint8Array,
): ForgeDelivery | 'malformed' | 'no_repository' {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return 'malformed';
  }
  const parsed = Body.safeParse(value);
  if (!parsed.success) return 'malformed';
  const body = parsed.data;
  const repository = body.repository ?? body.run?.repository;
  if (repository === undefined) return 'no_repository';
  const instanceUrl = stripSlug(repository.html_url, repository.full_name);
  if (instanceUrl === null) return 'no_repository';
  return {
    instanceUrl,
    slug: repository.full_name,
    event: {
      type,
      action: body.action ?? null,
      // `create` and `delete` name their branch without the prefix.
      ref: body.ref ?? null,
      base: body.pull_request?.base.ref ?? null,
      sender: body.sender?.login ?? null,
    },
  };
}

/** `https://host/path/owner/name` without `/owner/name`. Null when the two do not fit. */
function stripSlug(htmlUrl: string, slug: string): string | null {
  const suffix = `/${slug}`.toLowerCase();
  if (!htmlUrl.toLowerCase().endsWith(suffix)) return null;
  return htmlUrl.slice(0, htmlUrl.length - suffix.length);
}
