import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenProject, givenScheduled } from '../stories.ts';
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
  await world.forge.pushToBase({
    [gate]: 'on:\n  push:\n    branches: ["mq/**"]\njobs:\n  gate:\n    steps:\n      - run: t\n',
  });
  await world.drain();
  for (const pr of prs) expect((await world.forge.pull(pr)).merged).toBe(true);
});

test('where statuses are the gate and none is chosen, the head says so as well', async () => {
  const world = await createWorld({ gate: 'statuses', repo: { ...STATUS_GATE, gateContexts: [] } });
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 10 * MINUTE_MS });
  expect(await wordsOn(world, pr)).toBe(MISSING);
});
