import { startLocalIdentity } from '../../../local/identity/provider.ts';

const PASSWORD = 'a long password';

test.each([
  ['local', [false, true, true]],
  ['others', [true, false, true]],
  ['global', [false, false, true]],
] as const)('signing out with scope %s ends the sessions that GoTrue would end', async (scope, left) => {
  const identity = await startLocalIdentity({});
  try {
    const signIn = async (email: string): Promise<string> => {
      const answer = await fetch(`${identity.url}/auth/v1/token?grant_type=password`, {
        method: 'POST',
        body: JSON.stringify({ email, password: PASSWORD }),
      });
      return ((await answer.json()) as { access_token: string }).access_token;
    };
    for (const email of ['ada@example.org', 'ben@example.org'])
      identity.addUser({ email, password: PASSWORD });
    const tokens = [
      await signIn('ada@example.org'),
      await signIn('ada@example.org'),
      await signIn('ben@example.org'),
    ];
    const ask = (method: string, path: string, token = '') =>
      fetch(`${identity.url}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
    expect((await ask('POST', `/auth/v1/logout?scope=${scope}`, tokens[0])).status).toBe(204);
    const answers = await Promise.all(tokens.map((token) => ask('GET', '/auth/v1/user', token)));
    expect(answers.map(({ status }) => status === 200)).toEqual(left);
  } finally {
    await identity.stop();
  }
});
