import { randomUUID } from 'node:crypto';
import { ERROR_STEPS } from '#core/contracts/error-steps.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { grantHeldLease, type LeaseGrant } from '#core/domain/wakes/lease.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { StoreError } from '#core/ports/store.ts';
import { givenNodeRow } from '../../../builders/store-rows.ts';
import { givenObligations, givenQueueView } from '../../../builders/told-queue.ts';
import { type ApiWorld, type EngineStub, TENANT_A } from '../../../support/api-world.ts';
import { givenTeams, REPOS } from './given-teams.ts';

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;
beforeEach(async () => {
  ({ world, a } = await givenTeams());
});

describe('switching the queue off (D-24)', () => {
  /** Rows that an engine leaves behind: those of batches, and the view of a landing. */
  const leave = async (
    repo: ManagedRepo,
    grant: LeaseGrant,
    write: {
      readonly prs?: readonly number[];
      readonly landing?: 'posted' | 'revoked';
      readonly at?: number;
    },
  ) => {
    const stored = await world.store.loadQueueRecord(repo.id);
    const { prs = [], landing, at } = write;
    const successStands = landing === 'posted';
    const obligations = givenObligations({ at: world.clock.now(), open: true, successStands, inFlight: [4] });
    const row = {
      id: randomUUID(),
      tenantId: repo.tenantId,
      repoId: repo.id,
      prs,
      ...(at === undefined ? {} : { createdAt: at }),
    };
    await world.store.saveQueue(
      grantHeldLease(repo.id, grant, () => 0, 1),
      repo,
      {
        document: {},
        expectedVersion: stored?.version ?? null,
        events: [],
        batches: prs.length === 0 ? [] : [givenNodeRow(row)],
        ...(landing === undefined ? {} : { told: { view: givenQueueView(), obligations } }),
      },
    );
  };
  const under = async (repo: ManagedRepo, write: Parameters<typeof leave>[2]) => {
    const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 1_000);
    if (grant === 'held') throw new Error('held');
    await leave(repo, grant, write);
    await world.store.releaseLease(repo.id, grant);
  };
  const withBatch = async () => {
    const { repo } = await world.enroll(TENANT_A);
    await under(repo, { prs: [4, 7] });
    return repo;
  };
  /** A success is posted on #4, and its merge is awaited. */
  const withLanding = async () => {
    const repo = await withBatch();
    await under(repo, { landing: 'posted' });
    return repo;
  };
  const disable = (repo: ManagedRepo) => a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: false });

  test('cancels every scheduled merge of a live batch, then stores, then asks for the statuses (A34)', async () => {
    const repo = await withBatch();
    world.engine = null;
    const switches: unknown[] = [];
    world.forge.onCancel = async () => {
      switches.push((await world.store.getRepo(repo.id))?.queueEnabled);
    };
    const answer = await disable(repo);
    expect([answer.status, answer.json.queue_enabled]).toEqual([200, false]);
    expect(world.forge.cancelled).toEqual([4, 7]);
    expect(switches).toEqual([true, true]);
    expect(world.sent.wakes.map((wake) => wake.repoId)).toEqual([repo.id]);
    expect(await world.store.readLeaseState(repo.id)).toBe('idle');
  });

  test('cancels the merge of one that lands by the proof of an earlier batch, when no row of its own is open (A34)', async () => {
    const { repo } = await world.enroll(TENANT_A);
    await under(repo, { landing: 'revoked' });
    const switches: unknown[] = [];
    world.forge.onCancel = async () => {
      switches.push((await world.store.getRepo(repo.id))?.queueEnabled);
    };
    expect((await disable(repo)).json.queue_enabled).toBe(false);
    expect([world.forge.cancelled, switches]).toEqual([[4], [true]]);
  });

  test.each([
    ['denied', 403, 422, 'forge_access_denied'],
    ['unreachable', null, 502, 'forge_unreachable'],
  ] as const)('a fault of the kind %s (%s): the queue stays on', async (kind, fault, status, code) => {
    const repo = await withBatch();
    world.forge.cancelFault = new ForgeError(kind, 'x', fault);
    const answer = await disable(repo);
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
    expect(await world.store.readLeaseState(repo.id)).toBe('idle');
  });

  test('a bot that may not take back the schedule of another account is told what it needs, and its token is not blamed', async () => {
    const repo = await withBatch();
    world.forge.cancelFault = new ForgeError('denied', 'DELETE pulls/{n}/merge', 403);
    const answer = await disable(repo);
    expect([answer.status, answer.code]).toEqual([422, 'schedules_not_cancelled']);
    expect(JSON.stringify(answer.json)).not.toContain('token');
    expect(ERROR_STEPS.schedules_not_cancelled).toContain('administrator');
    expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
  });

  test.each([
    [
      'lacks a scope',
      new ForgeError('denied', 'DELETE pulls/{n}/merge', 403, null, false, ['write:repository']),
    ],
    [
      'is of a locked account',
      new ForgeError('denied', 'DELETE pulls/{n}/merge', 403, null, false, [], true),
    ],
    ['expired', new ForgeError('denied', 'DELETE pulls/{n}/merge', 401)],
  ])('a token that %s is told as such', async (_name, fault) => {
    const repo = await withBatch();
    world.forge.cancelFault = fault;
    expect(await disable(repo)).toMatchObject({ status: 422, code: 'forge_access_denied' });
  });

  test('under an old name of the repository the words say so, and blame no token', async () => {
    const repo = await withBatch();
    world.forge.cancelFault = new ForgeError('denied', 'x', 301);
    const answer = await disable(repo);
    expect([answer.status, answer.code]).toEqual([422, 'forge_access_denied']);
    expect(JSON.stringify(answer.json)).toContain(
      'The repository has another name or owner on the forge now',
    );
  });

  test('after the first that is refused no merge is cancelled any more, and none once the lease is given back', async () => {
    const { repo } = await world.enroll(TENANT_A);
    await under(repo, { prs: Array.from({ length: 30 }, (_, index) => index + 1) });
    const leases: unknown[] = [];
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const cancelAutoMerge = async (pr: number) => {
      if (pr === 1) throw new ForgeError('unreachable', 'x', null);
      for (let turns = 0; turns < 3; turns += 1) await turn();
      leases.push(await world.store.readLeaseState(repo.id));
      return 'cancelled' as const;
    };
    world.forge.setUp = { cancelAutoMerge };
    expect(await disable(repo)).toMatchObject({ status: 502, code: 'forge_unreachable' });
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(leases).toEqual(['held', 'held', 'held', 'held']);
    expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
  });

  test('an archived repository lets no merge be cancelled: the queue goes off all the same', async () => {
    const repo = await withBatch();
    world.forge.cancelFault = new ForgeError('archived', 'x', 423);
    const answer = await disable(repo);
    expect([answer.status, answer.json.queue_enabled]).toEqual([200, false]);
    expect(world.sent.wakes.map((wake) => wake.repoId)).toEqual([repo.id]);
  });

  test('busy is 409 queue_locked, an unreadable lease 503 queue_lock_failed', async () => {
    const repo = await withBatch();
    const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
    expect(await disable(repo)).toMatchObject({ status: 409, code: 'queue_locked' });
    if (grant !== 'held') await world.store.releaseLease(repo.id, grant);
    world.store.beforeCall = (label) => {
      if (label === 'acquireLease') throw new StoreError('unavailable', label);
    };
    expect(await disable(repo)).toMatchObject({ status: 503, code: 'queue_lock_failed' });
    world.store.beforeCall = null;
    expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
  });

  test('an engine at work with nothing posted is asked to stop, and waited for', async () => {
    const repo = await withBatch();
    const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
    if (grant === 'held') throw new Error('the lease is not free');
    world.clock.after(3_000, async () => {
      expect((await world.store.readHolds(repo))?.queueEnabled).toBe(false);
      await world.store.releaseLease(repo.id, grant);
    });
    expect(await disable(repo)).toMatchObject({ status: 200, json: { queue_enabled: false } });
    expect((await world.store.getRepo(repo.id))?.stopUntil).toBeUndefined();
  });

  test('a batch that a worker staged until the lease was taken is cancelled too', async () => {
    const repo = await withBatch();
    world.store.beforeCall = async (label) => {
      if (label !== 'acquireLease') return;
      world.store.beforeCall = null;
      await under(repo, { prs: [11] });
    };
    expect((await disable(repo)).status).toBe(200);
    expect([...world.forge.cancelled].sort((x, y) => x - y)).toEqual([4, 7, 11]);
  });

  test('however many batches other repositories of the tenant have had since', async () => {
    const repo = await withBatch();
    const other = (await world.enroll(TENANT_A, { slug: 'acme/busy' })).repo;
    for (let index = 0; index < 205; index += 1) {
      await under(other, { prs: [100 + index], at: world.clock.now() + index + 1 });
    }
    expect((await disable(repo)).status).toBe(200);
    expect(world.forge.cancelled).toEqual([4, 7]);
  });

  describe('with a success that stands', () => {
    const revoking: EngineStub = {
      answer: 'ok',
      logTail: [],
      act: async (id, grant, command) => {
        const repo = await world.store.getRepo(id);
        if (repo === null) throw new Error('gone');
        steps.push(`engine ${command}`);
        await leave(repo, grant, { landing: 'revoked' });
        return null;
      },
    };
    let steps: string[];
    beforeEach(() => {
      steps = [];
      world.forge.onCancel = async () => {
        const stored = (await world.store.listRepos(TENANT_A))[0];
        const stands = (await world.store.readObligations(stored?.id ?? ''))?.successStands;
        steps.push(`cancel ${stands === true ? 'while it stands' : 'after'} ${stored?.queueEnabled}`);
      };
    });

    test('the engine takes it back first, then the schedules go, then the switch is stored', async () => {
      const repo = await withLanding();
      world.engine = revoking;
      const answer = await disable(repo);
      expect([answer.status, answer.json.queue_enabled]).toEqual([200, false]);
      expect(steps.slice(0, 3)).toEqual(['engine wind_down', 'cancel after true', 'cancel after true']);
      expect((await world.store.getRepo(repo.id))?.stopUntil).toBeUndefined();
    });

    test('an engine that has taken it back and still writes its words is waited for', async () => {
      const repo = await withLanding();
      const writeOn = async (): Promise<void> => {
        const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
        if (grant === 'held') throw new Error('the lease is not free');
        world.clock.after(3_000, () => world.store.releaseLease(repo.id, grant));
      };
      world.engine = {
        ...revoking,
        act: async (id, grant, command) => {
          world.clock.after(100, writeOn);
          return (await revoking.act?.(id, grant, command)) ?? null;
        },
      };
      const answer = await disable(repo);
      expect([answer.status, answer.json.queue_enabled]).toEqual([200, false]);
      expect(steps.slice(0, 3)).toEqual(['engine wind_down', 'cancel after true', 'cancel after true']);
    });

    test.each([
      ['forge_access_denied', 422, 'forge_access_denied'],
      ['forge_unreachable', 502, 'forge_unreachable'],
      ['forge_call_failed', 502, 'forge_unreachable'],
      ['engine_error', 503, 'queue_lock_failed'],
    ] as const)('%s: the queue stays on, and nothing is cancelled', async (errorCode, status, code) => {
      const repo = await withLanding();
      world.engine = { answer: 'failed', logTail: [], act: async () => errorCode };
      expect(await disable(repo)).toMatchObject({ status, code });
      expect(steps).toEqual([]);
      expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
    });

    test('an engine that does not come is 409 queue_locked; it goes on being asked, so a second try finds it done', async () => {
      const repo = await withLanding();
      world.engine = null;
      expect(await disable(repo)).toMatchObject({ status: 409, code: 'queue_locked' });
      expect(steps).toEqual([]);
      await under(repo, { landing: 'revoked' });
      expect((await disable(repo)).status).toBe(200);
      expect(steps).toEqual(['cancel after true', 'cancel after true']);
    });

    test('after that, switching on lets the engine go on at once', async () => {
      const repo = await withLanding();
      world.engine = null;
      expect(await disable(repo)).toMatchObject({ status: 409, code: 'queue_locked' });
      expect((await world.store.readHolds(repo))?.queueEnabled).toBe(false);
      const before = world.sent.wakes.length;
      expect((await a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: true })).status).toBe(200);
      expect((await world.store.readHolds(repo))?.queueEnabled).toBe(true);
      expect(world.sent.wakes.length).toBe(before + 1);
    });

    test('a queue that cannot be asked is 503 queue_lock_failed', async () => {
      const repo = await withLanding();
      world.sent.failing = true;
      expect(await disable(repo)).toMatchObject({ status: 503, code: 'queue_lock_failed' });
      expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
    });
  });

  test('a credential that does not open keeps it on', async () => {
    const repo = await withBatch();
    world.vault.failing = 'open';
    expect(await disable(repo)).toMatchObject({ status: 500, code: 'decryption_error' });
    expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
  });
});
