import { join } from 'node:path';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { createForgeOAuth } from '#core/adapters/identity-forge/forge-oauth.ts';
import { createForgeIdentity } from '#core/adapters/identity-forge/identity.ts';
import { createSessions } from '#core/adapters/identity-forge/sessions.ts';
import type { Clock } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { createAdmission } from './admission.ts';
import type { OneboxConfig } from './config.ts';
import type { openKeys } from './keys.ts';
import { openOwn, SESSIONS_FILE } from './own-files.ts';

/** Composes the sign-in: the sessions, the forge that vouches for people, and the rule of who is admitted. */
export function composeSignIn(
  config: OneboxConfig,
  send: HttpSend,
  { sessionSeal }: Pick<ReturnType<typeof openKeys>, 'sessionSeal'>,
  clock: Clock,
) {
  const file = join(config.data_dir, SESSIONS_FILE);
  const sessions = openOwn(SESSIONS_FILE, () => createSessions({ file, clock, seal: sessionSeal }));
  const forge = createForgeOAuth({
    forgeUrl: config.forge.url,
    clientId: config.sign_in.client_id,
    send,
    clientSecret: new Secret(config.clientSecret),
    readsTeams: config.tenants === 'organizations',
  });
  const admit = createAdmission(config);
  const identity = createForgeIdentity({ instanceUrl: config.forge.url, sessions, forge, admit, clock });
  return { sessions, forge, admit, identity };
}
