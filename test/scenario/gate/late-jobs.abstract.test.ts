import type { GateReading } from '#core/domain/forge/forge.ts';
import { GATE_CONTEXTS_SETTLE_MS, GATE_JOBS_SETTLE_MS } from '#core/domain/limits.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

const MINUTE_MS = 60_000;

/** A forge without a list of runs: a job of the gate may be told a moment after the others have passed (forge facts, 8). */
async function givenOneStaged() {
  const told: { job: 'passed' | 'waits' | 'failed' } = { job: 'passed' };
  const world = await createWorld({
    wrapForge: (forge) => ({
      ...forge,
      readGate: async (...asked): Promise<GateReading> => {
        const reading = await forge.readGate(...asked);
        if (reading.kind !== 'finished') return reading;
        const { runId, url } = reading;
        if (told.job === 'waits') return { kind: 'running', runId, url };
        if (told.job === 'failed') return { kind: 'finished', verdict: 'failure', runId, url };
        return { ...reading, isOpenEnded: true };
      },
    }),
  });
  await givenProject(world.forge);
  const pr = await givenScheduled(world.forge, 'a');
  await world.clock.advance(MINUTE_MS);
  const landed = async () => (await endingOf(world, [pr])).landed;
  /** Until the gate run has been read once. */
  const staged = async () => {
    for (let looks = 0; !world.forge.runs().some(({ state }) => state === 'success'); looks += 1) {
      if (looks > 300) throw new Error('no gate run has passed');
      await world.clock.advance(1_000);
      await world.reconcile();
    }
  };
  return { world, pr, told, landed, staged };
}

test('what passes by the statuses of jobs lands once it has stood for a while', async () => {
  const { world, pr, landed, staged } = await givenOneStaged();
  await staged();
  await world.reconcile();
  expect(await landed()).toEqual([]);
  await world.drain();
  expect(await landed()).toEqual([pr]);
  await expectHonestEnd(world, [pr]);
});

test('a job that is told after the others have passed is waited for, and its failure counts', async () => {
  const { world, told, landed, staged } = await givenOneStaged();
  await staged();
  await world.reconcile();
  told.job = 'waits';
  await world.clock.advance(GATE_JOBS_SETTLE_MS);
  await world.reconcile();
  expect(await landed()).toEqual([]);
  // One pass more begins the wait anew.
  told.job = 'passed';
  await world.reconcile();
  expect(await landed()).toEqual([]);
  told.job = 'failed';
  await world.drain({ maxMs: 60 * MINUTE_MS });
  expect(await landed()).toEqual([]);
});

test('a pass that may still be added to is looked at again once it cannot, where events tell of gates', async () => {
  const settle = { at: 0 };
  const world = await createWorld({
    repo: { wakeupMode: 'webhook' },
    wrapForge: (forge) => ({
      ...forge,
      readGate: async (...asked): Promise<GateReading> => {
        const reading = await forge.readGate(...asked);
        if (reading.kind !== 'finished') return reading;
        const { runId, url } = reading;
        settle.at ||= world.clock.now() + GATE_CONTEXTS_SETTLE_MS;
        const settlesInMs = settle.at - world.clock.now();
        return settlesInMs > 0
          ? { kind: 'running', runId, url, settlesInMs }
          : { ...reading, isOpenEnded: true };
      },
    }),
  });
  await givenProject(world.forge);
  await world.store.noteHeard('repo-1', 'run', world.clock.now());
  const pr = await givenScheduled(world.forge, 'a');
  const hasLanded = async () => (await endingOf(world, [pr])).landed.includes(pr);
  await world.drain({ until: async () => settle.at > 0 });
  await world.drain({ until: hasLanded });
  expect(world.clock.now()).toBeLessThan(settle.at + GATE_JOBS_SETTLE_MS + MINUTE_MS / 2);
  await expectHonestEnd(world, [pr]);
});
