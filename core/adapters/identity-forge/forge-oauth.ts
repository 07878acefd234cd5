import * as z from 'zod';
import type { Secret } from '../../secret.ts';
import type { HttpResponse, HttpSend } from '../http-guard/http-send.ts';

export interface ForgeOAuthConfig {
  /** Base address of the forge. */
  readonly forgeUrl: string;
  /** Of the OAuth2 application that was made on the forge. */
  readonly clientId: string;
  readonly clientSecret: Secret<string>;
  readonly send: HttpSend;
}

/** Who signed in at the forge. */
export interface ForgePerson {
  readonly login: string;
  readonly email: string | null;
  /** Organizations as `org`, teams as `org:team`. */
  readonly groups: readonly string[];
}

/** `refused`: the forge did not take the code. `unreachable`: no answer that can be used. */
export type ForgeSignIn =
  | { readonly kind: 'person'; readonly person: ForgePerson }
  | 'refused'
  | 'unreachable';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 256 * 1024;
const SCOPE = 'openid profile email groups';

const TokenAnswer = z.object({ access_token: z.string().min(1) });
const UserInfo = z.object({
  preferred_username: z.string().min(1),
  email: z.string().nullish(),
  groups: z.array(z.string()).nullish(),
});

/**
 * The forge as an OAuth2 provider: authorization code with PKCE (RFC 7636) and the user's claims. Paths and scopes:
 * https://docs.gitea.com/development/oauth2-provider, the same on Forgejo.
 */
export function createForgeOAuth(config: ForgeOAuthConfig) {
  const base = config.forgeUrl.replace(/\/+$/, '');
  return {
    authorizeUrl(request: { redirectUri: string; state: string; challenge: string }): string {
      const query = new URLSearchParams({
        ...{ client_id: config.clientId, redirect_uri: request.redirectUri, response_type: 'code' },
        ...{ state: request.state, code_challenge: request.challenge, code_challenge_method: 'S256' },
        scope: SCOPE,
      });
      return `${base}/login/oauth/authorize?${query.toString()}`;
    },
    /** Trades the code for the person. The forge's access token is used once and kept nowhere. */
    async readPerson(given: { code: string; redirectUri: string; verifier: string }): Promise<ForgeSignIn> {
      const form = new URLSearchParams({
        ...{ grant_type: 'authorization_code', code: given.code, redirect_uri: given.redirectUri },
        ...{ client_id: config.clientId, client_secret: config.clientSecret.reveal() },
        code_verifier: given.verifier,
      });
      const traded = await exchange(config.send, 'POST', `${base}/login/oauth/access_token`, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: form.toString(),
      });
      if (traded === null) return 'unreachable';
      const token = TokenAnswer.safeParse(readJson(traded));
      if (!token.success) return traded.status >= 500 ? 'unreachable' : 'refused';
      const told = await exchange(config.send, 'GET', `${base}/login/oauth/userinfo`, {
        headers: { authorization: `Bearer ${token.data.access_token}` },
      });
      const user = UserInfo.safeParse(told === null ? null : readJson(told));
      if (told?.status !== 200 || !user.success) return 'unreachable';
      const { preferred_username: login, email = null, groups } = user.data;
      return { kind: 'person', person: { login, email, groups: groups ?? [] } };
    },
    async isReachable(): Promise<boolean> {
      const answer = await exchange(config.send, 'GET', `${base}/.well-known/openid-configuration`, {
        headers: {},
      });
      return answer?.status === 200;
    },
  };
}

export type ForgeOAuth = ReturnType<typeof createForgeOAuth>;

async function exchange(
  send: HttpSend,
  method: 'GET' | 'POST',
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body?: string },
): Promise<HttpResponse | null> {
  try {
    return await send({
      ...{ method, url, timeoutMs: TIMEOUT_MS, bodyBytesMax: ANSWER_BYTES_MAX },
      headers: { accept: 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    });
  } catch {
    // The error is dropped whole: the request holds the secret (A95).
    return null;
  }
}

function readJson({ body }: HttpResponse): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
