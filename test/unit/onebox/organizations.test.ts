import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createForgeIdentity } from '#core/adapters/identity-forge/identity.ts';
import { createSessions } from '#core/adapters/identity-forge/sessions.ts';
import { membershipsOf } from '#core/adapters/identity-forge/teams.ts';
import { FORGE_RIGHTS_MS } from '#core/domain/api-limits.ts';
import { Secret } from '#core/secret.ts';
import { createAdmission } from '../../../onebox/admission.ts';
import { readConfig } from '../../../onebox/config.ts';
import { tenantOf } from '../../../onebox/tenant.ts';

const FORGE = 'https://git.example.org';
const [A, B] = [tenantOf(FORGE, 1), tenantOf(FORGE, 2)];
const folder = mkdtempSync(join(tmpdir(), 'onebox-organizations-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function givenConfig(signIn: object = {}) {
  const file = join(folder, 'mergeyard.yml');
  const sign_in = { client_id: 'a', client_secret: 'b', administrators: { users: ['root'] }, ...signIn };
  const tenants = 'organizations';
  writeFileSync(
    file,
    JSON.stringify({ public_url: 'https://m.example.org', forge: { url: FORGE }, tenants, sign_in }),
  );
  return readConfig(file);
}

const org = (id: number) => ({ id, name: id === 1 ? 'acme' : 'bolt' });
const team = (id: number, permission: string, units_map: Record<string, string> = {}) => ({
  permission,
  units_map,
  organization: org(id),
});
/** Each person of the matrix, by the teams that the forge tells. */
const PEOPLE: Readonly<Record<string, ReturnType<typeof team>[]>> = {
  'an owner of acme': [team(1, 'owner')],
  'a writer of acme': [team(1, 'write')],
  'a writer of the code of acme': [team(1, 'none', { 'repo.code': 'write', 'repo.wiki': 'none' })],
  'an owner of bolt': [team(2, 'owner')],
  'an owner of acme who writes in bolt': [team(1, 'owner'), team(2, 'admin'), team(1, 'read')],
  'a reader of both': [team(1, 'read'), team(2, 'none', { 'repo.code': 'read' })],
  'a person of no organization': [],
};
const personOf = (teams: ReturnType<typeof team>[], login = 'ada') => ({
  account: 2,
  login,
  email: null,
  groups: teams.map(({ organization }) => organization.name),
  organizations: membershipsOf(teams),
});

describe('where organizations are tenants', () => {
  test.each([
    ['an owner of acme', { acme: true }],
    ['a writer of acme', { acme: false }],
    ['a writer of the code of acme', { acme: false }],
    ['an owner of bolt', { bolt: true }],
    ['an owner of acme who writes in bolt', { acme: true, bolt: false }],
    ['a reader of both', null],
    ['a person of no organization', null],
  ])('%s may change: %j', (who, expected) => {
    const admitted = createAdmission(givenConfig())(personOf(PEOPLE[who] ?? []));
    const seen = admitted?.tenants?.map(({ name, mayChange }) => [name, mayChange]);
    expect(seen === undefined ? null : Object.fromEntries(seen)).toEqual(expected);
    expect(admitted?.isAdmin ?? false).toBe(false);
  });

  test('an administrator of the installation changes what they see, and sees no other organization', () => {
    const admit = createAdmission(givenConfig());
    const root = admit(personOf([team(2, 'write')], 'root'));
    expect(root).toMatchObject({ isAdmin: true, tenants: [{ id: B, mayChange: true }] });
    expect(admit(personOf([], 'root'))).toBeNull();
  });

  test('who is not allowed is not admitted, whatever they own', () => {
    const admit = createAdmission(givenConfig({ allow: { organizations: ['bolt'] } }));
    expect(admit(personOf([team(1, 'owner')]))).toBeNull();
    expect(admit(personOf([team(2, 'owner')]))?.tenantId).toBe(B);
  });

  test('a tenant is the number of the organization on the forge, and not its name', () => {
    const admit = createAdmission(givenConfig());
    const renamed = { ...team(1, 'owner'), organization: { id: 1, name: 'acme-renamed' } };
    const taken = { ...team(2, 'owner'), organization: { id: 9, name: 'acme' } };
    expect(admit(personOf([renamed]))?.tenantId).toBe(A);
    expect([A, B, tenantOf(FORGE)]).not.toContain(admit(personOf([taken]))?.tenantId);
  });
});

describe('a session of several organizations', () => {
  let now = Date.UTC(2026, 10, 23);
  let teams: ReturnType<typeof team>[] = [];
  const clock = { now: () => now };
  const seal = { seal: (text: string) => text, open: (text: string) => text };

  async function begin(start: ReturnType<typeof team>[]) {
    teams = start;
    rmSync(join(folder, 'sessions.json'), { force: true });
    const sessions = createSessions({ file: join(folder, 'sessions.json'), clock, seal });
    const admit = createAdmission(givenConfig());
    const person = admit(personOf(start));
    if (person === null) throw new Error('not admitted');
    const issued = await sessions.begin(person, new Secret('r'));
    const forge = {
      isReachable: async () => true,
      readAgain: async () => ({
        kind: 'person' as const,
        person: personOf(teams),
        refreshToken: new Secret('r'),
      }),
    };
    const identity = createForgeIdentity({
      instanceUrl: 'https://git.example.org',
      sessions,
      forge,
      admit,
      clock,
    });
    const verify = (token: string) => identity.verify(new Secret(token));
    return { sessions, verify, token: issued.access_token };
  }

  test('is in one of them at a time, with the rights of that one; the token of before stays where it was', async () => {
    const { sessions, verify, token } = await begin([team(1, 'owner'), team(2, 'write')]);
    expect(await verify(token)).toMatchObject({ id: A, mayChange: true, isAdmin: false });
    const other = await sessions.choose(token, B);
    expect(await verify(other?.access_token ?? '')).toMatchObject({ id: B, mayChange: false });
    expect(await verify(token)).toMatchObject({ id: A, mayChange: true });
    const renewed = await sessions.renew(other?.refresh_token ?? '');
    expect(await verify(renewed?.access_token ?? '')).toMatchObject({ id: B });
  });

  test('cannot be put into one that the person has no right in', async () => {
    const { sessions, token } = await begin([team(1, 'owner')]);
    expect(await sessions.choose(token, B)).toBeNull();
    expect(await sessions.choose(token, tenantOf(FORGE))).toBeNull();
    expect(await sessions.choose('made-up', A)).toBeNull();
  });

  test('loses one that the forge took within five minutes, keeps the other, and ends with the last', async () => {
    const { sessions, verify, token } = await begin([team(1, 'owner'), team(2, 'write')]);
    const inB = (await sessions.choose(token, B))?.access_token ?? '';
    teams = [team(2, 'owner')];
    expect(await verify(token)).toMatchObject({ id: A });
    now += FORGE_RIGHTS_MS;
    expect(await verify(token)).toEqual({ kind: 'invalid' });
    expect(await verify(inB)).toMatchObject({ id: B, mayChange: true });
    teams = [];
    now += FORGE_RIGHTS_MS;
    expect(await verify(inB)).toEqual({ kind: 'invalid' });
  });
});
