import type { Pause } from '#core/domain/repos/pause.ts';
import { toQueueView } from '../../../engine-container/src/queue/told/view.ts';
import { landedOf, told } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

/** The owner holds a queue up: no place, no schedule and no proof is lost (decision 0205). */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REASON = 'release 2.4';

const given = (world: World, changes: Partial<Pause> = {}) =>
  world.settings({
    pause: { kind: 'pause', reason: REASON, since: world.clock.now(), until: null, ...changes },
  });
const resume = (world: World) => world.settings({ pause: null });
const wordsOn = async (world: World, pr: number) =>
  (await world.forge.status((await world.forge.pull(pr)).headSha, 'mq'))?.description;

async function givenPostedSuccess() {
  const world = await createWorld();
  await givenProject(world.forge);
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(world.forge, 'a');
  const stateOf = async () =>
    (await world.forge.status((await world.forge.pull(pr)).headSha, 'mq'))?.state ?? 'none';
  await world.drain({ until: async () => (await stateOf()) === 'success' });
  return { world, pr, stateOf };
}

test('while it is paused nothing is staged, each head says why and until when, and the old order goes on after it', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const until = world.clock.now() + 3 * HOUR;
  await given(world, { until });
  const first = await givenScheduled(world.forge, 'a');
  await world.clock.advance(MINUTE);
  const second = await givenScheduled(world.forge, 'b');
  await world.drain({ maxMs: 2 * HOUR });
  expect(landedOf(world)).toEqual([]);
  expect(world.forge.runs()).toEqual([]);
  const end = new Date(until).toISOString().slice(0, 16).replace('T', ' ');
  const words = `paused: ${REASON} (by the owner of this queue, until ${end} UTC)`;
  expect([await wordsOn(world, first), await wordsOn(world, second)]).toEqual([words, words]);
  const repo = await world.store.getRepo('repo-1');
  if (repo === null) throw new Error('no repo');
  const view = toQueueView(repo, await world.record(), world.clock.now());
  expect(view.places.map(({ pr, reason, until: at }) => [pr, reason, at])).toEqual([
    [first, 'paused', until],
    [second, 'paused', until],
  ]);
  expect(view.block).toMatchObject({ kind: 'paused_by_owner', until });
  const third = await givenScheduled(world.forge, 'c');
  await world.drain({ maxMs: 2 * HOUR });
  expect(world.forge.merges().map(({ pr }) => pr)).toEqual([first, second, third]);
});

test.each<[string, (world: World) => Promise<void>, (world: World) => Promise<void>]>([
  ['a pause that is set', (world) => given(world), resume],
  // Off cancels schedules by the service, which this world does not have: on again, it is tested anew.
  [
    'a queue that is switched off',
    (world) => world.settings({ queueEnabled: false }),
    (world) => world.settings({ queueEnabled: true, enabledAt: world.clock.now() }),
  ],
  // The caller has gone meanwhile, so that the queue stays on.
  [
    'a switch-off that waits for the engine',
    async (world) => {
      await world.store.askStop('repo-1', world.clock.now() + 2 * HOUR);
    },
    (world) => world.clock.advance(2 * HOUR),
  ],
])('%s while the engine looks holds at once: what passes then does not land', async (_case, hold, goOn) => {
  let isSet = false;
  const world: World = await createWorld({
    wrapForge: (forge) => ({
      ...forge,
      readGate: async (...asked) => {
        const answer = await forge.readGate(...asked);
        if (answer.kind === 'finished' && !isSet) {
          isSet = true;
          await hold(world);
        }
        return answer;
      },
    }),
  });
  await givenProject(world.forge);
  world.forge.gateDurationMs = 3_000;
  const pr = await givenScheduled(world.forge, 'a');
  // Its head has settled: what passes may land in the same look.
  await world.clock.advance(MINUTE);
  await world.drain({ maxMs: HOUR });
  expect(isSet).toBe(true);
  expect(landedOf(world)).toEqual([]);
  await goOn(world);
  await world.drain();
  expect(landedOf(world)).toEqual([pr]);
});

test('a pause takes a success back, no schedule is lost, and what was proven needs no second gate run', async () => {
  const { world, pr, stateOf } = await givenPostedSuccess();
  const runs = world.forge.runs().length;
  await given(world);
  await world.drain({ maxMs: 20 * MINUTE });
  expect([await stateOf(), (await world.record()).batches]).toEqual(['pending', []]);
  expect(await wordsOn(world, pr)).toBe(`paused: ${REASON} (by the owner of this queue, until resumed)`);
  expect(await told(world, pr)).toContain('pr_requeued:paused');
  world.forge.mergeBehaviour = () => ({ kind: 'now' });
  await resume(world);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([pr]);
  expect(world.forge.runs()).toHaveLength(runs);
});

test('a drained queue lands what is in flight, and begins nothing new until it is resumed', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const running = await givenScheduled(world.forge, 'a');
  await world.drain({ until: () => world.forge.runs().length > 0 });
  await given(world, { kind: 'drain', reason: null });
  const later = await givenScheduled(world.forge, 'b');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([running]);
  expect(await wordsOn(world, later)).toBe(
    'paused: nothing new is staged (by the owner of this queue, until resumed)',
  );
  await resume(world);
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([running, later]);
});

test('words of a pause are replaced when it is over, also where the pull request waits for the next batch', async () => {
  const world = await createWorld({ repo: { batchLingerSeconds: 1_800 } });
  await givenProject(world.forge);
  await given(world);
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 10 * MINUTE });
  await resume(world);
  await world.reconcile();
  expect(await wordsOn(world, pr)).toMatch(/^queued: /);
});

test('a refusal keeps its words in a pause: they say what to do', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  await world.forge.setProtection({ requiredApprovals: 1 });
  await given(world);
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 10 * MINUTE });
  expect(await wordsOn(world, pr)).toMatch(/^refused: required approvals/);
});

test('the words of a pause that ended after the record was lost are replaced at the next look', async () => {
  const world = await createWorld({ repo: { batchLingerSeconds: HOUR / 1_000 } });
  await givenProject(world.forge);
  await given(world);
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: 10 * MINUTE });
  expect(await wordsOn(world, pr)).toMatch(/^paused: /);
  await world.loseRecord();
  await resume(world);
  await world.reconcile();
  await world.clock.advance(MINUTE);
  await world.reconcile();
  expect(await wordsOn(world, pr)).toMatch(/^queued/);
  expect(world.forge.runs()).toEqual([]);
});
