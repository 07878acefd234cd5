import * as z from 'zod';
import { Secret } from '../../secret.ts';
import type { HttpResponse, HttpSend } from '../http-guard/http-send.ts';
import { type ForgeMembership, membershipsOf, TEAM_PAGES_MAX, TEAMS_PER_PAGE, Teams } from './teams.ts';

export interface ForgeOAuthConfig {
  /** Base address of the forge. */
  readonly forgeUrl: string;
  /** Client id of the OAuth2 application on the forge. */
  readonly clientId: string;
  readonly clientSecret: Secret<string>;
  readonly send: HttpSend;
  /** Asks for the organizations of a person too. @default false */
  readonly readsTeams?: boolean;
}

/** A person who signed in at the forge. */
export interface ForgePerson {
  /** Number of the account, which it keeps under another name. */
  readonly account: number;
  readonly login: string;
  readonly email: string | null;
  /** Organizations as `org`, teams as `org:team`. */
  readonly groups: readonly string[];
  /** Organizations in which the person may write. @default not asked for */
  readonly organizations?: readonly ForgeMembership[];
}

/** `refused`: the forge did not take the code or the token. `unreachable`: no answer that can be used. */
export type ForgeSignIn =
  | {
      readonly kind: 'person';
      readonly person: ForgePerson;
      /** Token that reads the person again later, without the person. */
      readonly refreshToken: Secret<string>;
    }
  | 'refused'
  | 'unreachable';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 256 * 1024;
/**
 * Claims, then the reads of account and teams. Without a scope of the API both forges give the token all rights of the
 * person.
 */
const SCOPE = 'openid profile email groups read:user read:organization';

const TokenAnswer = z.object({ access_token: z.string().min(1), refresh_token: z.string().min(1) });
const TokenRefusal = z.object({ error: z.string(), error_description: z.string().default('') });
export type ApplicationAnswer = 'accepted' | 'unknown_client' | 'wrong_secret' | 'wrong_redirect' | 'unclear';
const APPLICATION_WORDS: readonly (readonly [RegExp, ApplicationAnswer])[] = [
  [/client secret/, 'wrong_secret'],
  [/redirect URI/i, 'wrong_redirect'],
  [/client is not authorized/, 'accepted'],
];
const Account = z.object({ id: z.int() });
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
  async function readBy(
    grant: Readonly<Record<string, string>>,
    keep: (next: Secret<string>) => void = () => {},
  ): Promise<ForgeSignIn> {
    const client = { client_id: config.clientId, client_secret: config.clientSecret.reveal() };
    const traded = await exchange(config.send, 'POST', `${base}/login/oauth/access_token`, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...grant, ...client }).toString(),
    });
    if (traded === null) return 'unreachable';
    const token = TokenAnswer.safeParse(readJson(traded));
    if (!token.success) return isRefusal(traded) ? 'refused' : 'unreachable';
    const refreshToken = new Secret(token.data.refresh_token);
    keep(refreshToken);
    const told = await exchange(config.send, 'GET', `${base}/login/oauth/userinfo`, {
      headers: { authorization: `Bearer ${token.data.access_token}` },
    });
    if (told !== null && isRefusal(told)) return 'refused';
    const user = UserInfo.safeParse(told === null ? null : readJson(told));
    // Not by the claims: Forgejo tells those of a locked account all the same.
    const own = await exchange(config.send, 'GET', `${base}/api/v1/user`, {
      headers: { authorization: `Bearer ${token.data.access_token}` },
    });
    if (own !== null && isRefusal(own)) return 'refused';
    const account = Account.safeParse(own?.status === 200 ? readJson(own) : null);
    if (told?.status !== 200 || !user.success || !account.success) return 'unreachable';
    const { preferred_username: login, email = null, groups } = user.data;
    const person = { account: account.data.id, login, email, groups: groups ?? [] };
    if (config.readsTeams !== true) return { kind: 'person', person, refreshToken };
    const teams = await readTeams(token.data.access_token);
    if (teams === null) return 'unreachable';
    return { kind: 'person', person: { ...person, organizations: membershipsOf(teams) }, refreshToken };
  }
  /** Reads the person's teams; null: not all could be read. */
  async function readTeams(accessToken: string): Promise<Teams | null> {
    const teams: Teams = [];
    for (let page = 1; page <= TEAM_PAGES_MAX; page += 1) {
      const query = new URLSearchParams({ limit: String(TEAMS_PER_PAGE), page: String(page) });
      const answer = await exchange(config.send, 'GET', `${base}/api/v1/user/teams?${query.toString()}`, {
        headers: { authorization: `Bearer ${accessToken}` },
      });
      const told = Teams.safeParse(answer?.status === 200 ? readJson(answer) : null);
      if (!told.success) return null;
      // A forge may give less than a page may hold.
      if (told.data.length === 0) return teams;
      teams.push(...told.data);
    }
    return null;
  }
  return {
    authorizeUrl(request: { redirectUri: string; state: string; challenge: string }): string {
      const query = new URLSearchParams({
        client_id: config.clientId,
        redirect_uri: request.redirectUri,
        response_type: 'code',
        state: request.state,
        code_challenge: request.challenge,
        code_challenge_method: 'S256',
        scope: SCOPE,
      });
      return `${base}/login/oauth/authorize?${query.toString()}`;
    },
    /** Exchanges the code for the person. The forge's access token is used once and not kept. */
    readPerson(given: { code: string; redirectUri: string; verifier: string }): Promise<ForgeSignIn> {
      return readBy({
        grant_type: 'authorization_code',
        code: given.code,
        redirect_uri: given.redirectUri,
        code_verifier: given.verifier,
      });
    },
    /**
     * The person as the forge has them now. The token may have had its one use then: `keep` gets the next one as soon
     * as the forge gives it, also where the rest of the answer does not come.
     */
    readAgain(refreshToken: Secret<string>, keep: (next: Secret<string>) => void): Promise<ForgeSignIn> {
      return readBy({ grant_type: 'refresh_token', refresh_token: refreshToken.reveal() }, keep);
    },
    /**
     * How the forge judges id, secret and redirect URI of the application: it looks at them, in this order, before it
     * looks at the code, and the code is none (`handleAuthorizationCode` of both forges).
     */
    async tryApplication(redirectUri: string): Promise<ApplicationAnswer> {
      const client = { client_id: config.clientId, client_secret: config.clientSecret.reveal() };
      const grant = { grant_type: 'authorization_code', code: 'none', redirect_uri: redirectUri };
      const answer = await exchange(config.send, 'POST', `${base}/login/oauth/access_token`, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ ...grant, ...client }).toString(),
      });
      const told = TokenRefusal.safeParse(answer === null ? null : readJson(answer));
      if (!told.success) return 'unclear';
      const { error, error_description: words } = told.data;
      if (error === 'invalid_client') return 'unknown_client';
      return APPLICATION_WORDS.find(([known]) => known.test(words))?.[1] ?? 'unclear';
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

/** Whether the forge understood and refused: the account is gone or locked, or the application was withdrawn. */
function isRefusal({ status }: HttpResponse): boolean {
  return status === 400 || status === 401 || status === 403;
}

async function exchange(
  send: HttpSend,
  method: 'GET' | 'POST',
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body?: string },
): Promise<HttpResponse | null> {
  try {
    return await send({
      method,
      url,
      timeoutMs: TIMEOUT_MS,
      bodyBytesMax: ANSWER_BYTES_MAX,
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
