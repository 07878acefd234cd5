import { MERGE_BYTES_MAX, MERGE_FILE_BYTES_MAX } from '#core/domain/limits.ts';
import { LIKENESS_WORDS, MergeRules } from '../../../../../engine-container/src/staging/merge-rules.ts';
import type { ObjectView } from '../../../../../engine-container/src/staging/objects.ts';
import { TURN } from '../../../../../engine-container/src/staging/objects.ts';
import { Refused } from '../../../../../engine-container/src/staging/refusal.ts';
import { DirectoryGuess } from '../../../../../engine-container/src/staging/renames/identical.ts';
import { pairFiles } from '../../../../../engine-container/src/staging/renames/pair-files.ts';
import { belowAny, type RenameFile } from '../../../../../engine-container/src/staging/renames/sides.ts';

const linesOf = (count: number, more = ''): Buffer =>
  Buffer.from(Array.from({ length: count }, (_, at) => `line ${at}\n`).join('') + more);

function filesOf(
  contents: ReadonlyMap<string, Buffer>,
  count: number,
  toPath: (at: number) => string,
  id: string,
) {
  return Array.from(
    { length: count },
    (_, at): RenameFile => ({ path: toPath(at), mode: '100644', id, size: contents.get(id)?.length ?? 0 }),
  );
}

interface Paired {
  readonly turns: number;
  readonly read: readonly string[];
  readonly refused: string | null;
}

/** Every file of `sources` counts, as if the other side had changed it. */
function pair(
  contents: ReadonlyMap<string, Buffer>,
  sources: readonly RenameFile[],
  targets: readonly RenameFile[],
): Paired {
  const read = new Set<string>();
  const view: ObjectView = {
    directory: () => undefined,
    putDirectory: () => undefined,
    putBlob: () => undefined,
    blob: (id) => {
      read.add(id);
      return contents.get(id);
    },
  };
  const reading = pairFiles(view, new MergeRules(view, [], LIKENESS_WORDS), {
    sources,
    targets,
    relevant: new Set(sources.map(({ path }) => path)),
    removedDirectories: new Set(),
  });
  let turns = 0;
  try {
    for (let step = reading.next(); step.done !== true; step = reading.next())
      if (step.value === TURN) turns += 1;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { turns, read: [...read], refused: error.reason };
  }
  return { turns, read: [...read], refused: null };
}

test('copies of one file are compared once, however many there are, and all others have turns meanwhile', () => {
  const contents = new Map([
    ['a', linesOf(120_000)],
    ['b', linesOf(120_000, 'more\n')],
  ]);
  const turnsOf = (copies: number): number =>
    pair(
      contents,
      filesOf(contents, copies, (at) => `old/a${at}`, 'a'),
      filesOf(contents, copies, (at) => `new/b${at}`, 'b'),
    ).turns;
  const turns = turnsOf(6);
  expect(turns).toBeGreaterThan(0);
  expect(turnsOf(60)).toBe(turns);
});

test('moved files are no longer read where those of one name are together more than one merge may read', () => {
  const count = 2 * Math.ceil(MERGE_BYTES_MAX / MERGE_FILE_BYTES_MAX);
  const ids = Array.from({ length: count }, (_, at) => at);
  const contents = new Map(
    ids.flatMap((at) => [
      [`old${at}`, Buffer.alloc(MERGE_FILE_BYTES_MAX, 0)] as const,
      [`new${at}`, Buffer.alloc(MERGE_FILE_BYTES_MAX, 1)] as const,
    ]),
  );
  const of = (side: string) =>
    ids.flatMap((nth) => filesOf(contents, 1, () => `${side}/f${nth}`, `${side}${nth}`));
  const { read, refused } = pair(contents, of('old'), of('new'));
  expect(refused).toBe('file_too_large');
  expect(read.length * MERGE_FILE_BYTES_MAX).toBeLessThanOrEqual(MERGE_BYTES_MAX);
});

test('a path is below a directory, not below one whose name begins so, and each directory is looked at once', () => {
  const asked: string[] = [];
  class Noted extends Set<string> {
    override has(directory: string): boolean {
      asked.push(directory);
      return super.has(directory);
    }
  }
  const isBelow = belowAny(new Noted(['a/b', 'x']));
  const paths = ['a/b/c/f', 'a/b/f', 'a/bc/f', 'a/f', 'f', 'x/f', 'xx/f'];
  expect(paths.filter(isBelow)).toEqual(['a/b/c/f', 'a/b/f', 'x/f']);
  for (let at = 0; at < 100; at += 1) expect(isBelow(`a/b/c/${at}`)).toBe(true);
  expect(new Set(asked).size).toBe(asked.length);
});

test('where the files of a directory went is worked out once for all directories', () => {
  let walks = 0;
  class Noted extends Map<string, string> {
    override [Symbol.iterator]() {
      walks += 1;
      return super[Symbol.iterator]();
    }
  }
  const pairs = new Noted([
    ['a/1', 'b/1'],
    ['a/2', 'b/2'],
    ['a/3', 'c/3'],
    ['d/1', 'b/4'],
    ['d/2', 'c/4'],
  ]);
  const openSource: RenameFile = { path: 'e/f', mode: '100644', id: 'x', size: 1 };
  const guess = new DirectoryGuess({
    pairs,
    sources: [],
    targets: [],
    openSources: [openSource],
    openTargets: [],
  });
  expect(['a', 'f'].map((directory) => guess.of(directory))).toEqual(['b', null]);
  for (const directory of ['d', 'e']) expect(() => guess.of(directory)).toThrow(Refused);
  expect(walks).toBe(1);
});
