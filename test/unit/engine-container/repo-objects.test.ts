import type { BlobId } from '#core/domain/ids.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { RepoDirectories } from '../../../engine-container/src/engine-memory.ts';
import { RepoObjects } from '../../../engine-container/src/repo-objects.ts';
import type { Reading } from '../../../engine-container/src/staging/objects.ts';

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
