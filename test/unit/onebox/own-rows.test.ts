import type { OneboxConfig } from '../../../onebox/config.ts';
import { findLost, refuseLost } from '../../../onebox/own-rows.ts';
import { tenantOf } from '../../../onebox/tenant.ts';

const [A, B] = ['https://git.example.org', 'https://forge.example.com'];
const given = (url: string, tenants: OneboxConfig['tenants'] = 'installation') => ({
  forge: { url },
  tenants,
});
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

describe('connections that no person who signs in would see', () => {
  const ofA = { tenantId: tenantOf(A), instanceUrl: A };
  const ofTeam = { tenantId: tenantOf(A, 4711), instanceUrl: `${A}/` };

  test.each([
    ['none', given(B), []],
    ['those of another spelling of the same forge', given('https://GIT.example.org:443/'), [ofA]],
    ['those of a second forge, in a tenant of this one', given(A), [{ ...ofA, instanceUrl: B }, ofA]],
    ['those of an organization', given(A, 'organizations'), [ofTeam, { ...ofTeam, instanceUrl: B }]],
  ])('are not %s', (_what, config, held) => {
    expect(findLost(config, held, 5_000)).toBeNull();
  });

  test.each([
    ['forge.url names another forge', given(B), [ofA], [A, B]],
    ['forge.url names another forge, of organizations', given(B, 'organizations'), [ofTeam], [A, B]],
    [
      'forge.url names another forge, of which the tenant has a connection too',
      given(B),
      [ofA, { ...ofA, instanceUrl: B }],
      [A, B],
    ],
    ['organizations became tenants', given(A, 'organizations'), [ofA], ['tenants: ', '--tenant']],
    ['organizations were tenants', given(A), [ofTeam], ['tenants: ']],
  ])('are all where %s', (_what, config, held, words) => {
    const lost = findLost(config, held, 5_000);
    expect(lost?.isAll).toBe(true);
    for (const each of words) expect(lost?.words).toContain(each);
    expect(() => refuseLost(config, held, SILENT, 5_000)).toThrow(lost?.words);
  });

  test('are told and not refused where others are seen: a start without them would take those away too', () => {
    const warned: unknown[] = [];
    const log = { ...SILENT, warn: (_message: string, fields?: object) => void warned.push(fields) };
    refuseLost(given(B), [ofA, { tenantId: tenantOf(B), instanceUrl: B }], log);
    expect(warned).toEqual([{ reason: expect.stringContaining(`made with ${A} as the forge`) }]);
  });
});
