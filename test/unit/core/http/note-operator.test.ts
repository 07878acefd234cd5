import { ADMIN, ADMIN_KEY, ApiWorld, TOKEN_A, TOKEN_ADMIN } from '../../../support/api-world.ts';

const SEARCH = '/api/v1/admin/repos';

async function linesOf(...calls: readonly Parameters<ApiWorld['call']>[2][]): Promise<unknown[]> {
  const world = new ApiWorld();
  for (const options of calls) await world.call('GET', SEARCH, { ip: '203.0.113.9', ...options });
  expect(world.lines.join()).not.toContain(ADMIN_KEY);
  const lines = world.lines.map((line) => JSON.parse(line));
  return lines
    .filter(({ message }) => /operator|admin key/.test(message))
    .map(({ level, message, read, from, code, operator }) => ({
      level,
      message,
      read,
      from,
      code,
      operator,
    }));
}

describe('what is read over all tenants is noted: who, what, from where', () => {
  const seen = { read: 'searchRepos', from: '203.0.113.9' };

  test('an administrator by the id of the person', async () => {
    expect(await linesOf({ token: TOKEN_ADMIN })).toEqual([
      { ...seen, level: 'info', message: 'an operator read', operator: ADMIN },
    ]);
  });

  test('the shared key, which names no person, by words that an alarm counts', async () => {
    expect(await linesOf({ headers: { 'x-admin-key': ADMIN_KEY } })).toEqual([
      { ...seen, level: 'warn', message: 'the admin key was used' },
    ]);
  });

  test('a wrong key, a session of a plain user and no credential are noted as refused', async () => {
    const refused = { ...seen, level: 'warn', message: 'an operator was refused' };
    expect(await linesOf({ headers: { 'x-admin-key': 'guessed' } }, { token: TOKEN_A }, {})).toEqual([
      { ...refused, code: 'invalid_key' },
      { ...refused, code: 'forbidden' },
      { ...refused, code: 'missing_auth' },
    ]);
  });

  test('a call of a tenant is no call of an operator', async () => {
    const world = new ApiWorld();
    await world.call('GET', '/api/v1/user/repos', { token: TOKEN_A });
    await world.call('GET', '/api/v1/user/repos', {});
    expect(world.lines.join()).not.toMatch(/operator|admin key/);
  });
});
