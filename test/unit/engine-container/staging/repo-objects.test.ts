import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { RepoDirectories } from '../../../../engine-container/src/reconcile/engine-memory.ts';
import type { Reading } from '../../../../engine-container/src/staging/objects.ts';
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
  function* reading(blob: BlobId): Reading<number> {
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
    let turns = 0;
    let isOver = false;
    const others = (): void => {
      turns += 1;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    await givenFolders(() => false)();
    isOver = true;
    expect(turns).toBeGreaterThan(LOOKS / 5);
  });

  test('end with the time of the reconcile', async () => {
    await expect(givenFolders(() => true)()).rejects.toThrow(ReadingUnfinished);
  });
});
