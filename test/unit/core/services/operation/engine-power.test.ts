import type { EngineFleet, EngineState } from '#core/ports/engine-fleet.ts';
import type { EngineAnswer, EnginePort } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { createWakingEngine, tendEngine, wakeEngine } from '#core/services/operation/engine-power.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

class FakeFleet implements EngineFleet {
  state: EngineState = { wanted: 1, running: 1, changedAt: NOW - 60 * MINUTE };
  silent = false;
  size = 1;

  async read(): Promise<EngineState> {
    if (this.silent) throw new Error('no answer');
    return this.state;
  }

  async setWanted(tasks: number): Promise<void> {
    this.state = { ...this.state, wanted: tasks, changedAt: NOW };
  }
}

function givenWorld(state: Partial<EngineState>, neededAt: number | null) {
  const fleet = new FakeFleet();
  fleet.state = { ...fleet.state, ...state };
  const lines: string[] = [];
  const record = (message: string, fields = {}): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  return {
    fleet,
    lines,
    store: { loadEngineNeededAt: async () => neededAt },
    clock: { now: () => NOW },
    log: { info: record, warn: record, error: record },
  };
}

describe('the tick tends the engine', () => {
  test.each([
    ['it was needed 59 minutes ago, a task runs', {}, NOW - 59 * MINUTE, 'running', 1],
    ['it is needed, it sleeps', { wanted: 0, running: 0 }, NOW, 'starting', 1],
    ['it is needed, no task comes up', { wanted: 1, running: 0 }, NOW, 'absent', 1],
    ['it was never needed, it has been up for an hour', {}, null, 'resting', 0],
    ['queues are on, and none has needed it for an hour', {}, NOW - 60 * MINUTE, 'resting', 0],
    ['it is not needed, it came up ten minutes ago', { changedAt: NOW - 10 * MINUTE }, null, 'running', 1],
    ['it was needed an hour ago, it sleeps', { wanted: 0, running: 0 }, NOW - 60 * MINUTE, 'asleep', 0],
    [
      'it was needed at a time that is to come, by a clock set back since',
      {},
      NOW + 2 * MINUTE,
      'resting',
      0,
    ],
    ['it is needed, by a clock that is a little fast', {}, NOW + MINUTE, 'running', 1],
    ['two tasks, set by a person, and it is needed', { wanted: 2, running: 2 }, NOW, 'running', 2],
  ])('%s', async (_case, state, neededAt, expected, wanted) => {
    const world = givenWorld(state, neededAt);
    expect(await tendEngine(world)).toBe(expected);
    expect(world.fleet.state.wanted).toBe(wanted);
    expect(world.lines).toEqual([`engine {"state":"${expected}"}`]);
  });

  test('a platform or a store that does not answer changes nothing and stops no tick', async () => {
    const world = givenWorld({}, null);
    world.fleet.silent = true;
    expect(await tendEngine(world)).toBe('unknown');
    const broken = givenWorld({ wanted: 1 }, null);
    broken.store.loadEngineNeededAt = () => Promise.reject(new Error('no answer'));
    expect(await tendEngine(broken)).toBe('unknown');
    expect(broken.fleet.state.wanted).toBe(1);
  });
});

describe('an engine of three tasks', () => {
  test.each([
    ['sleeps and is needed: all are asked for', { wanted: 0, running: 0 }, NOW, 'starting', 3],
    ['has one, as before the deployment that made it larger', { wanted: 1, running: 1 }, NOW, 'running', 3],
    ['is not needed: none is', { wanted: 3, running: 3 }, null, 'resting', 0],
  ])('%s', async (_case, state, neededAt, expected, wanted) => {
    const world = givenWorld(state, neededAt);
    world.fleet.size = 3;
    expect(await tendEngine(world)).toBe(expected);
    expect(world.fleet.state.wanted).toBe(wanted);
  });

  test('is woken whole by a call', async () => {
    const world = givenWorld({ wanted: 0, running: 0 }, NOW);
    world.fleet.size = 3;
    expect(await wakeEngine(world)).toBe(true);
    expect(world.fleet.state.wanted).toBe(3);
  });
});

describe('an engine that sleeps is woken by being called', () => {
  const ORDER = { fence: 1, command: 'reconcile' } as const;
  const request = {
    tenantId: 't',
    repoSlug: 'a/b',
    baseBranch: 'main',
    queueName: 'mq',
    instanceUrl: 'https://forge.example',
    token: new Secret('token'),
  };
  const answering = (answer: EngineAnswer): EnginePort => ({
    reconcile: async () => answer,
    isHealthy: async () => answer === 'ok',
  });

  test.each([
    ['unreachable', 'starting', 1],
    ['lost', 'lost', 0],
    ['failed', 'failed', 0],
    ['ok', 'ok', 0],
  ] as const)('%s is told as %s', async (answer, told, wanted) => {
    const world = givenWorld({ wanted: 0, running: 0 }, NOW);
    expect(await createWakingEngine(answering(answer), world).reconcile(request, ORDER)).toBe(told);
    expect(world.fleet.state.wanted).toBe(wanted);
  });

  test.each([
    ['that was asked for and does not run yet is starting', { wanted: 1, running: 0 }, 'starting'],
    ['that runs and does not answer is unreachable', { wanted: 1, running: 1 }, 'unreachable'],
  ] as const)('one %s', async (_name, state, told) => {
    const world = givenWorld(state, NOW);
    expect(await createWakingEngine(answering('unreachable'), world).reconcile(request, ORDER)).toBe(told);
  });

  test('a platform that does not answer is unreachable', async () => {
    const world = givenWorld({ wanted: 0, running: 0 }, NOW);
    world.fleet.silent = true;
    expect(await createWakingEngine(answering('unreachable'), world).reconcile(request, ORDER)).toBe(
      'unreachable',
    );
  });

  test('a failed health check wakes it, a good one does not', async () => {
    const world = givenWorld({ wanted: 0, running: 0 }, null);
    expect(await createWakingEngine(answering('ok'), world).isHealthy()).toBe(true);
    expect(world.fleet.state.wanted).toBe(0);
    expect(await createWakingEngine(answering('unreachable'), world).isHealthy()).toBe(false);
    expect(world.fleet.state.wanted).toBe(1);
  });

  test('not being able to wake it is no error of the call', async () => {
    const world = givenWorld({}, NOW);
    world.fleet.silent = true;
    await expect(wakeEngine(world)).resolves.toBe(false);
    expect(world.lines).toEqual([expect.stringContaining('could not be woken')]);
  });
});
