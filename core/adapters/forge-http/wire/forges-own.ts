import * as z from 'zod';

const Told = z.object({ message: z.string() });
/** `url` leads to the description of the forge's API. */
const ToldWithUrl = Told.extend({ url: z.string() });

/**
 * The form of a forge's refusals, by status. They are what accuses a token, or says that something is not there, and proxies say them
 * in JSON as well to a client that asks for JSON: a single sign-on without a session 401 `{}`, a gateway without a route 404 with a
 * `message` alone. Forges write `url` beside it (forge facts, 1), but not to an account that may not call at all (403).
 */
const REFUSALS: ReadonlyMap<number, z.ZodType> = new Map<number, z.ZodType>([
  [401, ToldWithUrl],
  [403, Told],
  // Gitea says null of a commit whose history is asked for.
  [404, ToldWithUrl.nullable()],
]);

/** Whether JSON with this status can be the forge's own. */
export function isForgesOwn(status: number, value: unknown): boolean {
  return REFUSALS.get(status)?.safeParse(value).success ?? true;
}
