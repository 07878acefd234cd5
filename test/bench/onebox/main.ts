import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import { BOT, createFakeForge, defaultSeed } from '../../../local/forge/fake-forge.ts';
import { OAUTH_CLIENT } from '../../../local/forge/http/oauth.ts';
import { readConfig } from '../../../onebox/config.ts';
import { startOnebox } from '../../../onebox/service.ts';
import { eventually } from '../../support/eventually.ts';
import { openOneboxClient } from '../../support/onebox-client.ts';

/**
 * `npm run bench:onebox`: the bundle of the one box as its image starts it, beside a forge on real git in this process.
 * Memory is that of the service and of its database together. Build the bundle first: `npm run build:onebox`.
 */
const REPOS = Number(process.env.REPOS ?? 20);
const PULLS = Number(process.env.PULLS ?? 1_000);
const PORT = 8491;
const PUBLIC_URL = `http://127.0.0.1:${PORT}`;
const GOALS = { startMs: 3_000, idleMiB: 200, loadedMiB: 350, callsPerTick: 4 };
const TICKS = 12;
/** A repository that was just enrolled is looked at by the engine for a while. */
const SETTLING_TICKS = 8;
const ENROLLED_WITHIN_MS = 5 * 60_000;
const SETTLED_WITHIN_MS = 15 * 60_000;
const LOADED_FOR_MS = Number(process.env.LOADED_SECONDS ?? 180) * 1_000;

/** Resident memory of a process and its children, in MiB. */
function readMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const own = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  );
  return children.reduce((sum, child) => sum + readMemory(Number(child)), own);
}

const isUp = async (): Promise<boolean> =>
  (await fetch(`${PUBLIC_URL}/healthz`).catch(() => null))?.ok === true;

async function readGauge(name: string): Promise<number> {
  const text = await (await fetch(`${PUBLIC_URL}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

async function startBundle(config: string): Promise<{ readonly child: ChildProcess; readonly ms: number }> {
  const begun = performance.now();
  const args = ['dist/onebox/index.mjs', '--config', config, '--site', 'dist/onebox/site'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore'] });
  process.once('exit', () => child.kill('SIGKILL'));
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error('the service ended');
    await sleep(20);
  }
  return { child, ms: performance.now() - begun };
}

async function stopBundle(child: ChildProcess): Promise<void> {
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await gone;
}

async function main(): Promise<number> {
  if (!existsSync('dist/onebox/index.mjs')) throw new Error('npm run build:onebox makes the bundle first');
  const root = mkdtempSync(join(tmpdir(), 'onebox-bench-'));
  const forge = createFakeForge({ dataDir: join(root, 'forge'), seed: null, knobs: { judge: () => 'hold' } });
  const address = await forge.start();
  const slugs = Array.from({ length: REPOS }, (_, at) => `acme/app-${at}`);
  for (const slug of slugs)
    await forge.createRepo({ ...defaultSeed(forge.profile), name: slug.split('/')[1] ?? '' });
  const pulls: { readonly slug: string; readonly pr: number }[] = [];
  for (let at = 0; at < PULLS; at += 1) {
    const slug = slugs[at % REPOS] ?? '';
    const files = { [`src/file-${at}.txt`]: `${at}\n` };
    const pr = await forge.controlFor(slug).openPullRequest({ branch: `change-${at}`, files });
    pulls.push({ slug, pr });
  }
  // The forge looks at each for conflicts, and answers nothing in time meanwhile.
  await forge.settle();
  console.log(`${PULLS} pull requests are open in ${REPOS} repositories`);
  const file = join(root, 'mergeyard.yml');
  const clientOf = { client_id: OAUTH_CLIENT.id, client_secret: OAUTH_CLIENT.secret };
  writeFileSync(
    file,
    JSON.stringify({
      listen: `127.0.0.1:${PORT}`,
      public_url: PUBLIC_URL,
      data_dir: 'data',
      forge: { url: address.httpsUrl, ca_file: address.caFile },
      sign_in: { ...clientOf, administrators: { users: ['owner'] } },
    }),
  );
  const client = openOneboxClient({
    url: () => PUBLIC_URL,
    forgeHttpUrl: address.httpUrl,
    publicUrl: PUBLIC_URL,
  });
  const settled = (): Promise<void> =>
    eventually(
      'no wake waits',
      SETTLED_WITHIN_MS,
      async () => (await readGauge('mergeyard_wakes_waiting')) === 0,
    );

  const first = await startBundle(file);
  const pid = first.child.pid ?? 0;
  const fresh = readMemory(pid);
  const connection = { instance_url: address.httpsUrl, token: forge.addToken(BOT), bot_login: BOT };
  const token = await client.tokenOf('owner');
  const { json: connected } = await client.call(token, 'POST', '/api/v1/connections', connection);
  const connectionId: string = connected.id;
  for (const slug of slugs) {
    const body = { connection_id: connectionId, repo_slug: slug, base_branch: 'main', queue_enabled: true };
    await eventually(`${slug} is enrolled`, ENROLLED_WITHIN_MS, async () => {
      const { status } = await client.call(token, 'POST', '/api/v1/user/repos', body);
      if (status !== 201) await sleep(3_000);
      return status === 201 || status === 409;
    });
  }
  await sleep(2_000);
  await settled();
  await sleep(20_000);
  const idle = readMemory(pid);
  console.log(`idle: ${idle.toFixed(0)} MiB`);
  await stopBundle(first.child);

  const calls = await countIdleCalls(file, forge, slugs);

  const second = await startBundle(file);
  for (const { slug, pr } of pulls) await forge.controlFor(slug).schedule(pr, 'squash');
  const loadedPid = second.child.pid ?? 0;
  let loaded = 0;
  const { json: managed } = await client.call(await client.tokenOf('owner'), 'GET', '/api/v1/user/repos');
  const now = await client.tokenOf('owner');
  // Each answers when its reconcile has ended; the workers take them one after the other.
  const asked = (managed as readonly { readonly id: string }[]).map(({ id }) =>
    client.call(now, 'POST', `/api/v1/user/repos/${id}/reconcile`).catch(() => null),
  );
  const end = performance.now() + LOADED_FOR_MS;
  while (performance.now() < end) {
    loaded = Math.max(loaded, readMemory(loadedPid));
    await sleep(250);
  }
  void Promise.allSettled(asked);
  const { json } = await client.call(await client.tokenOf('owner'), 'GET', '/api/v1/user/queue/activity');
  await stopBundle(second.child);
  await forge.stop();
  rmSync(root, { recursive: true, force: true });

  const shown: readonly {
    readonly queue: { readonly line: readonly unknown[]; readonly line_more: number } | null;
  }[] = json.repos;
  const queued = shown.reduce(
    (sum, { queue }) => sum + (queue?.line.length ?? 0) + (queue?.line_more ?? 0),
    0,
  );
  const rows: readonly (readonly [string, number, number | null])[] = [
    ['start with an empty folder, ms', first.ms, GOALS.startMs],
    ['start with that installation, ms', second.ms, GOALS.startMs],
    ['memory after the start, MiB', fresh, GOALS.idleMiB],
    [`memory idle, ${PULLS} open in ${REPOS} repositories, MiB`, idle, GOALS.idleMiB],
    [`memory at most, all of them scheduled (${queued} shown), MiB`, loaded, GOALS.loadedMiB],
    ['calls of an idle repository in a tick, over an hour', calls, GOALS.callsPerTick],
  ];
  for (const [name, value, goal] of rows)
    console.log(`${name}: ${value.toFixed(value < 10 ? 1 : 0)}${goal === null ? '' : ` (goal: ${goal})`}`);
  return rows.every(([, value, goal]) => goal === null || value <= goal) ? 0 : 1;
}

/** An hour without work, as its clock has it: the calls of one repository in one tick, on average. */
async function countIdleCalls(
  file: string,
  forge: ReturnType<typeof createFakeForge>,
  slugs: readonly string[],
): Promise<number> {
  const system = createSystemClock();
  let passed = 0;
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  const onebox = await startOnebox({
    config: readConfig(file),
    siteDir: resolve('dist', 'onebox', 'site'),
    log: silent,
    env: process.env,
    clock: { ...system, now: () => system.now() + passed, monotonic: () => system.monotonic() + passed },
  });
  // Every repository's own control has the calls of all.
  const count = (): number => forge.controlFor(slugs[0] ?? '').calls().length;
  const waits = (): Promise<void> =>
    eventually(
      'no wake waits',
      SETTLED_WITHIN_MS,
      async () => (await readGauge('mergeyard_wakes_waiting')) === 0,
    );
  let all = 0;
  try {
    await waits();
    for (let tick = 0; tick < SETTLING_TICKS + TICKS; tick += 1) {
      passed += TICK_INTERVAL_MS;
      const before = count();
      await onebox.tick();
      await sleep(200);
      await waits();
      const made = count() - before;
      console.log(`tick ${tick + 1}: ${(made / slugs.length).toFixed(1)} calls of a repository`);
      if (tick >= SETTLING_TICKS) all += made;
    }
  } finally {
    await onebox.stop();
  }
  return all / TICKS / slugs.length;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    // The forge listens on.
    process.exit(1);
  },
);
