import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { endingOf, givenProject, givenScheduled } from '../stories.ts';
import { createWorld, STATUS_GATE, type World } from '../world.ts';

const MINUTE_MS = 60_000;
const MISSING = PULL_CODES.gate_missing.says;

async function wordsOn({ forge }: World, pr: number): Promise<string | undefined> {
  return (await forge.status((await forge.pull(pr)).headSha, 'mq'))?.description;
}

async function givenNoGate() {
  const world = await createWorld();
  await givenProject(world.forge);
  const files = [...(await world.forge.readFiles(await world.forge.tip('main'))).keys()];
  const gate = files.find((path) => path.endsWith('/mq-gate.yaml')) ?? '';
  await world.forge.pushToBase({ [gate]: null });
  const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
  return { world, gate, prs };
}

const GATE = 'on:\n  push:\n    branches: ["mq/**"]\njobs:\n  gate:\n    steps:\n      - run: t\n';

/** Since when the gate was told to be missing in this time: each value once. A new engine takes each look. */
async function watchSince(world: World, maxMs: number): Promise<readonly unknown[]> {
  const told = new Set<unknown>();
  const end = world.clock.now() + maxMs;
  while (world.clock.now() < end) {
    await world.drain({ maxMs: MINUTE_MS / 4 });
    const block = (await world.store.readQueueViews(['repo-1'])).get('repo-1')?.block;
    if (block?.kind === 'gate_missing') told.add(block.since);
    await world.clock.advance(MINUTE_MS / 4);
  }
  return [...told];
}

test('while the gate is missing each head says so, with no more than one status for each that waits', async () => {
  const { world, prs } = await givenNoGate();
  await world.drain({ maxMs: 10 * MINUTE_MS });
  for (const pr of prs) expect(await wordsOn(world, pr)).toBe(MISSING);
  const written = () => world.forge.calls().filter(({ call }) => call === 'POST statuses/{sha}').length;
  const before = written();
  await world.drain({ maxMs: 60 * MINUTE_MS });
  for (const pr of prs) expect(await wordsOn(world, pr)).toBe(MISSING);
  expect(written() - before).toBe(0);
});

test('once the gate is back the words go, and all of them land', async () => {
  const { world, gate, prs } = await givenNoGate();
  await world.drain({ maxMs: 10 * MINUTE_MS });
  await world.forge.pushToBase({ [gate]: GATE });
  await world.drain();
  for (const pr of prs) expect((await world.forge.pull(pr)).merged).toBe(true);
});

test('it is missing since the first look that missed it, at each later one, also of another engine', async () => {
  const { world } = await givenNoGate();
  const told = await watchSince(world, 20 * MINUTE_MS);
  expect(told).toEqual([expect.any(Number)]);
  const late = await givenScheduled(world.forge, 'c');
  expect(await watchSince(world, 30 * MINUTE_MS)).toEqual(told);
  const view = (await world.store.readQueueViews(['repo-1'])).get('repo-1');
  expect(view?.places).toContainEqual(expect.objectContaining({ pr: late, reason: 'gate_missing' }));
});

test('a second loss of the gate is another one: it is missing since that one', async () => {
  const { world, gate, prs } = await givenNoGate();
  const first = await watchSince(world, 10 * MINUTE_MS);
  await world.forge.pushToBase({ [gate]: GATE });
  await world.drain();
  expect(await endingOf(world, prs)).toEqual({ landed: prs, bounced: [] });
  const lostAt = world.clock.now();
  await world.forge.pushToBase({ [gate]: null });
  await givenScheduled(world.forge, 'c');
  const second = await watchSince(world, 10 * MINUTE_MS);
  expect([first.length, second.length]).toEqual([1, 1]);
  expect(second[0]).toBeGreaterThanOrEqual(lostAt);
});

test('a base that gets its gate by a pull request has it from then on', async () => {
  const { world, gate, prs } = await givenNoGate();
  await world.drain({ maxMs: 10 * MINUTE_MS });
  const brings = await world.forge.openPullRequest({ branch: 'gate', files: { [gate]: GATE } });
  await world.forge.schedule(brings, 'squash');
  await world.drain();
  expect((await endingOf(world, [...prs, brings])).landed.toSorted()).toEqual([...prs, brings].toSorted());
  expect((await world.record()).gateMissing).toBeUndefined();
});

test('where statuses are the gate and none is chosen, the head says so as well', async () => {
  const world = await createWorld({ gate: 'statuses', repo: { ...STATUS_GATE, gateContexts: [] } });
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 10 * MINUTE_MS });
  expect(await wordsOn(world, pr)).toBe(MISSING);
});
