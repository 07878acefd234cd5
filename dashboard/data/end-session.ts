import type { DashboardConfig } from '#core/contracts/internal/dashboard.ts';
import { ask, goTrueHeaders, REFUSED_SESSION } from './ask-provider.ts';
import { askAccount, readToken, session } from './session.ts';

/** Where a hosted session is ended too; null when there is none. */
export function hostedSignOutUrl(config: DashboardConfig['sign_in']): string | null {
  if (config.kind !== 'cognito') return null;
  const query = new URLSearchParams({
    client_id: config.client_id,
    logout_uri: `${location.origin}/`,
  });
  return `${config.domain}/logout?${query.toString()}`;
}

/** `others` is for GoTrue alone: Cognito ends this session or all. */
export type EndScope = 'this' | 'all' | 'others';
const GOTRUE_SCOPES: Readonly<Record<EndScope, string>> = { this: 'local', all: 'global', others: 'others' };

/**
 * Ends the session at the provider, so that neither its refresh token nor a copy of it is worth anything; `all`, every
 * session of this person, wherever it is. The tab forgets its own whatever comes of it.
 */
export async function endSession(config: DashboardConfig['sign_in'], scope: EndScope): Promise<void> {
  const current = session.read();
  if (current === null) return;
  const { refreshToken } = current;
  // A tab that slept has one that has run out, and the provider ends no other session by that. The tab may be left at once
  // where it ends its own alone.
  const token = scope === 'this' ? current.token : ((await readToken(config)) ?? current.token);
  // The page may be left before the answer is there.
  const keepalive = true;
  if (config.kind === 'gotrue') {
    const headers = goTrueHeaders(config, token);
    const url = `${config.url}/auth/v1/logout?scope=${GOTRUE_SCOPES[scope]}`;
    await ask(url, { keepalive, headers }, REFUSED_SESSION);
  } else if (scope === 'all') {
    await askAccount(config, 'GlobalSignOut', { AccessToken: token });
  } else if (refreshToken !== null) {
    await ask(`${config.domain}/oauth2/revoke`, {
      keepalive,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: config.client_id, token: refreshToken }).toString(),
    });
  }
}
