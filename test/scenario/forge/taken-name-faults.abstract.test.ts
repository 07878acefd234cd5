import { ForgeError } from '#core/ports/forge.ts';
import { type Hook, untilSuccess } from '../hooks.ts';
import { givenScheduled } from '../stories.ts';
import { givenTaken } from '../taken-name.ts';
import { createWorld } from '../world.ts';

/** Another repository has the name (decision 0355), and not each of its calls answers. */

test('a success that stands where the name was is not forgotten while the id cannot be read', async () => {
  const { world, take } = await givenTaken(createWorld, async (name, _, answer) => {
    if (name === 'readRepoId') throw new ForgeError('unreachable', 'GET repo', 502);
    return answer();
  });
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(world.forge, 'a');
  const head = (await world.forge.pull(pr)).headSha;
  await untilSuccess(world, head);
  take(true);
  for (let look = 0; look < 40; look += 1) {
    await world.reconcile();
    await world.clock.advance(60_000);
  }
  const { batches, pendingStatuses } = await world.record();
  expect(batches.length + pendingStatuses.length).toBeGreaterThan(0);
});

test('a repository without pull requests at all is told as another one, and its base says nothing', async () => {
  const { world, other, take } = await givenTaken(createWorld, async (name, _, answer) => {
    if (name === 'listOpenPullRequests' || name === 'listMergedPullRequests')
      throw new ForgeError('missing', 'GET pulls', 404);
    return answer();
  });
  await givenScheduled(world.forge, 'a');
  await world.drain();
  await other.pushToBase({ 'src/x.txt': 'x' });
  take(true);
  expect(await world.reconcile()).toMatchObject({ errorCode: 'forge_access_denied', refusal: 'replaced' });
  expect((await world.record()).unprovenBase).toBeUndefined();
});

/** Its owner may bring about that the list of pull requests is not read, as by more of them than are read. */
const unlisted: Hook = async (name, _, answer) => {
  if (name === 'listOpenPullRequests') throw new ForgeError('unreachable', 'GET pulls', 502);
  return answer();
};

test('a repository whose list cannot be read is told as another one, and its base says nothing', async () => {
  const { world, other, take } = await givenTaken(createWorld, unlisted);
  await givenScheduled(world.forge, 'a');
  await world.drain();
  await other.pushToBase({ 'src/x.txt': 'x' });
  take(true);
  expect(await world.reconcile()).toMatchObject({ errorCode: 'forge_access_denied', refusal: 'replaced' });
  expect((await world.record()).unprovenBase).toBeUndefined();
});

test('while neither its list nor its id can be read, the base and the rule of a repository say nothing', async () => {
  const told: string[] = [];
  const { world, other, take } = await givenTaken(createWorld, async (name, values, answer) => {
    if (name === 'readRepoId') throw new ForgeError('unreachable', 'GET repo', 502);
    const shown = await unlisted(name, values, answer);
    told.push(name);
    return shown;
  });
  await givenScheduled(world.forge, 'a');
  await world.drain();
  await other.pushToBase({ 'src/x.txt': 'x' });
  await other.removeProtection();
  take(true);
  expect(await world.reconcile()).toMatchObject({ errorCode: 'forge_unreachable' });
  expect([told, (await world.record()).unprovenBase]).toEqual([[], undefined]);
});

test('a success is not taken back in a copy of the repository, whose pull requests cannot be read', async () => {
  const { world, other, take } = await givenTaken(createWorld, async (name, values, answer) => {
    if (name === 'readPullRequest') throw new ForgeError('unreachable', 'GET pulls/{n}', 502);
    return unlisted(name, values, answer);
  });
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(world.forge, 'a');
  const copy = await givenScheduled(other, 'a');
  const head = (await world.forge.pull(pr)).headSha;
  expect((await other.pull(copy)).headSha).toBe(head);
  await untilSuccess(world, head);
  take(true);
  for (let look = 0; look < 40; look += 1) {
    await world.reconcile();
    await world.clock.advance(60_000);
  }
  expect(await other.status(head, 'mq')).toBeNull();
  const { batches, pendingStatuses } = await world.record();
  expect(batches.length + pendingStatuses.length).toBeGreaterThan(0);
});

test('a record that was set aside while another repository had the name does not make that one its own', async () => {
  const { world, other, take } = await givenTaken(createWorld);
  await givenScheduled(world.forge, 'a');
  await world.drain();
  const foreign = await givenScheduled(other, 'x');
  take(true);
  await world.reconcile();
  const { loadQueueRecord } = world.store;
  world.store.loadQueueRecord = async (id) => {
    world.store.loadQueueRecord = loadQueueRecord;
    const stored = await world.store.loadQueueRecord(id);
    return stored === null ? null : { ...stored, document: { entries: 'none' } };
  };
  expect(await world.reconcile()).toMatchObject({ errorCode: 'engine_error' });
  await world.clock.advance(60_000);
  await world.drain();
  take(false);
  await givenScheduled(world.forge, 'b');
  expect([other.isMerged(foreign), (await world.reconcile())?.errorCode]).toEqual([false, null]);
});
