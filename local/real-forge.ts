import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createForgeAccountOpener } from '#core/adapters/forge-http/account.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { Secret } from '#core/secret.ts';
import type { RealForge } from './forge-account.ts';

/** One file with all authorities, which is what a deployment takes. Returns its path. */
export function joinAuthorities(dataDir: string, files: readonly (string | null)[]): string {
  const path = join(dataDir, 'authorities.pem');
  const texts = files.flatMap((file) => (file === null ? [] : [readFileSync(file, 'utf8').trimEnd()]));
  writeFileSync(path, `${texts.join('\n')}\n`);
  return path;
}

/**
 * Connects the owner of `session` with a real forge as they would in the dashboard. Again for an identity that is
 * connected already, it replaces the token.
 */
export async function connectRealForge(
  baseUrl: string,
  session: string,
  forge: RealForge & { readonly token: string },
): Promise<{ readonly url: string; readonly bot_login: string }> {
  const login = await readLogin(forge);
  const answer = await fetch(`${baseUrl}/api/v1/connections`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    body: JSON.stringify({ instance_url: forge.url, bot_login: login, token: forge.token }),
  });
  if (!answer.ok) {
    const { error } = (await answer.json()) as { error: { code: string } };
    throw new Error(`the connection with ${forge.url} was not taken: ${error.code}`);
  }
  return { url: forge.url, bot_login: login };
}

/** Whose token it is. */
async function readLogin(forge: RealForge & { readonly token: string }): Promise<string> {
  const http = createGuardedHttp({
    allowHosts: [new URL(forge.url).host],
    ...(forge.caFile === null ? {} : { caPem: readFileSync(forge.caFile, 'utf8') }),
  });
  try {
    const open = createForgeAccountOpener({ send: http.send, clock: createSystemClock() });
    return await open(forge.url, new Secret(forge.token)).readBotLogin();
  } finally {
    http.close();
  }
}
