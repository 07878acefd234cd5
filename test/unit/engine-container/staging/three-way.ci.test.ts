import type { MergeRefusal } from '#core/domain/pulls/merge-refusal.ts';
import { computeAtHand } from '../../../../engine-container/src/staging/objects.ts';
import { planMerge } from '../../../../engine-container/src/staging/three-way.ts';
import { type CaseFile, MemoryObjects } from '../../../merges/trees.ts';

/** `path` -> content of a regular file, or `mode:content`. */
type Files = Readonly<Record<string, string>>;

function toTree(files: Files): Map<string, CaseFile> {
  return new Map(
    Object.entries(files).map(([path, text]) => {
      const [, mode = '100644', content = ''] = /^(?:(\d{6}):)?(.*)$/s.exec(text) ?? [];
      return [path, { mode, content: mode === '160000' ? content.repeat(40) : content }];
    }),
  );
}

function plan(base: Files, ours: Files, theirs: Files) {
  const objects = new MemoryObjects();
  const [b = '', o = '', t = ''] = [base, ours, theirs].map((files) => objects.putTree(toTree(files)));
  return { objects, made: computeAtHand(planMerge(objects, { base: b, ours: o, theirs: t })) };
}

function expectMerged(base: Files, ours: Files, theirs: Files, result: Files): void {
  const { objects, made } = plan(base, ours, theirs);
  expect(made).toMatchObject({ kind: 'plan', tree: objects.putTree(toTree(result)) });
}

function expectRefused(base: Files, ours: Files, theirs: Files, reason: MergeRefusal): void {
  expect(plan(base, ours, theirs).made).toEqual({ kind: 'refused', reason });
}

/** Twelve lines, some of them replaced. */
const text = (changes: Readonly<Record<number, string>> = {}, name = 'line'): string =>
  Array.from({ length: 12 }, (_, at) => `${changes[at] ?? `${name} ${at}`}\n`).join('');

describe('planMerge merges', () => {
  test.each<[name: string, base: Files, ours: Files, theirs: Files, result: Files]>([
    ['nothing where theirs is the base', { f: '1' }, { f: '2' }, { f: '1' }, { f: '2' }],
    ['nothing where both did the same', { f: '1' }, { f: '2' }, { f: '2' }, { f: '2' }],
    ['nothing where both added the same', {}, { f: '2', g: '1' }, { f: '2' }, { f: '2', g: '1' }],
    ['nothing where both deleted', { f: '1' }, { g: '2' }, {}, { g: '2' }],
    ['a change of theirs alone', { f: '1' }, { f: '1' }, { f: '2' }, { f: '2' }],
    ['an addition beside ours', {}, { a: '1' }, { b: '2' }, { a: '1', b: '2' }],
    ['a deletion', { f: '1', g: '1' }, { f: '1', g: '2' }, { g: '1' }, { g: '2' }],
    ['a change of type', { f: '1', g: '1' }, { f: '1' }, { f: '120000:2', g: '1' }, { f: '120000:2' }],
    ['their mode with our content', { f: '1' }, { f: '2' }, { f: '100755:1' }, { f: '100755:2' }],
    ['our mode with their content', { f: '1' }, { f: '100755:1' }, { f: '2' }, { f: '100755:2' }],
    ['the mode that theirs took back', { f: '100755:1' }, { f: '100755:2' }, { f: '2' }, { f: '2' }],
    [
      'a mode of theirs where both made one edit',
      { f: '1' },
      { f: '2' },
      { f: '100755:2' },
      { f: '100755:2' },
    ],
    [
      'a submodule of theirs',
      { s: '160000:1' },
      { s: '160000:1', g: '' },
      { s: '160000:2' },
      { s: '160000:2', g: '' },
    ],
    ['a file that becomes a directory', { f: '1' }, { f: '1', g: '' }, { 'f/g': '1' }, { 'f/g': '1', g: '' }],
    ['a directory that becomes a file', { 'f/g': '1' }, { 'f/g': '1', g: '' }, { f: '1' }, { f: '1', g: '' }],
    ['a new file beside an empty one of ours', {}, { f: '' }, { f: '1\n' }, { f: '1\n' }],
    ['the last file away', { f: '1' }, { f: '1' }, {}, {}],
  ])('%s', (_, base, ours, theirs, result) => {
    expectMerged(base, ours, theirs, result);
  });

  test('both edits of one file, and says the new contents', () => {
    const merged = text({ 1: 'ours', 9: 'theirs' });
    const { objects, made } = plan({ f: text() }, { f: text({ 1: 'ours' }) }, { f: text({ 9: 'theirs' }) });
    if (made.kind !== 'plan') throw new Error(made.reason);
    expect(made.changes).toHaveLength(1);
    expect(objects.blob(made.changes[0]?.to?.id ?? '')?.toString()).toBe(merged);
  });

  test('an empty plan where there is nothing to do', () => {
    expect(plan({ f: '1' }, { f: '2', g: '3' }, { f: '2' }).made).toMatchObject({
      kind: 'plan',
      changes: [],
    });
  });
});

describe('planMerge follows', () => {
  const edited = text({ 1: 'edited' });
  const other = text({ 9: 'other' });
  const both = text({ 1: 'edited', 9: 'other' });

  test.each<[name: string, base: Files, ours: Files, theirs: Files, result: Files]>([
    [
      'a file that we moved and they edited',
      { old: text() },
      { new: text() },
      { old: edited },
      { new: edited },
    ],
    [
      'a file that they moved and we edited',
      { old: text() },
      { old: edited },
      { new: text() },
      { new: edited },
    ],
    ['a file that was moved and edited', { old: text() }, { new: other }, { old: edited }, { new: both }],
    ['a file that both moved to one place', { old: text() }, { new: other }, { new: edited }, { new: both }],
    [
      'a directory that they moved, file by file',
      { 'a/x': text(), 'a/y': text({}, 'y') },
      { 'a/x': edited, 'a/y': text({}, 'y') },
      { 'b/x': other, 'b/y': text({}, 'y') },
      { 'b/x': both, 'b/y': text({}, 'y') },
    ],
    [
      'both at once: a directory that we moved and a file of it that they moved on',
      { 'a/x': text(), 'a/y': text({}, 'y') },
      { 'b/x': text(), 'b/y': text({}, 'y') },
      { 'a/x': edited, 'a/y': text({ 3: 'edited' }, 'y') },
      { 'b/x': edited, 'b/y': text({ 3: 'edited' }, 'y') },
    ],
    [
      'a mode that changed before the move',
      { old: text() },
      { new: `100755:${text()}` },
      { old: edited },
      { new: `100755:${edited}` },
    ],
  ])('%s', (_, base, ours, theirs, result) => {
    expectMerged(base, ours, theirs, result);
  });
});

describe('planMerge finds the conflict', () => {
  test.each<[name: string, base: Files, ours: Files, theirs: Files]>([
    ['we deleted, they modified', { f: '1', g: '' }, { g: '' }, { f: '2', g: '' }],
    ['we modified, they deleted', { f: '1' }, { f: '2' }, {}],
    ['a mode counts as a modification', { f: '1' }, { f: '100755:1' }, {}],
    ['both changed one line', { f: '1' }, { f: '2' }, { f: '3' }],
    ['both added other contents', {}, { f: '1' }, { f: '2' }],
    ['both added with other modes', {}, { f: '1' }, { f: '100755:1' }],
    ['both changed a binary file', { f: '\0a\nb' }, { f: '\0A\nb' }, { f: '\0a\nB' }],
    ['an empty file of ours, a binary one of theirs', {}, { f: '' }, { f: '\0' }],
    ['both moved a symlink', { f: '120000:1' }, { f: '120000:2' }, { f: '120000:3' }],
    ['both moved a submodule', { f: '160000:1' }, { f: '160000:2' }, { f: '160000:3' }],
    ['an edit against a change of type', { f: '1' }, { f: '2' }, { f: '120000:3' }],
    ['our file, their directory', {}, { f: '1' }, { 'f/g/h': '2' }],
    ['our directory, their file', {}, { 'f/g': '1' }, { f: '2' }],
    ['a new file in the directory they replaced', { 'f/g': '1' }, { 'f/g': '1', 'f/h': '2' }, { f: '3' }],
    ['a file moved here, deleted there', { f: text(), g: '' }, { h: text(), g: '' }, { g: '' }],
    ['a file moved to two places', { f: text() }, { g: text() }, { h: text() }],
    ['a file moved onto a new one', { f: text() }, { g: text() }, { f: text({ 1: 'e' }), g: 'new' }],
  ])('%s', (_, base, ours, theirs) => {
    expectRefused(base, ours, theirs, 'conflict');
  });
});

describe('planMerge does not guess', () => {
  test('a directory that was moved while a file was added to it', () => {
    const [x, y] = [text({}, 'x'), text({}, 'y')];
    const ours = { 'b/x': x, 'b/y': y };
    expectRefused({ 'a/x': x, 'a/y': y }, ours, { 'a/x': x, 'a/y': y, 'a/new': '1' }, 'directory_renamed');
  });

  test('which of two identical files became which of two new ones', () => {
    const base = { 'a/x': text(), 'a/y': text() };
    const theirs = { ...base, 'a/x': text({ 1: 'edited' }) };
    expectRefused(base, { 'b/p': text(), 'b/q': text() }, theirs, 'merge_unsure');
  });

  test('which of two equally similar new files an edited one became', () => {
    const ours = { p: text({ 3: 'p' }), q: text({ 3: 'q' }) };
    expectRefused({ f: text() }, ours, { f: text({ 9: 'edited' }) }, 'merge_unsure');
  });

  test.each([
    ['a driver of its own', '*.txt merge=lockfile'],
    ['none', '*.txt -merge'],
    ['the macro for binary files', 'docs/*.txt binary'],
    ['a macro of its own', '[attr]generated -merge\n*.txt generated'],
    ['a macro of macros', '[attr]inner -merge\n[attr]outer inner\n*.txt outer'],
    ['a macro of a macro that is defined below', '[attr]outer text inner\n[attr]inner binary\n*.txt outer'],
    ['a macro that names itself as well', '[attr]inner outer -merge\n[attr]outer inner\n*.txt outer'],
    ['a pattern that is not simple', '"docs/f.txt" merge=ours'],
    ['a class of letters', '*.[st]xt merge=ours'],
    ['a pattern behind a byte order mark', '\ufeff*.txt merge=ours'],
    ['all below a folder', 'docs/** merge=ours'],
    ['a name in any folder', '**/f.txt merge=ours'],
    ['a name in any folder, from the top', '/**/f.txt merge=ours'],
    ['folders, or none, between two slashes', 'docs/**/f.txt merge=ours'],
    ['several such in a row', 'docs/**/**/**/f.txt merge=ours'],
    ['folders, or none, and a star', 'docs/**/*.txt merge=ours'],
    ['all below a folder, said twice', 'docs/**/** merge=ours'],
    ['all from the top', '/** merge=ours'],
    ['a folder and a star', '/docs/*.t*t merge=ours'],
  ])('where .gitattributes names %s for the file that both changed', (_, attributes) => {
    const files = (changes: Readonly<Record<number, string>>): Files => ({
      '.gitattributes': `# rules\n${attributes}\n`,
      'docs/f.txt': text(changes),
    });
    expectRefused(files({}), files({ 1: 'ours' }), files({ 9: 'theirs' }), 'merge_rules');
  });

  test.each([
    ['names a macro of macros that say nothing of it', '[attr]inner text\n[attr]outer inner\n*.txt outer'],
    ['asks for a folder between two stars', 'docs/**/*/f.txt merge=ours\n*o**/f.tx merge=ours'],
    ['says nothing of merging', '*.txt text eol=lf'],
    ['asks for a union of both', '*.txt merge=union\n[attr]log merge=union\n*.txt log'],
    ['asks for a merge as text', '*.txt merge\n*.txt merge=text\n*.txt !merge'],
    ['speaks of another class of letters', '*.[a-s]xt merge=ours\n*.[.-9]xt binary'],
    ['speaks of other files', '*.png binary\n/docs/*.md merge=ours\nf.txt/ merge=ours'],
    ['speaks of the top folder', '/*.txt merge=ours\n/f.txt merge=ours'],
    ['speaks of what is below', '/docs/f.txt/** merge=ours\ndocs/**/g.txt merge=ours'],
  ])('but merges where .gitattributes %s', (_, attributes) => {
    const files = (changes: Readonly<Record<number, string>>): Files => ({
      '.gitattributes': `${attributes}\n`,
      'docs/f.txt': text(changes),
    });
    expectMerged(files({}), files({ 1: 'ours' }), files({ 9: 'theirs' }), files({ 1: 'ours', 9: 'theirs' }));
  });

  // A regular expression of this pattern looks back for hours, and every queue waits with it.
  test('a pattern of many stars is read in one go, also that of a stranger', () => {
    const name = 'a'.repeat(80);
    const files = (changes: Readonly<Record<number, string>>): Files => ({
      '.gitattributes': `${'*a'.repeat(30)}*b merge=ours\n`,
      [name]: text(changes),
    });
    expectMerged(files({}), files({ 1: 'ours' }), files({ 9: 'theirs' }), files({ 1: 'ours', 9: 'theirs' }));
  });

  /** Files in a folder that both sides changed, each in a line of its own, under these rules. */
  function given(attributes: string, names: readonly string[]) {
    const files = (changes: Readonly<Record<number, string>>): Files => ({
      '.gitattributes': attributes,
      ...Object.fromEntries(
        names.map((name, at) => [`src/some/path/${name}`, text({ 0: `${at}`, ...changes })]),
      ),
    });
    return plan(files({}), files({ 1: 'ours' }), files({ 9: 'theirs' })).made;
  }
  const rules = (count: number, toRule: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => `${toRule(at)} merge=ours\n`).join('');

  const manyNames = Array.from({ length: 300 }, (_, at) => `file${at}.ts`);
  const deepName = `${`${'a'.repeat(200)}/`.repeat(15)}x`;

  // Read anew for each file, and followed to their end, these take ten seconds of the engine of all tenants.
  test.each([
    ['12,000 rules with many folders', rules(12_000, () => `src/${'**/'.repeat(8)}b`), [deepName]],
    ['2,000 rules for 300 files', rules(2_000, (at) => `gen/*/dir${at}/**/*.pb.go`), manyNames],
    ['rules that match a long name but for its end', rules(12_000, () => '**/a*a*a*a*/**/b'), [deepName]],
  ])('%s are read once, and most of them told from their letters', (_, attributes, names) => {
    const before = process.cpuUsage();
    expect(given(attributes, names).kind).toBe('plan');
    // Of the processor alone: other programs of the machine take none of it.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
  });

  /** Each goes through all of a long name, and matches it nowhere. */
  const slow = (count: number): string => rules(count, (at) => `${'*a'.repeat(300 + at)}*c*b*`);
  const longName = `b${'a'.repeat(2_000)}c`;

  test('a few slow rules are read to their end', () => {
    expect(given(slow(3), [longName]).kind).toBe('plan');
  });

  test.each([
    ['letters', rules(1, () => `${'*a'.repeat(3_000_000)}b`)],
    ['rules', rules(300_000, () => '*b')],
    ['steps', slow(100)],
    // Kept, these take more memory than the engine of all tenants has.
    ['empty lines', '\n'.repeat(1_000_000)],
    ['short lines', 'a b\n'.repeat(500_000)],
  ])('a file is refused where there are more %s than can be read', (_, attributes) => {
    expect(given(attributes, [longName])).toEqual({ kind: 'refused', reason: 'merge_rules' });
  });

  // Looked through for each file, these hold up the engine of all tenants for seven seconds.
  test('the words of a rule that may be a macro are counted for each file', () => {
    const attributes = `[attr]own merge=ours\n*.none ${'x '.repeat(500_000)}\n`;
    expect(given(attributes, manyNames)).toEqual({ kind: 'refused', reason: 'merge_rules' });
    expect(given(attributes, ['one.ts']).kind).toBe('plan');
  });

  test('macros of macros are followed as deep as they go, and counted for each file', () => {
    const chain = Array.from({ length: 8_000 }, (_, at) => `[attr]m${at} m${at + 1}\n`).join('');
    const refused = { kind: 'refused', reason: 'merge_rules' };
    expect(given(`${chain}[attr]m8000 merge=ours\n*.ts m0\n`, ['one.ts'])).toEqual(refused);
    const others = `${chain}[attr]m8000 merge=ours\n*.none m0\n`;
    expect(given(others, ['one.ts']).kind).toBe('plan');
    expect(
      given(
        others,
        Array.from({ length: 1_500 }, (_, at) => `file${at}.ts`),
      ),
    ).toEqual(refused);
  });

  test('a .gitattributes that only one side has, or that stands further down, counts as well', () => {
    const files = (changes: Readonly<Record<number, string>>): Files => ({ 'docs/f.txt': text(changes) });
    const theirs = { ...files({ 9: 'theirs' }), 'docs/.gitattributes': 'f.txt merge=ours\n' };
    expectRefused(files({}), files({ 1: 'ours' }), theirs, 'merge_rules');
  });
});

describe('a moved file whose lines end in CRLF', () => {
  /** Theirs moves it and ends its lines in LF, ours makes it a program. As binary the two have nothing in common. */
  const sidesOf = (attributes: string): readonly [Files, Files, Files] => {
    const rules = { '.gitattributes': `${attributes}\n` };
    const dos = text().replaceAll('\n', '\r\n');
    return [
      { ...rules, 'old.txt': dos },
      { ...rules, 'old.txt': `100755:${dos}` },
      { ...rules, 'new.txt': text() },
    ];
  };

  test.each(['*.txt -diff', '*.txt binary', '[attr]generated -diff\n*.txt generated', 'old.txt diff'])(
    'is refused where .gitattributes says whether it is text: %s',
    (attributes) => expectRefused(...sidesOf(attributes), 'merge_rules'),
  );

  test.each(['*.txt text', '*.png binary', '*.txt -merge'])(
    'is found under other rules: %s',
    (attributes) => {
      const [base, ours, theirs] = sidesOf(attributes);
      expectMerged(base, ours, theirs, { ...theirs, 'new.txt': `100755:${text()}` });
    },
  );
});
