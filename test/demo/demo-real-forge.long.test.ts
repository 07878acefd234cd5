import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PULL_REQUESTS } from '../../local/demo/project.ts';
import type { StoryState } from '../../local/demo/stage.ts';
import { BOT, createFakeForge, type FakeForge } from '../../local/forge/fake-forge.ts';
import { findCanary } from '../support/canary.ts';

// The limit ends a hang; the story itself takes about half a minute on two busy cores.
const STORY_MS_MAX = 200_000;
jest.setTimeout(STORY_MS_MAX);

describe('the demo on a forge that is not its own: a Gitea with an owner, an author and a bot', () => {
  const root = mkdtempSync(join(tmpdir(), 'demo-real-'));
  const dataDir = join(root, 'data');
  let forge: FakeForge;
  let tokens: Readonly<Record<'bot' | 'owner' | 'author', string>>;
  let code: number | null;
  let told = '';
  let summary: {
    readonly landed: readonly number[];
    readonly bounced: readonly number[];
    readonly skipped: readonly number[];
    readonly unproven_landings: number;
  };

  beforeAll(async () => {
    forge = createFakeForge({
      dataDir: join(root, 'forge'),
      profile: 'gt126',
      seed: null,
      knobs: { gate: 'run', checkDelayMs: 50, runnerSlots: 2 },
    });
    const { httpsUrl, caFile } = await forge.start();
    for (const login of ['olga', 'dev', BOT]) forge.addUser(login);
    tokens = { bot: forge.addToken(BOT), owner: forge.addToken('olga'), author: forge.addToken('dev') };
    const flags = ['--json', '--forge', httpsUrl, '--forge-ca', caFile, '--data', dataDir];
    const child = spawn(process.execPath, ['--import', 'tsx', 'local/demo/main.ts', ...flags], {
      cwd: resolve('.'),
      env: {
        PATH: process.env.PATH ?? '',
        HOME: root,
        FORGE_OWNER_TOKEN: tokens.owner,
        FORGE_PERSON_TOKEN: tokens.author,
      },
      timeout: STORY_MS_MAX,
    });
    child.stdin.end(`${tokens.bot}\n`);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    code = await new Promise((done) => child.once('close', done));
    summary = JSON.parse(output.trim().split('\n').at(-1) ?? '');
    told += output;
  });

  afterAll(async () => {
    await forge.stop();
    rmSync(root, { recursive: true, force: true });
  });

  test('every pull request ends as it must, with the gate where this forge reads it', () => {
    expect([code, code === 0 ? '' : told]).toEqual([0, '']);
    expect(summary.unproven_landings).toBe(0);
    const { landed, bounced, skipped } = summary;
    expect([...landed, ...bounced, ...skipped]).toHaveLength(PULL_REQUESTS.length);
  });

  test('the demo removes everything that it made there', () => {
    const { slug, forgeUrl } = readState();
    expect(slug).toMatch(/^olga\/corner-shop-/);
    expect(forgeUrl).toMatch(/^https:/);
    expect(() => forge.controlFor(slug)).toThrow(/no repository/);
    expect(told).toContain(`${slug} is deleted from the forge again`);
  });

  test('the tokens are neither told nor kept', () => {
    const state = readState();
    expect([state.botToken, state.personToken]).toEqual(['', '']);
    for (const token of Object.values(tokens)) {
      expect(findCanary(Buffer.from(told), token)).toBeNull();
      expect(findCanary(readFileSync(join(dataDir, 'story.json')), token)).toBeNull();
    }
  });

  const readState = () => JSON.parse(readFileSync(join(dataDir, 'story.json'), 'utf8')) as StoryState;
});
