import { createHash } from 'node:crypto';
import type { SeededRandom } from '../support/seeded-random.ts';
import { type CaseFile, type CaseTree, type MergeCase, place } from './trees.ts';

const PATHS = [
  'README.md',
  'a',
  'a.b',
  'a-b',
  'a/one.ts',
  'a/two words.ts',
  'src/deep/er/file.ts',
  'src/deep.ts',
  'src/tab\there',
  'src/quote".ts',
  'back\\slash',
  'sp ace/b/sp ace',
  ' leading and trailing ',
  'ü/größe-日本.txt',
  'emoji-😀',
  'high-\uff5e',
  'line\nbreak',
  '-dash',
] as const;

export function randomCase(random: SeededRandom): MergeCase {
  const base = new Map<string, CaseFile>();
  for (const path of PATHS) if (random.chance(0.45)) place(base, path, randomFile(path, random));
  const hot = random.pick(PATHS);
  return { base, ours: mutate(base, hot, random), theirs: mutate(base, hot, random) };
}

/** One path of a case is touched by both sides more often, or few cases would need contents merged. */
function mutate(base: CaseTree, hot: string, random: SeededRandom): CaseTree {
  const tree = new Map(base);
  const count = 1 + random.int(4);
  for (let i = 0; i < count; i++) {
    const path = random.chance(0.3) ? hot : random.pick(PATHS);
    const file = tree.get(path);
    const dice = random.next();
    if (file === undefined || dice < 0.08) place(tree, path, randomFile(path, random));
    else if (dice < 0.2) tree.delete(path);
    else if (dice < 0.4 && file.mode.startsWith('100')) {
      tree.set(path, { ...file, mode: file.mode === '100644' ? '100755' : '100644' });
    } else tree.set(path, { ...file, content: edit(path, file, random) });
  }
  return tree;
}

/**
 * Contents carry their path, so that no two paths are alike: git's merge cannot be told to leave renames alone
 * (`merge.renames` is ignored by `merge-tree` of 2.39), and these tests are about everything but renames.
 */
function randomFile(path: string, random: SeededRandom): CaseFile {
  const dice = random.next();
  if (dice < 0.08) return { mode: '120000', content: `target/${path}/${random.int(4)}` };
  if (dice < 0.16) return { mode: '160000', content: submoduleCommit(path, random) };
  return { mode: random.chance(0.25) ? '100755' : '100644', content: randomContent(path, random) };
}

function submoduleCommit(path: string, random: SeededRandom): string {
  return createHash('sha1')
    .update(`submodule ${path} ${random.int(5)}`)
    .digest('hex');
}

function randomContent(path: string, random: SeededRandom): string {
  const dice = random.next();
  if (dice < 0.1) return '';
  if (dice < 0.2) return `\0binary\x01${path}${random.int(4)}\r\n\0`;
  const eol = dice < 0.35 ? '\r\n' : '\n';
  const lines = Array.from({ length: 24 }, (_, i) => `${path} ${i} ${dice < 0.5 ? random.int(3) : ''}  `);
  return lines.join(eol) + (random.chance(0.2) ? '' : eol);
}

function edit(path: string, file: CaseFile, random: SeededRandom): string {
  if (file.mode === '160000') return submoduleCommit(path, random);
  if (file.mode === '120000') return `target/${path}/${random.int(6)}`;
  if (random.chance(0.15)) return randomContent(path, random);
  const lines = file.content.split('\n');
  const at = random.int(lines.length);
  if (random.chance(0.2)) lines.splice(at, 1 + random.int(2));
  else if (random.chance(0.3)) lines.splice(at, 0, `${path} inserted ${random.int(9)} \t`);
  else lines[at] = `${path} edited ${random.int(9)} \t`;
  return lines.join('\n');
}
