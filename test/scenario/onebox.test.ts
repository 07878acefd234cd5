import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RATE_LIMITS } from '#core/domain/api-limits.ts';
import { createLog } from '#core/telemetry.ts';
import { BOT, createFakeForge, type ForgeAddress } from '../../local/forge/fake-forge.ts';
import { OAUTH_CLIENT } from '../../local/forge/http/oauth.ts';
import { readConfig } from '../../onebox/config.ts';
import { type Onebox, startOnebox } from '../../onebox/service.ts';
import { eventually } from '../support/eventually.ts';

/** The forge's own name, behind another port. */
const PUBLIC_URL = 'http://127.0.0.1:8480';

describe('the service in one process, beside a forge', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onebox-'));
  const siteDir = join(folder, 'no-page');
  const lines: string[] = [];
  const log = createLog({ service: 'onebox', write: (line) => lines.push(line) });
  const forge = createFakeForge({ dataDir: join(folder, 'forge'), knobs: { gateDurationMs: 200 } });
  let address: ForgeAddress;
  let onebox: Onebox;
  const start = async (): Promise<void> => {
    onebox = await startOnebox({
      config: readConfig(join(folder, 'mergeyard.yml')),
      siteDir,
      log,
      env: process.env,
    });
  };

  beforeAll(async () => {
    address = await forge.start();
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
      ].join('\n'),
    );
    await start();
  });
  afterAll(async () => {
    await onebox.stop();
    await forge.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** As a browser goes from the page to the forge and back. Returns the address that the page is opened at. */
  async function signIn(login: string): Promise<{ readonly back: URL; readonly verifier: string }> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      ...{ provider: 'forge', redirect_to: `${PUBLIC_URL}/sign-in/callback`, code_challenge_method: 's256' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    });
    const left = await fetch(`${onebox.url}/auth/v1/authorize?${query}`, { redirect: 'manual' });
    const asked = new URL(left.headers.get('location') ?? '');
    expect(asked.origin).toBe(address.httpsUrl);
    // The same page without a certificate.
    const granted = await fetch(`${address.httpUrl}${asked.pathname}${asked.search}&login=${login}`, {
      redirect: 'manual',
    });
    const callback = new URL(granted.headers.get('location') ?? '');
    const done = await fetch(`${onebox.url}${callback.pathname}${callback.search}`, { redirect: 'manual' });
    return { back: new URL(done.headers.get('location') ?? ''), verifier };
  }

  /** The session that the page gets for the code in its address. */
  async function redeem(back: URL, verifier: string): Promise<Response> {
    return fetch(`${onebox.url}/auth/v1/token?grant_type=pkce`, {
      method: 'POST',
      body: JSON.stringify({ auth_code: back.searchParams.get('code'), code_verifier: verifier }),
      headers: { 'content-type': 'application/json' },
    });
  }

  async function tokenOf(login: string): Promise<string> {
    const { back, verifier } = await signIn(login);
    const session = (await (await redeem(back, verifier)).json()) as { access_token: string };
    return session.access_token;
  }

  const call = async (token: string, method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${onebox.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, json: text === '' ? null : JSON.parse(text) };
  };

  test('a code of the sign-in is worth nothing to another browser, and works once', async () => {
    const { back, verifier } = await signIn('dev');
    expect((await redeem(back, 'another-verifier')).status).toBe(400);
    expect((await redeem(back, verifier)).status).toBe(400);
  });

  test('a person who is not named is not admitted, and is told so', async () => {
    const { back } = await signIn('stranger');
    expect(back.searchParams.get('error')).toBe('not_admitted');
  });

  test('who is no administrator may look and change nothing; a session that was ended is over', async () => {
    const token = await tokenOf('dev');

    expect((await call(token, 'GET', '/api/v1/connections')).status).toBe(200);
    expect(await call(token, 'POST', '/api/v1/connections', {})).toMatchObject({
      status: 403,
      json: { error: { code: 'forbidden' } },
    });
    await fetch(`${onebox.url}/auth/v1/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect((await call(token, 'GET', '/api/v1/connections')).status).toBe(401);
  });

  test('an administrator connects the forge and enrols a repository; what is scheduled lands, also after a restart', async () => {
    const token = await tokenOf('owner');
    const botToken = forge.addToken(BOT);
    const connected = await call(token, 'POST', '/api/v1/connections', {
      ...{ instance_url: address.httpsUrl, token: botToken, bot_login: BOT },
    });
    expect(connected.status).toBe(201);
    const enrolled = await call(token, 'POST', '/api/v1/user/repos', {
      ...{ connection_id: connected.json.id, repo_slug: forge.control.slug, base_branch: 'main' },
      queue_enabled: true,
    });
    expect(enrolled.status).toBe(201);
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
    expect((await call(token, 'GET', '/api/v1/user/repos')).json).toHaveLength(1);
    await eventually('the second lands', 60_000, isMerged(await queue('two')));
    let metrics = '';
    await eventually('a reconcile is counted', 30_000, async () => {
      metrics = await (await fetch(`${onebox.url}/metrics`)).text();
      return /mergeyard_reconciles_total\{answer="ok"\} \d+/.test(metrics);
    });
    expect(metrics.endsWith('# EOF\n')).toBe(true);
    expect(`${lines.join('\n')}${metrics}`).not.toContain(botToken);
  });

  test('one address cannot ask for sign-ins without end', async () => {
    const ask = async () => (await fetch(`${onebox.url}/auth/v1/authorize`)).status;
    const answers = await Promise.all(Array.from({ length: RATE_LIMITS.ip.perMinute + 1 }, ask));
    expect(new Set(answers)).toEqual(new Set([400, 429]));
  });

  test('keys and sessions can be read by their owner alone', () => {
    for (const name of ['keys.json', 'sessions.json'])
      expect(statSync(join(folder, 'mergeyard-data', name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'mergeyard-data', 'table.sqlite')).includes('fake-oauth-secret')).toBe(
      false,
    );
  });
});
