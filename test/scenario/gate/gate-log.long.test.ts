import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '#core/telemetry.ts';
import { run } from '../../../cli/run.ts';
import { BOT, createFakeForge } from '../../../local/forge/fake-forge.ts';
import { OAUTH_CLIENT } from '../../../local/forge/http/oauth.ts';
import type { ProfileName } from '../../../local/forge/profiles.ts';
import { readConfig } from '../../../onebox/config.ts';
import { type Onebox, startOnebox } from '../../../onebox/service.ts';
import { eventually } from '../../support/eventually.ts';
import { openOneboxClient } from '../../support/onebox-client.ts';

jest.setTimeout(120_000);
const PUBLIC_URL = 'http://127.0.0.1:8480';
const LEFT_MS = 90_000;

describe.each([
  ['gt126', 'its end, from a terminal'],
  ['fj15', 'its page, and why'],
] as const)('the log of a gate run that failed, on %s', (profile: ProfileName, what) => {
  const folder = mkdtempSync(join(tmpdir(), 'gate-log-'));
  const lines: string[] = [];
  const forge = createFakeForge({
    dataDir: join(folder, 'forge'),
    profile,
    knobs: { gateDurationMs: 200, gate: 'judge' },
  });
  let onebox: Onebox;
  let token = '';
  let botToken = '';

  beforeAll(async () => {
    const address = await forge.start();
    const config = join(folder, 'mergeyard.yml');
    writeFileSync(
      config,
      [
        'listen: 127.0.0.1:0',
        `public_url: ${PUBLIC_URL}`,
        `forge: { url: "${address.httpsUrl}", ca_file: "${address.caFile}" }`,
        `sign_in: { client_id: ${OAUTH_CLIENT.id}, client_secret: ${OAUTH_CLIENT.secret}, administrators: { users: [owner] } }`,
      ].join('\n'),
    );
    onebox = await startOnebox({
      config: readConfig(config),
      siteDir: join(folder, 'no-page'),
      env: process.env,
      log: createLog({ service: 'onebox', write: (line) => lines.push(line) }),
    });
    const client = openOneboxClient({
      url: () => onebox.url,
      forgeHttpUrl: address.httpUrl,
      publicUrl: PUBLIC_URL,
    });
    botToken = forge.addToken(BOT);
    const connection = { instance_url: address.httpsUrl, token: botToken, bot_login: BOT };
    const session = await client.enroll('owner', connection, forge.control.slug);
    const made = await client.call(session, 'POST', '/api/v1/tokens', {
      name: 'reader',
      expires_in_days: 1,
      scopes: [{ scope: 'read', repo_ids: null }],
    });
    token = made.json.token;
  });
  afterAll(async () => {
    await onebox.stop();
    await forge.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = async (...argv: string[]) => {
    const out: string[] = [];
    const code = await run(
      [...argv, '--repo', forge.control.slug],
      {
        env: { MERGEYARD_URL: onebox.url, MERGEYARD_TOKEN: token },
        cwd: folder,
        fetch,
        now: Date.now,
        print: (line) => void out.push(line),
        isTerminal: false,
        readGit: async () => null,
        sleep: (ms) => new Promise((done) => setTimeout(done, Math.min(ms, 500))),
      },
      async () => '',
      (line) => out.push(line),
    );
    return { code, out };
  };

  test(`is ${what}`, async () => {
    forge.control.judge = () => 'failure';
    const pr = await forge.control.openPullRequest({ branch: 'bad', files: { 'bad.txt': 'bad\n' } });
    await forge.control.schedule(pr, 'squash');
    // Asked of the story, because a log costs calls of the forge and has a rate.
    await eventually('the gate has failed', LEFT_MS, async () => {
      const { out } = await call('why', String(pr), '--json');
      return /"gate_verdict":"failure"/.test(out.join(''));
    });
    const { code, out } = await call('log', '--gate', String(pr));
    expect(code).toBe(0);
    expect(out[0]).toMatch(/^run: failure https:\/\/\S+\/actions\/runs\/\d+$/);
    if (profile === 'gt126') {
      expect(out[1]).toMatch(/^--- .+: failure$/);
      expect(out.slice(2).join('\n')).toMatch(
        /^\| Judged [0-9a-f]{40} \(mq\/main\/\S+\)\n\| The judge says: failure$/,
      );
    } else expect(out.slice(1)).toEqual([expect.stringMatching(/^This version of the forge gives no log/)]);
    expect([...out, ...lines].join('\n')).not.toContain(botToken);
  });
});
