import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitReader } from '../../../cli/read-git.ts';

/** Two commits of which neither stands on the other, in a clone that a stranger has made. */
let folder: string;
let first: string;
let second: string;

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergeyard-git-'));
  git('init', '-q');
  const tree = git('write-tree');
  first = git('commit-tree', tree, '-m', 'first');
  second = git('commit-tree', tree, '-m', 'second');
  git('branch', 'first', first);
  git('branch', 'second', second);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (...args: readonly string[]) => gitReader(folder, process.env)(args);
const expectTruth = async (): Promise<void> => {
  expect(await read('merge-base', '--is-ancestor', first, second)).toBeNull();
  expect(await read('rev-list', '--no-walk', '--parents', second)).toBe(second);
};
const expectLie = (): void => {
  expect(git('rev-list', '--no-walk', '--parents', second)).toBe(`${second} ${first}`);
};

describe('git tells what the objects of a clone say, whatever the clone says of them', () => {
  test('its grafts', async () => {
    writeFileSync(join(folder, '.git', 'info', 'grafts'), `${second} ${first}\n`);
    expectLie();
    await expectTruth();
  });

  test('its replaced objects', async () => {
    git('replace', '--graft', second, first);
    expectLie();
    await expectTruth();
  });

  test('its graph of commits', async () => {
    git('-c', 'commitGraph.generationVersion=1', 'commit-graph', 'write', '--reachable');
    const file = join(folder, '.git', 'objects', 'info', 'commit-graph');
    const graph = readFileSync(file);
    const chunk = (name: string): number => Number(graph.readBigUInt64BE(graph.indexOf(name) + 4));
    const [ids, data] = [chunk('OIDL'), chunk('CDAT')];
    const place = (commit: string): number => graph.subarray(ids).indexOf(Buffer.from(commit, 'hex')) / 20;
    // Of each commit its tree, two parents by their places, and its generation with its time.
    const row = data + place(second) * 36;
    graph.writeUInt32BE(place(first), row + 20);
    graph.writeUInt32BE(graph.readUInt32BE(row + 28) + 4, row + 28);
    rmSync(file);
    writeFileSync(file, graph);
    expectLie();
    await expectTruth();
  });
});
