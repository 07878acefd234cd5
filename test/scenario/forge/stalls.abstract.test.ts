import { DAY_MS } from '#core/domain/api-limits.ts';
import { tellPull } from '#core/domain/pulls/pull-story.ts';
import { DEFAULT_SERVICE_NAME, stagingBranch } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { ProvisioningRecord } from '#core/domain/set-up/provisioning.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { readActivity } from '#core/services/reads/read-activity.ts';
import { findBlocker } from '../../../dashboard/view/blocker.ts';
import { landedOf } from '../hooks.ts';
import { GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World, type WorldOptions } from '../world.ts';

/** Stalls that users of other merge queues reported: each is noticed in time, explained, and over with its cause (0207, 0209). */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TICK_MS = 5 * MINUTE_MS;
const HOOK = {
  id: 1,
  url: 'https://mq.example/api/v1/webhooks/forge?r=abc',
  isJson: true,
  active: true,
  branchFilter: '*',
  events: ['push', 'pull_request', 'issue_comment', 'release'],
};
const NO_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };
const PROVISIONING: ProvisioningRecord = {
  webhook: 'registered',
  protection: { kind: 'required', ruleName: 'main', reasons: [] },
  strayContexts: [],
  lastProvisionedAt: 0,
};
/** As the set-up left it. */
const SET_UP: Partial<ManagedRepo> = {
  provisioning: PROVISIONING,
  protectionRequested: true,
  ciGate: { status: 'verified', url: null, setupPr: null, probe: null },
};

type Told = Awaited<ReturnType<typeof activityOf>>;

async function activityOf(world: World) {
  const { store, clock } = world;
  const parts = {
    store,
    clock,
    leases: store,
    log: NO_LOG,
    queueName: DEFAULT_SERVICE_NAME,
    planLimits: PLAN_LIMITS,
  };
  const [repo] = (await readActivity(parts, 'tenant-1', null, null)).repos;
  if (repo === undefined) throw new Error('the API tells of no repository');
  return repo;
}

/** One look, as a worker keeps its outcome. Returns when the engine wants the next one. */
async function look(world: World): Promise<number> {
  const report = await world.reconcile();
  const repo = await world.store.getRepo('repo-1');
  if (report === null || repo === null) throw new Error('no look');
  const { errorCode, refusal, rule, hook, wakeAt } = report;
  await world.store.saveReconcileOutcome(repo, {
    ranAt: world.clock.now(),
    ok: errorCode === null,
    errorCode,
    ...(refusal === undefined ? {} : { refusal }),
    ...(rule === undefined ? {} : { rule }),
    ...(hook === undefined ? {} : { hook }),
  });
  return wakeAt ?? Number.POSITIVE_INFINITY;
}

/** Looks at every tick and wake until the API tells what is awaited; that it does not within `withinMs` is an error. */
async function untilTold(world: World, isTold: (told: Told) => boolean, withinMs: number): Promise<Told> {
  const end = world.clock.now() + withinMs;
  for (;;) {
    const wakeAt = await look(world);
    const told = await activityOf(world);
    if (isTold(told)) return told;
    const now = world.clock.now();
    if (now >= end) throw new Error(`not told in time: ${JSON.stringify(told)}`);
    await world.clock.advance(Math.min(Math.max(wakeAt - now, 1_000), TICK_MS, end - now));
  }
}

const standsFor = (cause: string) => (told: Told) => told.standstill?.cause === cause;
const drifted = (kind: string) => (told: Told) => told.drifts.some((drift) => drift.kind === kind);
const isWell = ({ standstill, drifts, last_reconcile_error: error }: Told) =>
  standstill === null && drifts.length === 0 && error === null;

async function given(repo: Partial<ManagedRepo> = {}, options: WorldOptions = {}) {
  const world = await createWorld({ ...options, repo: { ...SET_UP, ...repo } });
  await givenProject(world.forge);
  await world.forge.setHooks([HOOK]);
  await look(world);
  await world.clock.advance(TICK_MS);
  return world;
}

/** The cause has gone: everything lands, and nothing is complained of any more. */
async function expectGoesOn(world: World, prs: readonly number[]): Promise<void> {
  await untilTold(world, (told) => landedOf(world).length === prs.length && isWell(told), HOUR_MS);
  expect(landedOf(world)).toEqual(prs);
}

test('a required check that never reports is told after ten minutes, names the CI and not the runners of the forge, and is staged anew', async () => {
  const world = await given({ gateTimeoutMinutes: 20 }, { gate: 'statuses' });
  world.forge.judge = () => 'never';
  const pr = await givenScheduled(world.forge, 'a');
  const told = await untilTold(world, standsFor('checks_not_reported'), 15 * MINUTE_MS);
  expect(told.standstill?.says).toMatch(/required statuses/);
  expect(told.standstill?.next).toMatch(/contexts in the settings/);
  world.forge.judge = () => 'success';
  await expectGoesOn(world, [pr]);
});

test('a runner label that no runner has is told after ten minutes, and the run is asked for anew at its deadline', async () => {
  const world = await given({ gateTimeoutMinutes: 20 });
  world.forge.judge = () => 'never';
  const pr = await givenScheduled(world.forge, 'a');
  const told = await untilTold(world, standsFor('gate_not_started'), 15 * MINUTE_MS);
  expect(told.standstill?.next).toMatch(/a runner has the labels that it asks for/);
  world.forge.judge = () => 'success';
  await expectGoesOn(world, [pr]);
});

test('a gate run that waits for a runner is told as such after ten minutes, and goes on once one is free', async () => {
  const world = await given();
  world.forge.runnerWaitMs = 40 * MINUTE_MS;
  const pr = await givenScheduled(world.forge, 'a');
  const told = await untilTold(world, standsFor('no_runner'), 15 * MINUTE_MS);
  expect(told.queue?.block.kind).toBe('runner');
  expect(told.standstill?.next).toMatch(/online and free/);
  await expectGoesOn(world, [pr]);
});

test('a label that no runner takes is named where the forge tells it: in the API and on the page', async () => {
  const world = await given();
  Object.assign(world.forge, { runnerWaitMs: 40 * MINUTE_MS, runnerLabels: ['gpu', 'linux'] });
  const pr = await givenScheduled(world.forge, 'a');
  const told = await untilTold(world, standsFor('no_runner'), 15 * MINUTE_MS);
  expect(told.queue?.block).toMatchObject({ kind: 'runner', runner_labels: ['gpu', 'linux'] });
  const wanted = 'a runner with the labels "gpu" and "linux"';
  expect(told.standstill).toMatchObject({
    says: `The gate run waits for ${wanted}`,
    next: `Check that ${wanted} is online and free, or change runs-on in the gate workflow.`,
  });
  expect(findBlocker(told, null, world.clock.now())?.text).toContain(wanted);
  const view = (await world.store.readQueueViews(['repo-1'])).get('repo-1');
  const facts = { view, now: world.clock.now(), queueEnabled: true, pause: null, events: [], batches: [] };
  expect(tellPull({ pr, ...facts })).toMatchObject({
    code: 'runner_wait',
    words: expect.stringContaining(wanted),
    next: expect.stringContaining('runs-on'),
  });
  await expectGoesOn(world, [pr]);
  // Once for the run: it is one and the same while it waits.
  expect(world.forge.calls().filter(({ call }) => call === 'GET actions/runs/{id}/jobs')).toHaveLength(1);
});

test('a forge that does not tell the labels, or fails to, keeps nothing back and is told as before', async () => {
  for (const fault of [null, 500, 404]) {
    const world = await given();
    world.forge.runnerWaitMs = 40 * MINUTE_MS;
    world.forge.fault = ({ path }) => (fault !== null && path.endsWith('/jobs') ? { status: fault } : null);
    const pr = await givenScheduled(world.forge, 'a');
    const told = await untilTold(world, standsFor('no_runner'), 15 * MINUTE_MS);
    expect(told.queue?.block.runner_labels).toBeNull();
    expect(told.standstill?.next).toMatch(/the labels that the workflow asks for/);
    expect(told.last_reconcile_error).toBeNull();
    await expectGoesOn(world, [pr]);
  }
});

test('a full pool of runners is told past one and a half times what is usual, and the queue goes on with the run', async () => {
  const world = await given();
  world.forge.gateDurationMs = 10 * MINUTE_MS;
  const earlier: number[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    earlier.push(await givenScheduled(world.forge, name));
    await untilTold(world, () => landedOf(world).length === earlier.length, HOUR_MS);
  }
  world.forge.judge = () => 'hold';
  const pr = await givenScheduled(world.forge, 'f');
  const told = await untilTold(world, standsFor('gate_slow'), 25 * MINUTE_MS);
  expect(told.standstill?.usual_seconds).toBeGreaterThanOrEqual(600);
  expect(told.standstill?.next).toMatch(/check its runner/);
  expect(told.queue?.block.run_url).not.toBeNull();
  for (const { id, state } of world.forge.runs())
    if (state === 'running') await world.forge.finishRun(id, 'success');
  await expectGoesOn(world, [...earlier, pr]);
});

test('a workflow renamed on the base is a drift at the next look; a quarter of an hour later it is a standstill that does not blame the forge', async () => {
  const world = await given();
  await world.forge.pushToBase({ [GATE_PATH]: null, '.forgejo/workflows/renamed.yaml': GATE_FILE });
  const pr = await givenScheduled(world.forge, 'a');
  const seen = await untilTold(world, drifted('gate_file'), TICK_MS);
  // A person pushed past the rule of the base.
  expect(seen.drifts).toMatchObject([
    { kind: 'unproven_base' },
    { next: expect.stringMatching(/^Restore the workflow file/) },
  ]);
  const told = await untilTold(world, ({ standstill }) => standstill !== null, 20 * MINUTE_MS);
  expect(told).toMatchObject({ standstill: { cause: 'stopped' }, last_reconcile_error_code: 'gate_missing' });
  expect(told.queue?.block.kind).toBe('gate_missing');
  await world.forge.pushToBase({ [GATE_PATH]: GATE_FILE });
  await expectGoesOn(world, [pr]);
});

test('a hook deleted is a drift within an hour, and the tick lands what waits meanwhile', async () => {
  const world = await given({ wakeupMode: 'webhook', hookId: 'abc' });
  await world.forge.setHooks([]);
  const pr = await givenScheduled(world.forge, 'a');
  const told = await untilTold(world, drifted('webhook_missing'), HOUR_MS + TICK_MS);
  expect(told.drifts).toMatchObject([
    {
      repair: 'off',
      next: 'Press "Put it back now" on the queue page. With "Repairs" switched on in the settings the service puts it back by itself.',
    },
  ]);
  expect(landedOf(world)).toEqual([pr]);
  await world.forge.setHooks([HOOK]);
  await world.clock.advance(HOUR_MS);
  await expectGoesOn(world, [pr]);
});

test('a required status removed by hand is a drift at the next look; a quarter of an hour later it is a standstill that does not blame the forge', async () => {
  const world = await given();
  await world.forge.setProtection({ requiredContexts: [] });
  const pr = await givenScheduled(world.forge, 'a');
  const seen = await untilTold(world, drifted('required_context'), TICK_MS);
  expect(seen.drifts).toMatchObject([{ next: expect.stringMatching(/add the status to the rule/) }]);
  const told = await untilTold(world, ({ standstill }) => standstill !== null, 20 * MINUTE_MS);
  expect(told.standstill?.cause).toBe('stopped');
  expect(told.last_reconcile_error_code).toBe('protection_conflict');
  expect(landedOf(world)).toEqual([]);
  await world.forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] });
  await expectGoesOn(world, [pr]);
});

test('a rule over the branches of the queue is a drift at the next look, with its own step, and goes with the rule', async () => {
  const world = await given();
  const own = stagingBranch(DEFAULT_SERVICE_NAME, 'main');
  await world.forge.protectBranch(own, { directPushAllowed: false });
  const pr = await givenScheduled(world.forge, 'a');
  const told = await untilTold(world, drifted('own_branches'), TICK_MS);
  expect(told.last_reconcile_error_code).toBe('protection_conflict');
  expect(told.drifts).toMatchObject([
    { repair: 'people', says: expect.stringMatching(/^A branch rule covers the branches of the queue/) },
  ]);
  expect(told.queue?.line).toMatchObject([{ pr, state: 'waiting', reason: 'queue_stopped' }]);
  await world.clock.advance(TICK_MS);
  expect((await activityOf(world)).queue?.line).toMatchObject([
    { pr, state: 'waiting', reason: 'queue_stopped' },
  ]);
  await world.forge.unprotectBranch(own);
  await expectGoesOn(world, [pr]);
});

test('a base that is renamed on the forge is told at the next look, is no drift of its rule, and goes on under its old name', async () => {
  const world = await given();
  const pr = await givenScheduled(world.forge, 'a');
  await world.forge.renameBranch('main', 'trunk');
  const told = await untilTold(world, drifted('base'), TICK_MS);
  expect(told.drifts.map(({ kind, repair }) => [kind, repair])).toEqual([['base', 'people']]);
  expect(told.last_reconcile_error_code).toBe('base_missing');
  await world.clock.advance(HOUR_MS);
  await look(world);
  expect((await activityOf(world)).drifts.map(({ kind }) => kind)).toEqual(['base']);
  await world.forge.renameBranch('trunk', 'main');
  await expectGoesOn(world, [pr]);
});

test('a branch that is enrolled before it is made is told to be missing, and is no drift', async () => {
  const world = await createWorld({ repo: { ...SET_UP, baseBranch: 'later' } });
  await look(world);
  const told = await activityOf(world);
  expect([told.last_reconcile_error_code, told.drifts]).toEqual(['base_missing', []]);
  await world.forge.forge.createBranch('later', world.forge.tipOfBase());
  await look(world);
  expect((await activityOf(world)).last_reconcile_error_code).toBeNull();
});

test('another required check added by hand keeps the pull request out at once, and is told as a standstill after a day', async () => {
  const world = await given();
  await world.forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME, 'lint'] });
  const pr = await givenScheduled(world.forge, 'a');
  const seen = await untilTold(world, ({ queue }) => queue?.block.kind === 'admission', TICK_MS);
  expect(seen.queue?.line).toMatchObject([{ pr, state: 'waiting', reason: 'not_admitted' }]);
  await world.clock.advance(DAY_MS - TICK_MS);
  const told = await untilTold(world, standsFor('people'), 3 * TICK_MS);
  expect(told.standstill?.next).toMatch(/whose turn it is/);
  await world.forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] });
  await expectGoesOn(world, [pr]);
});

test('an expired token is a drift at the next look and a standstill after a quarter of an hour', async () => {
  const world = await given();
  world.forge.gateDurationMs = HOUR_MS;
  const pr = await givenScheduled(world.forge, 'a');
  await look(world);
  world.forge.fault = () => ({ status: 401 });
  const seen = await untilTold(world, drifted('rights'), TICK_MS);
  expect(seen.drifts).toMatchObject([{ next: expect.stringMatching(/^Store a new token/) }]);
  expect(seen.last_reconcile_error).toMatch(/^The forge does not accept the stored token/);
  await untilTold(world, standsFor('looks_fail'), 20 * MINUTE_MS);
  world.forge.fault = () => null;
  await expectGoesOn(world, [pr]);
});

test('a repository whose pause was forgotten is told after a day, with the control that ends it', async () => {
  const world = await given();
  const pr = await givenScheduled(world.forge, 'a');
  await world.settings({
    pause: { kind: 'pause', reason: null, since: world.clock.now(), until: null },
  });
  await world.clock.advance(DAY_MS - TICK_MS);
  const told = await untilTold(world, standsFor('paused'), 2 * TICK_MS);
  expect(told.standstill?.next).toMatch(/resume the queue in its settings/);
  await world.settings({ pause: null });
  await expectGoesOn(world, [pr]);
});
