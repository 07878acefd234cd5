import { judgeGateStatuses, type PostedStatus } from '#core/domain/forge/status-gate.ts';

const post = (id: number, context: string): PostedStatus => ({
  id,
  context,
  state: 'success',
  description: '',
  creator: 'ci',
  createdAt: id,
  url: null,
});

describe('a gate by statuses', () => {
  const gate = { contexts: ['ci/*', 'lint'], authors: ['ci'] };

  test('passes once all that its patterns find passed', () => {
    const { gate: read } = judgeGateStatuses([post(1, 'ci/a'), post(2, 'ci/b'), post(3, 'lint')], gate);
    expect(read).toMatchObject({ kind: 'finished', verdict: 'success' });
  });

  // A hostile forge answers with megabytes of contexts: followed to their end they take the engine of all tenants an hour.
  test('has not ended where its statuses are more than can be read', () => {
    // Each goes through all of a context, and matches none.
    const contexts = Array.from({ length: 20 }, (_, at) => `${'*a'.repeat(100 + at)}*c*b*`);
    const history = Array.from({ length: 100 }, (_, at) => post(at + 1, `b${'a'.repeat(2_000 + at)}c`));
    const judged = judgeGateStatuses([...history, post(2_000, 'lint')], {
      ...gate,
      contexts: [...contexts, 'lint'],
    });
    expect(judged).toMatchObject({
      gate: { kind: 'running', runId: 'status-2000' },
      unanswered: [...contexts, 'lint'],
    });
  });
});
