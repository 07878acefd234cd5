import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stage, setStage } from '../../local/demo/stage.ts';
import { play, type StoryResult } from '../../local/demo/story.ts';
import { findCanary, formsOf } from '../support/canary.ts';

// The limit ends a hang; the story itself takes about half a minute on two busy cores.
jest.setTimeout(200_000);

describe('the demo, whole', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'demo-test-'));
  let stage: Stage;
  let result: StoryResult;
  let printed = '';
  let botToken = '';

  beforeAll(async () => {
    const options = { json: false, keep: false, fresh: true, fanout: 4, dataDir, forge: null };
    stage = await setStage(options, (line) => {
      printed += `${line}\n`;
    });
    botToken = stage.state.botToken;
    result = await play(stage, (line) => {
      printed += `${line}\n`;
    });
  });

  afterAll(async () => {
    await stage.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('every pull request ends as it must, and nothing unproven lies on the base', () => {
    expect(result.endings.filter((ending) => ending.actual !== ending.expected)).toEqual([]);
    expect(result.unproven).toEqual([]);
    expect(result.receipts).toHaveLength(
      result.endings.filter((ending) => ending.expected === 'lands').length,
    );
  });

  test('each receipt names the tree that git has for the merge commit', () => {
    const repository = findRepository(join(dataDir, 'forge'));
    for (const receipt of result.receipts) {
      const tree = execFileSync('git', ['-C', repository, 'rev-parse', `${receipt.mergeCommit}^{tree}`], {
        encoding: 'utf8',
      });
      expect(tree.trim()).toBe(receipt.tree);
    }
  });

  test('the bot’s token is in no log, no stored row and no file of the service', () => {
    const files = listFiles(join(dataDir, 'service')).filter((file) => !file.includes('/bundles/'));
    expect(files.some((file) => file.endsWith('service.log'))).toBe(true);
    expect(files.some((file) => file.includes('table.sqlite'))).toBe(true);
    const leaks = files.filter((file) => findCanary(readFileSync(file), botToken) !== null);
    expect(leaks).toEqual([]);
    expect(findCanary(Buffer.from(printed), botToken)).toBeNull();
  });

  test('the scanner finds a planted leak in every form', () => {
    for (const form of formsOf(botToken)) {
      expect(findCanary(Buffer.from(`{"message":"before ${form} after"}`), botToken)).not.toBeNull();
    }
    expect(findCanary(Buffer.from('nothing here'), botToken)).toBeNull();
  });
});

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
