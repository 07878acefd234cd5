import type { HttpRequest } from '#core/adapters/http-guard/http-send.ts';
import { createForgeOAuth } from '#core/adapters/identity-forge/forge-oauth.ts';
import { Secret } from '#core/secret.ts';

const FORGE = 'https://git.example.org/forge';
const [TRADE, CLAIMS, ACCOUNT] = ['/login/oauth/access_token', '/login/oauth/userinfo', '/api/v1/user'];
const TOLD = { access_token: 'access', refresh_token: 'next' };
const ADA = { sub: '2', preferred_username: 'ada', email: 'ada@example.org', groups: ['acme'] };
const LOCKED = { message: 'This account is prohibited from signing in.' };
const PAGE = '<!DOCTYPE html><title>Sign-In Prohibited</title>';

type Answer = readonly [status: number, body: object | string];
const RIGHT: Readonly<Record<string, Answer>> = {
  [TRADE]: [200, TOLD],
  [CLAIMS]: [200, ADA],
  [ACCOUNT]: [200, { id: 2, login: 'ada' }],
};

/** A forge with these answers by path; any other path has none. */
function forgeWith(answers: Readonly<Record<string, Answer>>) {
  const asked: HttpRequest[] = [];
  const forge = createForgeOAuth({
    forgeUrl: `${FORGE}/`,
    clientId: 'id',
    clientSecret: new Secret('secret'),
    send: async (request) => {
      asked.push(request);
      const answer = answers[request.url.slice(FORGE.length)];
      if (answer === undefined) throw new Error('no answer');
      const [status, body] = answer;
      return {
        status,
        headers: {},
        body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      };
    },
  });
  const kept: string[] = [];
  const readAgain = () => forge.readAgain(new Secret('refresh'), (next) => kept.push(next.reveal()));
  return { forge, asked, kept, readAgain };
}

test.each([
  ['Forgejo 16 tells the claims', [200, ADA]],
  ['Gitea 1.26 answers with a page', [200, PAGE]],
] as const)('an account that may not sign in is refused, though %s', async (_forge, claims) => {
  const { readAgain } = forgeWith({ ...RIGHT, [CLAIMS]: claims, [ACCOUNT]: [403, LOCKED] });
  expect(await readAgain()).toBe('refused');
});

test('a person is told where the forge’s API takes the token, and not where it gives no answer', async () => {
  const { asked, readAgain } = forgeWith(RIGHT);
  expect(await readAgain()).toMatchObject({ person: { account: 2, login: 'ada', groups: ['acme'] } });
  expect(asked.at(-1)).toMatchObject({ url: FORGE + ACCOUNT, headers: { authorization: 'Bearer access' } });
  const silent = forgeWith({ [TRADE]: [200, TOLD], [CLAIMS]: [200, ADA] });
  expect(await silent.readAgain()).toBe('unreachable');
  // The token of before has had its use.
  expect(silent.kept).toEqual(['next']);
});

test('a sign-in asks for no more than reads: without a scope of the API a token has all rights of its person', () => {
  const asked = forgeWith({}).forge.authorizeUrl({
    redirectUri: 'https://m.example.org/',
    state: 's',
    challenge: 'c',
  });
  const scopes = (new URL(asked).searchParams.get('scope') ?? '').split(' ');
  const ofApi = scopes.filter((scope) => !['openid', 'profile', 'email', 'groups'].includes(scope));
  expect(ofApi).toEqual(['read:user', 'read:organization']);
});
