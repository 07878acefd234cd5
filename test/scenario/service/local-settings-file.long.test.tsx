import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QueryClientProvider } from '@tanstack/react-query';
import { renderToStaticMarkup } from 'react-dom/server';
import type { DashboardConfig } from '#core/contracts/internal/dashboard.ts';
import { createApiClient, type ResultOf } from '#core/contracts/routes/client.ts';
import { run } from '../../../cli/run.ts';
import { createService } from '../../../dashboard/data/api.ts';
import { ServiceContext } from '../../../dashboard/data/hooks.ts';
import { SettingsFile } from '../../../dashboard/parts/settings/settings-file.tsx';
import type { ForgeControl } from '../../../local/forge/control.ts';
import { type Started, startEverything } from '../../../local/start.ts';
import { sharedBundles } from '../../support/bundles.ts';
import { findCanary } from '../../support/canary.ts';
import { eventually } from '../../support/eventually.ts';

jest.setTimeout(240_000);

const FILE = '.mergeyard.yml';
const LOOK_MS = 60_000;
const CONFIG: DashboardConfig = {
  sign_in: { kind: 'gotrue', url: 'https://id.example.org', api_key: 'public' },
  sign_up: 'closed',
  sends_mail: true,
};
type Entry = ResultOf<'readQueueStatus'>['repos'][number];

/** `.mergeyard.yml` through the service as `npm start` boots it: forge, engine, API, page and command line (decision 0237). */
describe('settings in the repository, through the whole service', () => {
  const root = mkdtempSync(join(tmpdir(), 'mergeyard-settings-'));
  const printed: string[] = [];
  let started: Started;
  let forge: ForgeControl;
  let session: string;
  let apiToken: string;
  let id: string;

  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(started.ready.base_url + path, {
      method,
      headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? null : answer.json();
  };
  const cli = async (...argv: string[]) => {
    const out: string[] = [];
    const code = await run(
      [...argv, '--repo', forge.slug],
      {
        cwd: root,
        fetch,
        now: Date.now,
        isTerminal: false,
        env: { MERGEYARD_URL: started.ready.base_url, MERGEYARD_TOKEN: apiToken, HOME: root },
        print: (line: string) => void out.push(line),
        sleep: async () => {},
        readGit: async () => null,
      },
      async () => '',
      (line) => out.push(line),
    );
    printed.push(...out);
    return { code, out: out.join('\n') };
  };
  const look = () => call('POST', `/api/v1/user/repos/${id}/reconcile`).catch(() => null);
  const readEntry = async (): Promise<Entry> => {
    const { repos } = await createApiClient({
      baseUrl: started.ready.base_url,
      readToken: () => apiToken,
      fetch,
    }).readQueueStatus();
    const found = repos.find((repo) => repo.id === id);
    if (found === undefined) throw new Error('no such queue');
    return found;
  };
  const becomes = (state: Entry['file_settings']['state'], commit: string) =>
    eventually(`the file is ${state}`, LOOK_MS, async () => {
      await look();
      const { file_settings } = await readEntry();
      return file_settings.state === state && file_settings.commit === commit;
    });
  /** Text of the rows of the page, as its reader sees them. */
  const readPage = async (): Promise<string> => {
    const service = createService(CONFIG);
    const page = renderToStaticMarkup(
      <ServiceContext value={service}>
        <QueryClientProvider client={service.queries}>
          <SettingsFile repo={await readEntry()} />
        </QueryClientProvider>
      </ServiceContext>,
    );
    return page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  };

  beforeAll(async () => {
    started = await startEverything({
      port: 0,
      fresh: true,
      dataDir: join(root, 'start'),
      bundlesDir: await sharedBundles(),
      gateDurationMs: 5_000,
    });
    forge = started.forge.control;
    const [ada] = started.ready.tenants;
    if (ada === undefined) throw new Error('no tenant');
    session = ada.token;
    const connection = await call('POST', '/api/v1/connections', {
      instance_url: started.ready.forge_url,
      bot_login: ada.forge_login,
      token: ada.forge_token,
    });
    const enrolled = await call('POST', '/api/v1/user/repos', {
      connection_id: connection.id,
      repo_slug: forge.slug,
      base_branch: 'main',
    });
    id = enrolled.id;
    await call('PATCH', `/api/v1/user/repos/${id}`, {
      queue_enabled: true,
      settings_file: true,
      batch_target: 3,
    });
    const scopes = [{ scope: 'read', repo_ids: [id] }];
    apiToken = (await call('POST', '/api/v1/tokens', { name: 'ci', expires_in_days: 1, scopes })).token;
  });
  afterAll(async () => {
    await started.stop();
    rmSync(root, { recursive: true, force: true });
  });

  test('a base without the file: the values of the page hold, everywhere', async () => {
    await becomes('missing', await forge.tip('main'));
    expect((await readEntry()).file_settings.values).toMatchObject({
      batch_target: { value: 3, origin: 'page' },
    });
    expect(await readPage()).toContain(' batch_target 3 this page ');
    expect(await cli('settings', 'show')).toMatchObject({
      code: 0,
      out: expect.stringContaining('\nbatch_target: 3 (page)\n'),
    });
  });

  test('a pull request that changes the file is told what would change, and nothing of it holds before it landed', async () => {
    const pr = await forge.openPullRequest({
      branch: 'settings',
      title: 'Set how batches are made',
      files: { [FILE]: 'batch_target: 2\nlow_labels: [chore]\n' },
    });
    const { headSha } = await forge.pull(pr);
    const { status_context } = await readEntry();
    await forge.schedule(pr, 'squash');
    const says = 'batch_target 3 -> 2; low_labels [] -> ["chore"]';
    const short = `${FILE} would set batch_target 3 -> 2; low_labels (1)`;
    let told = '';
    // A look lasts until the landing, and the words are those of the time before.
    void look();
    await eventually('its status tells what would change', LOOK_MS, async () => {
      told = (await forge.status(headSha, status_context))?.description ?? '';
      return told.includes(FILE);
    });
    expect(told).toContain(short);
    expect((await readEntry()).file_settings.state).toBe('missing');
    // The status is written before the record is stored.
    await eventually('its page tells the same', LOOK_MS, async () => {
      const { settings_file } = await call('GET', `/api/v1/user/repos/${id}/pulls/${pr}`);
      return settings_file?.includes(says) === true;
    });
    expect((await cli('why', String(pr))).out).toContain(says);
    await eventually('it lands', LOOK_MS, async () => {
      await look();
      return (await forge.pull(pr)).merged;
    });
    const landed = forge.merges().at(-1)?.mergeCommit ?? '';
    await becomes('right', landed);
    expect((await readEntry()).file_settings).toMatchObject({
      from: landed,
      problems: [],
      values: {
        batch_target: { value: 2, origin: 'file' },
        low_labels: { value: ['chore'], origin: 'file' },
        bisect_fanout: { value: 1, origin: 'page' },
      },
    });
    const page = await readPage();
    expect(page).toContain(`${FILE} of ${landed.slice(0, 10)} holds`);
    for (const row of ['batch_target 2 the file', 'low_labels chore the file', 'bisect_fanout 1 this page'])
      expect(page).toContain(row);
    const { code, out } = await cli('settings', 'show');
    expect(code).toBe(0);
    for (const row of ['batch_target: 2 (file)', 'low_labels: ["chore"] (file)', 'bisect_fanout: 1 (page)'])
      expect(out.split('\n')).toContain(row);
  });

  test('the new value works: two pull requests are staged together without the third that the page asks for', async () => {
    await call('PATCH', `/api/v1/user/repos/${id}`, { batch_linger_seconds: 86_400 });
    const prs: number[] = [];
    for (const branch of ['one', 'two'])
      prs.push(await forge.openPullRequest({ branch, files: { [`${branch}.txt`]: branch } }));
    for (const pr of prs) await forge.schedule(pr, 'squash');
    await eventually('both land', LOOK_MS, async () => {
      await look();
      return (await Promise.all(prs.map((pr) => forge.pull(pr)))).every(({ merged }) => merged);
    });
  });

  test('a wrong file keeps the last good values, and is told with its line', async () => {
    const right = (await readEntry()).file_settings.from ?? '';
    const wrong = await forge.pushToBase({ [FILE]: '# Two.\nbatch_target: many\n' });
    await becomes('wrong', wrong);
    const says = 'batch_target: Invalid input: expected number, received string.';
    expect((await readEntry()).file_settings).toMatchObject({
      from: right,
      problems: [{ line: 2, column: 15, key: 'batch_target', says }],
      values: { batch_target: { value: 2, origin: 'file' } },
    });
    const page = await readPage();
    expect(page).toContain(`those of ${right.slice(0, 10)} stay in force`);
    expect(page).toContain(`line 2: ${says}`);
    expect(page).toContain('batch_target 2 the file');
    const { code, out } = await cli('settings', 'show');
    expect([code, out.split('\n')]).toEqual([1, expect.arrayContaining([`${FILE}:2:15: ${says}`])]);
    expect(out).toContain('batch_target: 2 (file)');
  });

  test('a file that is removed: the values of the page hold again', async () => {
    const gone = await forge.pushToBase({ [FILE]: null });
    await becomes('missing', gone);
    expect((await readEntry()).file_settings.values).toMatchObject({
      batch_target: { value: 3, origin: 'page' },
      low_labels: { value: [], origin: 'page' },
    });
    expect(await readPage()).toContain('batch_target 3 this page');
    expect((await cli('settings', 'show')).out).toContain('\nbatch_target: 3 (page)\n');
  });

  test('the command line printed no secret', () => {
    const all = Buffer.from(printed.join('\n'));
    expect(all.length).toBeGreaterThan(1_000);
    expect([session, apiToken].filter((secret) => findCanary(all, secret) !== null)).toEqual([]);
  });
});
