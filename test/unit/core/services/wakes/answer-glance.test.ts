import { GLANCE_EVERY_MS } from '#core/domain/limits.ts';
import type { ManagedRepo, ReconcileOutcome } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import type { KnownSight } from '#core/domain/wakes/forge-sight.ts';
import type { GlanceAnswer, GlanceRequest } from '#core/ports/idle-look.ts';
import { Secret } from '#core/secret.ts';
import { answerGlance } from '#core/services/wakes/answer-glance.ts';
import { wakeNow } from '#core/services/wakes/send-wakes.ts';
import { givenConnection, givenRepo } from '../../../../builders/managed-repo.ts';
import { createMemoryStore } from '../../../../fakes/memory-store.ts';
import { FakeWakeQueue } from '../../../../fakes/wake-queue.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const NEWEST = { pr: 1, head: 'h', updatedAt: 1_000 };
const SAME: GlanceAnswer = { kind: 'seen', tip: 'a', newest: NEWEST };
const GLANCE = { repoId: 'repo-1', wakeSeq: 0, step: 3 };

/** A repository whose last look went well and saw this a minute ago. */
async function givenSeen(
  parts: {
    repo?: Partial<ManagedRepo>;
    sight?: Partial<KnownSight> | null;
    outcome?: Partial<ReconcileOutcome>;
    answer?: GlanceAnswer | Error;
    tookMs?: number;
  } = {},
) {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  const queue = new FakeWakeQueue(clock);
  const asked: GlanceRequest[] = [];
  const lines: string[] = [];
  const write = (message: string, fields = {}): void => {
    lines.push(message + JSON.stringify(fields));
  };
  const repo = givenRepo(parts.repo);
  await store.createTenant('tenant-1', clock.now());
  await store.createConnection(givenConnection());
  await store.createRepo(repo, null);
  const seen = { tip: 'a', newest: NEWEST, isSettled: true, since: clock.now() - 60_000 };
  const ranAt = clock.now();
  await store.saveReconcileOutcome(repo, {
    ranAt,
    ok: true,
    errorCode: null,
    ...(parts.sight === null ? {} : { sight: { ...seen, ...parts.sight } }),
    ...parts.outcome,
  });
  const before = await store.getRepo('repo-1');
  const deps = {
    store,
    queue,
    clock,
    log: { info: write, warn: write, error: write },
    planLimits: PLAN_LIMITS,
    vault: { open: async () => new Secret('canary-token-31') },
    looker: {
      glance: async (request: GlanceRequest) => {
        asked.push(request);
        await clock.advance(parts.tookMs ?? 0);
        const { answer = SAME } = parts;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  };
  return { clock, store, queue, asked, lines, before, deps, glance: () => answerGlance(deps, GLANCE) };
}

describe('a glance', () => {
  test('at a forge that is as it was wakes nothing, writes nothing, and plans the next one', async () => {
    const world = await givenSeen();
    expect(await world.glance()).toBe('same');
    const visibleAt = world.clock.now() + GLANCE_EVERY_MS;
    expect(world.queue.delayedGlances).toEqual([{ ...GLANCE, step: 4, visibleAt }]);
    expect(world.queue.wakes).toEqual([]);
    expect(await world.store.getRepo('repo-1')).toEqual(world.before);
    expect(world.asked).toMatchObject([{ repoSlug: 'acme/app', baseBranch: 'main' }]);
  });

  test('that shows a schedule wakes the repository as an event does, and ends its chain', async () => {
    const world = await givenSeen({ answer: { ...SAME, newest: { ...NEWEST, updatedAt: 2_000 } } });
    expect(await world.glance()).toBe('woken');
    expect(world.queue.wakes).toMatchObject([{ repoId: 'repo-1', wakeSeq: 1 }]);
    expect(world.queue.delayedGlances).toEqual([]);
  });

  test('after a look whose sight proves nothing wakes without asking the forge', async () => {
    const world = await givenSeen({ sight: { isSettled: false } });
    expect(await world.glance()).toBe('woken');
    expect(world.asked).toEqual([]);
  });

  test('comes more rarely the longer nothing has happened, and not at all once the tick is as often', async () => {
    const long = await givenSeen({ sight: { since: new VirtualClock().now() - 4 * 3_600_000 } });
    await long.glance();
    expect(long.queue.delayedGlances[0]?.visibleAt).toBe(long.clock.now() + 4 * GLANCE_EVERY_MS);
    const longer = await givenSeen({ sight: { since: 0 } });
    expect(await longer.glance()).toBe('same');
    expect(longer.queue.delayedGlances).toEqual([]);
  });

  test('at a slow forge is followed by a pause of twenty times its length', async () => {
    const world = await givenSeen({ tookMs: 2_000 });
    await world.glance();
    expect(world.queue.delayedGlances[0]?.visibleAt).toBe(world.clock.now() + 40_000);
  });

  test('of before a wake is dropped: the look of that wake plans its own', async () => {
    const world = await givenSeen();
    await wakeNow(world, 'repo-1');
    expect(await world.glance()).toBe('replaced');
    expect(world.asked).toEqual([]);
    expect(world.queue.delayedGlances).toEqual([]);
  });

  test.each<[string, Parameters<typeof givenSeen>[0]]>([
    ['is off', { repo: { queueEnabled: false, dueAt: null } }],
    ['is asked to stop', { repo: { stopUntil: Date.UTC(2030, 0, 1) } }],
    ['had a failure last', { outcome: { ok: false, errorCode: 'forge_unreachable' } }],
    ['was never seen whole', { sight: null }],
  ])('at a repository that %s is none', async (_case, parts) => {
    const world = await givenSeen(parts);
    expect(await world.glance()).toBe('over');
    expect(world.asked).toEqual([]);
    expect(world.queue.delayedGlances).toEqual([]);
  });

  test('at a repository on hold for payment is none', async () => {
    const world = await givenSeen();
    await world.store.savePlan('tenant-1', { tier: 'pro', status: 'canceled' });
    const { ceiling } = PLAN_LIMITS.free;
    const planLimits = { ...PLAN_LIMITS, free: { ceiling, included: { connections: 0, repos: 0 } } };
    expect(await answerGlance({ ...world.deps, planLimits }, GLANCE)).toBe('over');
    expect(world.asked).toEqual([]);
  });

  test.each<[string, GlanceAnswer | Error]>([
    ['a forge that does not answer', { kind: 'failed' }],
    ['a function that does not answer', new Error('aborted')],
  ])('%s ends the chain: the tick goes on, and nothing throws', async (_case, answer) => {
    const world = await givenSeen({ answer });
    expect(await world.glance()).toBe('failed');
    expect(world.queue.wakes).toEqual([]);
    expect(world.queue.delayedGlances).toEqual([]);
    expect(world.lines.join()).not.toContain('canary');
  });
});
