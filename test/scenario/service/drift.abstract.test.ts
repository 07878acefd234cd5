import { HOOK_LOOK_EVERY_MS } from '#core/domain/set-up/hook-seen.ts';
import { landedOf } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

/** The hook of a repository is compared with what was registered (decision 0209). */
const HOOK = {
  id: 1,
  url: 'https://mq.example/api/v1/webhooks/forge?r=abc',
  isJson: true,
  active: true,
  branchFilter: '*',
  events: ['push', 'pull_request', 'issue_comment', 'release'],
};

async function given(changes: Readonly<Record<string, unknown>> = {}) {
  const world = await createWorld({ repo: { wakeupMode: 'webhook', hookId: 'abc', ...changes } });
  await givenProject(world.forge);
  await world.forge.setHooks([HOOK]);
  return world;
}
const seenBy = async (world: World) => (await world.store.loadReport('repo-1'))?.hook?.state ?? null;
const looksOf = (world: World) => world.forge.calls().filter(({ call }) => call === 'GET hooks').length;

test('a hook that was deleted is told by the next look that is an hour younger, and one that is back is too', async () => {
  const world = await given();
  await world.reconcile();
  expect(await seenBy(world)).toBe('working');
  await world.forge.setHooks([]);
  await world.reconcile();
  expect(await seenBy(world)).toBe('working');
  await world.clock.advance(HOOK_LOOK_EVERY_MS);
  await world.reconcile();
  const goneAt = world.clock.now();
  expect(await seenBy(world)).toBe('missing');
  await world.clock.advance(HOOK_LOOK_EVERY_MS);
  await world.reconcile();
  expect((await world.store.loadReport('repo-1'))?.hook).toMatchObject({ state: 'missing', since: goneAt });
  await world.forge.setHooks([HOOK]);
  await world.clock.advance(HOOK_LOOK_EVERY_MS);
  await world.reconcile();
  expect(await seenBy(world)).toBe('working');
});

test('hooks are listed once in an hour, however often the queue looks, and never for a queue that polls', async () => {
  const world = await given();
  await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: HOOK_LOOK_EVERY_MS / 2 });
  expect([landedOf(world).length, looksOf(world)]).toEqual([1, 1]);
  const polling = await given({ wakeupMode: 'poll' });
  await polling.reconcile();
  expect([looksOf(polling), await seenBy(polling)]).toEqual([0, null]);
});

test('a bot that may not list hooks is held up by nothing', async () => {
  const world = await given();
  await world.forge.setHooks(null);
  const pr = await givenScheduled(world.forge, 'a');
  await world.drain({ maxMs: HOOK_LOOK_EVERY_MS / 2 });
  expect([landedOf(world), await seenBy(world)]).toEqual([[pr], 'hidden']);
});
