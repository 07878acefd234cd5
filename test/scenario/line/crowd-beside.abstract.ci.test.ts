import { landedOf } from '../hooks.ts';
import { givenProject } from '../stories.ts';
import { createWorld } from '../world.ts';

/** What an author who crowds the line is held to while others come (decision 0253). */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GATE = 10 * MINUTE;

async function given(bisectFanout: number) {
  const world = await createWorld({ repo: { bisectFanout } });
  await givenProject(world.forge);
  world.forge.gateDurationMs = GATE;
  return world;
}
type World = Awaited<ReturnType<typeof given>>;

let asked = 0;

async function ask(world: World, author: string, count = 1, content = 'good\n'): Promise<readonly number[]> {
  const prs: number[] = [];
  for (let each = 0; each < count; each += 1) {
    asked += 1;
    const branch = `${author}-${asked}`;
    const pr = await world.forge.openPullRequest({
      branch,
      author,
      files: { [`src/${branch}.txt`]: content },
    });
    await world.forge.scheduleAs(author, pr);
    await world.clock.advance(1_000);
    prs.push(pr);
  }
  return prs;
}

/** Pull requests of the batches in flight, by where they stand. */
async function inFlight(world: World) {
  const { batches } = await world.record();
  const at = (place: string) =>
    batches.filter((batch) => batch.place === place).flatMap(({ members }) => members.map(({ pr }) => pr));
  const runs = batches.flatMap(({ nodes }) => nodes).filter(({ state }) => state !== 'done').length;
  return { pipeline: at('pipeline'), trials: at('trial'), runs };
}

describe('while others come, a crowd is tried beside the line', () => {
  test('what it has not passed yet is in no batch that others wait for, and leaves three eighths of the slots', async () => {
    const world = await given(8);
    const [eve] = await ask(world, 'eve');
    await world.drain({ maxMs: HOUR / 2 });
    const [ann] = await ask(world, 'ann');
    const crowd = await ask(world, 'agent', 40);
    await world.drain({ maxMs: MINUTE });
    const { pipeline, trials, runs } = await inFlight(world);
    expect(pipeline).toEqual([ann]);
    expect(trials.length).toBeGreaterThan(0);
    expect(trials.every((pr) => crowd.includes(pr))).toBe(true);
    expect(runs).toBe(5);
    const [bob] = await ask(world, 'bob');
    await world.drain({ maxMs: 5 * MINUTE });
    expect((await inFlight(world)).pipeline).toEqual([ann, bob]);
    await world.drain({ maxMs: 24 * HOUR });
    expect([...landedOf(world)].sort((a, b) => a - b)).toEqual([eve, ann, ...crowd, bob]);
  });

  test('a bad one among the crowd keeps no person: each waits for one gate run', async () => {
    const world = await given(8);
    const first = await ask(world, 'ann');
    await ask(world, 'agent', 6);
    await ask(world, 'agent', 1, 'BAD\n');
    await ask(world, 'agent', 6);
    await world.drain({ maxMs: 3 * MINUTE });
    const waits: number[] = [];
    for (const author of ['bob', 'eve', 'joe', 'kim']) {
      const since = world.clock.now();
      const [pr] = await ask(world, author);
      await world.drain({ until: () => landedOf(world).includes(pr as number) });
      waits.push(Math.floor((world.clock.now() - since) / GATE));
    }
    expect(waits).toEqual([1, 1, 1, 1]);
    expect(landedOf(world)).toContain(first[0]);
    await world.drain({ maxMs: 24 * HOUR });
    expect(landedOf(world)).toHaveLength(17);
  });

  test('of two slots the crowd has one, also while others wait', async () => {
    const world = await given(2);
    const people = await ask(world, 'ann');
    const crowd = await ask(world, 'agent', 6);
    await world.drain({ maxMs: MINUTE });
    const { pipeline, trials } = await inFlight(world);
    expect(pipeline).toEqual(people);
    expect(trials.length).toBeGreaterThan(0);
    expect(trials.every((pr) => crowd.includes(pr))).toBe(true);
  });

  test('while a search takes hours, its turn comes after three of the others, and before the line takes more', async () => {
    const world = await given(3);
    await ask(world, 'bob', 1, 'BAD\n');
    await world.drain({ maxMs: MINUTE });
    const crowd = await ask(world, 'agent', 30);
    await world.drain({ maxMs: 7 * MINUTE });
    const first = (await inFlight(world)).trials;
    expect(first.length).toBeGreaterThan(4);
    world.forge.gateDurationMs = 3 * HOUR;
    await world.drain({ maxMs: 3 * MINUTE });
    world.forge.gateDurationMs = GATE;
    await world.drain({ maxMs: 7 * MINUTE });
    expect((await inFlight(world)).trials).toEqual([]);
    await ask(world, 'ann');
    await world.drain({ maxMs: 13 * MINUTE });
    expect(landedOf(world)).toEqual(expect.arrayContaining([...first]));
    for (const author of ['joe', 'kim', 'leo']) await ask(world, author);
    await world.drain({ maxMs: 13 * MINUTE });
    const { trials } = await inFlight(world);
    expect([trials.length > 0, trials.every((pr) => crowd.includes(pr))]).toEqual([true, true]);
  });

  test('beside a crowd the line has one place more, which one of the others opens', async () => {
    const world = await given(8);
    await ask(world, 'eve');
    await world.drain({ maxMs: HOUR / 2 });
    world.forge.gateDurationMs = 3 * HOUR;
    const people: number[] = [];
    for (const author of ['ann', 'bob', 'joe']) {
      people.push(...(await ask(world, author)));
      await world.drain({ maxMs: 4 * MINUTE });
    }
    world.forge.gateDurationMs = 5 * MINUTE;
    const crowd = await ask(world, 'agent', 12);
    await world.drain({ maxMs: 6 * MINUTE });
    const { entries } = await world.record();
    expect(entries.filter(({ passedOnStaleBase }) => passedOnStaleBase).length).toBeGreaterThan(0);
    expect((await inFlight(world)).pipeline).toEqual(people);
    world.forge.gateDurationMs = 3 * HOUR;
    const [kim] = await ask(world, 'kim');
    await world.drain({ maxMs: 2 * MINUTE });
    const { pipeline } = await inFlight(world);
    expect([...people, kim].filter((pr) => !pipeline.includes(pr as number))).toEqual([]);
    const [leo] = await ask(world, 'leo');
    await world.drain({ maxMs: 4 * MINUTE });
    expect((await inFlight(world)).pipeline).not.toContain(leo);
    world.forge.gateDurationMs = GATE;
    await world.drain({ maxMs: 24 * HOUR });
    expect(landedOf(world)).toHaveLength(6 + crowd.length);
  });

  test('an author has one batch beside the line in their turns, however long it takes', async () => {
    const world = await given(2);
    await ask(world, 'eve');
    await world.drain({ maxMs: MINUTE / 2 });
    world.forge.gateDurationMs = 3 * HOUR;
    await ask(world, 'agent', 30);
    await world.drain({ maxMs: MINUTE });
    const first = (await inFlight(world)).trials;
    world.forge.gateDurationMs = GATE;
    for (const author of ['ann', 'bob', 'joe', 'kim', 'leo']) {
      const [pr] = await ask(world, author);
      await world.drain({ until: () => landedOf(world).includes(pr as number) });
      expect((await inFlight(world)).trials).toEqual(first);
    }
    expect(first.length).toBeGreaterThan(0);
  });

  test('what it has passed goes along with the others', async () => {
    const world = await given(2);
    await ask(world, 'ann');
    await ask(world, 'agent', 12);
    await world.drain({ maxMs: MINUTE });
    const { trials } = await inFlight(world);
    const [bob] = await ask(world, 'bob');
    await world.drain({ until: () => landedOf(world).includes(bob as number) });
    expect(landedOf(world)).toEqual(expect.arrayContaining([...trials]));
    expect(trials.length).toBeGreaterThan(4);
  });

  test('one slot is for the line: a crowd takes its turns in it', async () => {
    const world = await given(1);
    const people = await ask(world, 'ann');
    const crowd = await ask(world, 'agent', 6);
    await world.drain({ maxMs: MINUTE });
    expect((await inFlight(world)).trials).toEqual([]);
    await world.drain({ until: () => landedOf(world).length > 0 });
    await world.drain({ maxMs: MINUTE });
    const { pipeline, trials } = await inFlight(world);
    expect([pipeline.every((pr) => crowd.includes(pr)), pipeline.length > 0, trials]).toEqual([
      true,
      true,
      [],
    ]);
    await world.drain({ maxMs: 24 * HOUR });
    expect(landedOf(world)).toHaveLength(people.length + crowd.length);
  });

  test('what has passed beside the line stands in it: it is not tried again', async () => {
    const world = await given(8);
    const [ann] = await ask(world, 'ann');
    const crowd = await ask(world, 'agent', 6);
    await world.drain({ maxMs: MINUTE });
    const tried = (await inFlight(world)).trials;
    await world.clock.advance(2_000);
    await world.drain({ until: () => landedOf(world).includes(ann as number) });
    await world.drain({ maxMs: MINUTE });
    const { pipeline, trials } = await inFlight(world);
    expect(pipeline.slice(0, tried.length)).toEqual(tried);
    expect(trials.some((pr) => tried.includes(pr))).toBe(false);
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toHaveLength(1 + crowd.length);
  });

  test('one more of a crowd that is all in flight is tried as well', async () => {
    const world = await given(8);
    await ask(world, 'eve');
    await world.drain({ maxMs: HOUR / 2 });
    await ask(world, 'ann');
    await ask(world, 'agent', 6);
    await world.drain({ maxMs: 5 * MINUTE });
    const [late] = await ask(world, 'agent');
    await world.drain({ maxMs: 4 * MINUTE });
    expect((await inFlight(world)).pipeline).not.toContain(late);
    await world.drain({ maxMs: HOUR });
    expect(landedOf(world)).toContain(late);
  });

  test('it stands in the line itself where no other came for an hour', async () => {
    const world = await given(8);
    await ask(world, 'agent', 6);
    await world.drain({ maxMs: MINUTE });
    expect((await inFlight(world)).trials).toEqual([]);
    await ask(world, 'ann');
    await world.drain({ maxMs: HOUR / 2 });
    expect(landedOf(world)).toHaveLength(7);
    const soon = await ask(world, 'agent', 6);
    await world.drain({ maxMs: MINUTE });
    const now = await inFlight(world);
    expect([now.pipeline, soon.slice(0, now.trials.length)]).toEqual([[], now.trials]);
    expect(now.trials.length).toBeGreaterThan(0);
    await world.clock.advance(HOUR);
    await world.drain({ maxMs: HOUR });
    const later = await ask(world, 'agent', 6);
    await world.drain({ maxMs: MINUTE });
    const { pipeline, trials } = await inFlight(world);
    expect([pipeline.slice(0, later.length), trials]).toEqual([later, []]);
  });

  test('neither an incident nor another priority of its author is one of the others', async () => {
    const repo = {
      bisectFanout: 8,
      incidentLabels: ['incident'],
      highLabels: ['high'],
      priorityPeople: ['oncall'],
    };
    const world = await createWorld({ repo });
    await givenProject(world.forge);
    world.forge.gateDurationMs = GATE;
    const [incident] = await ask(world, 'ann');
    await world.forge.setLabel(incident as number, 'incident', true, 'oncall');
    const crowd = await ask(world, 'agent', 12);
    await world.forge.setLabel(crowd[0] as number, 'high', true, 'oncall');
    await world.drain({ maxMs: 5 * MINUTE });
    const { pipeline, trials } = await inFlight(world);
    expect([pipeline.length > 1, trials]).toEqual([true, []]);
  });

  test('an incident of a crowd is not tried first', async () => {
    const repo = { bisectFanout: 8, incidentLabels: ['incident'], priorityPeople: ['oncall'] };
    const world = await createWorld({ repo });
    await givenProject(world.forge);
    world.forge.gateDurationMs = GATE;
    await ask(world, 'ann');
    const crowd = await ask(world, 'agent', 6);
    for (const pr of crowd) await world.forge.setLabel(pr, 'incident', true, 'oncall');
    await world.drain({ maxMs: MINUTE });
    const { pipeline, trials } = await inFlight(world);
    expect([pipeline[0], trials]).toEqual([crowd[0], []]);
  });
});
