import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { VERSION } from '../../../cli/version.ts';
import { bundleCli } from '../../../lib/bundle-cli.ts';
import { findCanary } from '../../support/canary.ts';

const now = (kind: string, code: string, fault: boolean | null) => ({
  kind,
  code,
  fault,
  turn: 'author',
  words: 'words',
  next: 'Wait.',
});
const pull = (number: number, told: object) => ({
  number,
  title: `Change\u001b[2J ${number}`,
  place: null,
  estimate: null,
  now: told,
  attempts: [
    {
      created_at: '2026-11-22T10:00:00.000Z',
      gate_verdict: 'failure',
      outcome: 'bounced',
      prs: [7, 8],
      staging_tree: 'a'.repeat(40),
      run_url: 'https://forge.example.org/acme/app/actions/runs/3',
    },
  ],
});
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/api/v1/user/repos': [{ id: 'r', name: 'acme/app', base_branch: 'main' }],
  '/api/v1/user/repos/r/pulls/7': pull(7, now('exit', 'bounced', true)),
  '/api/v1/user/repos/r/pulls/7/gate-log': {
    number: 7,
    run_url: 'https://forge.example.org/acme/app/actions/runs/3',
    gate_verdict: 'failure',
    tree: 'a'.repeat(40),
    prs: [7, 8],
    reason: null,
    words: null,
    jobs: [{ name: 'check', result: 'failure', text: 'one\n\ttwo \u001b[2J\n', is_cut: true }],
  },
  '/api/v1/user/repos/r/pulls/7/queue': { number: 7, head: 'a'.repeat(40), already: false },
  '/api/v1/user/repos/r/pulls/8': pull(8, now('wait', 'queued', null)),
  '/api/v1/user/repos/r/pulls/10': { error: { code: 'decryption_error', message: 'N\u001b[2Jo' } },
  '/api/v1/user/queue/status': { repos: [] },
  '/api/v1/user/queue/activity': {
    repos: [
      {
        repo_id: 'r',
        state: 'waiting',
        last_reconcile_error_code: null,
        standstill: null,
        freeze: null,
        queue: {
          line: [{ pr: 8, title: 'Change 8', state: 'ready', priority: 'high' }],
          line_more: 0,
          block: { kind: 'staging', since: null, until: null, pr: null, run_url: null },
        },
      },
    ],
    recent_activity: [],
  },
};

interface RepoAnswer {
  readonly queue: object;
}

describe('the tool server of the command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
  const asked: string[] = [];
  const forgeTokens: string[] = [];
  const service = createServer((request: IncomingMessage, response) => {
    asked.push(`${request.method} ${request.url}`);
    const forgeToken = request.headers['x-forge-token'];
    if (forgeToken !== undefined) forgeTokens.push(String(forgeToken));
    // It takes this call and says nothing.
    if (request.url === '/api/v1/user/repos/r/pulls/15') return;
    const answers: Record<string, unknown> = { ...ANSWERS, ...sayBack(request.headers), ...instead };
    const answer = answers[request.url ?? ''];
    const refusal = { error: { code: 'not_found', message: 'This does not exist.', retryable: false } };
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? refusal));
  });
  const client = new Client({ name: 'test', version: '1' });
  let complaints = '';
  /** Answers of one test in place of the usual ones. */
  let instead: Readonly<Record<string, unknown>> = {};
  /** The service says back what it was sent, in each way that an answer has. */
  const sayBack = ({ authorization = '' }: IncomingMessage['headers']) => ({
    '/api/v1/user/repos/r/pulls/11': {
      error: { code: 'forbidden', message: `no: ${authorization} ${btoa(`bot:${authorization.slice(7)}`)}` },
    },
    '/api/v1/user/repos/r/pulls/12': {
      ...pull(12, now('wait', 'queued', null)),
      title: `mgy_\u200bsecret ${authorization}`,
    },
    // No answers of this API: what is made of them is an answer too.
    '/api/v1/user/repos/r/pulls/13': { attempts: authorization },
    '/api/v1/user/repos/r/pulls/14': { ...pull(14, now('wait', 'queued', null)), attempts: [{}] },
  });

  beforeAll(async () => {
    const file = join(folder, 'mergeyard.mjs');
    await bundleCli(file);
    await new Promise<void>((done) => void service.listen(0, '127.0.0.1', done));
    const { port } = service.address() as AddressInfo;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [file, 'mcp', '--repo', 'acme/app'],
      cwd: folder,
      stderr: 'pipe',
      env: { MERGEYARD_URL: `http://127.0.0.1:${port}`, MERGEYARD_TOKEN: 'mgy_secret' },
    });
    transport.stderr?.on('data', (bytes) => {
      complaints += String(bytes);
    });
    await client.connect(transport);
  });
  afterAll(async () => {
    await client.close();
    await new Promise((done) => service.close(done));
    rmSync(folder, { recursive: true });
  });

  test('the server is called by the version of the program', () => {
    expect(client.getServerVersion()).toEqual({ name: 'mergeyard', version: VERSION });
  });

  const call = async (name: string, args: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [first] = content as { text: string }[];
    return { lines: first?.text.split('\n') ?? [], isError: isError === true };
  };

  test('every tool only reads, and says so', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(['gate_log', 'queue', 'wait', 'why']);
    for (const { annotations } of tools) expect(annotations).toMatchObject({ readOnlyHint: true });
  });

  test('why says where a pull request stands and the next step, with a title that moves no cursor', async () => {
    expect((await call('why', { number: 7 })).lines).toEqual([
      '#7 Change 7',
      'bounced: words',
      'turn: its author',
      'next: Wait.',
    ]);
  });

  test('queue says what stands before the next landing, then the order', async () => {
    expect((await call('queue', {})).lines).toEqual([
      'Building the next batch.',
      '1. #8 Change 8 (ready, high)',
    ]);
  });

  test('queue says how many stand behind those that it lists, and that no pull request waits', async () => {
    const activity = ANSWERS['/api/v1/user/queue/activity'] as { readonly repos: readonly [RepoAnswer] };
    const [repo] = activity.repos;
    const ask = async (queue: object) => {
      const repos = [{ ...repo, queue: { ...repo.queue, ...queue } }];
      instead = { '/api/v1/user/queue/activity': { ...activity, repos } };
      const { lines } = await call('queue', {});
      instead = {};
      return lines.slice(1);
    };
    expect(await ask({ line_more: 20 })).toEqual(['1. #8 Change 8 (ready, high)', 'and 20 more']);
    expect(await ask({ line: [] })).toEqual(['no pull request waits']);
  });

  test('wait tells how a pull request left, and that the time is over', async () => {
    expect((await call('wait', { number: 7 })).lines[0]).toBe('left_with_fault');
    expect((await call('wait', { number: 8, timeout_seconds: 0 })).lines[0]).toBe('still_waiting');
  });

  test('wait does not outlast its time where the service says nothing', async () => {
    const begin = Date.now();
    expect((await call('wait', { number: 15, timeout_seconds: 3 })).lines[0]).toBe('still_waiting');
    expect(Date.now() - begin).toBeLessThan(7_000);
  });

  test('gate_log has verdict, tree, members, the address, and the end of the log as text that moves no cursor', async () => {
    expect((await call('gate_log', { number: 7 })).lines).toEqual([
      `2026-11-22T10:00:00.000Z failure (bounced) #7 #8 tree ${'a'.repeat(40)} https://forge.example.org/acme/app/actions/runs/3`,
      'run: failure https://forge.example.org/acme/app/actions/runs/3',
      '--- check: failure (the end of the log)',
      '| one',
      '|   two ',
    ]);
    // A log that cannot be read costs no run.
    const { lines } = await call('gate_log', { number: 8 });
    expect(lines).toHaveLength(2);
    expect(lines[1]).toBe(
      'the log could not be read: not_found: This does not exist. Check its name or id, and that your session or token may see it.',
    );
  });

  test('a refusal of the service is an answer with its code; a malformed call asks nothing', async () => {
    expect(await call('why', { number: 9 })).toEqual({
      lines: [
        'not_found: The queue of acme/app main knows no pull request #9. If it was scheduled just now, ask again in a minute; else schedule it first.',
      ],
      isError: true,
    });
    expect(await call('why', { number: 10 })).toEqual({
      lines: ['decryption_error: No. Store the token again, on the page Connections.'],
      isError: true,
    });
    const before = asked.length;
    expect((await call('why', { number: 'x' })).isError).toBe(true);
    expect(asked).toHaveLength(before);
  });

  test('an answer that is not one of the service is told as such, and so is one that cannot be read', async () => {
    expect(await call('why', { number: 13 })).toEqual({
      lines: [
        'unexpected: The answer is not one of the service. Check that the address is that of the service itself and that no proxy answers in its place, then try again.',
      ],
      isError: true,
    });
    const { lines, isError } = await call('gate_log', { number: 14 });
    expect(isError).toBe(true);
    expect(lines.join()).toMatch(
      /^unexpected: The command could not go on \(TypeError: .+\)\. Check that the service/,
    );
  });

  test('no answer has the token, also where the service says it back', async () => {
    const refused = await call('why', { number: 11 });
    expect(refused).toMatchObject({
      isError: true,
      lines: [expect.stringMatching(/^forbidden: no: Bearer \*\*\* /)],
    });
    const told = await call('why', { number: 12 });
    expect(told.lines[0]).toBe('#12 *** Bearer ***');
    const broken = await call('gate_log', { number: 13 });
    const named = await call('why', { number: 7, repo: 'mgy_secret' });
    const all = Buffer.from([refused, told, broken, named].flatMap(({ lines }) => lines).join('\n'));
    expect(findCanary(all, 'mgy_secret')).toBeNull();
  });

  test('enqueue and dequeue are there with --allow-writes alone, and send the forge token of the person', async () => {
    const { port } = service.address() as AddressInfo;
    const writer = new Client({ name: 'writer', version: '1' });
    const args = [join(folder, 'mergeyard.mjs'), 'mcp', '--allow-writes', '--repo', 'acme/app'];
    const env = { MERGEYARD_URL: `http://127.0.0.1:${port}`, MERGEYARD_TOKEN: 'mgy_secret' };
    await writer.connect(
      new StdioClientTransport({
        command: process.execPath,
        args,
        cwd: folder,
        env: { ...env, MERGEYARD_FORGE_TOKEN: 'forge-token' },
      }),
    );
    const names = (await writer.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['enqueue', 'dequeue']));
    const made = await writer.callTool({ name: 'enqueue', arguments: { number: 7, head: 'a'.repeat(40) } });
    expect(made.content).toEqual([{ type: 'text', text: '#7 is scheduled at aaaaaaaaaa' }]);
    await writer.close();
    expect(forgeTokens).toEqual(['forge-token']);
    asked.splice(asked.indexOf('PUT /api/v1/user/repos/r/pulls/7/queue'), 1);
  });

  test('calls that are under way when standard input ends are answered first', async () => {
    const { port } = service.address() as AddressInfo;
    const env = { MERGEYARD_URL: `http://127.0.0.1:${port}`, MERGEYARD_TOKEN: 'mgy_secret' };
    const args = [join(folder, 'mergeyard.mjs'), 'mcp', '--repo', 'acme/app'];
    const piped = spawn(process.execPath, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(piped, 'exit');
    const clientInfo = { name: 'piped', version: '1' };
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const messages = [
      { id: 1, method: 'initialize', params: hello },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'why', arguments: { number: 7 } } },
      { id: 3, method: 'tools/call', params: { name: 'wait', arguments: { number: 8, timeout_seconds: 1 } } },
    ];
    piped.stdin.end(messages.map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join(''));
    const lines = (await text(piped.stdout)).trim().split('\n');
    // Each call is answered once it is done, in whatever order.
    expect(new Set(lines.map((line) => (JSON.parse(line) as { id: number }).id))).toEqual(new Set([1, 2, 3]));
    expect(await ended).toEqual([0, null]);
  });

  test('nothing but questions reached the service, and no output holds the token', () => {
    expect(asked.filter((line) => !line.startsWith('GET '))).toEqual([]);
    expect(complaints).toBe('');
  });
});
