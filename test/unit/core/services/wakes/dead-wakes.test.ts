import { StoreError, type StoreErrorKind } from '#core/ports/store.ts';
import { writeOffDeadWakes } from '#core/services/wakes/dead-wakes.ts';
import { givenConnection, givenRepo } from '../../../../builders/managed-repo.ts';
import { createMemoryStore, type MemoryStore } from '../../../../fakes/memory-store.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

async function givenDead(repoIds: readonly (string | null)[]) {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  await store.createTenant('tenant-1', clock.now());
  await store.createConnection(givenConnection());
  const repo = givenRepo();
  await store.createRepo(repo, null);
  const left = repoIds.map((repoId, at) => ({ id: `m${at}`, repoId }));
  const lines: string[] = [];
  const write = (message: string, fields = {}): void => {
    lines.push(message + JSON.stringify(fields));
  };
  const deadWakes = {
    take: async () =>
      left.slice(0, 10).map((each) => ({
        ...each,
        drop: async () => {
          left.splice(left.indexOf(each), 1);
        },
      })),
  };
  const deps = { deadWakes, store, clock, log: { info: write, warn: write, error: write } };
  return { deps, left, lines, outcome: () => store.loadReconcileOutcome(repo) };
}

/** A store that fails to read one repository. */
function refuse(store: MemoryStore, repoId: string, kind: StoreErrorKind): MemoryStore['getRepo'] {
  const getRepo = store.getRepo.bind(store);
  return async (id) => {
    if (id === repoId) throw new StoreError(kind, 'getRepo');
    return getRepo(id);
  };
}

describe('a wake that failed for good', () => {
  test('is an honest outcome of its repository, a line in the log, and gone', async () => {
    const world = await givenDead(['repo-1']);
    await writeOffDeadWakes(world.deps);
    expect(await world.outcome()).toMatchObject({ ok: false, errorCode: 'engine_error' });
    expect(world.lines).toEqual(['a wake failed for good{"message_id":"m0","repo_id":"repo-1"}']);
    expect(world.left).toEqual([]);
  });

  test('of a repository that is gone, or that is no wake, is dropped', async () => {
    const world = await givenDead(['repo-9', null]);
    await writeOffDeadWakes(world.deps);
    expect([world.left, world.lines.length]).toEqual([[], 2]);
  });

  test('among many: so many per tick, and the rest at the next', async () => {
    const world = await givenDead(Array.from({ length: 60 }, () => 'repo-9'));
    await writeOffDeadWakes(world.deps);
    expect(world.left).toHaveLength(10);
    await writeOffDeadWakes(world.deps);
    expect(world.left).toEqual([]);
  });

  test('that cannot be stored now is kept, and the tick goes on', async () => {
    const world = await givenDead(['repo-1']);
    world.deps.store.beforeCall = (label) => {
      if (label === 'saveReconcileOutcome') throw new Error('no answer');
    };
    await writeOffDeadWakes(world.deps);
    expect(world.left).toHaveLength(1);
    expect(world.lines.at(-1)).toContain('dead wakes could not be written off');
  });

  test('of a repository whose row cannot be read is dropped with a line in the log, and the others go on', async () => {
    const world = await givenDead(['repo-2', 'repo-1', 'repo-9']);
    world.deps.store.getRepo = refuse(world.deps.store, 'repo-2', 'unreadable');
    await writeOffDeadWakes(world.deps);
    expect(world.left).toEqual([]);
    expect(await world.outcome()).toMatchObject({ errorCode: 'engine_error' });
    const told = world.lines.filter((line) => line.includes('cannot be read'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('"message_id":"m0","repo_id":"repo-2"');
  });

  test('whose store does not answer is kept alone, and the tick does not ask for it again', async () => {
    const world = await givenDead(['repo-2', 'repo-1', 'repo-9']);
    world.deps.store.getRepo = refuse(world.deps.store, 'repo-2', 'unavailable');
    await writeOffDeadWakes(world.deps);
    expect(world.left.map(({ repoId }) => repoId)).toEqual(['repo-2']);
    expect(await world.outcome()).toMatchObject({ errorCode: 'engine_error' });
    expect(world.lines.filter((line) => line.includes('could not be written off'))).toHaveLength(1);
  });

  test('that cannot be listed is a line in the log, and the tick goes on', async () => {
    const world = await givenDead([]);
    const take = () => Promise.reject(new Error('no answer'));
    await writeOffDeadWakes({ ...world.deps, deadWakes: { take } });
    expect(world.lines.at(-1)).toContain('dead wakes could not be written off');
  });
});
