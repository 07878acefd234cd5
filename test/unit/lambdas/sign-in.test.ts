import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { ForgeOAuth } from '#core/adapters/identity-forge/forge-oauth.ts';
import type { Sessions } from '#core/adapters/identity-forge/sessions.ts';
import { createLog } from '#core/telemetry.ts';
import { createSignInRoutes } from '../../../lambdas/sign-in/routes.ts';

const clock = { now: () => 0 };

/** The sessions that a sign-out with this header ends, and the status of its answer. `isLive`: the token is of a session. */
async function signOut(authorization: string, isLive = true) {
  const ended: string[] = [];
  const end = async (token: string) => {
    ended.push(token);
    return isLive;
  };
  const sessions: Pick<Sessions, 'end'> = { end };
  const routes = createSignInRoutes({
    forge: {} as ForgeOAuth,
    sessions: sessions as Sessions,
    publicUrl: 'https://queue.example',
    admit: () => null,
    clock,
    log: createLog({ service: 'test', write: () => undefined, now: clock.now }),
  });
  const event: Pick<APIGatewayProxyEventV2, 'headers'> = { headers: { authorization } };
  const { statusCode } = await routes['POST /auth/v1/logout'](event as APIGatewayProxyEventV2);
  return { ended, statusCode };
}

test.each([
  ['a token', 'Bearer abc.DEF_1-2~3', ['abc.DEF_1-2~3']],
  ['a token after several blanks', 'bearer  abc ', ['abc']],
  ['two words', 'Bearer abc def', []],
  ['another scheme', 'Basic abc', []],
])(
  'a sign-out ends the session that a bearer of the whole service names, and no other: %s',
  async (_what, header, ended) => {
    expect((await signOut(header)).ended).toEqual(ended);
  },
);

test('a sign-out whose token is of no session, as one that has run out, is not told of as done', async () => {
  expect((await signOut('Bearer abc')).statusCode).toBe(204);
  expect((await signOut('Bearer abc', false)).statusCode).toBe(401);
  expect((await signOut('Basic abc')).statusCode).toBe(401);
});
