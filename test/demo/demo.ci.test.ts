import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { PULL_REQUESTS } from '../../local/demo/project.ts';
import type { StoryState } from '../../local/demo/stage.ts';
import { findCanary, formsOf } from '../support/canary.ts';

// The limit ends a hang; the story itself takes about half a minute on two busy cores.
const STORY_MS_MAX = 200_000;
jest.setTimeout(STORY_MS_MAX);

interface Receipt {
  readonly pr: number;
  readonly tree: string;
  readonly merge_commit: string;
}

interface Summary {
  readonly landed: readonly number[];
  readonly bounced: readonly number[];
  readonly skipped: readonly number[];
  readonly receipts: readonly Receipt[];
  readonly unproven_landings: number;
}

describe('the demo, whole, as a process that finds node, npm, git and a POSIX shell on its PATH and nothing else', () => {
  const root = mkdtempSync(join(tmpdir(), 'demo-test-'));
  const dataDir = join(root, 'data');
  const scratch = join(root, 'scratch');
  let code: number | null;
  let printed = '';
  let summary: Summary;
  let state: StoryState;

  beforeAll(async () => {
    mkdirSync(scratch);
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', 'local/demo/main.ts', '--json', '--fresh', '--data', dataDir],
      {
        cwd: resolve('.'),
        env: { PATH: makePath(join(root, 'bin')), HOME: root, TMPDIR: scratch },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: STORY_MS_MAX,
      },
    );
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    code = await new Promise((done) => child.once('close', done));
    printed += output;
    // Its own words say why; those of the parser would hide them.
    if (output === '') throw new Error(`the demo ended with ${code} and no result: ${printed}`);
    summary = JSON.parse(output.trim().split('\n').at(-1) ?? '');
    state = JSON.parse(readFileSync(join(dataDir, 'story.json'), 'utf8'));
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test('every pull request ends as it must, and nothing unproven lies on the base', () => {
    expect([code, code === 0 ? '' : printed]).toEqual([0, '']);
    expect(summary.unproven_landings).toBe(0);
    const { landed, bounced, skipped, receipts } = summary;
    expect([...landed, ...bounced, ...skipped]).toHaveLength(PULL_REQUESTS.length);
    expect(receipts.map((receipt) => receipt.pr).sort()).toEqual([...landed].sort());
    // A sentence for each that did not land, with its step: after a semicolon, or as a sentence of its own.
    const told = [...printed.matchAll(/^#(\d+) did not land: [a-z].*(; |\. [A-Z])\S.*$/gm)].map(([, pr]) =>
      Number(pr),
    );
    expect(told.sort()).toEqual([...bounced, ...skipped].sort());
  });

  test('it leaves no scratch file behind', () => {
    expect(readdirSync(scratch).filter((name) => name.startsWith('forge-shell-'))).toEqual([]);
  });

  test('each receipt names the tree that git has for the merge commit', () => {
    const repository = findRepository(join(dataDir, 'forge'));
    expect(summary.receipts).not.toEqual([]);
    for (const receipt of summary.receipts) {
      const tree = execFileSync('git', ['-C', repository, 'rev-parse', `${receipt.merge_commit}^{tree}`], {
        encoding: 'utf8',
      });
      expect(tree.trim()).toBe(receipt.tree);
    }
  });

  test('the bot’s token is in no log, no stored row and no file of the service', () => {
    const files = listFiles(join(dataDir, 'service')).filter((file) => !file.includes('/bundles/'));
    expect(files.some((file) => file.endsWith('service.log'))).toBe(true);
    expect(files.some((file) => file.includes('table.sqlite'))).toBe(true);
    const leaks = files.filter((file) => findCanary(readFileSync(file), state.botToken) !== null);
    expect(leaks).toEqual([]);
    expect(findCanary(Buffer.from(printed), state.botToken)).toBeNull();
  });

  test('the scanner finds a planted leak in every form', () => {
    for (const form of formsOf(state.botToken)) {
      expect(findCanary(Buffer.from(`{"message":"before ${form} after"}`), state.botToken)).not.toBeNull();
    }
    expect(findCanary(Buffer.from('nothing here'), state.botToken)).toBeNull();
  });
});

/** A folder with those programs alone. */
function makePath(folder: string): string {
  mkdirSync(folder);
  symlinkSync(process.execPath, join(folder, 'node'));
  for (const program of ['npm', 'git', 'sh']) symlinkSync(findProgram(program), join(folder, program));
  return folder;
}

function findProgram(name: string): string {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  if (found === undefined) throw new Error(`there is no ${name} on the PATH`);
  return found;
}

function findRepository(forgeDir: string): string {
  const repository = listFolders(forgeDir).find((folder) => folder.endsWith('.git') || hasHead(folder));
  if (repository === undefined) throw new Error('the fake forge has no repository');
  return repository;
}

function hasHead(folder: string): boolean {
  return readdirSync(folder).includes('HEAD') && readdirSync(folder).includes('objects');
}

function listFolders(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => [join(folder, entry.name), ...listFolders(join(folder, entry.name))]);
}

function listFiles(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? listFiles(path) : [path]));
}
