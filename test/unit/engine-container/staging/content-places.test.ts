import type { BlobId, RepoId } from '#core/domain/ids.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { EngineMemory } from '../../../../engine-container/src/reconcile/engine-memory.ts';
import { ContentPlaces } from '../../../../engine-container/src/staging/content-places.ts';
import { readBlobs } from '../../../../engine-container/src/staging/objects.ts';
import { ReadingUnfinished, RepoObjects } from '../../../../engine-container/src/staging/repo-objects.ts';

const MEBIBYTE = 1024 * 1024;
let isOver = false;
/** Until the test ends: a place that is waited for keeps the process up. */
const never = (): boolean => isOver;

beforeEach(() => {
  isOver = false;
});
afterEach(() => {
  isOver = true;
});

/** Takes places by name of a forge and tells who is in. */
function givenLine() {
  const places = new ContentPlaces();
  const leave = new Map<string, () => void>();
  const join = (name: string): void => {
    void places
      .of(name.slice(0, 1))(never)
      .then((given) => {
        if (given !== null) leave.set(name, given);
      });
  };
  const isIn = (name: string) => async () => expect(leave.has(name)).toBe(true);
  const end = (name: string): void => {
    leave.get(name)?.();
    leave.delete(name);
  };
  return { places, join, isIn, end, inside: () => [...leave.keys()] };
}

async function soon(check: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const passed = await check().then(
      () => true,
      () => false,
    );
    if (passed) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  await check();
}

test('two merges with large contents go on at once, and one of each forge', async () => {
  const { join, isIn, end, inside } = givenLine();
  for (const name of ['a1', 'a2', 'b1', 'c1']) join(name);
  await soon(isIn('b1'));
  expect(inside()).toEqual(['a1', 'b1']);
  end('b1');
  await soon(isIn('c1'));
  expect(inside()).toEqual(['a1', 'c1']);
});

test('once a merge has ended, the others of its forge stand behind all other forges', async () => {
  const { join, isIn, end, inside } = givenLine();
  for (const name of ['a1', 'b1', 'a2', 'b2', 'c1']) join(name);
  await soon(isIn('b1'));
  end('a1');
  await soon(isIn('c1'));
  expect(inside()).toEqual(['b1', 'c1']);
  end('b1');
  await soon(isIn('a2'));
});

test('a merge whose time is up while it waits leaves the line', async () => {
  const { places, join, isIn, end } = givenLine();
  join('a1');
  await soon(isIn('a1'));
  expect(await places.of('a')(() => true)).toBeNull();
  join('a2');
  end('a1');
  await soon(isIn('a2'));
});

describe('two repositories of one forge in one engine', () => {
  function givenTwo(isOutOfTime = never) {
    const memory = new EngineMemory();
    const open: (() => void)[] = [];
    const forge = {
      readBlob: async (_: BlobId, bytesMax: number) => {
        await new Promise<void>((done) => open.push(done));
        return Buffer.alloc(bytesMax);
      },
    } as unknown as EngineForge;
    const merge = (repo: string, size: number, until = isOutOfTime) => {
      const directories = memory.open({ id: repo as RepoId, instanceUrl: 'https://forge.example/' });
      const objects = new RepoObjects(forge, directories, until);
      return objects.run(
        readBlobs(
          objects,
          [1, 2].map((at) => ({ id: `${at}`.repeat(40), size })),
        ),
      );
    };
    return { merge, asked: () => open.length, answer: () => open.splice(0).map((done) => done()) };
  }

  test('read large contents one after the other', async () => {
    const { merge, asked, answer } = givenTwo();
    const first = merge('one', 3 * MEBIBYTE);
    const second = merge('two', 3 * MEBIBYTE);
    await soon(async () => expect(asked()).toBe(1));
    answer();
    await soon(async () => expect(asked()).toBe(1));
    answer();
    await first;
    await soon(async () => expect(asked()).toBe(1));
    answer();
    await soon(async () => expect(asked()).toBe(1));
    answer();
    expect((await second).size).toBe(2);
  });

  test('read small contents side by side', async () => {
    const { merge, asked, answer } = givenTwo();
    const both = [merge('one', MEBIBYTE), merge('two', MEBIBYTE)];
    await soon(async () => expect(asked()).toBe(4));
    answer();
    expect((await Promise.all(both)).map(({ size }) => size)).toEqual([2, 2]);
  });

  test('leave the second for a later look where its time is up', async () => {
    const { merge, asked, answer } = givenTwo();
    const first = merge('one', 3 * MEBIBYTE);
    await soon(async () => expect(asked()).toBe(1));
    await expect(merge('two', 3 * MEBIBYTE, () => true)).rejects.toThrow(ReadingUnfinished);
    answer();
    await soon(async () => expect(asked()).toBe(1));
    answer();
    expect((await first).size).toBe(2);
  });
});
