import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRewritten } from '../../../../engine-container/src/staging/checkout-rules.ts';
import { readAtHand } from '../../../../engine-container/src/staging/objects.ts';
import { hasConverted } from '../../../../local/forge/git/converted.ts';
import { Repository } from '../../../../local/forge/git/repository.ts';
import { type CaseFile, MemoryObjects } from '../../../merges/trees.ts';
import { createSeededRandom } from '../../../support/seeded-random.ts';

const SEED = 20261127;
const RANDOM_CASES = 60;
const CRLF = 'one\r\ntwo\r\n';
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

function told(files: Files, path: string): string | null {
  const objects = new MemoryObjects();
  const tree = objects.putTree(
    new Map(Object.entries(files).map(([name, text]): [string, CaseFile] => [name, fileOf(text)])),
  );
  const content = Buffer.from(files[path] ?? '');
  const version = { mode: '100644', id: repository.objects.write('blob', content), size: content.length };
  return readAtHand(
    findRewritten(objects, [{ tree, isRuledAnew: false, files: new Map([[path, version]]) }]),
  );
}

function fileOf(text: string): CaseFile {
  return { mode: '100644', content: text };
}

async function gitTells(files: Files, path: string): Promise<boolean> {
  const flat = Object.entries(files).map(([name, text]) => {
    return [name, { mode: '100644', id: repository.objects.write('blob', Buffer.from(text)) }] as const;
  });
  const tree = repository.objects.writeFlat(new Map(flat));
  return hasConverted(repository, { written: tree, read: tree }, [path]);
}

/** What it says, after real git has said the same. */
async function ask(files: Files, path = 'dos.txt'): Promise<boolean> {
  const isRewritten = told(files, path) === path;
  expect({ files, isRewritten }).toEqual({ files, isRewritten: await gitTells(files, path) });
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
      const macro = random.chance(0.5)
        ? `[attr]mine ${random.pick(['text', 'eol=lf', '-text', 'text=auto'])}\n`
        : '';
      const content = random.pick([CRLF, CRLF, 'one\ntwo\r\n', 'one\n', '$Id: a $\r\n']);
      const inner = random.chance(0.5) ? { 'in/.gitattributes': rules() } : {};
      const files = { '.gitattributes': macro + rules(), ...inner, 'in/dos.txt': content };
      if (await ask(files, 'in/dos.txt')) count += 1;
    }
    expect(count).toBeGreaterThan(RANDOM_CASES / 10);
    expect(count).toBeLessThan(RANDOM_CASES);
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
      readAtHand(findRewritten(objects, checkouts));
    expect(ask(written, removed)).toBeNull();
    expect(ask(written, without)).toBeNull();
    expect(ask(written, without, removed)).toBe('dos.txt');
  });
});
