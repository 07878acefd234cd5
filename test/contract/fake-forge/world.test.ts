import { execFile } from 'node:child_process';
import { createHmac, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Bench, quiet, startBench } from './harness.ts';

const run = promisify(execFile);
let bench: Bench;
afterEach(() => bench.close());

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function listenForHooks(): Promise<{ url: string; got: Delivery[]; close: () => void }> {
  const got: Delivery[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      got.push({ headers: incoming.headers, body: Buffer.concat(chunks).toString('utf8') });
      response.writeHead(409).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, got, close: () => server.close() };
}

describe('webhooks', () => {
  test('are signed, sent once, and tell push, pull request, review, comment and run', async () => {
    bench = await startBench();
    const receiver = await listenForHooks();
    const secret = 'not a secret';
    const config = { url: receiver.url, content_type: 'json', secret };
    const events = ['push', 'pull_request', 'issue_comment', 'action_run_success', 'action_run_failure'];
    const hook = await bench.api('POST', '/hooks', {
      type: 'forgejo',
      active: true,
      branch_filter: '*',
      events,
      config,
    });
    expect(hook.status).toBe(201);
    expect(JSON.stringify(hook.body)).not.toContain(secret);
    const { control } = bench.forge;
    const pr = await control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
    await quiet(bench);
    await control.review(pr, 'ann', 'approve');
    await bench.api('POST', `/issues/${pr}/comments`, { body: 'hello' });
    await control.schedule(pr);
    await bench.api('POST', '/branches', { new_branch_name: 'mq/main/staging', old_ref_name: 'main' });
    await bench.clock.advance(2000);
    await control.postStatusAs('mq-bot', (await control.pull(pr)).headSha, 'mq', 'success');
    await quiet(bench);
    const types = receiver.got.map(({ headers }) => headers['x-forgejo-event-type']);
    // Nothing tells of the schedule, nothing of the status, and a 409 is not tried again.
    expect(types).toEqual([
      'pull_request',
      'push',
      'pull_request_review_approved',
      'pull_request_comment',
      'push',
      'action_run_success',
      'pull_request',
      'push',
    ]);
    for (const { headers, body } of receiver.got) {
      const expected = createHmac('sha256', secret).update(body).digest('hex');
      expect(headers['x-hub-signature-256']).toBe(`sha256=${expected}`);
      expect(headers['x-gitea-signature']).toBe(expected);
    }
    const bodies = receiver.got.map(({ body }) => JSON.parse(body));
    expect(bodies[0]).toMatchObject({ action: 'opened', number: pr, repository: { full_name: 'acme/app' } });
    expect(bodies[5].repository).toBeUndefined();
    expect(bodies[5].run.repository.full_name).toBe('acme/app');
    expect(bodies[6]).toMatchObject({ action: 'closed', pull_request: { merged: true } });
    expect(bodies[7]).toMatchObject({ ref: 'refs/heads/main', after: await control.tip('main') });
    receiver.close();
  });

  test('creation and PATCH have the quirks of the forge', async () => {
    bench = await startBench();
    const config = { url: 'http://127.0.0.1:9/x', content_type: 'json', secret: 'first' };
    const { body: hook } = await bench.api('POST', '/hooks', {
      type: 'gitea',
      events: ['pull_request'],
      config,
    });
    expect(hook).toMatchObject({ active: false, events: ['pull_request'] });
    const patched = await bench.api('PATCH', `/hooks/${hook.id}`, {
      active: true,
      config: { secret: 'second' },
    });
    expect(patched.body).toMatchObject({ active: true, events: ['push'], branch_filter: '' });
    for (const wrong of [
      { type: 'slack', config },
      { type: 'gitea', config: { url: 'x', content_type: 'json' } },
    ]) {
      expect((await bench.api('POST', '/hooks', wrong)).status).toBe(422);
    }
    expect((await bench.api('DELETE', `/hooks/${hook.id}`)).status).toBe(204);
    expect((await bench.api('GET', '/hooks')).body).toEqual([]);
  });
});

describe('git over HTTP', () => {
  let work: string;
  const git = (...args: string[]) =>
    run('git', ['-C', work, '-c', 'user.name=dev', '-c', 'user.email=dev@example.test', ...args], {
      env: { PATH: process.env.PATH, HOME: work, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' },
    });
  beforeEach(() => {
    work = mkdtempSync(join(tmpdir(), 'forge-clone-'));
  });
  afterEach(() => rmSync(work, { recursive: true, force: true }));

  test('people clone, push a branch, and are kept off the protected one', async () => {
    bench = await startBench();
    const { control } = bench.forge;
    const token = bench.tokenOf('dev');
    const url = `${bench.httpUrl.replace('://', `://dev:${token}@`)}/acme/app.git`;
    await git('clone', '--quiet', url, 'app');
    work = join(work, 'app');
    await git('checkout', '--quiet', '-b', 'mq/main/by-hand');
    writeFileSync(join(work, 'pushed.txt'), 'pushed\n');
    await git('add', '.');
    await git('commit', '--quiet', '-m', 'by hand');
    await git('push', '--quiet', 'origin', 'HEAD');
    await quiet(bench);
    const tip = await control.tip('mq/main/by-hand');
    expect((await control.readFiles(tip)).get('pushed.txt')).toBe('pushed\n');
    expect(control.runs()).toMatchObject([{ sha: tip, branch: 'mq/main/by-hand' }]);
    const opened = await bench.api('POST', '/pulls', { head: 'mq/main/by-hand', base: 'main', title: 't' });
    expect(opened.status).toBe(201);
    await expect(git('push', 'origin', 'HEAD:main')).rejects.toThrow(
      'not allowed to push to protected branch main',
    );
    await expect(git('push', bench.httpUrl.concat('/acme/app.git'), 'HEAD:x')).rejects.toThrow();
    expect(await control.branches()).toEqual(['main', 'mq/main/by-hand']);
  });
});

test('state, tokens, schedules and ids survive a restart, and a check that was under way ends', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'fake-forge-'));
  bench = await startBench({ dataDir });
  const { token } = bench;
  const first = bench.forge.control;
  first.checkDelayMs = 60_000;
  const pr = await first.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  await first.schedule(pr);
  const ca = readFileSync(bench.caFile, 'utf8');
  await bench.close();
  bench = await startBench({ dataDir });
  expect(readFileSync(bench.caFile, 'utf8')).toBe(ca);
  expect((await bench.api('GET', '/pulls', undefined, token)).body).toMatchObject([
    { number: pr, mergeable: false },
  ]);
  await quiet(bench);
  const { headSha, mergeable } = await bench.forge.control.pull(pr);
  expect(mergeable).toBe(true);
  await bench.forge.control.postStatusAs('mq-bot', headSha, 'mq', 'success');
  await quiet(bench);
  expect((await bench.forge.control.pull(pr)).merged).toBe(true);
  expect(await bench.forge.control.openPullRequest({ branch: 'two', files: { 'two.txt': '2\n' } })).toBe(
    pr + 1,
  );
  expect(readFileSync(join(dataDir, 'forge.json'), 'utf8')).not.toContain(token);
  await bench.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test('HTTPS is good for a client that trusts the CA file, by address and by name', async () => {
  bench = await startBench();
  const ca = readFileSync(bench.caFile, 'utf8');
  expect(new X509Certificate(ca).ca).toBe(true);
  const { port } = new URL(bench.httpsUrl);
  const ask = (servername: string, trust: string | undefined): Promise<number | string> =>
    new Promise((done) => {
      const headers = { Host: servername };
      const options = { host: '127.0.0.1', port, path: '/api/v1/version', headers, agent: false as const };
      const names = servername === '127.0.0.1' ? {} : { servername };
      request({ ...options, ...names, ...(trust === undefined ? {} : { ca: trust }) }, (answer) => {
        answer.resume();
        done(answer.statusCode ?? 0);
      })
        .on('error', (error) => done(error.message))
        .end();
    });
  for (const name of ['127.0.0.1', 'localhost', 'forge.localhost']) expect(await ask(name, ca)).toBe(200);
  expect(await ask('elsewhere.example', ca)).toContain('does not match');
  expect(await ask('localhost', undefined)).toMatch(/certificate/);
});

describe('faults', () => {
  test('before: no effect; after: the effect without its answer; a broken line; HTML; and the call log', async () => {
    bench = await startBench();
    const { control } = bench.forge;
    control.clearCalls();
    const sha = await control.tip('main');
    const post = (state: string) => bench.api('POST', `/statuses/${sha}`, { state, context: 'mq' });
    control.fault = () => ({ status: 429 });
    expect((await post('pending')).status).toBe(429);
    expect(await control.status(sha, 'mq')).toBeNull();
    control.fault = () => ({ status: 502, html: true, when: 'after' });
    const lost = await post('success');
    expect(lost.status).toBe(502);
    expect(lost.headers.get('content-type')).toContain('text/html');
    expect(await control.status(sha, 'mq')).toMatchObject({ state: 'success' });
    control.fault = ({ path }) => (path.endsWith('/version') ? { status: 0 } : null);
    await expect(bench.api('GET', '/api/v1/version')).rejects.toThrow();
    expect((await bench.api('GET', '/branches/main')).status).toBe(200);
    expect(control.calls().map(({ call, by, write, status }) => [call, by, write, status])).toEqual([
      ['POST statuses/{sha}', 'mq-bot', true, 429],
      ['POST statuses/{sha}', 'mq-bot', true, 502],
      ['GET version', 'mq-bot', false, 0],
      ['GET branches/{branch}', 'mq-bot', false, 200],
    ]);
  });
});

describe('pages', () => {
  const page = async (path: string) => {
    const answer = await fetch(bench.httpUrl + path);
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  const press = (path: string, form: Record<string, string>, origin = bench.httpUrl) =>
    fetch(bench.httpUrl + path, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { Origin: origin },
      redirect: 'manual',
    });

  test('escape what people wrote and allow no script', async () => {
    bench = await startBench();
    const title = '<script>alert(1)</script> & "quotes"';
    const pr = await bench.forge.control.openPullRequest({
      branch: 'one',
      files: { '<b>.txt': '1\n' },
      title,
    });
    await quiet(bench);
    for (const path of ['/acme/app', `/acme/app/pulls/${pr}`]) {
      const { status, text, headers } = await page(path);
      expect(status).toBe(200);
      expect(text).not.toMatch(/<script|<b>/);
      expect(text).toContain('&lt;script&gt;');
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    }
    expect((await page('/')).text).toContain('acme/app');
    expect((await page('/acme/none')).status).toBe(404);
    expect((await page(`/acme/app/commit/${await bench.forge.control.tip('main')}`)).status).toBe(200);
    expect((await page(`/acme/app/pulls/${pr}.diff`)).text).toContain('+1');
  });

  test('buttons open, schedule, cancel, review and close as the chosen user, only from this site', async () => {
    bench = await startBench();
    const { control } = bench.forge;
    const pr = await control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
    await quiet(bench);
    const path = `/acme/app/pulls/${pr}`;
    expect(
      (await press(`${path}/schedule`, { user: 'dev', style: 'squash' }, 'http://evil.example')).status,
    ).toBe(403);
    expect((await press(`${path}/schedule`, { user: 'no-such-user', style: 'squash' })).status).toBe(409);
    expect((await press(`${path}/schedule`, { user: 'dev', style: 'squash' })).status).toBe(303);
    expect((await page(path)).text).toContain('scheduled by dev (squash)');
    expect((await press(`${path}/cancel`, { user: 'dev' })).status).toBe(303);
    expect((await press(`${path}/approve`, { user: 'dev' })).status).toBe(409);
    expect((await press(`${path}/approve`, { user: 'owner' })).status).toBe(303);
    expect((await press(`${path}/comment`, { user: 'owner', body: 'fine' })).status).toBe(303);
    expect((await press(`${path}/close`, { user: 'dev' })).status).toBe(303);
    const { body } = await bench.api('GET', `/issues/${pr}/timeline`);
    expect(
      body.map((entry: { type: string; user: { login: string } }) => `${entry.type} ${entry.user.login}`),
    ).toEqual([
      'pull_push dev',
      'pull_scheduled_merge dev',
      'pull_cancel_scheduled_merge dev',
      'review owner',
      'comment owner',
      'close dev',
    ]);
    const opened = await press('/acme/app/pulls', { user: 'dev', head: 'one', base: 'main', title: 'again' });
    expect(opened.headers.get('location')).toBe(`/acme/app/pulls/${pr + 1}`);
  });
});
