import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { HEARD_COUNTS_MS, HEARD_GATE_LOOK_MS, type HeardKind } from '#core/domain/wakes/heard-events.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, STATUS_GATE } from '../world.ts';
import { defineGateLookTests, LONG_GATE_MS } from './gate-looks.suite.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TICK_MS = 5 * MINUTE_MS;

defineGateLookTests(async (options) => {
  const world = await createWorld(options);
  world.forge.gateDurationMs = LONG_GATE_MS;
  return world;
});

interface Heard {
  readonly repo?: Partial<ManagedRepo>;
  readonly kind?: HeardKind;
  /** @default 0 */
  readonly agoMs?: number;
}

async function givenHeard({ repo = {}, kind = 'run', agoMs = 0 }: Heard = {}) {
  const isStatuses = repo.gate === 'statuses';
  const world = await createWorld({
    repo: { wakeupMode: 'webhook', ...repo },
    ...(isStatuses ? { gate: 'statuses' as const } : {}),
  });
  await givenProject(world.forge);
  world.forge.gateDurationMs = LONG_GATE_MS;
  await world.store.noteHeard('repo-1', kind, world.clock.now());
  await world.clock.advance(agoMs);
  return world;
}

/** From the schedule to the landing, with a wake at each end of a gate run, as an event makes it. */
async function landTold(world: Awaited<ReturnType<typeof givenHeard>>, name: string) {
  const pr = await givenScheduled(world.forge, name);
  const begunAt = world.clock.now();
  const callsBefore = world.forge.calls().length;
  const ended = () => world.forge.runs().filter(({ state }) => state !== 'running').length;
  let looks = 0;
  while (!world.forge.isMerged(pr)) {
    const report = await world.reconcile();
    looks += 1;
    const due = Math.min(report?.wakeAt ?? Number.POSITIVE_INFINITY, world.clock.now() + TICK_MS);
    const endedBefore = ended();
    while (world.clock.now() < due && ended() === endedBefore && !world.forge.isMerged(pr))
      await world.clock.advance(Math.min(1_000, due - world.clock.now()));
    if (looks > 1_000) throw new Error('it never landed');
  }
  return { looks, ms: world.clock.now() - begunAt, calls: world.forge.calls().length - callsBefore };
}

const OFTEN_LOOKS_MIN = LONG_GATE_MS / 30_000;
const RARE_LOOKS_MAX = LONG_GATE_MS / HEARD_GATE_LOOK_MS + 12;

describe('a forge whose events arrive', () => {
  test('is polled rarely during each gate run, and a landing waits for no poll', async () => {
    const world = await givenHeard();
    for (const name of ['a', 'b', 'c']) {
      const told = await landTold(world, name);
      expect(told.looks).toBeLessThanOrEqual(RARE_LOOKS_MAX);
      expect(told.ms).toBeLessThanOrEqual(LONG_GATE_MS + MINUTE_MS);
    }
    expect((await world.record()).gateLooks?.missedAt).toBeUndefined();
  });

  test('the poll stays: each comes when it is due, whatever other looks come between', async () => {
    const world = await givenHeard();
    await givenScheduled(world.forge, 'a');
    await world.reconcile();
    const planned = (await world.reconcile())?.wakeAt ?? 0;
    expect(planned).toBeLessThanOrEqual(world.clock.now() + HEARD_GATE_LOOK_MS);
    await world.clock.advance(30_000);
    expect((await world.reconcile())?.wakeAt).toBe(planned);
  });

  test.each<[string, Heard]>([
    ['events that arrived a day ago', { agoMs: HEARD_COUNTS_MS }],
    ['events of another kind than tells of this gate', { kind: 'status' }],
    ['run events where another CI is the gate', { repo: STATUS_GATE }],
    ['events of before its owner took the webhook away', { repo: { wakeupMode: 'poll' } }],
  ])('%s do not count: it is polled often', async (_name, heard) => {
    const world = await givenHeard(heard);
    expect((await landTold(world, 'a')).looks).toBeGreaterThan(OFTEN_LOOKS_MIN);
  });

  test('status events count where another CI is the gate', async () => {
    const world = await givenHeard({ repo: STATUS_GATE, kind: 'status' });
    expect((await landTold(world, 'a')).looks).toBeLessThanOrEqual(RARE_LOOKS_MAX);
  });

  test('contexts of a pattern that settle after their event are no verdict of a poll', async () => {
    const world = await givenHeard({ repo: { ...STATUS_GATE, gateContexts: ['ci/*'] }, kind: 'status' });
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await world.store.noteHeard('repo-1', 'status', world.clock.now());
      world.forge.gateDurationMs += 17_000;
      await landTold(world, name);
      await world.clock.advance(HOUR_MS);
      await world.reconcile();
    }
    expect((await world.record()).gateLooks?.missedAt).toBeUndefined();
  });
});
