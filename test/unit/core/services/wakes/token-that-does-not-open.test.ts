import { DAY_MS, MINUTE_MS } from '#core/domain/api-limits.ts';
import { VaultError } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { wakeNow } from '#core/services/wakes/send-wakes.ts';
import { givenWorker, TOKEN } from './given-worker.ts';

test('a token that does not open is one line when it begins and one each day, and again after it has opened', async () => {
  const world = await givenWorker();
  const linesAfter = async (ms: number): Promise<number> => {
    const before = world.logged.length;
    for (const end = world.clock.now() + ms; world.clock.now() < end; ) {
      await world.clock.advance(5 * MINUTE_MS);
      await wakeNow(world, 'repo-1');
      await dispatchReconcile(world.deps, 'repo-1');
    }
    return world.logged.slice(before).filter((line) => line.startsWith('a token does not open')).length;
  };
  const untilMidnight = DAY_MS - (world.clock.now() % DAY_MS);
  const opens = world.deps.vault.open;
  world.refuseToken(new VaultError('undecryptable'));
  expect(await linesAfter(untilMidnight - 10 * MINUTE_MS)).toBe(1);
  expect(await linesAfter(3 * DAY_MS)).toBe(3);
  Object.assign(world.deps.vault, { open: async () => new Secret(TOKEN) });
  expect(await linesAfter(MINUTE_MS)).toBe(0);
  Object.assign(world.deps.vault, { open: opens });
  expect(await linesAfter(30 * MINUTE_MS)).toBe(1);
});
