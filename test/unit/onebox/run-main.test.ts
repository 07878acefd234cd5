import { InternalServerError } from '@aws-sdk/client-dynamodb';
import { StoreError } from '#core/ports/store.ts';
import { awaitStart, sayOfTable } from '../../../onebox/run-main.ts';

const LONG_MS = 60_000;

/** Timers of so long that were armed and not cleared: each keeps its process. */
function watchTimers(): () => number {
  const armed = jest.spyOn(globalThis, 'setTimeout');
  const cleared = jest.spyOn(globalThis, 'clearTimeout');
  return () => {
    const gone = new Set<unknown>(cleared.mock.calls.map(([timer]) => timer));
    const long = armed.mock.results.filter((_, index) => armed.mock.calls[index]?.[1] === LONG_MS);
    for (const { value } of long) clearTimeout(value);
    return long.filter(({ value }) => !gone.has(value)).length;
  };
}

afterEach(() => jest.restoreAllMocks());

test('a signal that comes after the start has ended leaves no timer, which would keep the process', async () => {
  const countTimers = watchTimers();
  let signal = (): void => {};
  const promise = new Promise<void>((done) => {
    signal = done;
  });
  expect(await awaitStart(Promise.resolve('box'), promise, LONG_MS)).toBe('box');
  signal();
  await new Promise((done) => setImmediate(done));
  expect(countTimers()).toBe(0);
});

test('a start that ends or fails after a signal leaves no timer', async () => {
  const countTimers = watchTimers();
  const later = (): Promise<void> => new Promise((done) => setImmediate(done));
  const start = later().then(() => 'box');
  expect(await awaitStart(start, Promise.resolve(), LONG_MS)).toBe('box');
  const failing = later().then(() => Promise.reject(new Error('taken')));
  await expect(awaitStart(failing, Promise.resolve(), LONG_MS)).rejects.toThrow('taken');
  expect(countTimers()).toBe(0);
});

test('a start that goes on for longer than that after a signal is given up', async () => {
  expect(await awaitStart(new Promise<string>(() => {}), Promise.resolve(), 10)).toBeNull();
});

describe('a table that fails a command is told in words, without a stack', () => {
  const failed = (message: string) => new InternalServerError({ message, $metadata: {} });
  test.each([
    [
      'of the store',
      new StoreError('unavailable', 'listAllConnections'),
      /^The table cannot be used \(store listAllConnections: unavailable\): .* npm run doctor says which\./,
    ],
    [
      'of the database',
      failed('backend: database is locked'),
      /^The table cannot be used \(backend: database is locked\): /,
    ],
    [
      'of a damaged file',
      failed('backend: database disk image is malformed'),
      /^table\.sqlite in the data folder is damaged: put it back .* The embedded database says: backend: /,
    ],
  ])('an error %s', (_what, error, words) => {
    expect(sayOfTable(error)).toMatch(words);
  });

  test('and no other error is taken for one of the table', () => {
    expect(sayOfTable(new TypeError('x'))).toBeNull();
  });
});
