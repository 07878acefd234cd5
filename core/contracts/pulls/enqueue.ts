import * as z from 'zod';
import { Secret } from '../../secret.ts';

/** Names of two hashes that git has. */
export const EnqueueBody = z.object({ head: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/) });

export const EnqueuedPull = z.object({
  number: z.int(),
  head: z.string(),
  /** True: it was scheduled before; nothing was changed. */
  already: z.boolean(),
});

/** The header with the person's own forge token. */
const FORGE_TOKEN_HEADER = 'x-forge-token';

/** Null: none was sent, or what was sent can be none. */
export function readForgeToken(headers: Readonly<Record<string, string | undefined>>): Secret<string> | null {
  const text = headers[FORGE_TOKEN_HEADER] ?? '';
  return /^[!-~]{8,512}$/.test(text) ? new Secret(text) : null;
}
