import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TokenRecord } from '../model.ts';
import { findUser, type World } from '../world.ts';
import { Refusal, type Route } from './router.ts';

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** `token` given: a fixed one for a local set-up. */
export function addToken(world: World, login: string, scopes: readonly string[], token?: string): string {
  if (findUser(world, login) === undefined) throw new Error(`no user ${login}`);
  const text = token ?? randomBytes(20).toString('hex');
  world.state.tokens.push({ login, hash: hashToken(text), scopes });
  world.store.changed();
  return text;
}

/** Null: no credential sent. Throws 401 for one that is not good. */
export function readToken(world: World, request: IncomingMessage): TokenRecord | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  const [kind = '', value = ''] = header.split(' ');
  const candidates: string[] = [];
  if (kind.toLowerCase() === 'basic') {
    const text = Buffer.from(value, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    candidates.push(text.slice(colon + 1), text.slice(0, Math.max(0, colon)));
  } else if (['token', 'bearer'].includes(kind.toLowerCase())) candidates.push(value);
  for (const candidate of candidates) {
    const hash = hashToken(candidate);
    const token = world.state.tokens.find((each) => each.hash === hash);
    if (token !== undefined) return token;
  }
  throw new Refusal(401, 'user does not exist [uid: 0, name: ]');
}

/** GET needs `read:x`, all else `write:x`; write includes read. */
export function checkScope(token: TokenRecord, route: Route, kind: 'forgejo' | 'gitea'): void {
  if (route.scope === 'misc' || token.scopes.includes('all')) return;
  const right = route.method === 'GET' ? 'read' : 'write';
  // The list of one's own repositories asks for both.
  const asked = route.label === 'GET user/repos' ? (['user', 'repository'] as const) : [route.scope];
  const lacking = asked.find(
    (each) => ![`${right}:${each}`, `write:${each}`].some((scope) => token.scopes.includes(scope)),
  );
  if (lacking === undefined) return;
  const required = `[${right}:${lacking}]`;
  const words =
    kind === 'gitea' ? `, required=${required}, token scope=${token.scopes.join(',')}` : `: ${required}`;
  throw new Refusal(403, `token does not have at least one of required scope(s)${words}`);
}
