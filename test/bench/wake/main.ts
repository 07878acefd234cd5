import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { Secret } from '#core/secret.ts';
import { BOT, createFakeForge, defaultSeed, type FakeForge } from '../../../local/forge/fake-forge.ts';
import { type LocalService, startLocalService } from '../../../local/service.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import { countOption } from '../../simulation/options.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';
import { checkCall } from '../../support/usage.ts';

checkCall({
  script: 'bench:wake',
  does: 'Measures the time from a pressed button to the staged batch, through the whole local service, in real time.',
  options: {
    '--rounds N': 'rounds (2)',
    '--seed S': 'seed (1)',
  },
});

const GOAL_S = 40;
const REPOS = 10;
const LANDED_WITHIN_MS = 120_000;
const STAGED_WITHIN_MS = 330_000;
/** Buttons are pressed within so long: more than two glances, less than a tick. */
const PRESSED_WITHIN_MS = 75_000;
const LOOK_EVERY_MS = 200;
/** All repositories were looked at. */
const LOOKED_MS = 20_000;
const TENANT = 'tenant-1';

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

async function enroll(service: LocalService, forge: FakeForge, instanceUrl: string): Promise<ManagedRepo[]> {
  const now = Date.now();
  const connection = givenConnection({ instanceUrl, botUsername: BOT, tenantId: TENANT });
  const owner = { tenantId: TENANT, connectionId: connection.id, instanceUrl };
  const credential = await service.vault.seal(owner, new Secret(forge.addToken(BOT)));
  await service.store.createTenant(TENANT, now);
  await service.store.createConnection({ ...connection, credential });
  const repos: ManagedRepo[] = [];
  for (let index = 0; index < REPOS; index += 1) {
    const name = `app-${index}`;
    await forge.createRepo({ ...defaultSeed(forge.profile), name });
    const repo = givenRepo({
      id: `repo-${index}`,
      slug: `acme/${name}`,
      tenantId: TENANT,
      connectionId: connection.id,
      // Without a hook: the forge sends no event of any kind.
      instanceUrl,
      dueAt: now,
      enabledAt: now,
      updatedAt: now - 600_000,
    });
    await service.store.createRepo(repo, null);
    repos.push(repo);
  }
  return repos;
}

/** Null: not within `withinMs`. */
async function secondsUntil(isSo: () => Promise<boolean>, withinMs: number): Promise<number | null> {
  const from = performance.now();
  while (performance.now() - from < withinMs) {
    if (await isSo()) return (performance.now() - from) / 1_000;
    await sleep(LOOK_EVERY_MS);
  }
  return null;
}

async function main(): Promise<void> {
  const rounds = countOption('rounds', 2);
  const random = createSeededRandom(countOption('seed', 1));
  const root = mkdtempSync(join(tmpdir(), 'mergeyard-wake-'));
  const forge = createFakeForge({ dataDir: join(root, 'forge'), knobs: { gate: 'judge' } });
  const { httpsUrl, caFile } = await forge.start();
  const service = await startLocalService({
    dataDir: join(root, 'service'),
    context: { forgeAllowHosts: new URL(httpsUrl).host, forgeCaFile: caFile },
  });
  const waits: number[] = [];
  let lost = 0;
  try {
    const repos = await enroll(service, forge, httpsUrl);
    // The first look sees the base, the second one that something has happened: from then on they are active.
    await service.fireTick();
    await sleep(LOOKED_MS);
    for (const { slug } of repos)
      await forge.controlFor(slug).openPullRequest({ branch: 'first', files: { 'first.txt': 'first' } });
    await service.fireTick();
    await sleep(LOOKED_MS);
    const press = async (repo: ManagedRepo, round: number, afterMs: number): Promise<void> => {
      const control = forge.controlFor(repo.slug);
      const branch = `round-${round}`;
      const pr = await control.openPullRequest({ branch, files: { [`${branch}.txt`]: branch } });
      await sleep(afterMs);
      await control.schedule(pr, 'squash');
      const wait = await secondsUntil(
        async () =>
          (await control.pull(pr)).merged || (await service.store.listRunningBatches(repo)).length > 0,
        STAGED_WITHIN_MS,
      );
      if (wait === null) lost += 1;
      else waits.push(wait);
      await secondsUntil(async () => (await control.pull(pr)).merged, LANDED_WITHIN_MS);
    };
    for (let round = 0; round < rounds; round += 1)
      await Promise.all(repos.map((repo) => press(repo, round, random.next() * PRESSED_WITHIN_MS)));
  } finally {
    await service.stop();
    await forge.stop();
    rmSync(root, { recursive: true, force: true });
  }
  waits.sort((one, other) => one - other);
  const at = (share: number): string => (waits[Math.ceil(share * waits.length) - 1] ?? 0).toFixed(1);
  const p95 = Number(at(0.95));
  console.log(
    `${waits.length} schedules in ${REPOS} repositories, no event of the forge; ${lost} were not seen`,
  );
  console.log(`from schedule to staging: p50 ${at(0.5)} s, p95 ${at(0.95)} s, longest ${at(1)} s`);
  console.log(`goal: p95 under ${GOAL_S} s: ${lost === 0 && p95 < GOAL_S ? 'met' : 'MISSED'}`);
  if (lost > 0 || p95 >= GOAL_S) process.exitCode = 1;
}

await main();
