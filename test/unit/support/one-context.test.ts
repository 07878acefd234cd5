import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import OneContext from '../../support/one-context.cjs';

const KEY = 'leftByATest';
const VARIABLE = 'LEFT_BY_A_TEST';

function leftover(): unknown {
  return Reflect.get(globalThis, KEY);
}

describe('the environment of the tests', () => {
  it('takes away the globals and variables that a file added, and puts back those it changed', async () => {
    const fetchBefore = globalThis.fetch;
    process.env.KEPT_BY_A_TEST = 'before';
    const environment = new OneContext();
    Reflect.set(globalThis, KEY, 1);
    globalThis.fetch = async () => new Response();
    process.env[VARIABLE] = '1';
    process.env.KEPT_BY_A_TEST = 'after';
    await environment.teardown();
    expect(leftover()).toBeUndefined();
    expect(globalThis.fetch).toBe(fetchBefore);
    expect(process.env[VARIABLE]).toBeUndefined();
    expect(process.env.KEPT_BY_A_TEST).toBe('before');
    delete process.env.KEPT_BY_A_TEST;
  });

  it('leaves to the product the storage that follows a promise', async () => {
    const storage = new AsyncLocalStorage<number>();
    const seen = await Promise.all(
      [1, 2].map((n) =>
        storage.run(n, async () => {
          await turn();
          return storage.getStore();
        }),
      ),
    );
    expect(seen).toEqual([1, 2]);
  });

  it('ends the storages of a file with it, because each one slows down every promise of the process', async () => {
    const environment = new OneContext();
    environment.handleTestEvent({ name: 'setup' });
    const storage = new AsyncLocalStorage<number>();
    storage.enterWith(1);
    expect(storage.getStore()).toBe(1);
    await environment.teardown();
    expect(storage.getStore()).toBeUndefined();
  });

  it('has one realm: an error of node is an error of the test', async () => {
    const fault = await import('node:fs/promises')
      .then(({ readFile }) => readFile('/no/such/file'))
      .catch((e) => e);
    expect(fault).toBeInstanceOf(Error);
  });
});
