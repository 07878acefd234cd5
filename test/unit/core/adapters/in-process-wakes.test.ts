import { setTimeout as wait } from 'node:timers/promises';
import { createInProcessWakes } from '#core/adapters/in-process/wake-queue.ts';
import type { WakeMessage } from '#core/contracts/internal/wake-message.ts';
import { eventually } from '../../../support/eventually.ts';

/** Ends a hang, whatever else the machine does. */
const ANSWERED_WITHIN_MS = 10_000;

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

function givenWakes(answer: (wake: WakeMessage) => Promise<void>, workersMax = 2) {
  return createInProcessWakes({ answer, forward: async () => undefined, workersMax, log });
}

/** One worker, which is busy with a first look until it is let go; then it notes the order of all others. */
function givenBusyWorker() {
  const order: string[] = [];
  let letGo = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const wakes = givenWakes(async ({ repoId, wakeSeq }) => {
    if (repoId === 'first') return first;
    order.push(`${repoId}:${wakeSeq}`);
  }, 1);
  return {
    wakes,
    async begin() {
      await wakes.sendWake('first', 1);
      for (let at = 0; at < 100; at += 1) await wakes.sendIdleWake(`idle-${at}`, 1);
    },
    async end(count: number) {
      letGo();
      await eventually('all are answered', ANSWERED_WITHIN_MS, async () => order.length >= count);
      await wakes.stop();
      return order;
    },
  };
}

describe('wakes in one process', () => {
  test('one repository is answered one wake after the other; those that wait become one', async () => {
    const answered: number[] = [];
    let atOnce = 0;
    let most = 0;
    const wakes = givenWakes(async ({ wakeSeq }) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await wait(5);
      answered.push(wakeSeq);
      atOnce -= 1;
    });
    for (const seq of [1, 2, 3]) await wakes.sendWake('repo-1', seq);
    await eventually('both are answered', ANSWERED_WITHIN_MS, async () => answered.length >= 2);
    await wakes.stop();
    expect({ answered, most }).toEqual({ answered: [1, 3], most: 1 });
  });

  test('a glance waits for no look, and no more glances are out than there are workers', async () => {
    const looks: (() => void)[] = [];
    const glances: (() => void)[] = [];
    const wakes = givenWakes(
      ({ glance }) =>
        new Promise<void>((resolve) => {
          (glance === undefined ? looks : glances).push(resolve);
        }),
    );
    for (let at = 0; at < 5; at += 1) await wakes.sendWake(`busy-${at}`, 1);
    for (let at = 0; at < 5; at += 1) await wakes.sendGlance({ repoId: `quiet-${at}`, wakeSeq: 1, step: 0 });
    await eventually('two of each are out', ANSWERED_WITHIN_MS, async () => glances.length === 2);
    expect(looks).toHaveLength(2);
    for (let ended = 0; ended < 5; ended += 1) {
      await eventually('the next begins', ANSWERED_WITHIN_MS, async () => glances.length > ended);
      glances[ended]?.();
    }
    await eventually('all glances have ended', ANSWERED_WITHIN_MS, async () => wakes.size === 5);
    expect([glances.length, looks.length]).toEqual([5, 2]);
    for (let ended = 0; ended < 5; ended += 1) {
      await eventually('the next begins', ANSWERED_WITHIN_MS, async () => looks.length > ended);
      looks[ended]?.();
    }
    await wakes.stop();
  });

  test('a repository whose glance waits is looked at once, and in the place of what was asked', async () => {
    const order: string[] = [];
    const held: (() => void)[] = [];
    const wakes = givenWakes(async ({ repoId, glance }) => {
      order.push(`${repoId}${glance === undefined ? '' : ' glance'}`);
      await new Promise<void>((resolve) => {
        held.push(resolve);
      });
    }, 1);
    await wakes.sendGlance({ repoId: 'first', wakeSeq: 1, step: 0 });
    await wakes.sendGlance({ repoId: 'second', wakeSeq: 1, step: 0 });
    await wakes.sendWake('second', 2);
    await eventually('it is looked at', ANSWERED_WITHIN_MS, async () => order.length === 2);
    for (const end of held) end();
    await eventually('both have ended', ANSWERED_WITHIN_MS, async () => wakes.size === 0);
    await wakes.stop();
    expect(order).toEqual(['first glance', 'second']);
  });

  test('no more are answered at once than there are workers, and each has its turn', async () => {
    const answered = new Set<string>();
    let atOnce = 0;
    let most = 0;
    const wakes = givenWakes(async ({ repoId }) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await wait(2);
      answered.add(repoId);
      atOnce -= 1;
    });
    for (let at = 0; at < 10; at += 1) await wakes.sendWake(`repo-${at}`, 1);
    await eventually('all are answered', ANSWERED_WITHIN_MS, async () => answered.size >= 10);
    await wakes.stop();
    expect({ answered: answered.size, most }).toEqual({ answered: 10, most: 2 });
  });

  test('a repository that is woken all the time keeps no other from its turn', async () => {
    const answered: string[] = [];
    const wakes = givenWakes(async ({ repoId, wakeSeq }) => {
      answered.push(repoId);
      if (repoId === 'busy') await wakes.sendWake('busy', wakeSeq + 1);
      await wait(1);
    }, 1);
    await wakes.sendWake('busy', 1);
    await wakes.sendWake('quiet', 1);
    await eventually('all had turns', ANSWERED_WITHIN_MS, async () => answered.length >= 6);
    await wakes.stop();
    expect(answered.slice(0, 3)).toContain('quiet');
  });

  test('a glance stands back behind a wake of its repository, and is answered when there is none', async () => {
    const answered: (number | undefined)[] = [];
    const wakes = givenWakes(async ({ glance }) => {
      answered.push(glance);
      await wait(5);
    });
    await wakes.sendWake('repo-1', 1);
    await wakes.sendGlance({ repoId: 'repo-1', wakeSeq: 1, step: 1 });
    await eventually('the wake is answered', ANSWERED_WITHIN_MS, async () => answered.length >= 1);
    // Its answer takes five: until then the repository is busy.
    await wait(15);
    await wakes.sendGlance({ repoId: 'repo-1', wakeSeq: 1, step: 2 });
    await eventually('the glance is answered', ANSWERED_WITHIN_MS, async () => answered.length >= 2);
    await wakes.stop();
    expect(answered).toEqual([undefined, 2]);
  });

  test('an order goes before the idle looks that wait', async () => {
    const busy = givenBusyWorker();
    await busy.begin();
    await busy.wakes.sendWake('ordered', 1);
    const order = await busy.end(101);
    expect(order.slice(0, 3)).toEqual(['ordered:1', 'idle-0:1', 'idle-1:1']);
  });

  test('an order of a repository whose idle look waits goes before the others too, once and with the newest wake', async () => {
    const busy = givenBusyWorker();
    await busy.begin();
    await busy.wakes.sendWake('idle-99', 2);
    await busy.wakes.sendIdleWake('idle-99', 3);
    const order = await busy.end(100);
    expect(order.slice(0, 2)).toEqual(['idle-99:3', 'idle-0:1']);
    expect(order.filter((each) => each.startsWith('idle-99:'))).toHaveLength(1);
  });

  test('a look that was planned goes before idle looks once its time has come, also where the tick has woken it', async () => {
    const busy = givenBusyWorker();
    await busy.begin();
    await busy.wakes.sendDelayedWake('idle-99', 0, 1);
    await wait(20);
    const order = await busy.end(100);
    expect(order[0]).toBe('idle-99:1');
  });

  test('orders without end leave an idle look each fourth turn', async () => {
    const busy = givenBusyWorker();
    await busy.begin();
    for (let at = 0; at < 100; at += 1) await busy.wakes.sendWake(`ordered-${at}`, 1);
    const order = await busy.end(200);
    const turns = order.slice(0, 100).filter((each) => each.startsWith('idle-'));
    expect(turns.slice(0, 3)).toEqual(['idle-0:1', 'idle-1:1', 'idle-2:1']);
    expect(turns).toHaveLength(25);
  });

  test('a stop waits for those under way and takes no more', async () => {
    const ended: number[] = [];
    const wakes = givenWakes(async ({ wakeSeq }) => {
      await wait(10);
      ended.push(wakeSeq);
    });
    await wakes.sendWake('repo-1', 1);
    await wakes.sendWake('repo-1', 2);
    await wakes.stop();
    expect(ended).toEqual([1]);
    await wakes.sendWake('repo-2', 1);
    expect(wakes.size).toBe(1);
  });
});
