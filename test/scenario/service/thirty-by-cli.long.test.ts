import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResultOf } from '#core/contracts/routes/client.ts';
import { createLog } from '#core/telemetry.ts';
import { EXIT } from '../../../cli/asked.ts';
import { bundleCli } from '../../../lib/bundle-cli.ts';
import { BOT, createFakeForge } from '../../../local/forge/fake-forge.ts';
import { OAUTH_CLIENT } from '../../../local/forge/http/oauth.ts';
import { readConfig } from '../../../onebox/config.ts';
import { type Onebox, startOnebox } from '../../../onebox/service.ts';
import { findCanary } from '../../support/canary.ts';
import { openOneboxClient } from '../../support/onebox-client.ts';

const PULLS = 30;
const CLIENTS = 10;
const ALL_MS_MAX = 540_000;
jest.setTimeout(ALL_MS_MAX);

const PUBLIC_URL = 'http://127.0.0.1:8480';

/** What two schedules of one head are answered, in any order. */
const TWINS = ['already made', 'made pull_merged'];

type Story = ResultOf<'readPull'>;
type Kind = 'good' | 'bad' | 'rival' | 'draft';

interface Printed {
  readonly argv: readonly string[];
  readonly code: number | null;
  readonly out: string;
  readonly complaint: string;
}

/** How one client saw one pull request off. */
interface Ending {
  readonly pr: number;
  readonly kind: Kind;
  readonly enqueued: Printed;
  /** Null: it was not scheduled. */
  readonly waited: Printed | null;
  /** Null: it landed, or was not scheduled. */
  readonly told: Story | null;
}

/** The third of every ten breaks the gate, two add the same file, and one is a draft. */
function kindOf(nth: number): Kind {
  if (nth % 10 === 2) return 'bad';
  if (nth === 4 || nth === 7) return 'rival';
  return nth === 27 ? 'draft' : 'good';
}

describe('thirty pull requests by ten clients at once, through the packed command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'thirty-'));
  const cli = join(folder, 'mergeyard.mjs');
  const lines: string[] = [];
  const printed: Printed[] = [];
  const endings: Ending[] = [];
  const secrets: string[] = [];
  const forge = createFakeForge({ dataDir: join(folder, 'forge'), knobs: { gateDurationMs: 500 } });
  const over = new AbortController();
  let onebox: Onebox;
  let env: Record<string, string>;

  async function call(...argv: string[]): Promise<Printed> {
    const { signal } = over;
    const child = spawn(process.execPath, [cli, ...argv, '--repo', forge.control.slug], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    // What is cut off at the end is told by its exit code.
    child.once('error', () => undefined);
    let [out, complaint] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    const code = await new Promise<number | null>((done) => child.once('close', done));
    const all = { argv, code, out, complaint };
    printed.push(all);
    return all;
  }

  async function see(pr: number, kind: Kind): Promise<Ending> {
    const head = (await forge.control.pull(pr)).headSha;
    const enqueue = () => call('enqueue', String(pr), '--head', head, '--json');
    // Two at once, as a loop does that does not know of its twin.
    const both = await Promise.all([enqueue(), enqueue()]);
    const enqueued = both.find(({ code }) => code === EXIT.ok) ?? both[0];
    if (enqueued.code !== EXIT.ok) return { pr, kind, enqueued, waited: null, told: null };
    const waited = await call('wait', String(pr), '--json', '--timeout', '30m');
    const hasLanded = waited.code === EXIT.ok;
    const told = hasLanded ? null : JSON.parse((await call('why', String(pr), '--json')).out);
    return { pr, kind, enqueued, waited, told };
  }

  beforeAll(async () => {
    await bundleCli(cli);
    const address = await forge.start();
    const config = join(folder, 'mergeyard.yml');
    writeFileSync(
      config,
      [
        'listen: 127.0.0.1:0',
        `public_url: ${PUBLIC_URL}`,
        `forge: { url: "${address.httpsUrl}", ca_file: "${address.caFile}" }`,
        'sign_in:',
        `  client_id: ${OAUTH_CLIENT.id}`,
        `  client_secret: ${OAUTH_CLIENT.secret}`,
        '  administrators: { users: [owner] }',
      ].join('\n'),
    );
    onebox = await startOnebox({
      config: readConfig(config),
      siteDir: join(folder, 'no-page'),
      env: process.env,
      log: createLog({
        service: 'onebox',
        write: (line) => lines.push(line),
      }),
    });
    const client = openOneboxClient({
      url: () => onebox.url,
      forgeHttpUrl: address.httpUrl,
      publicUrl: PUBLIC_URL,
    });
    const botToken = forge.addToken(BOT);
    const connection = { instance_url: address.httpsUrl, token: botToken, bot_login: BOT };
    const session = await client.enroll('owner', connection, forge.control.slug);
    const made = await client.call(session, 'POST', '/api/v1/tokens', {
      name: 'agents',
      expires_in_days: 1,
      scopes: ['read', 'queue:write'].map((scope) => ({ scope, repo_ids: null })),
    });
    const forgeToken = forge.addToken('dev');
    const token: string = made.json.token;
    secrets.push(botToken, session, token, forgeToken, OAUTH_CLIENT.secret);
    env = { MERGEYARD_URL: onebox.url, MERGEYARD_TOKEN: token, MERGEYARD_FORGE_TOKEN: forgeToken };

    forge.control.judge = (files) =>
      [...files.keys()].some((name) => name.startsWith('bad-')) ? 'failure' : 'success';
    const pulls: { readonly pr: number; readonly kind: Kind }[] = [];
    for (let nth = 0; nth < PULLS; nth += 1) {
      const kind = kindOf(nth);
      const file = kind === 'rival' ? 'rivals.txt' : `${kind}-${nth}.txt`;
      const pr = await forge.control.openPullRequest({
        branch: `topic-${nth}`,
        files: { [file]: `number ${nth}\n` },
        title: kind === 'draft' ? `WIP: topic ${nth}` : `Topic ${nth}`,
      });
      pulls.push({ pr, kind });
    }
    const left = [...pulls];
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        endings.push(await see(next.pr, next.kind));
    };
    await Promise.all(Array.from({ length: CLIENTS }, work));
  });

  afterAll(async () => {
    over.abort();
    await onebox.stop();
    await forge.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const landed = () => endings.filter(({ waited }) => waited?.code === EXIT.ok);
  const storyOf = ({ waited }: Ending): Story => JSON.parse(waited?.out ?? '');

  test('each has an ending that fits it: landed, or a code with words and a next step', () => {
    expect(endings).toHaveLength(PULLS);
    const counted = (kind: Kind) => {
      const all = endings.filter((ending) => ending.kind === kind);
      return { all: all.length, landed: all.filter(({ waited }) => waited?.code === EXIT.ok).length };
    };
    expect({ good: counted('good'), bad: counted('bad') }).toEqual({
      good: { all: 24, landed: 24 },
      bad: { all: 3, landed: 0 },
    });
    expect({ rival: counted('rival'), draft: counted('draft') }).toEqual({
      rival: { all: 2, landed: 1 },
      draft: { all: 1, landed: 0 },
    });
    for (const { told } of endings) {
      if (told === null) continue;
      expect(told.now).toMatchObject({
        code: expect.stringMatching(/^[a-z_]+$/),
        words: expect.stringMatching(/[a-z]+ [a-z]+/),
        next: expect.stringMatching(/^[A-Z].*\.$/),
      });
    }
  });

  test('the exit codes are the documented ones, and fit what is printed', () => {
    for (const { kind, enqueued, waited, told } of endings) {
      expect(enqueued.code).toBe(kind === 'draft' ? EXIT.refused : EXIT.ok);
      if (kind === 'draft') expect(JSON.parse(enqueued.complaint).error.code).toBe('schedule_refused');
      if (waited === null) continue;
      const { code, fault } = JSON.parse(waited.out).now;
      const expected = code === 'landed' ? EXIT.ok : fault === true ? EXIT.fault : EXIT.left;
      expect(waited.code).toBe(expected);
      expect(told?.now.code ?? 'landed').toBe(code);
      if (kind === 'rival' && told !== null) expect([waited.code, code]).toEqual([EXIT.fault, 'conflict']);
      if (kind === 'bad') expect([waited.code, code]).toEqual([EXIT.fault, 'gate_failed']);
    }
  });

  test('a refusal has a code and a sentence, and of two schedules at once one is made', () => {
    const refused = printed.filter(({ code }) => code === EXIT.refused);
    for (const { complaint } of refused)
      expect(JSON.parse(complaint).error).toEqual({
        code: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringMatching(/^[A-Z].*\.$/),
        next: expect.stringMatching(/^[A-Z].*\.$/),
      });
    for (const { pr, kind } of endings) {
      const answers = printed
        .filter(({ argv }) => argv[0] === 'enqueue' && argv[1] === String(pr))
        .map(({ out, complaint }) =>
          out === '' ? JSON.parse(complaint).error.code : JSON.parse(out).already ? 'already' : 'made',
        );
      const both = answers.sort().join(' ');
      // The second may come so late that the first has landed.
      const allowed = kind === 'draft' ? ['schedule_refused schedule_refused'] : TWINS;
      // Or the other one of its file has, and the forge refuses a conflict.
      expect([pr, kind, kind === 'rival' ? [...allowed, 'made schedule_refused'] : allowed]).toEqual([
        pr,
        kind,
        expect.arrayContaining([both]),
      ]);
    }
  });

  test('each landed tree is proven by a receipt: git has it at the merge commit, and a gate run passed on it', async () => {
    const merges = forge.control.merges();
    expect(merges.map(({ pr }) => pr).sort()).toEqual(
      landed()
        .map(({ pr }) => pr)
        .sort(),
    );
    for (const ending of landed()) {
      const [receipt, ...others] = storyOf(ending).receipts;
      const merge = merges.find(({ pr }) => pr === ending.pr);
      expect(others).toEqual([]);
      expect(receipt).toMatchObject({ merge_commit: merge?.mergeCommit, base_before: merge?.firstParent });
      expect(await forge.control.tree(receipt?.merge_commit ?? '')).toBe(receipt?.tree);
      // One that failed by a flake may come first.
      const gated = forge.control.runs().filter(({ tree }) => tree === receipt?.gated_tree);
      expect(gated.map(({ state }) => state)).toContain('success');
    }
  });

  test('no gate run was made on a tree that had passed; one that failed may be run again', () => {
    const byTree = new Map<string, string[]>();
    for (const { tree, state } of forge.control.runs())
      byTree.set(tree, [...(byTree.get(tree) ?? []), state]);
    const again = [...byTree.values()].filter((states) =>
      states.slice(0, -1).some((state) => state !== 'failure'),
    );
    expect(again).toEqual([]);
  });

  test('no secret is in any output or log', () => {
    const all = Buffer.from([...printed.map((each) => JSON.stringify(each)), ...lines].join('\n'));
    expect(all.length).toBeGreaterThan(10_000);
    expect(secrets.filter((secret) => findCanary(all, secret) !== null)).toEqual([]);
  });
});
