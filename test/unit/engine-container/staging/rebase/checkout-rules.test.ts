import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { computeAtHand } from '../../../../../engine-container/src/staging/objects.ts';
import { findRewritten } from '../../../../../engine-container/src/staging/rebase/checkout-rules.ts';
import { hasConverted } from '../../../../../local/forge/git/converted.ts';
import { Repository } from '../../../../../local/forge/git/repository.ts';
import { type CaseFile, MemoryObjects } from '../../../../merges/trees.ts';
import { createSeededRandom } from '../../../../support/seeded-random.ts';

const SEED = 20261127;
const RANDOM_CASES = 80;
const CRLF = 'one\r\ntwo\r\n';
const CONTENTS: [string, ...string[]] = [
  CRLF,
  CRLF,
  'one\ntwo\r\n',
  'one\n',
  'one\rtwo\n',
  'one\rtwo\r\n',
  'one\0two\r\nthree\n',
  '$Id: a $\r\n',
  '$Id$\n',
  '',
];
/** A few git processes per case; a busy machine may take its time. */
jest.setTimeout(120_000);

let root: string;
let repository: Repository;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'checkout-'));
  repository = Repository.create(join(root, 'repo.git'), 'main');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

/** Files of the tree by whose rules the file is written to disk, and of the one by whose rules it is read back. */
function told(files: Files, path: string, later: Files = files): string | null {
  const objects = new MemoryObjects();
  const put = (some: Files): string =>
    objects.putTree(
      new Map(Object.entries(some).map(([name, text]): [string, CaseFile] => [name, fileOf(text)])),
    );
  const [written, read] = [put(files), put(later)];
  const content = Buffer.from(files[path] ?? '');
  const version = { mode: '100644', id: repository.objects.write('blob', content), size: content.length };
  const first = { tree: written, isRuledAnew: false, files: new Map([[path, version]]) };
  const then = { tree: read, isRuledAnew: true, files: new Map() };
  const last = { tree: read, isRuledAnew: false, files: new Map([[path, null]]) };
  return computeAtHand(findRewritten(objects, later === files ? [first] : [first, then, last]));
}

function fileOf(text: string): CaseFile {
  return { mode: '100644', content: text };
}

async function gitTells(files: Files, path: string, later: Files): Promise<boolean> {
  const [written = '', read = ''] = [files, later].map((some) => {
    const flat = Object.entries(some).map(([name, text]) => {
      return [name, { mode: '100644', id: repository.objects.write('blob', Buffer.from(text)) }] as const;
    });
    return repository.objects.writeFlat(new Map(flat));
  });
  // Git that has taken a file for changed goes on doing so.
  const pairs = [
    { written, read: written },
    { written, read },
  ];
  for (const pair of pairs) if (await hasConverted(repository, pair, [path])) return true;
  return false;
}

/** What it says, after real git has said the same. */
async function ask(files: Files, path = 'dos.txt', later: Files = files): Promise<boolean> {
  const isRewritten = told(files, path, later) === path;
  expect({ files, later, isRewritten }).toEqual({
    files,
    later,
    isRewritten: await gitTells(files, path, later),
  });
  return isRewritten;
}

describe('a file that git would read back from disk as another one', () => {
  test.each([
    ['text', '*.txt text'],
    ['its former name', '*.txt crlf'],
    ['an end of line', '*.txt eol=lf'],
    ['either end of line', '*.txt eol=crlf'],
    ['the last line that matches', '*.txt -text\n*.txt text'],
    ['a macro of its own', '[attr]lines text eol=lf\n*.txt lines'],
    ['a pattern with a class', '*.[st]xt text'],
    ['a rule that is left open again', '*.txt -text\n*.txt !text eol=lf'],
    ['the path', '/dos.txt text'],
  ])('is told by %s', async (_, rules) => {
    expect(await ask({ '.gitattributes': `${rules}\n`, 'dos.txt': CRLF })).toBe(true);
  });

  test.each([
    ['no rule at all', '# nothing'],
    ['text that git may see itself', '*.txt text=auto'],
    ['the same with an end of line', '*.txt text=auto eol=lf'],
    ['an end of line for what is text by another line', '*.txt text=auto\n*.txt eol=crlf'],
    ['a rule that is taken back', '*.txt text\ndos.txt -text'],
    ['a binary file', '*.txt text\n*.txt binary'],
    ['a rule that is left open', '*.txt text\n*.txt !text'],
    ['an end of line that there is not', '*.txt eol=mac'],
    ['a file that begins with a byte order mark', '\ufeff*.txt text'],
    ['a pattern for another one', '*.text text'],
    ['a folder of the same name', 'dos.txt/ text'],
  ])('is not told by %s', async (_, rules) => {
    expect(await ask({ '.gitattributes': `${rules}\n`, 'dos.txt': CRLF })).toBe(false);
  });

  test('needs a line end of two characters', async () => {
    expect(await ask({ '.gitattributes': '* text\n', 'dos.txt': 'one\rtwo\n' })).toBe(false);
    expect(await ask({ '.gitattributes': '* eol=crlf\n', 'dos.txt': 'one\ntwo\n' })).toBe(false);
  });

  test('is told by an identity that was written out', async () => {
    const rules = { '.gitattributes': '*.txt ident\n' };
    expect(await ask({ ...rules, 'dos.txt': '$Id: 1234 $\n' })).toBe(true);
    expect(await ask({ ...rules, 'dos.txt': '$Id$\n' })).toBe(false);
    expect(await ask({ ...rules, 'dos.txt': '$Id: over\ntwo lines $\n' })).toBe(false);
  });

  test('obeys the folder before the folder above, and macros of the root alone', async () => {
    const above = { '.gitattributes': '*.txt text\n', 'in/dos.txt': CRLF };
    expect(await ask(above, 'in/dos.txt')).toBe(true);
    expect(await ask({ ...above, 'in/.gitattributes': '*.txt -text\n' }, 'in/dos.txt')).toBe(false);
    const macro = { 'in/.gitattributes': '[attr]lines text\n*.txt lines\n', 'in/dos.txt': CRLF };
    expect(await ask(macro, 'in/dos.txt')).toBe(false);
  });

  test.each([
    ['in/**/dos.txt', true],
    ['in/**/**/**/dos.txt', true],
    ['in/***/dos.txt', true],
    ['i**/dos.txt', true],
    ['in/**/*', true],
    ['in/**/**', true],
    ['/**', true],
    ['**/in/**', true],
    ['in/**dos.txt', true],
    ['in/**/*/dos.txt', false],
    ['in/dos.txt/**', false],
    ['in/**/', false],
    ['/*', false],
  ])('is told by two stars as git reads them: %s (%s)', async (pattern, isTold) => {
    expect(await ask({ '.gitattributes': `${pattern} text\n`, 'in/dos.txt': CRLF }, 'in/dos.txt')).toBe(
      isTold,
    );
  });

  test('is told by two stars for a file some folders further down, as git reads them', async () => {
    const asked = async (pattern: string) =>
      ask({ '.gitattributes': `${pattern} text\n`, 'in/some/more/dos.txt': CRLF }, 'in/some/more/dos.txt');
    for (const pattern of ['in/**/dos.txt', 'in/**/**/dos.txt', 'in/**/more/**/dos.txt', 'in/*/**/dos.txt'])
      expect([pattern, await asked(pattern)]).toEqual([pattern, true]);
    for (const pattern of ['*n**/dos.txt', 'in/**o/dos.txt', 'in/**dos.txt'])
      expect([pattern, await asked(pattern)]).toEqual([pattern, false]);
  });

  test(`is told as git tells it, seed ${SEED}`, async () => {
    const random = createSeededRandom(SEED);
    const words: [string, ...string[]] = [
      'text',
      '-text',
      '!text',
      'text=auto',
      'eol=lf',
      'eol=crlf',
      'crlf',
      '-crlf',
      'binary',
      'mine',
      'ident',
      'diff',
    ];
    const patterns: [string, ...string[]] = [
      '*',
      '*.txt',
      'dos.txt',
      '/dos.txt',
      'in/*',
      'in/**',
      '**/dos.txt',
      'in/**/dos.txt',
      '*.[a-t]xt',
      'd*t',
      '*.md',
    ];
    const rules = (): string =>
      Array.from(
        { length: 1 + random.int(4) },
        () => `${random.pick(patterns)} ${random.pick(words)} ${random.pick(words)}\n`,
      ).join('');
    let count = 0;
    for (let at = 0; at < RANDOM_CASES; at += 1) {
      const file = { 'in/dos.txt': random.pick(CONTENTS) };
      const draw = (): Files => {
        const macro = random.chance(0.5)
          ? `[attr]mine ${random.pick(['text', 'eol=lf', '-text', 'text=auto'])}\n`
          : '';
        const inner = random.chance(0.5) ? { 'in/.gitattributes': rules() } : {};
        return { '.gitattributes': macro + rules(), ...inner, ...file };
      };
      const files = draw();
      if (await ask(files, 'in/dos.txt', random.chance(0.5) ? files : draw())) count += 1;
    }
    expect(count).toBeGreaterThan(RANDOM_CASES / 10);
    expect(count).toBeLessThan(RANDOM_CASES);
  });

  test('needs rules in a file, and not in a folder or a submodule of that name', () => {
    const files = { '.gitattributes/none.txt': '*.txt text\n', 'dos.txt': CRLF };
    expect(told(files, 'dos.txt')).toBeNull();
    const objects = new MemoryObjects();
    const tree = objects.putTree(
      new Map([
        ['.gitattributes', { mode: '160000', content: '1'.repeat(40) }],
        ['dos.txt', fileOf(CRLF)],
      ]),
    );
    const version = { mode: '100644', id: '2'.repeat(40), size: CRLF.length };
    const checkout = { tree, isRuledAnew: false, files: new Map([['dos.txt', version]]) };
    expect(computeAtHand(findRewritten(objects, [checkout]))).toBeNull();
  });

  test('is told through macros of macros, as deep as they go', () => {
    const chain = Array.from({ length: 8_000 }, (_, at) => `[attr]m${at} m${at + 1}\n`).join('');
    const rules = `${chain}[attr]m8000 text\n*.txt m0\n`;
    expect(told({ '.gitattributes': rules, 'dos.txt': CRLF }, 'dos.txt')).toBe('dos.txt');
  });

  test('is not told where there are more rules than are read', () => {
    expect(
      told({ '.gitattributes': `*.txt text\n${'*a*b*c*d x\n'.repeat(200_000)}`, 'dos.txt': CRLF }, 'dos.txt'),
    ).toBe(null);
  });

  test('is told of rules that change while it is on disk', () => {
    const objects = new MemoryObjects();
    const [crlf, other] = ['*.txt eol=crlf\n', ''].map((rules) =>
      objects.putTree(
        new Map([
          ['.gitattributes', fileOf(rules)],
          ['dos.txt', fileOf('one\n')],
        ]),
      ),
    ) as [string, string];
    const version = { mode: '100644', id: repository.objects.write('blob', Buffer.from('one\n')), size: 4 };
    const written = { tree: crlf, isRuledAnew: false, files: new Map([['dos.txt', version]]) };
    const without = { tree: other, isRuledAnew: true, files: new Map() };
    const removed = { tree: other, isRuledAnew: false, files: new Map([['dos.txt', null]]) };
    const ask = (...checkouts: Parameters<typeof findRewritten>[1]): string | null =>
      computeAtHand(findRewritten(objects, checkouts));
    expect(ask(written, removed)).toBeNull();
    expect(ask(written, without)).toBeNull();
    expect(ask(written, without, removed)).toBe('dos.txt');
  });
});
