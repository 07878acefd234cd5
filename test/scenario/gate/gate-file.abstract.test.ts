import {
  endingOf,
  expectHonestEnd,
  GATE_FILE,
  GATE_PATH,
  givenProject,
  givenScheduled,
  judgeByContent,
  statusOf,
} from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const MINUTE_MS = 60_000;

async function givenChange(
  world: World,
  branch: string,
  files: Readonly<Record<string, string | null>>,
): Promise<number> {
  const pr = await world.forge.openPullRequest({ branch, files });
  await world.forge.schedule(pr, 'squash');
  return pr;
}

async function eventsOf(world: World, pr: number): Promise<readonly string[]> {
  const events = (await world.events()).filter((event) => event.pr === pr);
  return events.map(({ event, reason }) => (reason === null ? event : `${event} ${reason}`));
}

describe('a pull request that takes the gate workflow away', () => {
  test.each([
    ['deletes the file', { [GATE_PATH]: null }],
    ['renames the file', { [GATE_PATH]: null, '.forgejo/workflows/gate.yaml': GATE_FILE }],
  ] as const)('%s: it alone is refused in words, and the others land', async (_name, files) => {
    const world = await createWorld();
    await givenProject(world.forge);
    const before = await givenScheduled(world.forge, 'a');
    const culprit = await givenChange(world, 'no-gate', files);
    const after = [await givenScheduled(world.forge, 'b'), await givenScheduled(world.forge, 'c')];
    await world.drain({ maxMs: 30 * MINUTE_MS });
    const others = [before, ...after];
    expect(await endingOf(world, [...others, culprit])).toEqual({ landed: others, bounced: [] });
    expect(await statusOf(world, culprit)).toMatch(/^error: refused: .*gate workflow/);
    expect(await eventsOf(world, culprit)).toContain('pr_refused removes_gate');
    for (const pr of others) expect((await eventsOf(world, pr)).join()).not.toContain('gate_missing');
    expect((await world.reconcile())?.errorCode).toBeNull();
    await expectHonestEnd(world, [...others, culprit]);
  });

  test('first in the queue: the others do not wait for it', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const culprit = await givenChange(world, 'no-gate', { [GATE_PATH]: null });
    const others = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(await endingOf(world, [culprit, ...others])).toEqual({ landed: others, bounced: [] });
    expect(world.forge.runs()).toHaveLength(1);
  });

  test('a new head that keeps the file lands', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenChange(world, 'no-gate', { [GATE_PATH]: null, 'src/x.txt': 'x\n' });
    await world.drain({ maxMs: 10 * MINUTE_MS });
    await world.forge.pushToPullRequest(pr, { [GATE_PATH]: GATE_FILE });
    await world.forge.schedule(pr, 'squash');
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
  });
});

test('on a base without a gate the pull request that brings it lands, and those before it wait', async () => {
  const world = await createWorld();
  await world.forge.pushToBase({ [GATE_PATH]: null, 'README.md': 'hello\n' });
  world.forge.judge = judgeByContent;
  const waiting = await givenScheduled(world.forge, 'a');
  const bringer = await givenChange(world, 'gate', { [GATE_PATH]: GATE_FILE });
  await world.drain({ maxMs: 60 * MINUTE_MS });
  expect((await endingOf(world, [waiting, bringer])).landed).toEqual([bringer, waiting]);
  await expectHonestEnd(world, [waiting, bringer]);
});
