import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import type { SetupCheck } from '#core/contracts/internal/dashboard.ts';
import { FORGE_RIGHTS_MS, RATE_LIMITS } from '#core/domain/api-limits.ts';
import { createLog } from '#core/telemetry.ts';
import { run } from '../../../cli/run.ts';
import { BOT, createFakeForge, defaultSeed, type ForgeAddress } from '../../../local/forge/fake-forge.ts';
import { lockedLogins, OAUTH_CLIENT, redirectUris } from '../../../local/forge/http/oauth.ts';
import { backUp } from '../../../onebox/backup.ts';
import { ConfigError, readConfig } from '../../../onebox/config.ts';
import { type Onebox, startOnebox } from '../../../onebox/service.ts';
import { eventually } from '../../support/eventually.ts';
import { MAIL_LOGIN, startMailServer } from '../../support/mail-server.ts';
import { openOneboxClient } from '../../support/onebox-client.ts';
import { createSlowForgeClock } from '../../support/slow-forge-clock.ts';

/** The forge's own name, behind another port. */
const PUBLIC_URL = 'http://127.0.0.1:8480';

/** Of the forge's own repository, which has what a clone of it would have. */
async function readGit(forgeDir: string, args: readonly string[]): Promise<string | null> {
  const [only = ''] = readdirSync(join(forgeDir, 'repositories'));
  const gitDir = join(forgeDir, 'repositories', only);
  const answer = promisify(execFile)('git', ['--git-dir', gitDir, ...args]);
  return answer.then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
}

/** The command line in a clone of the repository, over real HTTP. */
function openCli(folder: string, slug: string, token: string) {
  const clone = join(folder, 'clone');
  mkdirSync(join(clone, '.git'), { recursive: true });
  writeFileSync(
    join(clone, '.git', 'config'),
    `[core]\n\tbare = false\n[remote "origin"]\n\turl = git@forge.example.org:${slug}.git\n`,
  );
  const extra: Record<string, string> = {};
  const call = async (...argv: string[]) => {
    const out: string[] = [];
    const complaints: string[] = [];
    const machine = {
      env: { XDG_CONFIG_HOME: join(folder, 'config'), ...extra },
      cwd: clone,
      fetch,
      now: Date.now,
      print: (line: string) => void out.push(line),
      sleep: async () => {},
      isTerminal: false,
      readGit: (args: readonly string[]) => readGit(join(folder, 'forge'), args),
    };
    const code = await run(
      argv,
      machine,
      async () => `${token}\n`,
      (line) => complaints.push(line),
    );
    return { code, out: out.join('\n'), complaint: complaints.join('\n') };
  };
  const by = (forgeToken: string): void => {
    extra.MERGEYARD_FORGE_TOKEN = forgeToken;
  };
  return Object.assign(call, { by });
}

describe('the service in one process, beside a forge', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onebox-'));
  const siteDir = join(folder, 'no-page');
  const lines: string[] = [];
  const system = createSystemClock();
  let passed = 0;
  const log = createLog({ service: 'onebox', write: (line) => lines.push(line) });
  const forge = createFakeForge({
    dataDir: join(folder, 'forge'),
    timers: createSlowForgeClock(),
    knobs: { gateDurationMs: 200 },
  });
  let address: ForgeAddress;
  let mailServer: Awaited<ReturnType<typeof startMailServer>>;
  let onebox: Onebox;
  let client: ReturnType<typeof openOneboxClient>;
  let dataDir = join(folder, 'mergeyard-data');
  const config = () => ({ ...readConfig(join(folder, 'mergeyard.yml')), data_dir: dataDir });
  const start = async (): Promise<void> => {
    onebox = await startOnebox({
      config: config(),
      siteDir,
      log,
      env: process.env,
      clock: { ...system, now: () => system.now() + passed },
    });
  };

  beforeAll(async () => {
    address = await forge.start();
    mailServer = await startMailServer();
    writeFileSync(join(folder, 'mail-ca.pem'), mailServer.caPem);
    writeFileSync(join(folder, 'mail-password.txt'), MAIL_LOGIN.password);
    forge.addUser('stranger');
    writeFileSync(
      join(folder, 'mergeyard.yml'),
      [
        'listen: 127.0.0.1:0',
        `public_url: ${PUBLIC_URL}`,
        `forge: { url: "${address.httpsUrl}", ca_file: "${address.caFile}" }`,
        'sign_in:',
        `  client_id: ${OAUTH_CLIENT.id}`,
        `  client_secret: ${OAUTH_CLIENT.secret}`,
        '  administrators: { users: [owner] }',
        '  allow: { users: [dev] }',
        `mail: { host: 127.0.0.1, port: ${mailServer.port}, from: mq@example.org, user: ${MAIL_LOGIN.user},`,
        '  password_file: mail-password.txt, ca_file: mail-ca.pem }',
      ].join('\n'),
    );
    await start();
    client = openOneboxClient({
      url: () => onebox.url,
      forgeHttpUrl: address.httpUrl,
      publicUrl: PUBLIC_URL,
    });
  });
  afterAll(async () => {
    await onebox.stop();
    await forge.stop();
    await mailServer.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('until the first sign-in every visitor is told what is still wrong, and afterwards nothing', async () => {
    const ask = async () => {
      const answer = await fetch(`${onebox.url}/setup/checks`);
      return { status: answer.status, checks: ((await answer.json()) as { checks?: SetupCheck[] }).checks };
    };
    redirectUris.add('https://elsewhere.example.org/auth/v1/callback');
    const lacking = (await ask()).checks?.filter(({ fix }) => fix !== undefined);
    redirectUris.clear();
    expect(lacking).toMatchObject([
      {
        what: 'OAuth2 application',
        fix: expect.stringContaining(`${PUBLIC_URL}/auth/v1/callback`),
        link: `${address.httpsUrl}/user/settings/applications`,
      },
    ]);
    await client.tokenOf('owner');
    expect(await ask()).toEqual({ status: 404, checks: undefined });
  });

  test('who may only look asks for mails about their own pull requests: the session of the forge is the proof', async () => {
    const dev = await client.tokenOf('dev');
    const wish = { email: 'dev@example.org', topics: ['bounced'] };
    const stored = await client.call(dev, 'PUT', '/api/v1/author-notices', wish);
    expect([stored.status, stored.json.signed_in_as, stored.json.logins.length]).toEqual([
      200,
      { instance_url: address.httpsUrl, login: 'dev' },
      1,
    ]);
    expect(stored.json.logins[0]).toMatchObject({
      login: 'dev',
      email_state: 'waiting',
      topics: ['bounced'],
    });
    await eventually('the mail that asks the reader', 20_000, async () => mailServer.taken.length > 0);
    expect(mailServer.taken).toMatchObject([{ to: ['dev@example.org'], wasSecure: true }]);
    expect(mailServer.taken[0]?.raw).toMatch(/confirm/i);
    const owner = await client.tokenOf('owner');
    expect((await client.call(owner, 'GET', '/api/v1/author-notices')).json.logins).toEqual([]);
    const ended = await client.call(dev, 'PUT', '/api/v1/author-notices', { ...wish, topics: [] });
    expect(ended.json.logins).toEqual([]);
  });

  test('a code of the sign-in is worth nothing to another browser, and works once', async () => {
    const { asked, back, verifier } = await client.signIn('dev');
    expect(asked.origin).toBe(address.httpsUrl);
    expect((await client.redeem({ back, verifier: 'another-verifier' })).status).toBe(400);
    expect((await client.redeem({ back, verifier })).status).toBe(400);
  });

  test('a person who is not named is not admitted, and is told so', async () => {
    const { back } = await client.signIn('stranger');
    expect(back.searchParams.get('error')).toBe('not_admitted');
  });

  test('who is no administrator may look and change nothing; a session that was ended is over', async () => {
    const token = await client.tokenOf('dev');

    expect((await client.call(token, 'GET', '/api/v1/connections')).status).toBe(200);
    expect(await client.call(token, 'POST', '/api/v1/connections', {})).toMatchObject({
      status: 403,
      json: { error: { code: 'forbidden' } },
    });
    await fetch(`${onebox.url}/auth/v1/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect((await client.call(token, 'GET', '/api/v1/connections')).status).toBe(401);
  });

  test('an administrator connects the forge and enrols a repository; what is scheduled lands, also after a restart', async () => {
    const botToken = forge.addToken(BOT);
    const connection = { instance_url: address.httpsUrl, token: botToken, bot_login: BOT };
    const token = await client.enroll('owner', connection, forge.control.slug);
    const queue = async (branch: string): Promise<number> => {
      const pr = await forge.control.openPullRequest({ branch, files: { [`${branch}.txt`]: branch } });
      await forge.control.schedule(pr, 'squash');
      await onebox.tick();
      return pr;
    };
    const isMerged = (pr: number) => async () => (await forge.control.pull(pr)).merged;
    await eventually('the first lands', 60_000, isMerged(await queue('one')));
    await onebox.stop();
    await start();
    const repos = (await client.call(token, 'GET', '/api/v1/user/repos')).json;
    expect(repos).toHaveLength(1);
    // No tick comes: the look that was planned before the restart is planned again, and glances follow it.
    const second = await forge.control.openPullRequest({ branch: 'two', files: { 'two.txt': 'two' } });
    await forge.control.schedule(second, 'squash');
    await eventually('the second lands', 60_000, isMerged(second));
    let metrics = '';
    await eventually('a reconcile is counted', 30_000, async () => {
      metrics = await (await fetch(`${onebox.url}/metrics`)).text();
      return /mergeyard_reconciles_total\{answer="ok"\} \d+/.test(metrics);
    });
    expect(metrics.endsWith('# EOF\n')).toBe(true);
    expect(`${lines.join('\n')}${metrics}`).not.toContain(botToken);
  });

  test('an API token reads and pauses what it names, is noted under its own name, and ends when it is revoked', async () => {
    const session = await client.tokenOf('owner');
    const [{ id }] = (await client.call(session, 'GET', '/api/v1/user/repos')).json;
    const scopes = ['read', 'queue:write'].map((scope) => ({ scope, repo_ids: [id] }));
    const body = { name: 'ci', expires_in_days: 1, scopes };
    const made = await client.call(session, 'POST', '/api/v1/tokens', body);
    expect(made.status).toBe(201);
    const token: string = made.json.token;
    const read = () => client.call(token, 'GET', '/api/v1/user/queue/activity');
    expect((await read()).json.repos).toHaveLength(1);
    expect((await client.call(token, 'POST', `/api/v1/user/repos/${id}/pause`, {})).status).toBe(200);
    expect((await client.call(token, 'POST', `/api/v1/user/repos/${id}/resume`)).status).toBe(200);
    expect((await client.call(token, 'PATCH', `/api/v1/user/repos/${id}`, {})).status).toBe(403);
    expect((await client.call(token, 'GET', '/api/v1/connections')).status).toBe(401);
    const cli = openCli(folder, forge.control.slug, token);
    expect(await cli('login', onebox.url)).toMatchObject({ code: 0, complaint: '' });
    expect(statSync(join(folder, 'config', 'mergeyard', 'login.json')).mode & 0o777).toBe(0o600);
    const { slug } = forge.control;
    expect(await cli('status')).toEqual({ code: 0, out: `${slug} main: on`, complaint: '' });
    const newest = async () => (await read()).json.recent_activity[0];
    await eventually('the landing is noted', 30_000, async () => (await newest()).event === 'pr_landed');
    const { pr } = await newest();
    expect(await cli('wait', String(pr), '--repo', slug, '--timeout', '1s')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^landed: /m),
    });
    expect(JSON.parse((await cli('why', `#${pr}`, '--json')).out).number).toBe(pr);
    expect((await cli('log')).out).toContain(`pr_landed #${pr}`);
    const landings = (await cli('log', '--pr', String(pr), '--event', 'landed')).out.split('\n');
    expect(landings).toEqual([expect.stringContaining(` pr_landed #${pr} `)]);
    expect(await cli('queue')).toMatchObject({ code: 0, complaint: '' });
    const byApi = await forge.control.openPullRequest({ branch: 'by-api', files: { 'by-api.txt': 'x' } });
    const head = (await forge.control.pull(byApi)).headSha;
    const enqueue = (at: string) => cli('enqueue', String(byApi), '--head', at);
    cli.by(forge.addToken('stranger'));
    expect((await enqueue(head)).complaint).toMatch(
      /^(schedule_refused|pull_not_open|forge_token_refused): /,
    );
    cli.by(forge.addToken('dev'));
    expect((await enqueue('f'.repeat(40))).complaint).toContain('head_moved: ');
    expect(await enqueue(head)).toMatchObject({ code: 0, complaint: '' });
    const isMerged = async () => (await forge.control.pull(byApi)).merged;
    await eventually('what was scheduled by the API lands', 60_000, isMerged);
    const landing = forge.control.merges().at(-1);
    const { mergeCommit = '', tree } = landing ?? {};
    let envelope = '';
    await eventually('the statement of its landing is there', 30_000, async () => {
      envelope = (await cli('evidence', mergeCommit)).out;
      return envelope !== '';
    });
    const key = (await cli('evidence-key')).out;
    const files = ['--evidence', join(folder, 'evidence.json'), '--key', join(folder, 'evidence.pem')];
    writeFileSync(join(folder, 'evidence.json'), envelope);
    writeFileSync(join(folder, 'evidence.pem'), key);
    const verified = { code: 0, out: expect.stringContaining(`\ntree: ${tree}\n`), complaint: '' };
    expect(await cli('verify', mergeCommit, ...files)).toEqual(verified);
    expect(await cli('verify', mergeCommit)).toEqual(verified);
    expect(await cli('verify', `${mergeCommit}^`, ...files)).toMatchObject({ code: 1, complaint: '' });
    expect(await cli('why', '4711')).toMatchObject({
      code: 69,
      out: '',
      complaint: expect.stringMatching(/^not_found: /),
    });
    expect((await client.call(session, 'DELETE', `/api/v1/tokens/${made.json.id}`)).status).toBe(204);
    expect((await read()).status).toBe(401);
    const { audit_log: notes } = (await client.call(session, 'GET', '/api/v1/tenant/export')).json;
    const told = notes.map(({ actor, action }: Record<string, string>) => `${actor} ${action}`);
    const own = `token:${made.json.id}`;
    const expected = ['owner token.revoke', `${own} repo.resume`, `${own} repo.pause`, 'owner token.create'];
    expect(told.filter((note: string) => / (token|repo)\.(?!enroll)/.test(note))).toEqual(expected);
    expect(lines.join('\n')).not.toContain(token);
  });

  test('a copy that is taken while the service runs is a data folder for its account alone, and serves on', async () => {
    const { control } = forge;
    const session = await client.tokenOf('owner');
    const copy = join(folder, 'copy');
    // A reconcile that was under way would hold its lease in the copy, for longer than a test waits.
    await eventually('no reconcile is under way', 60_000, async () => {
      const { json } = await client.call(session, 'GET', '/api/v1/user/queue/activity');
      return json.repos[0].lease_state === 'idle';
    });
    await backUp(config(), copy, process.env);
    await expect(backUp(config(), copy, process.env)).rejects.toThrow(ConfigError);
    const modes = ['', 'evidence-key.pem', 'keys.json', 'table.sqlite'].map(
      (name) => statSync(join(copy, name)).mode & 0o777,
    );
    expect([modes, readdirSync(copy).sort()]).toEqual([
      [0o700, 0o600, 0o600, 0o600],
      ['evidence-key.pem', 'keys.json', 'table.sqlite'],
    ]);
    const made = join(dataDir, '.dynoxide', 'snapshots');
    expect(readdirSync(made)).toEqual([]);
    await onebox.stop();
    dataDir = copy;
    renameSync(join(copy, 'keys.json'), join(folder, 'keys.json'));
    // A new key would open none of the stored tokens, and stand in the place of the one that does.
    await expect(start()).rejects.toThrow('keys.json is gone from the data folder');
    expect(existsSync(join(copy, 'keys.json'))).toBe(false);
    renameSync(join(folder, 'keys.json'), join(copy, 'keys.json'));
    await start();
    // Sessions stay behind; what is connected is no matter of strangers.
    expect((await client.call(session, 'GET', '/api/v1/user/repos')).status).toBe(401);
    expect((await fetch(`${onebox.url}/setup/checks`)).status).toBe(404);
    const pr = await control.openPullRequest({ branch: 'restored', files: { 'restored.txt': 'x' } });
    await control.schedule(pr, 'squash');
    const owner = await client.tokenOf('owner');
    const [{ id }] = (await client.call(owner, 'GET', '/api/v1/user/repos')).json;
    await client.call(owner, 'POST', `/api/v1/user/repos/${id}/reconcile`);
    await eventually('it lands', 60_000, async () => {
      await onebox.answer(id);
      return (await control.pull(pr)).merged;
    });
  });

  test('no plan limits the repositories of an installation', async () => {
    const token = await client.tokenOf('owner');
    const [{ id: connection_id }] = (await client.call(token, 'GET', '/api/v1/connections')).json;
    await forge.createRepo({ ...defaultSeed(forge.profile), name: 'second' });
    const body = { connection_id, repo_slug: 'acme/second', base_branch: 'main', queue_enabled: true };
    const second = await client.call(token, 'POST', '/api/v1/user/repos', body);
    expect(second).toMatchObject({ status: 201, json: { name: 'acme/second' } });
    await client.call(token, 'DELETE', `/api/v1/user/repos/${second.json.id}`);
  });

  test('an account that is locked on the forge is out within five minutes, and the others stay', async () => {
    const [dev, owner, again] = [
      await client.tokenOf('dev'),
      await client.tokenOf('owner'),
      await client.tokenOf('owner'),
    ];
    const read = async (token: string) => (await client.call(token, 'GET', '/api/v1/user/repos')).status;
    lockedLogins.add('dev');
    expect([await read(dev), await read(owner), await read(again)]).toEqual([200, 200, 200]);
    passed += FORGE_RIGHTS_MS;
    expect([await read(dev), await read(owner), await read(again)]).toEqual([401, 200, 200]);
    lockedLogins.delete('dev');
    expect(await read(dev)).toBe(401);
  });

  test('one address cannot ask for sign-ins without end', async () => {
    const ask = async () => (await fetch(`${onebox.url}/auth/v1/authorize`)).status;
    const answers = await Promise.all(Array.from({ length: 2 * RATE_LIMITS.ip.perMinute }, ask));
    expect(new Set(answers)).toEqual(new Set([400, 429]));
  });

  test('keys, sessions and the table can be read by their owner alone', () => {
    const table = ['table.sqlite', 'table.sqlite-wal', 'table.sqlite-shm'];
    for (const name of ['keys.json', 'sessions.json', 'evidence-key.pem', ...table])
      expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, 'table.sqlite')).includes('fake-oauth-secret')).toBe(false);
  });
});
