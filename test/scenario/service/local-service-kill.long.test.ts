import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isRunning } from '../../../local/orphans.ts';
import { startLocalService } from '../../../local/service.ts';
import { sharedBundles } from '../../support/bundles.ts';
import { eventually, type LocalWorld, openLocalWorld } from '../../support/local-world.ts';
import { startScript } from '../../support/start-script.ts';

jest.setTimeout(180_000);

const LANDING_MS = 60_000;

describe('the engine of the local service', () => {
  let world: LocalWorld;

  beforeAll(async () => {
    world = await openLocalWorld();
  });
  afterAll(() => world.close());

  test('an engine that is killed is there again, and the next wake goes on', async () => {
    await eventually(
      'no worker is on the repo',
      30_000,
      async () => (await world.service.store.readLeaseState(world.repo.id)) === 'idle',
    );
    const prs = await world.queuePullRequests(['four']);
    await eventually('the repo is due again', 60_000, async () => {
      const dueAt = (await world.service.store.getRepo(world.repo.id))?.dueAt;
      return typeof dueAt === 'number' && dueAt <= Date.now();
    });
    await world.service.killEngine();
    await world.service.fireTick();
    await eventually('it lands', LANDING_MS, async () =>
      (await Promise.all(prs.map((pr) => world.isMerged(pr)))).every((merged) => merged),
    );
  });
});

test('killed whole with kill -9, it starts again on the same data and ends what was left running', async () => {
  const root = mkdtempSync(join(tmpdir(), 'mergeyard-kill-'));
  const dataDir = join(root, 'service');
  const script = `
    const { startLocalService } = await import(${JSON.stringify(resolve('local/service.ts'))});
    const service = await startLocalService({ dataDir: process.argv[1], bundlesDir: process.argv[2] });
    await service.store.createTenant('tenant-1', 1);
    console.log('ready ' + service.run.containers[0].pid);`;
  const bundlesDir = await sharedBundles();
  const child = startScript(script, [dataDir, bundlesDir]);
  try {
    const enginePid = await new Promise<number>((done, failed) => {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const pid = /ready (\d+)/.exec(output)?.[1];
        if (pid !== undefined) done(Number(pid));
      });
      child.once('exit', () => failed(new Error(`it ended: ${output}`)));
    });
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
    await new Promise((done) => child.once('exit', done));
    const service = await startLocalService({ dataDir, bundlesDir });
    try {
      expect(await isRunning(enginePid)).toBe(false);
      await expect(service.store.createTenant('tenant-1', 1)).resolves.toBeUndefined();
      await service.fireTick();
    } finally {
      await service.stop();
    }
  } finally {
    child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  }
});
