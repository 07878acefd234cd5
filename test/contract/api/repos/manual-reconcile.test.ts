import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { type ApiWorld, TENANT_A } from '../../../support/api-world.ts';
import { givenTeams, REPOS } from './given-teams.ts';

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;
beforeEach(async () => {
  ({ world, a } = await givenTeams());
});

describe('manual reconcile', () => {
  const reconcile = async (changes: Partial<ManagedRepo> = {}) => {
    const { repo } = await world.enroll(TENANT_A, changes);
    return { repo, answer: await a('POST', `${REPOS}/${repo.id}/reconcile`) };
  };

  test('200 with the outcome and the log tail, which is stored as well', async () => {
    const { answer } = await reconcile();
    expect([answer.status, answer.json]).toEqual([
      200,
      { reconcile: { ran_at: '2026-01-01T00:00:00.000Z', ok: true, error: null }, log_tail: ['looked'] },
    ]);
    expect((await a('GET', REPOS)).json[0].reconcile).toMatchObject({ ok: true, error_code: null });
  });

  test('at most 50 lines', async () => {
    world.engine = { answer: 'ok', logTail: Array.from({ length: 60 }, (_, index) => `line ${index}`) };
    const { answer } = await reconcile();
    expect(answer.json.log_tail).toHaveLength(50);
  });

  test('a failure is 500 in its own shape with a fixed sentence, not the envelope (D-26)', async () => {
    world.engine = { answer: 'failed', logTail: [] };
    const { answer } = await reconcile();
    expect(answer.status).toBe(500);
    expect(Object.keys(answer.json)).toEqual(['reconcile', 'log_tail']);
    expect(answer.json.reconcile).toMatchObject({
      ok: false,
      error: 'The look failed; the queue tries again by itself.',
    });
  });

  test('an engine that does not end in time is 500 after 25 s, and the work goes on', async () => {
    world.engine = null;
    const before = world.clock.now();
    const { answer } = await reconcile();
    expect([answer.status, answer.json.reconcile.ok]).toEqual([500, false]);
    expect(world.clock.now() - before).toBe(25_000);
  });

  test('an engine that sleeps is waited for: its first answer is the answer', async () => {
    world.engine = { answer: 'starting', logTail: [] };
    const { repo } = await world.enroll(TENANT_A);
    // The worker's own retry.
    world.clock.after(12_000, async () => {
      world.engine = { answer: 'ok', logTail: ['looked'] };
      await world.store.markDue(repo.id, world.clock.now());
      await world.answerWake(repo.id);
    });
    const answer = await a('POST', `${REPOS}/${repo.id}/reconcile`);
    expect([answer.status, answer.json]).toMatchObject([
      200,
      { reconcile: { ok: true }, log_tail: ['looked'] },
    ]);
  });

  test('one that does not wake within 25 s is told as being started, with when to ask again', async () => {
    world.engine = { answer: 'starting', logTail: [] };
    const before = world.clock.now();
    const { answer, repo } = await reconcile();
    expect(world.clock.now() - before).toBe(25_000);
    expect([answer.status, answer.headers['retry-after']]).toEqual([500, '60']);
    expect(answer.json.reconcile).toMatchObject({
      ok: false,
      error: 'The engine was asleep and is being started; ask again in a minute.',
    });
    const [stored] = (await a('GET', REPOS)).json;
    expect([stored.id, stored.reconcile.error_code]).toEqual([repo.id, 'engine_starting']);
  });

  test('a second one within the millisecond in which the first ended is answered, too', async () => {
    const { repo } = await reconcile();
    const before = world.clock.now();
    const answer = await a('POST', `${REPOS}/${repo.id}/reconcile`);
    expect([answer.status, answer.json.reconcile.ok]).toEqual([200, true]);
    expect(world.clock.now() - before).toBeLessThan(100);
  });

  test('an outcome from a clock that runs ahead is not taken for the new one', async () => {
    const { repo } = await reconcile();
    await world.store.saveReconcileOutcome(repo, {
      ranAt: world.clock.now() + 700,
      ok: false,
      errorCode: 'timeout',
    });
    const answer = await a('POST', `${REPOS}/${repo.id}/reconcile`);
    expect([answer.status, answer.json.reconcile.ok]).toEqual([200, true]);
  });

  test('held, off, busy, without connection, without credential', async () => {
    const { repo } = await world.enroll(TENANT_A, { slug: 'acme/old' });
    await world.clock.advance(1);
    const second = { slug: 'acme/new', createdAt: world.clock.now() };
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'past_due' });
    expect((await reconcile(second)).answer).toMatchObject({
      status: 402,
      json: { error: { code: 'payment_required', portal: '/api/v1/billing/portal' } },
    });
    expect((await a('POST', `${REPOS}/${repo.id}/reconcile`)).status).toBe(200);
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
    const off = await reconcile({ slug: 'acme/off', queueEnabled: false, dueAt: null });
    expect(off.answer).toMatchObject({ status: 409, code: 'queue_not_ready' });
    await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
    expect(await a('POST', `${REPOS}/${repo.id}/reconcile`)).toMatchObject({
      status: 409,
      code: 'queue_locked',
    });
    world.vault.failing = 'open';
    expect((await reconcile({ slug: 'acme/sealed' })).answer).toMatchObject({
      status: 500,
      code: 'decryption_error',
    });
  });

  test('the seventh within a minute is 429 with when to come back', async () => {
    const { repo } = await reconcile();
    const answers = [];
    for (let nth = 0; nth < 6; nth += 1) {
      answers.push(await a('POST', `${REPOS}/${repo.id}/reconcile`));
    }
    expect(answers.slice(0, 5).map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers[5]).toMatchObject({
      status: 429,
      json: { error: { code: 'rate_limited', retryable: true } },
    });
    expect(Number(answers[5]?.headers['retry-after'])).toBe(10);
  });

  test('another spelling of the repo’s id opens no new share, and what is no id shares one', async () => {
    const { repo } = await reconcile();
    const ask = async (id: string) => (await a('POST', `${REPOS}/${id}/reconcile`)).status;
    for (let nth = 0; nth < 5; nth += 1) expect(await ask(repo.id)).toBe(200);
    expect(await ask(repo.id.toUpperCase())).toBe(429);
    expect(await ask(repo.id)).toBe(429);
    for (let nth = 0; nth < 6; nth += 1) expect(await ask(`none-${nth}`)).toBe(404);
    expect(await ask('none-6')).toBe(429);
  });
});

test('a forge of a version that was never seen is told, and nothing is refused', async () => {
  const { repo } = await world.enroll(TENANT_A);
  const forgeOf = async () => (await a('GET', REPOS)).json[0].forge;
  expect(await forgeOf()).toBeNull();
  const outcome = { ranAt: world.clock.now(), ok: true, errorCode: null };
  const forge = { kind: 'forgejo', major: 17, minor: 1, patch: 0 } as const;
  await world.store.saveReconcileOutcome(repo, { ...outcome, forge });
  expect(await forgeOf()).toEqual({ version: 'Forgejo 17.1.0', seen: false });
  await world.store.saveReconcileOutcome(repo, { ...outcome, forge: { ...forge, major: 15, minor: 0 } });
  expect(await forgeOf()).toEqual({ version: 'Forgejo 15.0.0', seen: true });
});
