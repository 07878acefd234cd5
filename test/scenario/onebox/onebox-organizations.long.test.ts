import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import { createLog } from '#core/telemetry.ts';
import { BOT, createFakeForge, defaultSeed } from '../../../local/forge/fake-forge.ts';
import { OAUTH_CLIENT, teamsOf } from '../../../local/forge/http/oauth.ts';
import { readConfig } from '../../../onebox/config.ts';
import { exportInstallation } from '../../../onebox/move/export.ts';
import { importInstallation } from '../../../onebox/move/import.ts';
import { openFolder } from '../../../onebox/move/place.ts';
import { type Onebox, startOnebox } from '../../../onebox/service.ts';
import { tenantOf } from '../../../onebox/tenant.ts';
import { eventually } from '../../support/eventually.ts';
import { openOneboxClient } from '../../support/onebox-client.ts';

const PUBLIC_URL = 'http://127.0.0.1:8480';
const folder = mkdtempSync(join(tmpdir(), 'onebox-organizations-'));
const forge = createFakeForge({ dataDir: join(folder, 'forge'), knobs: { gateDurationMs: 200 } });
const team = (id: number, permission: string) => ({
  permission,
  organization: { id, name: id === 1 ? 'acme' : 'bolt' },
});
const PEOPLE = {
  ann: [team(1, 'owner')],
  abe: [team(1, 'write')],
  bea: [team(2, 'owner')],
  bob: [team(2, 'write')],
  two: [team(1, 'write'), team(2, 'owner')],
  out: [team(1, 'read')],
};
type Login = keyof typeof PEOPLE;
let onebox: Onebox | null = null;
const client = openOneboxClient({
  url: () => onebox?.url ?? '',
  get forgeHttpUrl() {
    return httpUrl;
  },
  publicUrl: PUBLIC_URL,
});
let [httpUrl, httpsUrl] = ['', ''];
const file = join(folder, 'mergeyard.yml');
const configOf = (name: string) => ({ ...readConfig(file), data_dir: join(folder, name) });
const start = async (name: string): Promise<void> => {
  const log = createLog({ service: 'onebox', write: () => {} });
  onebox = await startOnebox({ config: configOf(name), siteDir: folder, log, env: process.env });
};
/** A session in one organization. */
const sessionIn = async (login: Login, organization: 1 | 2): Promise<string> => {
  const token = await client.tokenOf(login);
  const tenant_id = tenantOf(httpsUrl, organization);
  return (await client.call(token, 'POST', '/auth/v1/tenant', { tenant_id })).json.access_token;
};
const repos: Record<1 | 2, string> = { 1: '', 2: '' };

beforeAll(async () => {
  const address = await forge.start();
  ({ httpUrl, httpsUrl } = address);
  writeFileSync(
    file,
    [
      'listen: 127.0.0.1:0',
      `public_url: ${PUBLIC_URL}`,
      'tenants: organizations',
      `forge: { url: "${httpsUrl}", ca_file: "${address.caFile}" }`,
      `sign_in: { client_id: ${OAUTH_CLIENT.id}, client_secret: ${OAUTH_CLIENT.secret}, administrators: {} }`,
    ].join('\n'),
  );
  for (const [login, teams] of Object.entries(PEOPLE)) {
    forge.addUser(login);
    teamsOf.set(login, teams);
  }
  forge.addUser('bolt-bot');
  const seed = defaultSeed(forge.profile);
  const collaborators = { ...seed.collaborators, 'bolt-bot': 'admin' as const };
  await forge.createRepo({ ...seed, owner: 'bolt', name: 'tool', collaborators });
  await start('first');
  const enroll = async (login: Login, bot: string, slug: string): Promise<string> => {
    const connection = { instance_url: httpsUrl, token: forge.addToken(bot), bot_login: bot };
    const token = await client.enroll(login, connection, slug);
    return (await client.call(token, 'GET', '/api/v1/user/repos')).json[0].id;
  };
  repos[1] = await enroll('ann', BOT, forge.control.slug);
  repos[2] = await enroll('bea', 'bolt-bot', 'bolt/tool');
}, 120_000);
afterAll(async () => {
  teamsOf.clear();
  await onebox?.stop();
  await forge.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('two organizations on one box', () => {
  /** Every read of one repository. */
  const READS = ROUTES.filter(({ method, path }) => method === 'GET' && path.includes('/repos/{id}')).map(
    ({ path }) =>
      (id: string) =>
        `${path.replace('{id}', id).replace('{number}', '1')}${path.endsWith('/evidence') ? `?commit=${'a'.repeat(40)}` : ''}`,
  );

  test.each([
    ['ann', 1, true],
    ['abe', 1, false],
    ['two', 1, false],
    ['bea', 2, true],
    ['bob', 2, false],
    ['two', 2, true],
  ] as const)(
    '%s, in organization %i, sees that one alone; may change it: %s',
    async (login, own, mayChange) => {
      const token = await sessionIn(login, own);
      const [mine, theirs] = [repos[own], repos[own === 1 ? 2 : 1]];
      const get = async (path: string) => (await client.call(token, 'GET', path)).json;
      expect(
        (await client.call(token, 'GET', '/api/v1/user/repos')).json.map((each: { id: string }) => each.id),
      ).toEqual([mine]);
      for (const path of [
        '/api/v1/user/queue/status',
        '/api/v1/user/queue/activity',
        '/api/v1/connections',
        '/api/v1/tenant/export',
      ]) {
        const text = JSON.stringify(await get(path));
        expect([path, text.includes(theirs), text.includes(own === 1 ? 'bolt' : BOT)]).toEqual([
          path,
          false,
          false,
        ]);
      }
      const touch = async (id: string) =>
        (await client.call(token, 'PATCH', `/api/v1/user/repos/${id}`, { batch_target: 0 })).status;
      expect(READS.length).toBeGreaterThan(2);
      for (const read of [...READS, (id: string) => `/api/v1/user/repos/${id}`])
        expect([read(''), (await client.call(token, 'GET', read(theirs))).status]).toEqual([read(''), 404]);
      expect([await touch(mine), await touch(theirs)]).toEqual(mayChange ? [200, 404] : [403, 403]);
      expect((await client.call(token, 'GET', '/api/v1/admin/repos')).status).toBe(403);
    },
  );

  test('a reader is not admitted, and no session is given in another organization', async () => {
    expect((await client.signIn('out')).back.searchParams.get('error')).toBe('not_admitted');
    const token = await client.tokenOf('ann');
    const tenant_id = tenantOf(httpsUrl, 2);
    expect((await client.call(token, 'POST', '/auth/v1/tenant', { tenant_id })).status).toBe(403);
    expect((await client.call('no-session', 'POST', '/auth/v1/tenant', { tenant_id })).status).toBe(403);
  });

  test('both move into another folder, each under its id, and what is scheduled lands there', async () => {
    await onebox?.stop();
    const say = () => {};
    const moved = { file: join(folder, 'moved'), passphrase: 'correct horse battery staple', say };
    for (const [name, isNew] of [
      ['first', false],
      ['second', true],
    ] as const) {
      const place = await openFolder(configOf(name), process.env, isNew);
      try {
        if (isNew) await importInstallation({ ...moved, place });
        else await exportInstallation({ ...moved, place });
      } finally {
        await place.close();
      }
    }
    await start('second');
    const inA = await sessionIn('two', 1);
    const inB = await sessionIn('two', 2);
    const idsOf = async (token: string) =>
      (await client.call(token, 'GET', '/api/v1/user/repos')).json.map((each: { id: string }) => each.id);
    expect([await idsOf(inA), await idsOf(inB)]).toEqual([[repos[1]], [repos[2]]]);
    const pr = await forge.control.openPullRequest({ branch: 'moved', files: { 'moved.txt': 'x' } });
    await forge.control.schedule(pr, 'squash');
    await eventually('it lands', 120_000, async () => {
      await onebox?.answer(repos[1]);
      return (await forge.control.pull(pr)).merged;
    });
  }, 200_000);
});
