import { listSources, readEdges, readSource } from './sources.ts';

const control = ['core/services', 'lambdas'].flatMap(listSources);

describe('what people are shown decides nothing', () => {
  const VIEW = 'core/domain/queue-view.ts';

  test('one service reads the queue view, and shows it', () => {
    expect(control.filter((path) => /\breadQueueViews\b/.test(readSource(path)))).toEqual([
      'core/services/read-activity.ts',
    ]);
  });

  test('no other service knows its type', () => {
    const knowing = control.filter((path) => readEdges(path).some(({ to }) => to === VIEW));
    expect(knowing).toEqual(['core/services/read-activity.ts']);
  });
});
