import { ForgeError } from '#core/ports/forge.ts';
import { toQueueView } from '../../../engine-container/src/queue/told/view.ts';
import { givenRepo } from '../../builders/managed-repo.ts';
import { headOf, landedOf, told, untilSuccess, wrapForge } from '../hooks.ts';
import { GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../stories.ts';
import { givenThreeScheduled } from '../three-scheduled.ts';
import { createWorld, type World } from '../world.ts';

/** A pull request that the forge cannot serve does not stop the queue. */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function sixThatFail() {
  const world = await createWorld({ repo: { bisectFanout: 4 } });
  await givenProject(world.forge);
  const bad: number[] = [];
  for (let i = 0; i < 6; i += 1) bad.push(await givenScheduled(world.forge, `bad${i}`));
  const good = await givenScheduled(world.forge, 'good');
  world.forge.fault = ({ path, about }) =>
    path.endsWith('diffpatch') && about?.includes('src/bad') ? { status: 500 } : null;
  return { world, bad, good };
}

async function areAllTold(world: World, prs: readonly number[]): Promise<boolean> {
  for (const pr of prs) if (!(await told(world, pr)).includes('pr_refused:staging_failed')) return false;
  return true;
}

test('the awaited one cannot be read and the base moves: the others go on', async () => {
  const { world, a, b, c } = await givenThreeScheduled();
  world.forge.mergeBehaviour = (pr) => ({ kind: pr === a ? 'lost' : 'now' });
  await untilSuccess(world, await headOf(world, a));
  world.forge.fault = ({ method, path }) =>
    method === 'GET' && path.endsWith(`/pulls/${a}`) ? { status: 500 } : null;
  await world.forge.pushToBase({ 'pushed.txt': 'x\n' });
  await world.drain({ maxMs: 6 * HOUR, until: () => landedOf(world).length === 2 });
  expect(landedOf(world)).toEqual([b, c]);
});

test.each([500, 404, 422])('no status can be written on one head (%i): the others go on', async (status) => {
  const { world, a, b, c } = await givenThreeScheduled();
  const head = await headOf(world, a);
  world.forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(`statuses/${head}`) ? { status } : null;
  await world.drain({ maxMs: 4 * HOUR, until: () => landedOf(world).length === 2 });
  expect(landedOf(world)).toEqual([b, c]);
});

test('the rule of a twin cannot be read: the others go on', async () => {
  const hooked = wrapForge(async (name, args, real) => {
    if (name === 'readProtection' && args[0] === 'release')
      throw new ForgeError('unreachable', 'GET branch', 500);
    return real();
  });
  const { world, a, b, c } = await givenThreeScheduled({ wrapForge: hooked });
  await world.forge.pushBranch('release', await world.forge.tip('main'));
  await world.drain({ until: () => world.forge.runs().length > 0 });
  await world.forge.openPullRequest({ branch: 'twin', head: await headOf(world, a), base: 'release' });
  await world.drain({ maxMs: 4 * HOUR, until: () => landedOf(world).length === 2 });
  expect(landedOf(world)).toEqual([b, c]);
});

test.each([
  [1, 'error'],
  [1, 'cancelled'],
] as const)(
  'fan-out %i, every run of a changed gate ends as %s: the others go on',
  async (bisectFanout, verdict) => {
    const world = await createWorld({ repo: { bisectFanout } });
    await givenProject(world.forge);
    world.forge.judge = (files) => (files.get(GATE_PATH)?.includes('EVIL') ? verdict : 'success');
    await world.forge.schedule(
      await world.forge.openPullRequest({ branch: 'gate', files: { [GATE_PATH]: `# EVIL\n${GATE_FILE}` } }),
    );
    const others = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await world.drain({ maxMs: 4 * HOUR });
    expect(landedOf(world)).toEqual(others);
  },
);

test.each([1, 16])(
  'fan-out %i, every run with one ordinary change is cancelled: the others go on',
  async (bisectFanout) => {
    const { world, b, c } = await givenThreeScheduled({ repo: { bisectFanout } });
    world.forge.judge = (files) => (files.has('src/a.txt') ? 'cancelled' : 'success');
    await world.drain({ maxMs: 6 * HOUR });
    expect(landedOf(world)).toEqual([b, c]);
  },
);

test('a merge that never comes and statuses that cannot be read: the others go on', async () => {
  const { world, a, b, c } = await givenThreeScheduled();
  world.forge.mergeBehaviour = (pr) => ({ kind: pr === a ? 'lost' : 'now' });
  await world.drain({ until: () => world.forge.runs().length > 0 });
  const head = await headOf(world, a);
  world.forge.fault = ({ method, path }) =>
    method === 'GET' && path.endsWith(`commits/${head}/status`) ? { status: 500 } : null;
  await world.drain({ maxMs: 4 * HOUR, until: () => landedOf(world).length === 2 });
  expect(landedOf(world)).toEqual([b, c]);
});

test.each(['dependency', 'approval', 'unreadable'] as const)(
  'a twin does not wait for one that is held for itself: %s',
  async (why) => {
    const world = await createWorld();
    await givenProject(world.forge);
    const first = await givenScheduled(world.forge, 'a');
    const twin = await world.forge.openPullRequest({ branch: 'twin', head: await headOf(world, first) });
    await world.forge.schedule(twin, 'squash');
    if (why === 'dependency')
      await world.forge.addDependency(
        first,
        await world.forge.openPullRequest({ branch: 'x', files: { x: 'x' } }),
      );
    if (why === 'approval') {
      await world.forge.setProtection({ requiredApprovals: 1 });
      await world.forge.review(twin, 'rev', 'approve');
    }
    if (why === 'unreadable')
      world.forge.fault = ({ method, path }) =>
        method === 'GET' && path.endsWith(`/pulls/${first}`) ? { status: 500 } : null;
    await world.drain({ maxMs: 4 * HOUR });
    expect(landedOf(world)).toContain(twin);
  },
);

test('words of one refusal that cannot be written do not slow the others down', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  await world.forge.setAccess('eve', 'read');
  const e = await world.forge.openPullRequest({ branch: 'e', files: { 'e.txt': 'e\n' }, author: 'eve' });
  await world.forge.schedule(e, 'squash');
  const head = await headOf(world, e);
  world.forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(`statuses/${head}`) ? { status: 500 } : null;
  for (let i = 0; i < 10; i += 1) await givenScheduled(world.forge, `p${i}`);
  const at = world.clock.now();
  await world.drain({ maxMs: 3 * HOUR, until: () => world.forge.merges().length === 10 });
  expect(world.clock.now() - at).toBeLessThan(2 * MINUTE);
});

test('one that is deleted on the forge leaves the queue, and an event says so', async () => {
  const { world, a, b, c } = await givenThreeScheduled();
  await world.forge.setProtection({ requiredApprovals: 1 });
  await world.drain({ maxMs: 10 * MINUTE });
  await world.forge.deletePullRequest(a);
  const at = world.clock.now();
  await world.drain({
    maxMs: HOUR,
    until: async () => !(await world.record()).entries.some(({ pr }) => pr === a),
  });
  expect(world.clock.now() - at).toBeLessThan(15 * MINUTE);
  expect(await told(world, a)).toContain('pr_skipped:deleted');
  await world.forge.setProtection({ requiredApprovals: 0 });
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([b, c]);
  expect((await world.reconcile())?.errorCode).toBeNull();
});

test('one that is deleted while it lands holds up no other', async () => {
  const { world, a, b, c } = await givenThreeScheduled();
  world.forge.mergeBehaviour = (pr) => ({ kind: pr === a ? 'lost' : 'now' });
  await untilSuccess(world, await headOf(world, a));
  await world.forge.deletePullRequest(a);
  const at = world.clock.now();
  await world.drain({ maxMs: 2 * HOUR, until: () => landedOf(world).length === 2 });
  expect(world.clock.now() - at).toBeLessThan(30 * MINUTE);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([b, c]);
  expect(await told(world, a)).toContain('pr_skipped:deleted');
});

test('one unlucky answer that it does not exist takes no pull request out of the queue', async () => {
  let isOut = false;
  const hooked = wrapForge(async (name, args, real) => {
    if (!isOut) return real();
    if (name === 'readPullRequest' && args[0] === 1) throw new ForgeError('missing', 'GET pulls/{n}', 404);
    const answer = await real();
    return name === 'listOpenPullRequests'
      ? (answer as { number: number }[]).filter(({ number }) => number !== 1)
      : answer;
  });
  const { world, a, b, c } = await givenThreeScheduled({ wrapForge: hooked });
  expect(a).toBe(1);
  await world.forge.setProtection({ requiredApprovals: 1 });
  await world.drain({ maxMs: 10 * MINUTE });
  for (let i = 0; i < 3; i += 1) {
    isOut = true;
    await world.reconcile();
    await world.clock.advance(MINUTE);
    await world.reconcile();
    isOut = false;
    await world.clock.advance(10 * MINUTE);
    await world.reconcile();
  }
  await world.forge.setProtection({ requiredApprovals: 0 });
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([a, b, c]);
  expect(await told(world, a)).not.toContain('pr_skipped:deleted');
});

test('six whose staging always fails keep a good one for less than half an hour, and each is told', async () => {
  const { world, bad, good } = await sixThatFail();
  const at = world.clock.now();
  await world.drain({ maxMs: 8 * HOUR, until: () => landedOf(world).includes(good) });
  expect((world.clock.now() - at) / MINUTE).toBeLessThan(30);
  await world.drain({ maxMs: 8 * HOUR, until: async () => areAllTold(world, bad) });
  expect((world.clock.now() - at) / MINUTE).toBeLessThan(180);
});

test('under a steady stream of good ones each whose staging fails comes to its end', async () => {
  const { world, bad } = await sixThatFail();
  const at = world.clock.now();
  const prs: number[] = [];
  const openedAt = new Map<number, number>();
  let slowest = 0;
  await world.drain({
    maxMs: 8 * HOUR,
    until: async () => {
      for (const { pr } of world.forge.merges()) {
        const opened = openedAt.get(pr);
        if (opened === undefined) continue;
        slowest = Math.max(slowest, world.clock.now() - opened);
        openedAt.delete(pr);
      }
      const name = `good${prs.length}`;
      if (world.clock.now() >= at + prs.length * 2 * MINUTE) {
        const pr = await givenScheduled(world.forge, name);
        prs.push(pr);
        openedAt.set(pr, world.clock.now());
      }
      return areAllTold(world, bad);
    },
  });
  expect((world.clock.now() - at) / MINUTE).toBeLessThan(180);
  expect(slowest / MINUTE).toBeLessThan(30);
});

test('a merge that never comes and dependencies that cannot be read: told within half an hour, and tried again', async () => {
  const { world, a, b, c } = await givenThreeScheduled();
  let isLost = true;
  world.forge.mergeBehaviour = (pr) => ({ kind: pr === a && isLost ? 'lost' : 'now' });
  world.forge.fault = ({ path }) => (path.endsWith(`issues/${a}/dependencies`) ? { status: 500 } : null);
  await world.drain({ maxMs: 4 * HOUR, until: () => landedOf(world).length === 2 });
  expect(landedOf(world)).toEqual([b, c]);
  isLost = false;
  const at = world.clock.now();
  await world.drain({ maxMs: 4 * HOUR, until: () => landedOf(world).includes(a) });
  expect((world.clock.now() - at) / MINUTE).toBeLessThan(45);
  expect(await told(world, a)).toContain('pr_refused:unclear');
  expect(
    world.forge.statusHistory(await headOf(world, a)).map(({ description }) => description),
  ).toContainEqual(expect.stringMatching(/^waiting: the forge has not answered/));
});

test('requests about one pull request are not answered: told within half an hour', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const [a, b] = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
  const other = await world.forge.openPullRequest({ branch: 'x', files: { x: 'x' } });
  await world.forge.addDependency(a, other);
  world.forge.fault = ({ path }) => (path.endsWith(`issues/${a}/dependencies`) ? { status: 500 } : null);
  await world.drain({ maxMs: 45 * MINUTE });
  expect(landedOf(world)).toEqual([b]);
  expect(await told(world, a)).toContain('pr_refused:unclear');
  expect((await world.forge.status(await headOf(world, a), 'mq'))?.description).toMatch(
    /^waiting: the forge has not answered/,
  );
  const view = toQueueView(givenRepo(), await world.record(), world.clock.now());
  expect(view.places).toMatchObject([{ pr: a, state: 'waiting', reason: 'unclear' }]);
  await world.forge.close(other);
  world.forge.fault = () => null;
  await world.drain({ maxMs: HOUR, until: () => landedOf(world).includes(a) });
});
