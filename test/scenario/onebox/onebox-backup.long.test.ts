import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '#core/telemetry.ts';
import { BOT, createFakeForge } from '../../../local/forge/fake-forge.ts';
import { OAUTH_CLIENT } from '../../../local/forge/http/oauth.ts';
import { backUp } from '../../../onebox/backup.ts';
import { readConfig } from '../../../onebox/config.ts';
import { type Onebox, startOnebox } from '../../../onebox/service.ts';
import { eventually } from '../../support/eventually.ts';
import { openOneboxClient } from '../../support/onebox-client.ts';

const PUBLIC_URL = 'http://127.0.0.1:8480';
/** A reconcile that was under way holds its lease in the copy for more than a minute. */
const WITHIN_MS = 120_000;
const folder = mkdtempSync(join(tmpdir(), 'onebox-backup-'));
const forge = createFakeForge({ dataDir: join(folder, 'forge'), knobs: { gateDurationMs: 200 } });
let onebox: Onebox | null = null;

afterAll(async () => {
  await onebox?.stop();
  await forge.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a copy of one box taken while a batch runs goes on in another folder: nothing lands twice, no success is left behind', async () => {
  const address = await forge.start();
  const { control } = forge;
  const file = join(folder, 'mergeyard.yml');
  writeFileSync(
    file,
    [
      'listen: 127.0.0.1:0',
      `public_url: ${PUBLIC_URL}`,
      `forge: { url: "${address.httpsUrl}", ca_file: "${address.caFile}" }`,
      `sign_in: { client_id: ${OAUTH_CLIENT.id}, client_secret: ${OAUTH_CLIENT.secret}, administrators: { users: [owner] } }`,
    ].join('\n'),
  );
  const start = async (data_dir: string): Promise<Onebox> => {
    const log = createLog({ service: 'onebox', write: () => {} });
    const config = { ...readConfig(file), data_dir };
    onebox = await startOnebox({ config, siteDir: folder, log, env: process.env });
    return onebox;
  };
  const client = openOneboxClient({
    url: () => onebox?.url ?? '',
    forgeHttpUrl: address.httpUrl,
    publicUrl: PUBLIC_URL,
  });
  const schedule = async (branch: string): Promise<number> => {
    const pr = await control.openPullRequest({ branch, files: { [`${branch}.txt`]: branch } });
    await control.schedule(pr, 'squash');
    return pr;
  };
  const isMerged = async (pr: number) => (await control.pull(pr)).merged;
  const statusOf = async (pr: number) =>
    (await control.status((await control.pull(pr)).headSha, 'mq'))?.state ?? null;
  const running = () => control.runs().find(({ state }) => state === 'running');

  const first = await start(join(folder, 'first'));
  const connection = { instance_url: address.httpsUrl, token: forge.addToken(BOT), bot_login: BOT };
  const token = await client.enroll('owner', connection, control.slug);
  const [{ id }] = (await client.call(token, 'GET', '/api/v1/user/repos')).json;
  const until = (box: Onebox, what: string, isSo: () => Promise<boolean>): Promise<void> =>
    eventually(what, WITHIN_MS, async () => {
      await box.answer(id);
      return isSo();
    });

  control.judge = () => 'hold';
  const inWork = await schedule('in-work');
  await until(first, 'the batch runs', async () => running() !== undefined);
  const copy = join(folder, 'copy');
  await backUp({ ...readConfig(file), data_dir: join(folder, 'first') }, copy, process.env);
  control.judge = () => 'success';
  await control.finishRun(running()?.id ?? '', 'success');
  await until(first, 'it lands after the copy', () => isMerged(inWork));
  // The copy knows nothing of the next one: it has its success, and the forge forgets to land it.
  control.mergeBehaviour = () => ({ kind: 'lost' });
  const unknown = await schedule('unknown');
  await until(first, 'a success after the copy', async () => (await statusOf(unknown)) === 'success');
  await first.stop();
  control.mergeBehaviour = () => ({ kind: 'now' });
  control.judge = () => 'hold';

  const second = await start(copy);
  await until(second, 'the success is taken back', async () => (await statusOf(unknown)) !== 'success');
  // What landed after the copy was let through by a queue that the copy knows nothing of: a person says that it is gone.
  const session = await client.tokenOf('owner');
  await until(second, 'the queue stops beside another one', async () => {
    const { json } = await client.call(session, 'GET', '/api/v1/user/queue/activity');
    return json.repos[0].last_reconcile_error_code === 'another_queue';
  });
  for (const queue_enabled of [false, true])
    await eventually('no reconcile holds the queue', WITHIN_MS, async () => {
      const path = `/api/v1/user/repos/${id}`;
      return (await client.call(session, 'PATCH', path, { queue_enabled })).status === 200;
    });
  await until(second, 'it is tested again', async () => running() !== undefined);
  expect(await isMerged(unknown)).toBe(false);
  control.judge = () => 'success';
  await control.finishRun(running()?.id ?? '', 'success');
  const after = await schedule('after-the-copy');
  for (const pr of [unknown, after]) await until(second, `#${pr} lands`, () => isMerged(pr));
  expect(
    control
      .merges()
      .map(({ pr }) => pr)
      .sort(),
  ).toEqual([inWork, unknown, after].sort());
}, 600_000);
