import { listSources, readEdges, readSource } from './sources.ts';

const control = ['core/services', 'lambdas'].flatMap(listSources);

describe('the display view decides nothing', () => {
  const VIEW = 'core/domain/queue/queue-view.ts';

  test('three services read the queue view: two show it, one tells of a standstill in it', () => {
    expect(control.filter((path) => /\breadQueueViews\b/.test(readSource(path)))).toEqual([
      'core/services/notices/watch-queues.ts',
      'core/services/pulls/read-pull.ts',
      'core/services/reads/read-activity.ts',
    ]);
  });

  test('no other service knows its type', () => {
    const knowing = control.filter((path) => readEdges(path).some(({ to }) => to === VIEW));
    expect(knowing).toEqual([
      'core/services/notices/watch-queues.ts',
      'core/services/reads/read-activity.ts',
    ]);
  });
});

describe('storage keys stay inside of the store', () => {
  const STORE = /^core\/(adapters\/dynamo\/|contracts\/internal\/table\.ts$)/;
  const others = ['bin', 'core', 'dashboard', 'engine-container', 'lambdas', 'lib', 'local']
    .flatMap(listSources)
    // The emulator of the table itself knows keys, as the platform does.
    .filter((path) => !STORE.test(path) && !path.startsWith('local/'));

  /** The beginning of a key in a text, or a key taken apart by its parts' names. */
  const KEY = /['"`](?:UQ#)?[A-Z]{1,6}#|\.(?:pk|sk)\b/;

  test('a key in a text, and a key taken apart, are found', () => {
    expect(
      ['`T#`', "'CONN#'", "pk.startsWith('TE#')", 'key.pk.slice(2)'].map((text) => KEY.test(text)),
    ).toEqual([true, true, true, true]);
    expect(["'#core/x.ts'", "'#12'", '`acme/web#`'].map((text) => KEY.test(text))).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('no service, port, function or stack repeats or parses the beginning of one', () => {
    expect(others.length).toBeGreaterThan(300);
    const found = others.flatMap((path) =>
      readSource(path)
        .split('\n')
        .flatMap((line, index) => (KEY.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });

  test('the stack names partitions, and the functions and services do not even know those', () => {
    const naming = others.filter((path) => /\bPARTITIONS\b/.test(readSource(path)));
    expect(naming).toEqual(['lib/constructs/data-table.ts']);
  });
});
