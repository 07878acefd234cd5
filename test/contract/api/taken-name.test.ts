import { randomUUID } from 'node:crypto';
import { describeRefusalCause, type RefusalCause } from '#core/domain/forge/refusal-cause.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import { givenObligations } from '../../builders/told-queue.ts';
import { ApiWorld, TENANT_A, TOKEN_A } from '../../support/api-world.ts';
import { givePerson } from '../../support/forge-person.ts';
import { makeWorkingForge } from '../../support/working-forge.ts';

/** A queue that knows the id of its repository, whose name another one has by now (decision 0355). */

const PROBE = { sha: 'a'.repeat(40), branch: 'mq-main-probe-1', gateBlob: 'b'.repeat(40), madeAt: 0 };
const REFUSED = {
  status: 422,
  code: 'forge_access_denied',
  message: describeRefusalCause('replaced'),
};
const NAMED = 1;
const KNOWN = 2;

async function given(changes: Partial<ManagedRepo> = {}) {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A, {
    protectionRequested: true,
    ciGate: { status: 'verified', url: null, setupPr: null, probe: null },
    ...changes,
  });
  world.store.readObligations = async () => givenObligations({ repoId: KNOWN, inFlight: [4] });
  world.forge.repoId = NAMED;
  const touched: string[] = [];
  const calls = Object.entries(makeWorkingForge(true));
  world.forge.setUp = Object.fromEntries(
    calls.map(([name, call]) => [
      name,
      (...values: readonly unknown[]) => {
        touched.push(name);
        return Reflect.apply(call, null, values);
      },
    ]),
  );
  const ask = async (method: string, path: string, body?: unknown, headers = {}) => {
    const whole = `/api/v1/user/repos/${repo.id}${path}`;
    const { status, code, json } = await world.call(method, whole, {
      token: TOKEN_A,
      ...(body === undefined ? {} : { body }),
      headers,
    });
    return { status, code, message: json?.error?.message };
  };
  return { world, repo, touched, ask };
}

/** The engine reports why the forge refuses the queue. */
function giveRefusal({ store }: ApiWorld, refusal: RefusalCause): void {
  const load = store.loadReconcileOutcome.bind(store);
  store.loadReconcileOutcome = async (place) => {
    const outcome = await load(place);
    return outcome === null ? null : { ...outcome, refusal };
  };
}

describe('while another repository has the name', () => {
  test.each<[string, string, string, unknown, Partial<ManagedRepo>]>([
    ['setting up', 'POST', '/provision', undefined, { wakeupMode: 'webhook' }],
    ['protecting the branch', 'POST', '/protect', { enabled: true }, {}],
    ['the set-up pull request', 'POST', '/ci-gate/setup-pr', undefined, {}],
    ['verifying the gate', 'POST', '/ci-gate/verify', undefined, {}],
    [
      'a probe that waits',
      'POST',
      '/ci-gate/verify',
      undefined,
      { ciGate: { status: 'awaiting_validation', url: null, setupPr: null, probe: PROBE } },
    ],
    [
      'another context of a protected branch',
      'PATCH',
      '',
      { status_context: 'other' },
      {
        provisioning: {
          webhook: 'registered',
          protection: { kind: 'required', ruleName: 'main', reasons: [] },
          strayContexts: [],
          lastProvisionedAt: 0,
        },
      },
    ],
    ['switching the queue off', 'PATCH', '', { queue_enabled: false }, {}],
  ])('%s says so and touches nothing there', async (_case, method, path, body, changes) => {
    const { world, repo, touched, ask } = await given(changes);
    expect(await ask(method, path, body)).toEqual(REFUSED);
    expect([touched, world.forge.cancelled]).toEqual([[], []]);
    const stored = await world.store.getRepo(repo.id);
    expect(stored).toMatchObject({
      queueEnabled: true,
      statusContext: repo.statusContext,
      ciGate: { status: repo.ciGate.status },
    });
  });

  test('switching off with a success that stands says so as well, and the queue stays on', async () => {
    const { world, repo, ask } = await given();
    world.store.readObligations = async () => givenObligations({ repoId: KNOWN, successStands: true });
    world.engine = { answer: 'failed', logTail: [], act: async () => 'forge_access_denied' };
    giveRefusal(world, 'replaced');
    expect(await ask('PATCH', '', { queue_enabled: false })).toEqual(REFUSED);
    expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
  });

  test('the log of a gate run there is told to no person', async () => {
    const { world, repo, ask } = await given();
    const row = { id: randomUUID(), tenantId: TENANT_A, repoId: repo.id, prs: [7] };
    world.store.listOwnBatches = async () => [
      givenNodeRow({
        ...row,
        runUrl: 'https://git.example.org/acme/app/actions/runs/2',
        gateVerdict: 'failure',
        stagingSha: '2'.repeat(40),
        phase: null,
        outcome: 'bounced',
        resolvedAt: 1,
      }),
    ];
    world.readRunLog = () => Promise.reject(new Error('the log of another repository is read'));
    expect(await ask('GET', '/pulls/7/gate-log')).toEqual(REFUSED);
  });

  test('no pull request there is scheduled, and no schedule is taken back', async () => {
    const { world, repo, ask } = await given();
    const { forge, pr, head } = await givePerson(world, repo);
    const headers = { 'x-forge-token': 'developer' };
    expect(await ask('PUT', `/pulls/${pr}/queue`, { head }, headers)).toEqual(REFUSED);
    expect(forge.isScheduled(pr)).toBe(false);
    await forge.schedule(pr);
    expect(await ask('DELETE', `/pulls/${pr}/queue`, undefined, headers)).toEqual(REFUSED);
    expect(forge.isScheduled(pr)).toBe(true);
  });

  test.each<[string, number, string | undefined]>([
    ['it has its name again', KNOWN, undefined],
    ['another one has it', NAMED, 'forge_access_denied'],
  ])('once %s, verifying goes by that', async (_case, id, code) => {
    const { world, ask } = await given();
    world.forge.repoId = id;
    expect((await ask('POST', '/ci-gate/verify')).code).toBe(code);
  });

  test('under a former name each call says so, and no token and no right of the bot is blamed', async () => {
    const { world, repo, touched, ask } = await given({ wakeupMode: 'webhook' });
    world.forge.repoId = new ForgeError('denied', 'GET repo', 301);
    const moved = { ...REFUSED, message: describeRefusalCause('moved') };
    expect(await ask('POST', '/provision')).toEqual(moved);
    expect(await ask('POST', '/protect', { enabled: true })).toEqual(moved);
    expect(await ask('POST', '/ci-gate/verify')).toEqual(moved);
    expect(await ask('PATCH', '', { queue_enabled: false })).toEqual(moved);
    const { pr, head } = await givePerson(world, repo);
    const { openPerson } = world;
    world.openPerson = (place, token) => ({
      ...openPerson(place, token),
      readRepoId: () => Promise.reject(world.forge.repoId),
    });
    const headers = { 'x-forge-token': 'developer' };
    expect(await ask('PUT', `/pulls/${pr}/queue`, { head }, headers)).toEqual(moved);
    expect(touched).toEqual([]);
  });

  test.each<[string, ForgeError, string]>([
    ['fails', new ForgeError('unreachable', 'GET repo', 502), 'forge_unreachable'],
    ['is refused', new ForgeError('denied', 'GET repo', 403), 'forge_access_denied'],
  ])('nothing is touched while the call for the id %s', async (_case, fault, code) => {
    const { world, touched, ask } = await given();
    world.forge.repoId = fault;
    expect(await ask('POST', '/ci-gate/setup-pr')).toMatchObject({ code });
    expect(touched).toEqual([]);
  });

  test('of a repository that does not show, the calls themselves say so: its queue can be switched off', async () => {
    const { world, ask } = await given();
    world.forge.repoId = new ForgeError('missing', 'GET repo', 404);
    expect((await ask('PATCH', '', { queue_enabled: false })).status).toBe(200);
  });
});

test('a queue that knows no id asks for none', async () => {
  const { world, ask } = await given();
  world.store.readObligations = async () => givenObligations();
  world.forge.repoId = new ForgeError('unreachable', 'GET repo', 502);
  expect((await ask('POST', '/ci-gate/verify')).status).toBe(200);
});

test('a queue that knows no id says of a former name so as well, when a pull request is scheduled', async () => {
  const { world, repo, ask } = await given();
  world.store.readObligations = async () => givenObligations();
  const { pr, head } = await givePerson(world, repo);
  const { openPerson } = world;
  const readPull = () => Promise.reject(new ForgeError('denied', 'GET pulls/{n}', 301));
  world.openPerson = (place, token) => ({ ...openPerson(place, token), readPull });
  const asked = await ask('PUT', `/pulls/${pr}/queue`, { head }, { 'x-forge-token': 'developer' });
  expect(asked).toEqual({ ...REFUSED, message: describeRefusalCause('moved') });
});
