import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOT, createFakeForge } from '../../local/forge/fake-forge.ts';
import { OAUTH_CLIENT } from '../../local/forge/http/oauth.ts';
import { eventually } from '../support/eventually.ts';
import { openOneboxClient } from '../support/onebox-client.ts';

/**
 * `npm run test:kill-onebox`: the one box is killed with `kill -9` again and again while a queue lands,
 * each time a little later in a reconcile. What is scheduled lands once. A killed holder's call may still arrive, for
 * which each start waits about half a minute.
 */
const PORT = 8489;
const PULLS = 3;
/** So many writes to the forge after each start, which come once no call of the killed one can arrive any more. */
const KILLED_AFTER_WRITES = [1, 3, 6, 10];
const WRITES_WITHIN_MS = 3 * 60_000;
const LANDS_WITHIN_MS = 5 * 60_000;
const PUBLIC_URL = `http://127.0.0.1:${PORT}`;

function startBox(config: string): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', 'onebox/main.ts', '--config', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
}

async function main(): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), 'onebox-kill-'));
  const forge = createFakeForge({ dataDir: join(root, 'forge'), knobs: { gateDurationMs: 700 } });
  const address = await forge.start();
  const config = join(root, 'mergeyard.yml');
  writeFileSync(
    config,
    JSON.stringify({
      listen: `127.0.0.1:${PORT}`,
      public_url: PUBLIC_URL,
      forge: { url: address.httpsUrl, ca_file: address.caFile },
      sign_in: {
        client_id: OAUTH_CLIENT.id,
        client_secret: OAUTH_CLIENT.secret,
        administrators: { users: ['owner'] },
      },
    }),
  );
  const client = openOneboxClient({
    url: () => PUBLIC_URL,
    forgeHttpUrl: address.httpUrl,
    publicUrl: PUBLIC_URL,
  });
  const answers = async (): Promise<boolean> =>
    (await fetch(`${PUBLIC_URL}/healthz`).catch(() => null))?.ok === true;
  let box = startBox(config);
  // A run that fails leaves no box that holds the port: the next run would take it for its own.
  const endBox = (): void => {
    if (box.pid !== undefined && box.exitCode === null && box.signalCode === null)
      process.kill(-box.pid, 'SIGTERM');
  };
  process.once('exit', endBox);
  await eventually('the box is up', 60_000, answers);
  const connection = { instance_url: address.httpsUrl, token: forge.addToken(BOT), bot_login: BOT };
  const token = await client.enroll('owner', connection, forge.control.slug);
  const prs: number[] = [];
  for (let at = 0; at < PULLS; at += 1) {
    const branch = `change-${at}`;
    prs.push(await forge.control.openPullRequest({ branch, files: { [`${branch}.txt`]: branch } }));
  }
  for (const pr of prs) await forge.control.schedule(pr, 'squash');
  const writes = (): number => forge.control.calls().filter(({ write }) => write).length;
  for (const after of KILLED_AFTER_WRITES) {
    const before = writes();
    await eventually('the box writes', WRITES_WITHIN_MS, async () => writes() >= before + after);
    // The group of the service and its engine. Its database is in a group of its own: the next start ends it.
    if (box.pid !== undefined) process.kill(-box.pid, 'SIGKILL');
    console.log(`killed after ${after} writes`);
    box = startBox(config);
    await eventually('the box is up again', 60_000, answers);
  }
  const isMerged = async (pr: number): Promise<boolean> => (await forge.control.pull(pr)).merged;
  await eventually('all land', LANDS_WITHIN_MS, async () =>
    (await Promise.all(prs.map(isMerged))).every(Boolean),
  );
  let landed: readonly number[] = [];
  await eventually('all are told', LANDS_WITHIN_MS, async () => {
    const { json } = await client.call(token, 'GET', '/api/v1/user/queue/activity');
    const events = json.recent_activity as readonly { event: string; pr: number }[];
    landed = events.filter(({ event }) => event === 'pr_landed').map(({ pr }) => pr);
    return prs.every((pr) => landed.includes(pr));
  });
  process.off('exit', endBox);
  endBox();
  await forge.stop();
  rmSync(root, { recursive: true, force: true });
  const isOnce = landed.length === prs.length;
  console.log(`${isOnce ? 1 : 0} passed, ${isOnce ? 0 : 1} failed`);
  return isOnce ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
