import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { keyIdOf, readPublicKey } from '#core/contracts/evidence/dsse.ts';
import { writeGlanceRequest, writeLookRequest } from '#core/contracts/internal/idle-look.ts';
import { formatWakeMessage } from '#core/contracts/internal/wake-message.ts';
import { LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS } from '#core/domain/limits.ts';
import { Secret } from '#core/secret.ts';
import { startLocalService } from '../../../local/service.ts';
import { eventually, type LocalWorld, openLocalWorld } from '../../support/local-world.ts';
import { startScript } from '../../support/start-script.ts';

jest.setTimeout(180_000);

const LANDING_MS = 60_000;

describe('the synthesized template on loopback', () => {
  let world: LocalWorld;

  beforeAll(async () => {
    world = await openLocalWorld();
  });
  afterAll(() => world.close());

  const landed = (prs: readonly number[]) => () =>
    Promise.all(prs.map((pr) => world.isMerged(pr))).then((all) => all.every((merged) => merged));

  test('a path that no route matches gets the envelope, with a request id', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['POST', '/internal/reconcile'],
      ['DELETE', '/api/v1/nothing/at/all'],
    ] as const) {
      const response = await fetch(world.service.baseUrl + path, { method });
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.json()).toEqual({ error: { code: 'not_found', message: expect.any(String) } });
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
    const other = await fetch(`${world.service.baseUrl}/api/v1/webhooks/forge`);
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('every function sees exactly its environment of the template', () => {
    const worker = [...world.service.run.functions.values()].find((each) => each.spec.name === 'Worker');
    expect(worker?.spec.environment).toMatchObject({
      QUEUE_NAME: 'mq',
      ENGINE_PORT: expect.stringMatching(/^\d+$/),
      AWS_ENDPOINT_URL_KMS: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    });
    expect(Object.keys(worker?.spec.environment ?? {})).not.toContain('HOME');
  });

  test('the key of statements is told without a credential: gateway, function, key service', async () => {
    const response = await fetch(`${world.service.baseUrl}/api/v1/evidence/key`);
    const { keyid, public_key: pem } = (await response.json()) as Record<string, string>;
    const key = readPublicKey(pem ?? '');
    expect([response.status, key === null ? null : keyIdOf(key)]).toEqual([200, keyid]);
  });

  test('the idle look reads the forge with nothing but its request', async () => {
    const look = world.service.run.functions.get(
      [...world.service.run.functions.keys()].find((id) => id.startsWith('IdleLook')) ?? '',
    );
    const request = writeLookRequest({
      instanceUrl: world.repo.instanceUrl,
      repoSlug: world.repo.slug,
      token: new Secret(world.token),
      baseBranch: 'main',
      statusContext: 'mq',
      repoId: null,
      setUp: null,
      memory: null,
    });
    const answer = await look?.invoke(JSON.parse(request));
    expect(answer).toMatchObject({
      kind: 'needed',
      memory: { tip: expect.stringMatching(/^[0-9a-f]{40}$/) },
    });
    const refused = { ...JSON.parse(request), token: 'wrong' };
    expect(await look?.invoke(refused)).toEqual({ kind: 'failed', fault: 'forge_access_denied' });
  });

  test('a tick lands what is queued: tick, queue, worker, engine, forge', async () => {
    const prs = await world.queuePullRequests(['one', 'two']);
    await world.service.fireTick();
    await eventually('two pull requests land', LANDING_MS, landed(prs));
    await eventually('an outcome is stored', 10_000, async () => {
      const outcome = await world.service.store.loadReconcileOutcome(world.repo);
      return outcome?.ok === true;
    });
  });

  test('a glance finds what no event tells of: worker, function of looks, queue, engine', async () => {
    const { store, run } = world.service;
    const functionNamed = (name: string) =>
      [...run.functions.values()].find((each) => each.spec.name === name);
    await eventually('a look has seen all of the forge', 30_000, async () => {
      const outcome = await store.loadReconcileOutcome(world.repo);
      return outcome?.ok === true && outcome.sight !== undefined;
    });
    const { instanceUrl, slug: repoSlug, baseBranch } = world.repo;
    const request = { instanceUrl, repoSlug, baseBranch, token: new Secret(world.token) };
    const seen = await functionNamed('IdleLook')?.invoke(JSON.parse(writeGlanceRequest(request)));
    expect(seen).toMatchObject({ kind: 'seen', tip: expect.stringMatching(/^[0-9a-f]{40}$/) });
    const prs = await world.queuePullRequests(['two-and-a-half']);
    const wakeSeq = (await store.getRepo(world.repo.id))?.wakeSeq ?? 0;
    const body = formatWakeMessage({ repoId: world.repo.id, wakeSeq, glance: 1 });
    const record = { messageId: 'm', receiptHandle: 'r', body, attributes: { ApproximateReceiveCount: '1' } };
    expect(await functionNamed('Worker')?.invoke({ Records: [record] })).toEqual({ batchItemFailures: [] });
    expect((await store.getRepo(world.repo.id))?.wakeSeq).toBeGreaterThan(wakeSeq);
    await eventually('it lands', LANDING_MS, landed(prs));
  });

  test('a webhook with a wrong signature is 401 and wakes no repository', async () => {
    const before = (await world.service.store.getRepo(world.repo.id))?.wakeSeq;
    const response = await world.postWebhook('push', { ref: 'refs/heads/main' }, 'wrong');
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_signature' } });
    expect((await world.service.store.getRepo(world.repo.id))?.wakeSeq).toBe(before);
  });

  test('a webhook lands what is queued, without a tick', async () => {
    const prs = await world.queuePullRequests(['three']);
    const response = await world.postWebhook('push', { ref: 'refs/heads/main' });
    expect([response.status, await response.json()]).toEqual([200, { outcome: 'wait_for_reconcile' }]);
    await eventually('it lands', LANDING_MS, landed(prs));
  });

  test('an event of the queue is 409 while a worker is on the repo, and is not lost', async () => {
    const { store } = world.service;
    let grant: Awaited<ReturnType<typeof store.acquireLease>> = 'held';
    await eventually('the lease', 30_000, async () => {
      grant = await store.acquireLease(world.repo.id, 'test', 'reconcile', 60_000);
      return grant !== 'held';
    });
    if (grant === 'held') throw new Error('held');
    const prs = await world.queuePullRequests(['three-and-a-half']);
    const response = await world.postWebhook('pull_request', {
      action: 'synchronized',
      pull_request: { base: { ref: 'main' } },
    });
    expect([response.status, await response.json()]).toMatchObject([409, { error: { code: 'lease_held' } }]);
    await store.releaseLease(world.repo.id, grant);
    await eventually('it lands', LANDING_MS, landed(prs));
  });

  test('an author is mailed of their own pull request, once the address is confirmed: engine, stream, mail, link', async () => {
    const { store, email, baseUrl } = world.service;
    const [tenantId, address] = ['00000000-0000-4000-8000-00000000a001', 'dev@example.test'];
    await store.createTenant(tenantId, Date.now());
    const wish = {
      tenantId,
      person: null,
      instanceUrl: world.repo.instanceUrl,
      login: 'DEV',
      email: address,
      topics: ['landed'] as const,
      provenAt: Date.now(),
    };
    await store.saveAuthorNotices(wish, Date.now() + 60_000);
    const asked = { kind: 'confirm_mailbox', tenantId, subject: address, email: address } as const;
    await store.requestNotice(asked);
    const own = () => email.outbox.filter(({ to }) => to[0] === address);
    await eventually('the reader is asked', 30_000, async () => own().length === 1);
    const link = new URL(/Confirm: (\S+)/.exec(own()[0]?.text ?? '')?.[1] ?? '');
    const confirmed = await fetch(`${baseUrl}${link.pathname}${link.search}`, { method: 'POST' });
    expect(confirmed.status).toBe(200);
    const [pr = 0] = await world.queuePullRequests(['told']);
    await world.service.fireTick();
    await eventually('it lands', LANDING_MS, landed([pr]));
    const subject = `${world.repo.slug} #${pr} was landed by the merge queue`;
    const mails = () => own().filter((each) => each.subject === subject);
    await eventually('its author is told', 30_000, async () => mails().length === 1);
    const [mail] = mails();
    expect(mail?.text).toContain(`Pull request: ${world.repo.instanceUrl}/${world.repo.slug}/pulls/${pr}`);
  });

  test('a function that is killed is started again by its next event', async () => {
    expect(await world.service.killFunction('Tick')).toBeGreaterThan(0);
    expect(await world.service.killFunction('WebhooksForge')).toBeGreaterThan(0);
    await world.service.fireTick();
    const response = await world.postWebhook('push', { ref: 'refs/heads/main' });
    expect(response.status).toBe(200);
  });

  test('stopped and started again on its data, it goes on where it was', async () => {
    const prs = await world.queuePullRequests(['five']);
    await world.service.stop();
    world.service = await startLocalService({
      dataDir: world.dataDir,
      bundlesDir: world.bundlesDir,
      context: world.context,
      schedules: 'manual',
    });
    expect(await world.service.store.getRepo(world.repo.id)).toMatchObject({ slug: world.repo.slug });
    await world.service.fireTick();
    // The last look may have ended before the stop: then the tick does not find the repository due.
    await world.postWebhook('push', { ref: 'refs/heads/main' });
    await eventually('it lands', LANDING_MS + LEASE_TTL_MS + LEASE_TAKEOVER_GRACE_MS, landed(prs));
  });

  test('a second service on the same data is refused by name', async () => {
    const script = `
      const { startLocalService } = await import(${JSON.stringify(resolve('local/service.ts'))});
      await startLocalService({ dataDir: process.argv[1] }).then(() => process.exit(3), (error) => console.log(error.message));
      process.exit(0);`;
    const { code, output } = await runScript(script, [world.dataDir]);
    expect([code, output]).toEqual([0, expect.stringContaining(`in use by process ${process.pid}`)]);
  });

  test('no log line holds the token, in any common spelling', () => {
    const log = readFileSync(join(world.dataDir, 'service.log'), 'utf8');
    expect(log).toContain('reconciled');
    for (const spelling of [
      world.token,
      Buffer.from(world.token).toString('base64'),
      Buffer.from(world.token).toString('hex'),
      world.token.slice(0, 12),
    ]) {
      expect(log).not.toContain(spelling);
    }
  });
});

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function runScript(script: string, args: readonly string[]): Promise<Ended> {
  const child = startScript(script, args);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return new Promise((done) => child.once('exit', (code) => done({ code, output })));
}
