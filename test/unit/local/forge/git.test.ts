import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../../../../local/forge/git/command-shell.ts';
import { History } from '../../../../local/forge/git/history.ts';
import { runGit } from '../../../../local/forge/git/process.ts';
import { Repository } from '../../../../local/forge/git/repository.ts';
import { createSeededRandom } from '../../../support/seeded-random.ts';

let dir: string;
let repository: Repository;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'forge-git-'));
  repository = Repository.create(join(dir, 'r.git'), 'main');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function ask(...args: string[]): Promise<string> {
  return (await runGit(repository.dir, args)).stdout.toString('utf8').trim();
}

/** A commit of one file, at this second. */
async function commit(text: string, parents: readonly string[] = [], atS = 1_000_000): Promise<string> {
  const who = { name: 'dev', email: 'dev@example.test', at: atS * 1000 };
  const tree = await repository.changeTree(null, [{ path: 'file', content: Buffer.from(text) }]);
  return repository.objects.writeCommit({ tree, parents, author: who, committer: who, message: text });
}

describe('the shell that forks for a large process', () => {
  const run = (script: string, input?: Buffer) =>
    runCommand({
      words: ['sh', '-c', script, 'name', "it's $HOME `x`\nand a line"],
      cwd: dir,
      env: { ONLY: 'a "b" $c' },
      ...(input === undefined ? {} : { input }),
    });

  test('code, both outputs, place, environment and arguments are as given', async () => {
    expect(await run('pwd; printf %s "$ONLY" >&2; exit 7')).toEqual({
      code: 7,
      stdout: Buffer.from(`${dir}\n`),
      stderr: 'a "b" $c',
    });
    expect((await run('printf %s "$1"')).stdout.toString()).toBe("it's $HOME `x`\nand a line");
    expect((await run('kill -9 $$')).code).toBe(137);
    expect((await runCommand({ words: ['no-such-program'], cwd: dir, env: {} })).code).toBe(127);
  });

  test('bytes go in and out as they are; without input there is none', async () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7) % 256));
    const copy = `'${process.execPath}' -e 'process.stdin.pipe(process.stdout)'`;
    expect((await run(copy, bytes)).stdout.equals(bytes)).toBe(true);
    expect((await run(copy)).stdout).toHaveLength(0);
  });

  test('many at once get each their own answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        run(`read -r line; printf %s "$line"; exit ${at}`, Buffer.from(`${at}`)),
      ),
    );
    expect(answers.map(({ code, stdout }) => [code, stdout.toString()])).toEqual(
      answers.map((_, at) => [at, `${at}`]),
    );
  });
});

describe('references are moved as git moves them', () => {
  const name = 'refs/heads/topic';

  test('compare-and-swap, and a move whatever it was', async () => {
    const [one, two] = [await commit('one'), await commit('two')];
    expect(await repository.updateRef(name, one, two)).toBe(false);
    expect(await repository.updateRef(name, one, null)).toBe(true);
    expect(await repository.updateRef(name, two, null)).toBe(false);
    expect(await repository.updateRef(name, two, one)).toBe(true);
    await repository.setRef('refs/pull/1/head', one);
    expect(await ask('show-ref')).toBe(`${two} ${name}\n${one} refs/pull/1/head`);
    expect(await repository.deleteRef(name, one)).toBe(false);
    expect(await repository.deleteRef(name, two)).toBe(true);
    expect(await ask('show-ref')).toBe(`${one} refs/pull/1/head`);
    expect(await ask('fsck', '--strict')).not.toMatch(/error|invalid/);
  });

  test('no name is a branch and a folder of branches', async () => {
    const one = await commit('one');
    expect(await repository.updateRef('refs/heads/a', one, null)).toBe(true);
    expect(await repository.updateRef('refs/heads/a/b', one, null)).toBe(false);
    expect(await repository.deleteRef('refs/heads/a', one)).toBe(true);
    expect(await repository.updateRef('refs/heads/a/b/c', one, null)).toBe(true);
    expect(await repository.updateRef('refs/heads/a', one, null)).toBe(false);
    expect(await repository.deleteRef('refs/heads/a/b/c', one)).toBe(true);
    expect(await repository.updateRef('refs/heads/a', one, null)).toBe(true);
    mkdirSync(join(repository.dir, 'refs/heads/empty/inside'), { recursive: true });
    expect(await repository.updateRef('refs/heads/empty', one, null)).toBe(true);
  });

  test('an object that is no commit, a bad name, a packed or a locked ref is left to git', async () => {
    const [one, two] = [await commit('one'), await commit('two')];
    const tree = (await repository.mustCommit(one)).tree;
    expect(await repository.updateRef(name, tree, null)).toBe(false);
    expect(await repository.updateRef(name, 'f'.repeat(40), null)).toBe(false);
    for (const bad of ['a..b', 'a.lock', '.a', 'a b', 'a~1', 'a@{1}', 'a.']) {
      expect(await repository.updateRef(`refs/heads/${bad}`, one, null)).toBe(false);
    }
    expect(await repository.updateRef('refs/heads/ä', one, null)).toBe(true);
    writeFileSync(join(repository.dir, `${name}.lock`), '');
    expect(await repository.updateRef(name, one, null)).toBe(false);
    rmSync(join(repository.dir, `${name}.lock`));
    expect(await repository.updateRef(name, one, null)).toBe(true);
    await ask('pack-refs', '--all');
    expect(readdirSync(join(repository.dir, 'refs/heads'))).toEqual([]);
    expect(repository.tip('topic')).toBe(one);
    expect(await repository.updateRef(name, two, one)).toBe(true);
    expect(await repository.deleteRef(name, two)).toBe(true);
    expect(repository.tip('topic')).toBe(null);
  });

  test('branches come in the order in which git lists them', async () => {
    const one = await commit('one');
    for (const branch of ['b', 'a/z', 'a-b', 'a/b/c', 'B', 'a.b', 'é'])
      await repository.setRef(`refs/heads/${branch}`, one);
    const loose = await repository.branches();
    expect(loose).toHaveLength(7);
    await ask('pack-refs', '--all');
    expect(await repository.branches()).toEqual(loose);
  });
});

test('a tree is listed as git lists it', async () => {
  const link = { path: 'b.txt', content: Buffer.from('to'), mode: '120000' };
  const module = { path: 'b/module', content: Buffer.from('a'.repeat(40)), mode: '160000' };
  const files = ['b/c/d', 'b.x', 'b0', 'a', 'ü/ö'].map((path) => ({ path, content: Buffer.from(path) }));
  const tree = await repository.changeTree(null, [...files, link, module]);
  for (const flags of [[], ['-r', '-t']]) {
    const listed = (await repository.listTree(tree, flags.length > 0)) ?? [];
    const lines = listed.map(({ mode, type, sha, size, path }) => {
      return `${mode} ${type} ${sha} ${(type === 'blob' ? `${size}` : '-').padStart(7)}\t${path}\0`;
    });
    expect(lines.join('')).toBe(
      (await runGit(repository.dir, ['ls-tree', '-l', '-z', ...flags, tree])).stdout.toString('utf8'),
    );
  }
});

test.each([1, 2])('history of seed %i is read as git reads it, or left to git', async (seed) => {
  const random = createSeededRandom(seed);
  const ids: string[] = [];
  for (let at = 0; at < 40; at += 1) {
    const parents = new Set<string>();
    const wanted = at === 0 || random.chance(0.05) ? 0 : random.chance(0.25) ? 2 : 1;
    for (let each = 0; each < wanted; each += 1) {
      const near = Math.max(0, ids.length - 1 - random.int(5));
      parents.add(ids[near] ?? '');
    }
    // Several in the same second; of a clock that goes back git itself makes mistakes.
    ids.push(await commit(`${at}`, [...parents], 1_000_000 + Math.floor(at / 4)));
  }
  const history = new History(repository.objects);
  let [bases, chains] = [0, 0];
  for (let pair = 0; pair < 40; pair += 1) {
    const [a, b] = [ids[random.int(40)] ?? '', ids[random.int(40)] ?? ''];
    const base = history.mergeBase(a, b);
    if (base !== null) {
      bases += 1;
      expect(base.id ?? '').toBe(await ask('merge-base', '--all', a, b));
    }
    const chain = history.chain(a, [b]);
    if (chain !== null) {
      chains += 1;
      expect(chain.join('\n')).toBe(await ask('rev-list', a, `^${b}`));
    }
    expect((await repository.revListToReplay(a, b)).join('\n')).toBe(
      await ask('rev-list', '--no-merges', '--topo-order', a, `^${b}`),
    );
  }
  expect(bases).toBeGreaterThan(10);
  expect(chains).toBeGreaterThan(10);
  expect(history.mergeBase('f'.repeat(40), ids[3] ?? '')).toBe(null);
  expect(history.chain(ids[3] ?? '', ['f'.repeat(40)])).toBe(null);
});
