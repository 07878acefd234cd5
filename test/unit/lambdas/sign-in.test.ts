import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { ForgeOAuth } from '#core/adapters/identity-forge/forge-oauth.ts';
import type { Sessions } from '#core/adapters/identity-forge/sessions.ts';
import { createLog } from '#core/telemetry.ts';
import { createSignInRoutes } from '../../../lambdas/sign-in/routes.ts';

const clock = { now: () => 0 };

/** The sessions that a sign-out with this header ends. */
async function endedBy(authorization: string): Promise<readonly string[]> {
  const ended: string[] = [];
  const sessions: Pick<Sessions, 'end'> = { end: async (token) => void ended.push(token) };
  const routes = createSignInRoutes({
    forge: {} as ForgeOAuth,
    sessions: sessions as Sessions,
    publicUrl: 'https://queue.example',
    admit: () => null,
    clock,
    log: createLog({ service: 'test', write: () => undefined, now: clock.now }),
  });
  const event: Pick<APIGatewayProxyEventV2, 'headers'> = { headers: { authorization } };
  await routes['POST /auth/v1/logout'](event as APIGatewayProxyEventV2);
  return ended;
}

test.each([
  ['a token', 'Bearer abc.DEF_1-2~3', ['abc.DEF_1-2~3']],
  ['a token after several blanks', 'bearer  abc ', ['abc']],
  ['two words', 'Bearer abc def', []],
  ['another scheme', 'Basic abc', []],
])(
  'a sign-out ends the session that a bearer of the whole service names, and no other: %s',
  async (_what, header, ended) => {
    expect(await endedBy(header)).toEqual(ended);
  },
);
