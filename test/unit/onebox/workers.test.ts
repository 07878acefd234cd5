import {
  mayBegin,
  type OngoingReconcile,
  sectionOf,
  workersOfOneTenant,
} from '#core/domain/wakes/fairness.ts';
import { composeWorker } from '../../../onebox/worker.ts';
import { readSource } from '../../architecture/sources.ts';
import { givenRepo } from '../../builders/managed-repo.ts';

const ongoing = (id: number): OngoingReconcile => ({
  id: `run-${id}`,
  repoId: `repo-${id}`,
  tenantId: 'the one',
  host: 'git.example.org',
  standing: 'proven',
});

describe('the workers of one box, which has one tenant and one forge', () => {
  test.each([1, 2, 4, 10, 12])('are all at work at once: %i', (own) => {
    const others = Array.from({ length: own - 1 }, (_, id) => ongoing(id));
    const { workers } = sectionOf('repo-next', workersOfOneTenant(own));
    expect(mayBegin(others, ongoing(own), workers)).toBe(true);
  });

  test('are counted so where the one box answers its wakes', () => {
    expect(readSource('onebox/worker.ts')).toContain('workersMax: workersOfOneTenant(workers)');
  });
});

test('the tick of one box wakes what is due behind all that people and webhooks ask for', async () => {
  const sent: string[] = [];
  const { tick, queue } = composeWorker({
    shared: {
      store: {
        listDueRepos: async () => ['due'],
        getRepo: async () => null,
        markDue: async () => 1,
        recordTick: async () => undefined,
      },
      clock: { now: () => 0, monotonic: () => 0 },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    } as never,
    metrics: {} as never,
    workers: 1,
    createWakes: () =>
      ({
        sendWake: async (repoId: string) => void sent.push(`asked ${repoId}`),
        sendIdleWake: async (repoId: string) => void sent.push(`idle ${repoId}`),
      }) as never,
  });
  await tick();
  await queue.sendWake('ordered', 1);
  expect(sent).toEqual(['idle due', 'asked ordered']);
});

test('a glance of one box holds no repository for a plan that its tenant brought along and that has ended', async () => {
  const first = givenRepo({ id: 'repo-1', slug: 'acme/1', createdAt: 1 });
  const second = givenRepo({ id: 'repo-2', slug: 'acme/2', createdAt: 2 });
  const lookedUp: string[] = [];
  const { answerWake } = composeWorker({
    shared: {
      store: {
        getRepo: async () => second,
        listRepos: async () => [first, second],
        loadPlan: async () => ({ tier: 'pro', status: 'canceled' }),
        loadReconcileOutcome: async ({ id }: { readonly id: string }) => {
          lookedUp.push(id);
          return null;
        },
      },
      clock: { now: () => 0, monotonic: () => 0 },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    } as never,
    metrics: { count: () => undefined } as never,
    workers: 1,
    createWakes: () => ({}) as never,
  });
  await answerWake({ repoId: 'repo-2', wakeSeq: second.wakeSeq, glance: 1 });
  expect(lookedUp).toEqual(['repo-2']);
});
