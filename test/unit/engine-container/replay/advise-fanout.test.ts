import type { RepoId, TenantId } from '#core/domain/ids.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { adviseFanout } from '../../../../engine-container/src/replay/advise-fanout.ts';
import { givenRepo } from '../../../builders/managed-repo.ts';

/** The fan-out that the advice calls set, of a repository without any history. */
async function currentOf(changes: Partial<ManagedRepo>): Promise<number | null> {
  const id = '0190a5f0-0000-7000-8000-000000000001' as RepoId;
  const repo = givenRepo({ id, bisectFanout: 4, ...changes });
  const store = {
    getRepo: async () => repo,
    readEventsSince: async () => [],
    readNodesSince: async () => [],
  };
  const deps = { store, clock: { now: () => Date.UTC(2026, 10, 23) } };
  const advice = await adviseFanout(deps, repo.tenantId as TenantId, repo.id);
  return advice.current;
}

describe('the fan-out that is set', () => {
  test('is the stored one', async () => {
    expect(await currentOf({})).toBe(4);
  });

  test('is not known where the queue chooses it, or where a settings file may set it', async () => {
    expect(await currentOf({ fanoutAuto: true })).toBeNull();
    expect(await currentOf({ settingsFile: true })).toBeNull();
  });
});
