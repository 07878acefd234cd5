import { RECONCILE_ERROR_SENTENCES } from '#core/domain/repos/repo.ts';
import { headOf, landedOf, stateOf, untilSuccess } from '../hooks.ts';
import { givenScheduled, unprovenLandings } from '../stories.ts';
import { givenThreeScheduled } from '../three-scheduled.ts';
import type { World } from '../world.ts';

/**
 * A `success` that the forge does not let us take back (A24). While it may still open a merge nothing else lands, and a
 * person is told; where it opens nothing any more the others go on.
 */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function stuckOn() {
  const { world, a, b, c } = await givenThreeScheduled();
  let kind: 'lost' | 'now' = 'lost';
  world.forge.mergeBehaviour = (pr) => ({ kind: pr === a ? kind : 'now' });
  const head = await headOf(world, a);
  await untilSuccess(world, head);
  world.forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(`statuses/${head}`) ? { status: 500 } : null;
  const release = () => {
    kind = 'now';
  };
  return { world, a, b, c, head, release };
}

const alarms = (world: World) => world.log.filter(({ fields }) => fields.alarm === 'success_stands');

test('told once with its own words: which pull request, which head, and what a person does', async () => {
  const { world, a, head } = await stuckOn();
  await world.drain({ maxMs: HOUR });
  expect(await stateOf(world, head)).toBe('success');
  const report = await world.reconcile();
  expect(report?.errorCode).toBe('success_stands');
  expect(report?.wakeAt).toBeGreaterThan(world.clock.now());
  expect(RECONCILE_ERROR_SENTENCES.success_stands).toMatch(/cancel its auto-merge or close it/);
  expect(alarms(world)).toHaveLength(1);
  expect(alarms(world)[0]?.fields.pr).toBe(a);
  const events = (await world.events()).filter(({ reason }) => reason === 'success_stands');
  expect(events.map(({ event, pr, head: of }) => ({ event, pr, of }))).toEqual([
    { event: 'pr_refused', pr: a, of: head },
  ]);
});

test('told as well where the forge does not show what stands on that head', async () => {
  const { world, a, head } = await stuckOn();
  world.forge.fault = ({ path }) =>
    path.endsWith(`statuses/${head}`) || path.includes(`commits/${head}/status`) ? { status: 500 } : null;
  await world.drain({ maxMs: HOUR });
  expect(alarms(world).map(({ fields }) => fields.pr)).toEqual([a]);
  expect(landedOf(world)).toEqual([]);
});

test('nothing else lands while it may open a merge, so that a merge by it is a proven one', async () => {
  const { world, a, release } = await stuckOn();
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([]);
  release();
  await world.forge.review(a, 'rev', 'approve');
  await world.clock.advance(MINUTE);
  expect(landedOf(world)).toContain(a);
  await world.drain({ maxMs: 2 * HOUR });
  expect(await unprovenLandings(world.forge)).toEqual([]);
  expect(world.log.filter(({ fields }) => fields.alarm === 'unverified_landing')).toEqual([]);
});

test.each(['closed', 'cancelled', 'deleted', 'pushed'] as const)(
  'once its pull request is %s the others go on',
  async (how) => {
    const { world, a, b, c } = await stuckOn();
    await world.drain({ maxMs: 20 * MINUTE });
    if (how === 'closed') await world.forge.close(a);
    if (how === 'cancelled') await world.forge.cancelSchedule(a);
    if (how === 'deleted') await world.forge.deletePullRequest(a);
    if (how === 'pushed') await world.forge.pushToPullRequest(a, { 'src/more.txt': 'more\n' });
    const at = world.clock.now();
    await world.drain({ maxMs: 3 * HOUR, until: () => landedOf(world).length === 2 });
    expect(landedOf(world)).toEqual([b, c]);
    expect(world.clock.now() - at).toBeLessThan(30 * MINUTE);
  },
);

test('nothing more lands once it is scheduled again on that head, until the success can be taken back', async () => {
  const { world, a, b, c, head } = await stuckOn();
  await world.drain({ maxMs: 20 * MINUTE });
  await world.forge.cancelSchedule(a);
  await world.drain({ maxMs: HOUR, until: () => landedOf(world).length === 2 });
  await world.forge.schedule(a, 'squash');
  const d = await givenScheduled(world.forge, 'd');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).toEqual([b, c]);
  expect((await world.reconcile())?.errorCode).toBe('success_stands');
  world.forge.fault = () => null;
  await world.drain({ maxMs: HOUR, until: () => landedOf(world).includes(d) });
  expect(await stateOf(world, head)).not.toBe('success');
});

async function useNextContext({ forge, settings }: World) {
  await forge.setProtection({ requiredContexts: ['next'] });
  await settings({ statusContext: 'next' });
}

test('another status context is used all the same, and what stands goes on being told', async () => {
  const { world, b, c, head } = await stuckOn();
  await world.drain({ maxMs: 20 * MINUTE });
  await useNextContext(world);
  await world.drain({ maxMs: HOUR, until: () => landedOf(world).length === 2 });
  expect(landedOf(world)).toEqual([b, c]);
  expect((await world.record()).context).toBe('next');
  expect((await world.reconcile())?.errorCode).toBe('success_stands');
  expect(alarms(world)).toHaveLength(1);
  expect((await world.forge.status(head, 'mq'))?.state).toBe('success');
  world.forge.fault = () => null;
  await world.drain({ maxMs: HOUR });
  expect((await world.forge.status(head, 'mq'))?.state).not.toBe('success');
  expect((await world.reconcile())?.errorCode).toBeNull();
  expect(await unprovenLandings(world.forge)).toEqual([]);
});

test('also where the forge does not show what stands on that head', async () => {
  const { world, head } = await stuckOn();
  world.forge.fault = ({ path }) =>
    path.endsWith(`statuses/${head}`) || path.includes(`commits/${head}/status`) ? { status: 500 } : null;
  await world.drain({ maxMs: 20 * MINUTE });
  await useNextContext(world);
  const isUsed = async () => (await world.record()).context === 'next';
  await world.drain({ maxMs: HOUR, until: isUsed });
  expect(await isUsed()).toBe(true);
  expect((await world.forge.status(head, 'mq'))?.state).toBe('success');
});

test('while the rule still asks for the old context, another one is not used before what stands is gone', async () => {
  const { world, head } = await stuckOn();
  await world.drain({ maxMs: 20 * MINUTE });
  await world.settings({ statusContext: 'next' });
  await world.drain({ maxMs: HOUR });
  expect((await world.record()).context).toBe('mq');
  expect(landedOf(world)).toEqual([]);
  expect(await stateOf(world, head)).toBe('success');
});
