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

const at = (workflow: number, pipeline = 5) =>
  `https://ci.example.org/repos/7/pipeline/${pipeline}/${workflow}`;

describe('workflows of one pipeline (Woodpecker)', () => {
  const gate = { contexts: ['ci/test'], authors: ['ci'] };
  const read = (...rows: readonly Partial<PostedStatus>[]) =>
    judgeGateStatuses(
      rows.map((row, index) => ({ ...post(index + 1, 'ci/test'), ...row })),
      gate,
    ).gate;
  const PENDING = { state: 'pending', description: 'Pipeline is running' };
  const FAILED = { state: 'failure', description: 'Pipeline failed' };
  const STOPPED = { state: 'failure', description: 'Pipeline was canceled' };
  const LEFT_OUT = { state: 'failure', description: 'unknown status' };

  // A format of contexts without the workflow, a matrix of an old version, `test.yml` beside `test.yaml`.
  test.each([
    ['one passed while the other one runs', [{ ...PENDING, url: at(2) }, { url: at(1) }], 'running'],
    ['one failed before the other one passed', [{ ...FAILED, url: at(2) }, { url: at(1) }], 'failure'],
    ['both passed', [{ ...PENDING, url: at(2) }, { url: at(1) }, { url: at(2) }], 'success'],
    ['a later pipeline takes the place of both', [{ ...FAILED, url: at(2) }, { url: at(1, 6) }], 'success'],
  ])('that share a context: %s', (_name, rows, expected) => {
    expect(read(...rows)).toMatchObject(
      expected === 'running' ? { kind: 'running' } : { kind: 'finished', verdict: expected },
    );
  });

  // One that waits for a workflow which did not pass is left out, and posted as a failure like any state that has no word.
  test.each([
    ['which was stopped', [{ ...STOPPED, url: at(1), context: 'ci/build' }], 'cancelled'],
    ['which broke', [{ state: 'error', url: at(1), context: 'ci/build' }], 'error'],
    ['which failed', [{ ...FAILED, url: at(1), context: 'ci/build' }], 'failure'],
    ['whose end is still to be posted', [{ ...PENDING, url: at(1), context: 'ci/build' }], 'running'],
    ['which passed: its own condition left it out', [{ url: at(1), context: 'ci/build' }], 'failure'],
    ['of another pipeline', [{ ...STOPPED, url: at(1, 4), context: 'ci/build' }], 'failure'],
    ['of another account', [{ ...STOPPED, url: at(1), context: 'ci/build', creator: 'dev' }], 'failure'],
    ['that nothing tells of', [], 'failure'],
  ])('one that was left out after another one %s', (_name, others, expected) => {
    expect(read({ ...LEFT_OUT, url: at(2) }, ...others)).toMatchObject(
      expected === 'running' ? { kind: 'running' } : { kind: 'finished', verdict: expected },
    );
  });

  test('those words of another CI are a failure', () => {
    expect(read({ ...LEFT_OUT, url: 'https://ci.example.org/builds/2' })).toMatchObject({
      verdict: 'failure',
    });
  });
});

describe('a gate by statuses', () => {
  const gate = { contexts: ['ci/*', 'lint'], authors: ['ci'] };

  test('passes once all that its patterns find passed', () => {
    const { gate: read } = judgeGateStatuses([post(1, 'ci/a'), post(2, 'ci/b'), post(3, 'lint')], gate);
    expect(read).toMatchObject({ kind: 'finished', verdict: 'success' });
  });

  test('a context that reads as a pattern is found by its own name too', () => {
    const named = { contexts: ['build [linux]'], authors: ['ci'] };
    const { gate: read, isOpenEnded } = judgeGateStatuses([post(1, 'build [linux]')], named);
    expect(read).toMatchObject({ kind: 'finished', verdict: 'success' });
    // It may be meant as a pattern, which finds more.
    expect(isOpenEnded).toBe(true);
  });

  // Pipelines as Code posts so where it ran nothing, since the forges have no word for that.
  test('a success of which the CI knows nothing is none', () => {
    const { gate: read } = judgeGateStatuses([{ ...post(1, 'lint'), description: 'Unknown' }], gate);
    expect(read).toMatchObject({ kind: 'finished', verdict: 'error' });
  });

  // Pipelines as Code posts the word of its own result, which is none of the forge's.
  test.each(['cancelled', 'canceled'])('%s is no fault of a pull request', (state) => {
    const { gate: read } = judgeGateStatuses([{ ...post(1, 'lint'), state }], gate);
    expect(read).toMatchObject({ kind: 'finished', verdict: 'cancelled' });
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
