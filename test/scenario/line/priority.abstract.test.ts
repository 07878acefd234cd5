import { PRIORITY_AGING_MS } from '#core/domain/limits.ts';
import type { StatusPost } from '#core/ports/forge.ts';
import { told, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

/** The order of the queue by labels of named people (decision 0206). */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const PEOPLE = {
  incidentLabels: ['incident'],
  highLabels: ['high'],
  lowLabels: ['low'],
  priorityPeople: ['Oncall'],
} as const;

async function given(changes: Readonly<Record<string, unknown>> = {}) {
  const world = await createWorld({ repo: { ...PEOPLE, batchTarget: 0, ...changes } });
  await givenProject(world.forge);
  return world;
}
type World = Awaited<ReturnType<typeof given>>;

const order = (world: World) => world.forge.merges().map(({ pr }) => pr);
/** What is ready when the queue is looked at first, in the order of its batches. */
async function labelled(world: World, names: readonly (string | null)[], by = 'oncall') {
  const prs: number[] = [];
  for (const [index, name] of names.entries()) {
    const pr = await givenScheduled(world.forge, `p${world.clock.now()}-${index}`);
    if (name !== null) await world.forge.setLabel(pr, name, true, by);
    await world.clock.advance(2_000);
    prs.push(pr);
  }
  return prs;
}

test('a higher priority lands first, and within one the earlier schedule', async () => {
  const world = await given();
  const [low, first, second, high, incident] = await labelled(world, ['low', null, null, 'high', 'incident']);
  await world.drain({ maxMs: HOUR });
  expect(order(world)).toEqual([incident, high, first, second, low]);
});

test('a label of an account that is not named changes nothing, and neither does one that is taken off', async () => {
  const world = await given();
  const [first, second] = await labelled(world, [null, 'incident'], 'guest');
  const third = await givenScheduled(world.forge, 'third');
  await world.forge.setLabel(third, 'incident', true, 'oncall');
  await world.forge.setLabel(third, 'incident', false, 'guest');
  await world.forge.setLabel(third, 'incident', true, 'guest');
  await world.drain({ maxMs: HOUR });
  expect(order(world)).toEqual([first, second, third]);
});

test('an incident is staged at once in a batch of its own: what is not half done is taken apart and keeps its places', async () => {
  const world = await given();
  world.forge.gateDurationMs = 20 * MINUTE;
  // One landing teaches how long the gate takes.
  await givenScheduled(world.forge, 'before');
  await world.drain({ maxMs: HOUR });
  const [first, second] = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
  const runs = world.forge.runs().length;
  await world.drain({ until: () => world.forge.runs().length > runs });
  await world.clock.advance(5 * MINUTE);
  const begun = world.clock.now();
  const incident = await givenScheduled(world.forge, 'fix');
  await world.forge.setLabel(incident, 'incident', true, 'oncall');
  await world.drain({ until: () => world.forge.isMerged(incident) });
  expect(world.clock.now() - begun).toBeLessThan(30 * MINUTE);
  expect(await told(world, first)).toContain('pr_requeued:overtaken');
  await world.drain({ maxMs: 2 * HOUR });
  expect(order(world).slice(1)).toEqual([incident, first, second]);
});

test('a gate run that is more than half done is not thrown away for an incident', async () => {
  const world = await given();
  world.forge.gateDurationMs = 20 * MINUTE;
  await givenScheduled(world.forge, 'before');
  await world.drain({ maxMs: HOUR });
  const first = await givenScheduled(world.forge, 'a');
  const runs = world.forge.runs().length;
  await world.drain({ until: () => world.forge.runs().length > runs });
  await world.clock.advance(12 * MINUTE);
  const begun = world.clock.now();
  const incident = await givenScheduled(world.forge, 'fix');
  await world.forge.setLabel(incident, 'incident', true, 'oncall');
  await world.drain({ until: () => world.forge.isMerged(incident) });
  expect(order(world).slice(1)).toEqual([first, incident]);
  expect(await told(world, first)).not.toContain('pr_requeued:overtaken');
  expect(world.clock.now() - begun).toBeLessThan(40 * MINUTE);
});

test('while a slot is free an incident is staged on top of what most likely passes, and no gate run is thrown away', async () => {
  const world = await given({ bisectFanout: 4 });
  world.forge.gateDurationMs = 20 * MINUTE;
  await givenScheduled(world.forge, 'before');
  await world.drain({ maxMs: HOUR });
  const first = await givenScheduled(world.forge, 'a');
  const runs = world.forge.runs().length;
  await world.drain({ until: () => world.forge.runs().length > runs });
  const begun = world.clock.now();
  const incident = await givenScheduled(world.forge, 'fix');
  await world.forge.setLabel(incident, 'incident', true, 'oncall');
  await world.drain({ until: () => world.forge.isMerged(incident) });
  expect(world.clock.now() - begun).toBeLessThan(25 * MINUTE);
  expect([order(world).slice(1), world.forge.runs().length]).toEqual([[first, incident], runs + 2]);
  expect(await told(world, first)).not.toContain('pr_requeued:overtaken');
});

test('an incident does not wait for others to join its batch', async () => {
  const world = await given({ batchLingerSeconds: 3_000 });
  const [incident] = await labelled(world, ['incident']);
  await world.drain({ maxMs: 10 * MINUTE });
  expect(order(world)).toEqual([incident]);
});

test('an incident that the rule refuses takes nothing apart', async () => {
  const world = await given();
  await world.forge.setProtection({ requiredApprovals: 1 });
  const first = await givenScheduled(world.forge, 'a');
  await world.forge.review(first, 'reviewer', 'approve');
  world.forge.gateDurationMs = 10 * MINUTE;
  await world.drain({ until: () => world.forge.runs().length > 0 });
  const incident = await givenScheduled(world.forge, 'fix');
  await world.forge.setLabel(incident, 'incident', true, 'oncall');
  await world.drain({ maxMs: HOUR });
  expect(order(world)).toEqual([first]);
  expect(world.forge.runs()).toHaveLength(1);
});

test('each four hours of waiting lift a pull request by one priority: none waits for ever', async () => {
  const world = await given({ batchTarget: 0 });
  const later = world.clock.now() + 2 * PRIORITY_AGING_MS + MINUTE;
  await world.settings({ pause: { kind: 'pause', reason: null, since: world.clock.now(), until: later } });
  const [low] = await labelled(world, ['low']);
  await world.drain({ maxMs: 2 * PRIORITY_AGING_MS });
  const [high, normal] = await labelled(world, ['high', null]);
  await world.drain({ maxMs: HOUR });
  expect(order(world)).toEqual([low, high, normal]);
});

test('an incident that conflicts with the base and with what is in flight is tried once on each', async () => {
  const said: string[] = [];
  const world = await createWorld({
    repo: { ...PEOPLE, bisectFanout: 4 },
    wrapForge: wrapForge(async (name, args, answer) => {
      if (name === 'postStatus') said.push((args[1] as StatusPost).description);
      return answer();
    }),
  });
  const { forge } = world;
  const path = 'src/same.txt';
  await givenProject(forge, { [path]: 'old\n' });
  for (const name of ['x', 'y', 'z']) await givenScheduled(forge, name);
  await world.drain({ maxMs: HOUR });
  const files = { [path]: 'incident\n' };
  const incident = await forge.openPullRequest({ branch: 'incident', files });
  await forge.schedule(incident);
  await forge.pushToBase({ [path]: 'new\n' });
  forge.gateDurationMs = 20 * MINUTE;
  const ahead = await givenScheduled(forge, 'ahead', 'ahead\n', { path });
  await world.drain({ until: () => forge.runs().some(({ state }) => state === 'running') });
  const later: number[] = [];
  for (let each = 0; each < 40; each += 1) later.push(await givenScheduled(forge, `later${each}`));
  await forge.setLabel(incident, 'incident', true, 'oncall');
  said.length = 0;
  await world.drain({ maxMs: 15 * MINUTE });
  // The conflict with the base was said before, and it lasts.
  expect(said.filter((words) => !/^(queued|staged):/.test(words))).toEqual([]);
  expect((await world.record()).deferred.map(({ pr, reason }) => [pr, reason])).toEqual([
    [incident, 'conflict'],
    [incident, 'conflict_ahead'],
  ]);
  await world.drain({ maxMs: 2 * HOUR });
  expect(
    order(world)
      .slice(3)
      .sort((one, other) => one - other),
  ).toEqual([ahead, ...later]);
});
