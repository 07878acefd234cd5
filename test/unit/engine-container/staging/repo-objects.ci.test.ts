import { setTimeout as sleep } from 'node:timers/promises';
import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import { FORGE_READS_AT_ONCE_MAX, MERGE_BYTES_MAX, MERGE_FILE_BYTES_MAX } from '#core/domain/limits.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { RepoDirectories } from '../../../../engine-container/src/reconcile/engine-memory.ts';
import { hashDirectory } from '../../../../engine-container/src/staging/hash-directory.ts';
import {
  type Computation,
  computeAtHand,
  readBlobs,
} from '../../../../engine-container/src/staging/objects.ts';
import { ReadingUnfinished, RepoObjects } from '../../../../engine-container/src/staging/repo-objects.ts';
import { diffTrees } from '../../../../engine-container/src/staging/tree-walk.ts';

const MEBIBYTE = 1024 * 1024;
const id = (n: number): BlobId => String(n).repeat(40);

/** Merges that need contents, and what the forge is asked for. */
function givenContents(bytes: number) {
  const asked: BlobId[] = [];
  const forge = {
    readBlob: async (blob: BlobId) => {
      asked.push(blob);
      return Buffer.alloc(bytes);
    },
  } as unknown as EngineForge;
  const objects = new RepoObjects(forge, new RepoDirectories(), () => false);
  function* reading(blob: BlobId): Computation<number> {
    if (objects.blob(blob) === undefined) yield [{ kind: 'blob', id: blob }];
    const content = objects.blob(blob);
    return content instanceof Buffer ? content.length : -1;
  }
  return { asked, merge: (blob: BlobId) => objects.run(reading(blob)) };
}

test('a content that several merges of one reconcile need is read once', async () => {
  const { asked, merge } = givenContents(1_000);
  for (const blob of [id(1), id(1), id(2), id(1)]) expect(await merge(blob)).toBe(1_000);
  expect(asked).toEqual([id(1), id(2)]);
});

test('contents are forgotten between merges once they are many', async () => {
  const { asked, merge } = givenContents(10 * MEBIBYTE);
  for (const blob of [id(1), id(2), id(1)]) expect(await merge(blob)).toBe(10 * MEBIBYTE);
  expect(asked).toEqual([id(1), id(2), id(1)]);
});

/** How many turns all others in the engine have meanwhile. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const others = (): void => {
    turns += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  await work();
  isOver = true;
  return turns;
}

test('a folder of tens of thousands of files is checked against its id in turns, whatever order the forge lists it in', async () => {
  const names = Array.from({ length: 50_000 }, (_, at) => `f${(at * 7_919) % 50_000}`);
  const entries = names.map((path) => ({ path, mode: '100644', id: id(3), size: 1 }));
  const tree = computeAtHand(
    hashDirectory(
      entries.map(({ path: name, ...entry }) => ({ name, ...entry })),
      'sha1',
    ),
  );
  const memory = new RepoDirectories();
  const forge = { readTree: async () => ({ tree, entries }) } as unknown as EngineForge;
  const objects = new RepoObjects(forge, memory, () => false);
  expect(await countTurns(() => objects.treeOf(tree))).toBeGreaterThan(5);
  const kept = memory.directories.get(tree);
  expect(Array.isArray(kept) && kept.slice(0, 3).map(({ name }) => name)).toEqual(['f0', 'f1', 'f10']);
});

describe('contents that one question asks for', () => {
  function givenFiles(bytes: number) {
    const asked: (readonly [BlobId, number])[] = [];
    const forge = {
      readBlob: async (blob: BlobId, bytesMax: number) => {
        asked.push([blob, bytesMax]);
        sideBySide = Math.max(sideBySide, ++out);
        await sleep(1);
        out -= 1;
        return Buffer.alloc(bytes);
      },
    } as unknown as EngineForge;
    let [out, sideBySide] = [0, 0];
    const objects = new RepoObjects(forge, new RepoDirectories(), () => false);
    const read = (size: number | null, count: number) =>
      objects.run(
        readBlobs(
          objects,
          Array.from({ length: count }, (_, at) => ({ id: id(at + 1), size })),
        ),
      );
    return { asked, read, sideBySide: () => sideBySide };
  }

  test('of which more come than a merge may read are withheld, and not asked for', async () => {
    const { asked, read } = givenFiles(10 * MEBIBYTE);
    const contents = [...(await read(10, 8)).values()];
    const kept = contents.filter((content) => Buffer.isBuffer(content)).length;
    expect(kept).toBe(asked.length);
    // Those that were out already when the limit was passed still come.
    expect(kept * 10 * MEBIBYTE).toBeLessThan(MERGE_BYTES_MAX + FORGE_READS_AT_ONCE_MAX * 10 * MEBIBYTE);
    expect(contents).toContain('withheld');
  });

  test.each([
    [1_000, 1_000],
    [null, MERGE_FILE_BYTES_MAX],
  ])('no more is read of one than its tree lists (%j)', async (listed, bytesMax) => {
    const { asked, read } = givenFiles(1_000);
    await read(listed, 1);
    expect(asked).toEqual([[id(1), bytesMax]]);
  });

  test('large ones come one after the other, small ones side by side', async () => {
    const [large, small] = [givenFiles(2 * MEBIBYTE), givenFiles(1_000)];
    await large.read(2 * MEBIBYTE, 5);
    await small.read(1_000, 5);
    expect([large.sideBySide(), small.sideBySide()]).toEqual([1, FORGE_READS_AT_ONCE_MAX]);
  });

  test('what is at hand stays while the others are read, also where earlier contents are forgotten', async () => {
    const { read } = givenFiles(3 * MEBIBYTE);
    await read(3 * MEBIBYTE, 5);
    expect([...(await read(3 * MEBIBYTE, 7)).values()].every((content) => Buffer.isBuffer(content))).toBe(
      true,
    );
  });
});

describe('folders of thousands of files, looked at again and again without a call', () => {
  const FILES = 20_000;
  const LOOKS = 30;
  const tree = (n: number): TreeHash => String(n).repeat(40);

  function givenFolders(isOutOfTime: () => boolean) {
    const memory = new RepoDirectories();
    for (const n of [1, 2]) {
      const entry = (at: number) => ({ name: `f${at}`, mode: '100644', id: id(n + 2), size: 1 });
      memory.put(
        tree(n),
        Array.from({ length: FILES }, (_, at) => entry(at)),
      );
    }
    const objects = new RepoObjects({} as EngineForge, memory, isOutOfTime);
    const look = async (): Promise<void> => {
      for (let count = 0; count < LOOKS; count += 1) await objects.run(diffTrees(objects, tree(1), tree(2)));
    };
    return look;
  }

  test('let all others have a turn', async () => {
    expect(await countTurns(givenFolders(() => false))).toBeGreaterThan(LOOKS / 5);
  });

  test('end with the time of the reconcile', async () => {
    await expect(givenFolders(() => true)()).rejects.toThrow(ReadingUnfinished);
  });
});
