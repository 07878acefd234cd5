import { randomUUID } from 'node:crypto';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { givenEvent, givenNodeRow } from '../../builders/store-rows.ts';
import { givenObligations } from '../../builders/told-queue.ts';
import { ApiWorld, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';

const FORECAST = { percent: 40, usualPercent: 5, because: ['ci_failed', 'bounced_before'] } as const;

async function givenStory() {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A);
  await world.enroll(TENANT_B);
  const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 1_000);
  if (grant === 'held') throw new Error('held');
  const owner = { tenantId: repo.tenantId, repoId: repo.id, repoSlug: repo.slug };
  const at = world.clock.now();
  const place = {
    pr: 9,
    title: 'Waits',
    head: 'head-9',
    queuedAt: at,
    until: null,
    settings: 'bisect_fanout 1 -> 2',
  };
  await world.store.saveQueue(
    grantHeldLease(repo.id, grant, () => 0, 1),
    repo,
    {
      document: {},
      expectedVersion: null,
      batches: [givenNodeRow({ id: randomUUID(), ...owner, createdAt: at, prs: [7, 8] })],
      events: [
        givenEvent({ ...owner, at, pr: 7, event: 'pr_bounced', reason: 'gate_failed', title: 'Breaks it' }),
        givenEvent({ ...owner, at: at - 1, pr: 7, event: 'pr_queued', reason: null, title: 'Breaks it' }),
      ],
      told: {
        view: {
          at,
          more: 0,
          places: [
            { ...place, state: 'waiting', reason: 'conflict', forecast: FORECAST },
            { ...place, pr: 10, state: 'ready', reason: null },
          ],
          block: { kind: 'admission', since: null, until: null, pr: null, runUrl: null },
        },
        obligations: givenObligations(),
      },
    },
  );
  await world.store.releaseLease(repo.id, grant);
  return { world, repo, path: (number: number | string) => `/api/v1/user/repos/${repo.id}/pulls/${number}` };
}

describe('the story of one pull request', () => {
  test('a queue that is shut out of the forge does not say that it goes on by itself', async () => {
    const { world, path, repo } = await givenStory();
    const now = async () => (await world.as(TOKEN_A)('GET', path(10))).json;
    expect(await now()).toMatchObject({ now: { code: 'ready' } });
    await world.store.saveReconcileOutcome(repo, {
      ranAt: world.clock.now(),
      ok: false,
      errorCode: 'forge_access_denied',
    });
    const { says: words } = PULL_CODES.queue_stopped;
    const next = expect.stringMatching(/why the forge refuses the queue.* goes on by itself\.$/);
    expect(await now()).toMatchObject({ in_queue: true, now: { code: 'queue_stopped', words, next } });
  });

  test('a queue that is on hold for its payment is told in the words of its heads, and not as one that goes on', async () => {
    const { world, path } = await givenStory();
    const none = { connections: 0, repos: 0 };
    world.planLimits = { ...PLAN_LIMITS, free: { included: none, ceiling: none } };
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'past_due' });
    const { says: words, next } = PULL_CODES.queue_disabled;
    const now = { code: 'queue_disabled', kind: 'exit', turn: 'operator', words, next };
    expect((await world.as(TOKEN_A)('GET', path(10))).json).toMatchObject({ now, estimate: null });
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
    expect((await world.as(TOKEN_A)('GET', path(10))).json).toMatchObject({ now: { code: 'ready' } });
  });

  test('a bounce is told with whose turn it is, the words of the status and the next step', async () => {
    const { world, path } = await givenStory();
    const { status, json: body } = await world.as(TOKEN_A)('GET', path(7));
    const { says, next } = PULL_CODES.gate_failed;
    const now = { code: 'gate_failed', kind: 'exit', turn: 'author', fault: true, words: says, next };
    expect([status, body]).toMatchObject([
      200,
      { number: 7, title: 'Breaks it', in_queue: false, place: null, now, attempts: [{ prs: [7, 8] }] },
    ]);
    expect(body.history).toMatchObject([now, { code: 'queued', kind: 'wait' }]);
  });

  test('a landing that was stored last is the end, also where a clock that ran ahead was put right before it', async () => {
    const world = new ApiWorld();
    const { repo } = await world.enroll(TENANT_A);
    const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 1_000);
    if (grant === 'held') throw new Error('held');
    const held = grantHeldLease(repo.id, grant, () => 0, 1);
    const owner = { tenantId: repo.tenantId, repoId: repo.id, repoSlug: repo.slug, pr: 7, reason: null };
    const at = world.clock.now();
    const write = { document: {}, batches: [] };
    const staged = givenEvent({ ...owner, at: at + 7_200_000, event: 'pr_staged' });
    const expectedVersion = await world.store.saveQueue(held, repo, {
      ...write,
      expectedVersion: null,
      events: [staged],
    });
    const landed = givenEvent({ ...owner, at: at + 40_000, event: 'pr_landed' });
    await world.store.saveQueue(held, repo, { ...write, expectedVersion, events: [landed] });
    await world.clock.advance(8 * 3_600_000);
    const { json: body } = await world.as(TOKEN_A)('GET', `/api/v1/user/repos/${repo.id}/pulls/7`);
    expect(body).toMatchObject({ in_queue: false, now: { code: 'landed' } });
  });

  test('one that waits is told with its place', async () => {
    const { world, path } = await givenStory();
    const { json: body } = await world.as(TOKEN_A)('GET', path(9));
    expect(body).toMatchObject({ in_queue: true, place: 1, now: { code: 'conflict', turn: 'author' } });
    expect(body.forecast).toBe(
      'It fails at the gate with an estimated chance of 40 % (usual here: 5 %), because its own CI failed on this head and it was bounced before. The estimate sizes batches and judges nothing.',
    );
    const { json: bounced } = await world.as(TOKEN_A)('GET', path(7));
    expect(bounced.forecast).toBeNull();
  });

  test('one that changes the settings file is told with what would change; another with nothing', async () => {
    const { world, path } = await givenStory();
    const read = async (number: number) => (await world.as(TOKEN_A)('GET', path(number))).json.settings_file;
    expect([await read(9), await read(7)]).toEqual(['bisect_fanout 1 -> 2', null]);
  });

  test('reads at most 2,000 rows of each kind, however much its tenant has', async () => {
    const { world, path } = await givenStory();
    const reads = [jest.spyOn(world.store, 'listOwnEvents'), jest.spyOn(world.store, 'listOwnBatches')];
    await world.as(TOKEN_A)('GET', path(7));
    expect(reads.map(({ mock }) => mock.calls.map((call) => call[2]))).toEqual([[2_000], [2_000]]);
  });

  test.each([[1], ['0'], ['x'], ['07'], ['9999999999']])(
    'a number that is unknown or none (%s) is 404',
    async (number) => {
      const { world, path } = await givenStory();
      expect((await world.as(TOKEN_A)('GET', path(number))).code).toBe('not_found');
    },
  );

  test('of another tenant it is as absent as one that never was (A86)', async () => {
    const { world, path } = await givenStory();
    const answers = [await world.as(TOKEN_B)('GET', path(7)), await world.as(TOKEN_B)('GET', path(1))];
    expect(answers.map(({ status, code }) => [status, code])).toEqual([
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
    expect(answers[0]?.json).toEqual(answers[1]?.json);
  });
});
