import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mergeLines } from '../../../fakes/abstract-forge/line-merge.ts';
import { createSeededRandom, type SeededRandom } from '../../../support/seeded-random.ts';

const SEED = 11;
const CASES = 300;

interface TextCase {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

function edit(lines: readonly string[], random: SeededRandom, word: string): string {
  const edited = [...lines];
  const count = 1 + random.int(3);
  for (let i = 0; i < count; i++) {
    const at = random.int(edited.length + 1);
    // Some edits are the same on both sides.
    const text = random.chance(0.2) ? `both ${at}` : `${word} ${random.int(1000)}`;
    const dice = random.next();
    if (dice < 0.4) edited[Math.min(at, edited.length - 1)] = text;
    else if (dice < 0.7) edited.splice(at, 0, text);
    else edited.splice(at, 1 + random.int(2));
  }
  return render(edited, random);
}

function render(lines: readonly string[], random: SeededRandom): string {
  return lines.join('\n') + (random.chance(0.1) ? '' : '\n');
}

function mergeWithGit(cases: readonly TextCase[]): readonly (string | null)[] {
  const root = mkdtempSync(join(tmpdir(), 'lines-'));
  try {
    cases.forEach((one, i) => {
      for (const side of ['base', 'ours', 'theirs'] as const)
        writeFileSync(join(root, `${i}.${side}`), one[side]);
    });
    const script = `cd ${root} && i=0; while [ $i -lt ${cases.length} ]; do
      if git merge-file -p $i.ours $i.base $i.theirs 2>/dev/null; then :; else printf '\\001'; fi; printf '\\002'
      i=$((i + 1))
    done`;
    const answer = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
    return answer
      .split('\u0002')
      .slice(0, cases.length)
      .map((text) => (text.endsWith('\u0001') ? null : text));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

test(`texts merge by lines as git merges them, seed ${SEED}`, () => {
  const random = createSeededRandom(SEED);
  const cases = Array.from({ length: CASES }, () => {
    const lines = Array.from({ length: 4 + random.int(20) }, (_, i) => `line ${i}`);
    return {
      base: render(lines, random),
      ours: edit(lines, random, 'ours'),
      theirs: edit(lines, random, 'theirs'),
    };
  });
  const expected = mergeWithGit(cases);
  expect(expected.filter((text) => text === null).length).toBeGreaterThan(CASES / 5);
  expect(expected.filter((text) => text !== null).length).toBeGreaterThan(CASES / 5);
  cases.forEach((one, i) => {
    const merged = mergeLines(one.base, one.ours, one.theirs);
    expect({ i, ...one, merged }).toEqual({ i, ...one, merged: expected[i] });
  });
});

test.each([
  ['the other side alone', 'a\n', 'a\n', 'b\n', 'b\n'],
  ['both the same', 'a\n', 'b\n', 'b\n', 'b\n'],
  ['binary contents', 'a\0\nb\nc\nd\n', 'A\0\nb\nc\nd\n', 'a\0\nb\nc\nD\n', null],
  ['only the last newline', 'a\nb\nc', 'a\nb\nc\n', 'A\nb\nc', 'A\nb\nc\n'],
])('mergeLines: %s', (_, base, ours, theirs, merged) => {
  expect(mergeLines(base, ours, theirs)).toBe(merged);
});
