import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '#core/telemetry.ts';
import { startKms } from '../../../local/emulators/kms.ts';
import { BOT, createFakeForge, type ForgeAddress } from '../../../local/forge/fake-forge.ts';
import { OAUTH_CLIENT } from '../../../local/forge/http/oauth.ts';
import { readConfig } from '../../../onebox/config.ts';
import { type Onebox, startOnebox } from '../../../onebox/service.ts';
import { startTestTable, type TestTable } from '../../support/dynamo-table.ts';
import { eventually } from '../../support/eventually.ts';
import { openOneboxClient } from '../../support/onebox-client.ts';

const PUBLIC_URL = 'http://127.0.0.1:8480';
const CLOUD_TENANT = '0f2c1a6e-2222-4222-8222-000000000002';
const CLOUD_KEY = '11111111-1111-4111-8111-111111111111';

/** `npm run export` and `npm run import`, as an operator starts them. */
describe('an installation moves into the table of the cloud edition and back, by the commands', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onebox-move-'));
  const log = createLog({ service: 'onebox', write: () => {} });
  const forge = createFakeForge({ dataDir: join(folder, 'forge'), knobs: { gateDurationMs: 200 } });
  let address: ForgeAddress;
  let onebox: Onebox | null = null;
  let cloud: TestTable;
  let kms: Awaited<ReturnType<typeof startKms>>;

  const configOf = (name: string): string => {
    const file = join(folder, `${name}.yml`);
    writeFileSync(
      file,
      [
        'listen: 127.0.0.1:0',
        `public_url: ${PUBLIC_URL}`,
        `data_dir: ${name}`,
        `forge: { url: "${address.httpsUrl}", ca_file: "${address.caFile}" }`,
        'sign_in:',
        `  client_id: ${OAUTH_CLIENT.id}`,
        `  client_secret: ${OAUTH_CLIENT.secret}`,
        '  administrators: { users: [owner] }',
      ].join('\n'),
    );
    return file;
  };
  const start = async (name: string): Promise<Onebox> => {
    const siteDir = join(folder, 'no-page');
    onebox = await startOnebox({ config: readConfig(configOf(name)), siteDir, log, env: process.env });
    return onebox;
  };
  const client = openOneboxClient({
    url: () => onebox?.url ?? '',
    get forgeHttpUrl() {
      return address.httpUrl;
    },
    publicUrl: PUBLIC_URL,
  });
  const run = async (command: 'export' | 'import', args: readonly string[]) => {
    const passphrase = join(folder, 'passphrase');
    writeFileSync(passphrase, 'correct horse battery staple\n', { mode: 0o600 });
    const program = ['--import', 'tsx', `onebox/move/${command}-main.ts`, '--passphrase-file', passphrase];
    const aws = {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: cloud.endpoint,
      AWS_ENDPOINT_URL_KMS: kms.endpoint,
    };
    const env = { ...process.env, ...(args.includes('--table') ? aws : {}) };
    const child = spawn(process.execPath, [...program, ...args], { env });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        said += text.toString();
      });
    const code = await new Promise((done) => child.once('close', done));
    return { code, said };
  };
  const land = async (branch: string): Promise<void> => {
    const pr = await forge.control.openPullRequest({ branch, files: { [`${branch}.txt`]: branch } });
    await forge.control.schedule(pr, 'squash');
    await onebox?.tick();
    await eventually(`${branch} lands`, 60_000, async () => (await forge.control.pull(pr)).merged);
  };

  beforeAll(async () => {
    address = await forge.start();
    [cloud, kms] = await Promise.all([startTestTable(), startKms({ keyIds: [CLOUD_KEY] })]);
  });
  afterAll(async () => {
    await onebox?.stop();
    await Promise.all([cloud.stop(), kms.stop(), forge.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  test('what is scheduled lands after the way there and back; where it came from, it does not start', async () => {
    await start('first');
    const connection = { instance_url: address.httpsUrl, token: forge.addToken(BOT), bot_login: BOT };
    const token = await client.enroll('owner', connection, forge.control.slug);
    await land('one');
    expect(await run('export', ['--config', configOf('first'), '--file', join(folder, 'a')])).toMatchObject({
      code: 1,
      said: expect.stringContaining('another Mergeyard process serves'),
    });
    await onebox?.stop();
    const out = await run('export', ['--config', configOf('first'), '--file', join(folder, 'a')]);
    expect(out).toMatchObject({ code: 0, said: expect.stringContaining('does not run any more') });
    await expect(start('first')).rejects.toThrow(/this installation was exported at .+ runs elsewhere/);

    const there = ['--table', cloud.tableName, '--key', CLOUD_KEY, '--key-version', '1'];
    const named = [...there, '--queue-name', 'mq', '--tenant', CLOUD_TENANT];
    expect(await run('import', [...named, '--file', join(folder, 'a')])).toMatchObject({ code: 0 });
    expect(await cloud.readRow(`T#${CLOUD_TENANT}`, 'A')).toMatchObject({ repo_count: 1, conn_count: 1 });
    expect(await run('export', [...named, '--file', join(folder, 'b')])).toMatchObject({ code: 0 });

    expect(await run('import', ['--config', configOf('second'), '--file', join(folder, 'b')])).toMatchObject({
      code: 0,
      said: expect.stringMatching(/Rows written: \d+/),
    });
    await start('second');
    await land('two');
    // Sessions stay behind: people sign in again.
    expect((await client.call(token, 'GET', '/api/v1/user/repos')).status).toBe(401);
    const session = await client.tokenOf('owner');
    await eventually('both landings are in the history', 30_000, async () => {
      const { json } = await client.call(session, 'GET', '/api/v1/user/queue/activity');
      const events: readonly { readonly event: string }[] = json.recent_activity;
      return events.filter(({ event }) => event === 'pr_landed').length === 2;
    });
  });
});
