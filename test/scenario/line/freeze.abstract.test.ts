import { ForgeError } from '#core/ports/forge.ts';
import { toQueueView } from '../../../engine-container/src/queue/told/view.ts';
import { dailyWindow, nextMinute } from '../../support/freeze-windows.ts';
import { landedOf, told, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

/** Freeze windows: nothing that is not exempt is staged or lands in them (decision 0208). */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const EXEMPTS = { freezeExemptLabels: ['urgent'], priorityPeople: ['oncall'] } as const;

async function given(beginsInMs = 0, lastsMs = 3 * HOUR) {
  const world = await createWorld({ repo: EXEMPTS });
  await givenProject(world.forge);
  const since = nextMinute(world.clock.now()) + beginsInMs;
  const until = since + lastsMs;
  await world.settings({ freezeWindows: [dailyWindow(since, until)] });
  return { world, since, until };
}
const until = async (world: World, at: number) => world.clock.advance(at - world.clock.now());
const wordsOn = async (world: World, pr: number) =>
  (await world.forge.status((await world.forge.pull(pr)).headSha, 'mq'))?.description;
const say = (end: number) =>
  `paused: close of trade (freeze window of this queue, until ${new Date(end).toISOString().slice(0, 16).replace('T', ' ')} UTC)`;

test('in a freeze window nothing is staged, each head says why and until when, and the old order goes on after it', async () => {
  const { world, since, until: end } = await given();
  await until(world, since);
  const first = await givenScheduled(world.forge, 'a');
  await world.clock.advance(MINUTE);
  const second = await givenScheduled(world.forge, 'b');
  await world.drain({ maxMs: 2 * HOUR });
  expect([landedOf(world), world.forge.runs()]).toEqual([[], []]);
  expect([await wordsOn(world, first), await wordsOn(world, second)]).toEqual([say(end), say(end)]);
  const repo = await world.store.getRepo('repo-1');
  if (repo === null) throw new Error('no repo');
  const view = toQueueView(repo, await world.record(), world.clock.now());
  expect(view.places.map(({ reason, until: at }) => [reason, at])).toEqual([
    ['paused', end],
    ['paused', end],
  ]);
  expect(view.block).toMatchObject({ kind: 'paused_by_owner', since, until: end });
  await world.drain({ maxMs: 2 * HOUR });
  expect(world.forge.merges().map(({ pr }) => pr)).toEqual([first, second]);
});

test('a window that begins takes back what is in flight and cancels no schedule, and what was proven needs no second gate run', async () => {
  const { world, since, until: end } = await given(30 * MINUTE);
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(world.forge, 'a');
  await until(world, since - 2 * MINUTE);
  const stateOf = async () =>
    (await world.forge.status((await world.forge.pull(pr)).headSha, 'mq'))?.state ?? 'none';
  await world.drain({ until: async () => (await stateOf()) === 'success' });
  const runs = world.forge.runs().length;
  await until(world, since);
  await world.drain({ maxMs: 20 * MINUTE });
  expect([await stateOf(), (await world.record()).batches]).toEqual(['pending', []]);
  expect([await wordsOn(world, pr), world.forge.isScheduled(pr)]).toEqual([say(end), true]);
  world.forge.mergeBehaviour = () => ({ kind: 'now' });
  await world.drain({ maxMs: 4 * HOUR });
  expect([landedOf(world), world.forge.runs().length]).toEqual([[pr], runs]);
});

test('a label of a named account exempts from a window; one of another account does not', async () => {
  const { world, since, until: end } = await given();
  await until(world, since);
  const [stranger, exempt] = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
  await world.forge.setLabel(stranger, 'urgent', true, 'guest');
  await world.forge.setLabel(exempt, 'urgent', true, 'oncall');
  await world.drain({ maxMs: 2 * HOUR });
  expect([landedOf(world), await wordsOn(world, stranger)]).toEqual([[exempt], say(end)]);
});

test('a batch in which one is not exempt is taken apart when a window begins, and the exempt one lands', async () => {
  const { world, since } = await given(10 * MINUTE);
  world.forge.gateDurationMs = 15 * MINUTE;
  const [plain, exempt] = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
  await world.forge.setLabel(exempt, 'urgent', true, 'oncall');
  await world.drain({ until: () => world.forge.runs().length > 0 });
  await until(world, since + MINUTE);
  await world.drain({ until: () => world.forge.runs().length > 1 });
  expect(await told(world, plain)).toContain('pr_requeued:paused');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([exempt]);
});

test('a pause of the owner holds up exempt ones too', async () => {
  const { world, since } = await given();
  await until(world, since);
  await world.settings({ pause: { kind: 'pause', reason: null, since, until: null } });
  const pr = await givenScheduled(world.forge, 'a');
  await world.forge.setLabel(pr, 'urgent', true, 'oncall');
  await world.drain({ maxMs: HOUR });
  expect([landedOf(world), await wordsOn(world, pr)]).toEqual([
    [],
    'paused: nothing lands (by the owner of this queue, until resumed)',
  ]);
});

test('a drain goes on in a window: exempt ones in flight land, and new ones are not staged', async () => {
  const { world, since } = await given();
  await until(world, since);
  world.forge.gateDurationMs = 10 * MINUTE;
  const running = await givenScheduled(world.forge, 'a');
  await world.forge.setLabel(running, 'urgent', true, 'oncall');
  await world.drain({ until: () => world.forge.runs().length > 0 });
  await world.settings({ pause: { kind: 'drain', reason: null, since, until: null } });
  const later = await givenScheduled(world.forge, 'b');
  await world.forge.setLabel(later, 'urgent', true, 'oncall');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([running]);
});

test('a look that cannot read the branch rule takes no exempt one in flight apart', async () => {
  let isAway = false;
  const world = await createWorld({
    repo: EXEMPTS,
    wrapForge: wrapForge(async (name, _args, answer) => {
      if (isAway && name === 'readProtection') throw new ForgeError('unreachable', name, 502);
      return answer();
    }),
  });
  await givenProject(world.forge);
  const since = nextMinute(world.clock.now());
  await world.settings({ freezeWindows: [dailyWindow(since, since + 5 * HOUR)] });
  await until(world, since);
  world.forge.gateDurationMs = 20 * MINUTE;
  const pr = await givenScheduled(world.forge, 'a');
  await world.forge.setLabel(pr, 'urgent', true, 'oncall');
  await world.drain({ until: () => world.forge.runs().length > 0 });
  await world.clock.advance(5 * MINUTE);
  isAway = true;
  await world.reconcile();
  isAway = false;
  await world.drain({ maxMs: 2 * HOUR });
  expect([landedOf(world), world.forge.runs().length]).toEqual([[pr], 1]);
});
