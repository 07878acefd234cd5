import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { changeStatusContext, provisionRepo, setProtection } from '#core/services/set-up/provisioning.ts';
import type { SetUpWorld } from '../../support/set-up-world.ts';
import { contextsOf, givenRules } from './set-up-stories.ts';

jest.setTimeout(60_000);

/** A change to the context `next` whose last store fails: the rule asks for it, and the setting does not. */
function changeCutShort(world: SetUpWorld, repo: ManagedRepo) {
  const store = world.deps.store;
  let calls = 0;
  const failing = {
    ...world.deps,
    store: {
      getRepo: store.getRepo.bind(store),
      listReposAt: store.listReposAt.bind(store),
      updateRepo: (changed: ManagedRepo) => {
        calls += 1;
        if (calls === 2) world.failStore('updateRepo', 1);
        return store.updateRepo(changed);
      },
    },
  };
  return changeStatusContext(failing, repo, 'next');
}

describe.each(['fj11', 'fj15', 'gt126'] as const)('branch rule on %s', (profile) => {
  test('a change of context leaves exactly one context of ours (A81)', async () => {
    const { world, repo } = await givenRules(profile, [
      { rule_name: 'main', enable_status_check: true, status_check_contexts: ['a', 'mq', 'z'] },
    ]);
    const on = await setProtection(world.deps, repo, true);
    const result = await changeStatusContext(world.deps, on.repo, 'queue/gate', () => ({ batchTarget: 4 }));
    expect(result).toMatchObject({ kind: 'done', repo: { statusContext: 'queue/gate', batchTarget: 4 } });
    expect(await contextsOf(world, 'main')).toEqual(['a', 'queue/gate', 'z']);
    expect((await world.repo()).provisioning.strayContexts).toEqual([]);
  });

  test('a change of context that cannot be stored is repaired by the next attempt (A81)', async () => {
    const { world, repo } = await givenRules(profile);
    const on = await setProtection(world.deps, repo, true);
    const result = await changeCutShort(world, on.repo);
    expect(result.kind).toBe('db_error');
    expect(await contextsOf(world, 'main')).toEqual(['next']);
    expect((await world.repo()).statusContext).toBe('mq');
    await provisionRepo(world.deps, await world.repo());
    expect(await contextsOf(world, 'main')).toEqual(['mq']);
    const again = await changeStatusContext(world.deps, await world.repo(), 'next');
    expect(again.kind).toBe('done');
    expect(await contextsOf(world, 'main')).toEqual(['next']);
  });

  test('after a change that could not be stored, one to a third context leaves that one alone (A81)', async () => {
    const { world, repo } = await givenRules(profile);
    const on = await setProtection(world.deps, repo, true);
    await changeCutShort(world, on.repo);
    expect(await contextsOf(world, 'main')).toEqual(['next']);
    const third = await changeStatusContext(world.deps, await world.repo(), 'third');
    expect(third.kind).toBe('done');
    expect(await contextsOf(world, 'main')).toEqual(['third']);
    expect((await world.repo()).provisioning.strayContexts).toEqual([]);
  });

  test('a change of context keeps what another call stores while this one is with the forge', async () => {
    const { world, repo } = await givenRules(profile);
    const on = await setProtection(world.deps, repo, true);
    const beside: typeof world.deps = {
      ...world.deps,
      openForge: async (opened) => {
        await world.change({
          provisioning: { ...on.repo.provisioning, webhook: 'registered' },
          batchTarget: 7,
        });
        return world.deps.openForge(opened);
      },
    };
    // Read before: the first write of the change loses its race.
    expect((await changeStatusContext(beside, on.repo, 'next')).kind).toBe('done');
    const stored = await world.repo();
    expect([stored.provisioning.webhook, stored.batchTarget, stored.statusContext]).toEqual([
      'registered',
      7,
      'next',
    ]);
    await world.change({ provisioning: { ...stored.provisioning, webhook: 'denied' } });
    expect((await changeStatusContext(world.deps, stored, 'mq')).kind).toBe('done');
    expect((await world.repo()).provisioning.webhook).toBe('denied');
  });

  test('a context that another call stores beside an attempt is removed from the rule by the next one (A81)', async () => {
    const { world, repo } = await givenRules(profile);
    const on = await setProtection(world.deps, repo, true);
    expect((await changeStatusContext(world.deps, on.repo, 'next')).kind).toBe('done');
    // It has read the row before the change.
    await provisionRepo(world.deps, on.repo);
    expect((await world.repo()).statusContext).toBe('next');
    expect(await contextsOf(world, 'main')).toEqual(['next', 'mq']);
    await provisionRepo(world.deps, await world.repo());
    expect(await contextsOf(world, 'main')).toEqual(['next']);
    expect((await world.repo()).provisioning.strayContexts).toEqual([]);
  });

  test('a rule that cannot be changed: neither is the setting', async () => {
    const { world, repo } = await givenRules(profile);
    const on = await setProtection(world.deps, repo, true);
    world.fake.knobs.fault = ({ method }) => (method === 'PATCH' ? { status: 500 } : null);
    const result = await changeStatusContext(world.deps, on.repo, 'next');
    expect(result.kind).toBe('forge_unreachable');
    world.fake.knobs.fault = () => null;
    expect((await world.repo()).statusContext).toBe('mq');
    expect(await contextsOf(world, 'main')).toEqual(['mq']);
  });

  test('a context that no rule protects changes without a call', async () => {
    const { world, repo } = await givenRules(profile);
    const result = await changeStatusContext(world.deps, repo, 'next');
    expect(result).toMatchObject({ kind: 'done', repo: { statusContext: 'next' } });
    expect(world.takeWrites()).toEqual([]);
  });
});
