import {
  mayBegin,
  type OngoingReconcile,
  sectionOf,
  workersOfOneTenant,
} from '#core/domain/wakes/fairness.ts';
import { readSource } from '../../architecture/sources.ts';

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
