import { FORGE_VERSION_KEPT_MS } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { mergeAsGit } from '../../fakes/abstract-forge/tree-merge.ts';
import { GITEA_126_SWITCHES, type Switches } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled, statusOf } from '../stories.ts';
import { createWorldOn, type World, type WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;
type QuirkWorld = World<ReturnType<typeof createAbstractForge>>;

/** Quirks of some forge versions at a merge are found out and said in words, and never blamed on the author. */
async function createQuirk(
  switches: Partial<Switches> = {},
  options: WorldOptions = {},
): Promise<QuirkWorld> {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches });
  const world = await createWorldOn(clock, forge, forge.forge, options);
  await givenProject(forge);
  return world;
}

async function givenFork(world: QuirkWorld, author: string, scheduler: string): Promise<number> {
  const pr = await world.forge.openPullRequest({
    branch: 'from-fork',
    files: { 'src/fork.txt': 'fork\n' },
    fork: true,
    author,
  });
  await world.forge.review(pr, 'reviewer', 'approve');
  await world.forge.scheduleAs(scheduler, pr);
  return pr;
}

describe('a pull request from a fork', () => {
  test('scheduled by a maintainer on a forge that asks the fork: refused in words, no run, others land', async () => {
    const world = await createQuirk();
    const fork = await givenFork(world, 'guest', 'dev');
    const other = await givenScheduled(world.forge, 'a');
    await world.drain();
    expect(await endingOf(world, [fork, other])).toEqual({ landed: [other], bounced: [] });
    expect(await statusOf(world, fork)).toMatch(
      /^error: refused: from a fork this forge merges for its author/,
    );
    expect(world.forge.runs()).toHaveLength(1);
    expect((await world.events()).filter((event) => event.pr === fork).map((event) => event.event)).toEqual(
      expect.arrayContaining(['pr_refused']),
    );
    await expectHonestEnd(world, [fork, other]);
  });

  test('scheduled by its author: lands', async () => {
    const world = await createQuirk();
    const fork = await givenFork(world, 'guest', 'guest');
    await world.drain();
    expect((await endingOf(world, [fork])).landed).toEqual([fork]);
  });

  test('refused, then scheduled again by its author: lands', async () => {
    const world = await createQuirk();
    const fork = await givenFork(world, 'guest', 'dev');
    await world.drain();
    await world.forge.cancelSchedule(fork);
    await world.forge.scheduleAs('guest', fork);
    await world.clock.advance(MINUTE_MS);
    await world.drain();
    expect((await endingOf(world, [fork])).landed).toEqual([fork]);
  });

  test('on a forge that asks the base (Gitea 1.26): lands, scheduled by any person', async () => {
    const world = await createQuirk(GITEA_126_SWITCHES);
    const fork = await givenFork(world, 'guest', 'dev');
    await world.drain();
    expect((await endingOf(world, [fork])).landed).toEqual([fork]);
  });

  test('a merge that never comes is not bounced: held with its reason until it is scheduled again', async () => {
    const world = await createQuirk();
    const fork = await givenFork(world, 'guest', 'guest');
    let lost = true;
    world.forge.mergeBehaviour = () => (lost ? { kind: 'lost' } : { kind: 'now' });
    await world.drain();
    expect(await endingOf(world, [fork])).toEqual({ landed: [], bounced: [] });
    expect(await statusOf(world, fork)).toMatch(/^error: refused: the forge twice did not merge/);
    expect((await world.events()).map((event) => event.event)).not.toContain('pr_bounced');
    await expectHonestEnd(world, [fork]);
    const { headSha } = await world.forge.pull(fork);
    await world.forge.postStatusAs('eve', headSha, DEFAULT_SERVICE_NAME, 'success');
    await world.drain();
    expect(await statusOf(world, fork)).toMatch(/^error: refused: the forge twice did not merge/);
    lost = false;
    await world.drain();
    expect((await world.forge.pull(fork)).merged).toBe(false);
    await world.forge.cancelSchedule(fork);
    await world.forge.scheduleAs('guest', fork);
    await world.clock.advance(MINUTE_MS);
    await world.drain();
    expect((await world.forge.pull(fork)).merged).toBe(true);
  });

  test('a version that cannot be read refuses no pull request', async () => {
    const world = await createQuirk(
      { forkPermission: false },
      { wrapForge: (forge): EngineForge => ({ ...forge, readVersion: async () => null }) },
    );
    const fork = await givenFork(world, 'guest', 'dev');
    await world.drain();
    expect((await endingOf(world, [fork])).landed).toEqual([fork]);
  });
});

describe('a version that is hidden', () => {
  test.each([
    ['the forge', { status: 403 }],
    ['a page of a proxy', { status: 403, html: true }],
    ['a page that is not found', { status: 404, html: true }],
    ['a page that asks for a login', { status: 401, html: true }],
  ])('by %s keeps nothing from landing', async (_, fault) => {
    const world = await createQuirk();
    world.forge.fault = ({ path }) => (path.endsWith('/version') ? fault : null);
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain();
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
  });

  test('by a page of a proxy that comes for a moment stays known', async () => {
    const world = await createQuirk();
    const first = await givenScheduled(world.forge, 'a');
    await world.drain();
    const { forge: known } = await world.record();
    expect(known?.version).not.toBeNull();
    await world.clock.advance(FORGE_VERSION_KEPT_MS);
    world.forge.fault = ({ path }) => (path.endsWith('/version') ? { status: 403, html: true } : null);
    const second = await givenScheduled(world.forge, 'b');
    await world.drain();
    expect((await endingOf(world, [first, second])).landed).toEqual([first, second]);
    const { forge: kept } = await world.record();
    expect(kept?.version).toEqual(known?.version);
    expect(kept?.readAt).toBeGreaterThan(known?.readAt ?? 0);
  });
});

describe('a list of who may merge', () => {
  const listed = (logins: readonly string[]): WorldOptions => ({
    wrapForge: (forge): EngineForge => ({
      ...forge,
      readProtection: async (base) => {
        const rule = await forge.readProtection(base);
        return rule === null ? null : { ...rule, mergeList: logins };
      },
    }),
  });

  test('that does not name who scheduled: refused in words, no run', async () => {
    const world = await createQuirk({}, listed(['another-account']));
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain();
    expect(await statusOf(world, pr)).toMatch(/^error: refused: the branch rule lists who may merge/);
    expect(world.forge.runs()).toHaveLength(0);
  });

  test('that does: lands', async () => {
    const world = await createQuirk({}, listed(['DEV']));
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain();
    expect((await world.forge.pull(pr)).merged).toBe(true);
  });
});

describe('a schedule that the forge dropped before a merge that failed (E21)', () => {
  async function loseSchedule(options: WorldOptions = {}) {
    const world = await createQuirk({ rowDeletedBeforeMerge: true }, options);
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    const [a = 0, b = 0] = prs;
    let failing = true;
    world.forge.mergeFails = (pr) => failing && pr === a;
    await world.drain();
    failing = false;
    return { world, a, b };
  }

  test('said after the first time-out, blamed on no pull request; the rest lands; scheduled again it lands too', async () => {
    const { world, a, b } = await loseSchedule();
    expect(await endingOf(world, [a, b])).toEqual({ landed: [b], bounced: [] });
    expect(await statusOf(world, a)).toMatch(/^pending: waiting: the forge dropped the schedule/);
    expect((await world.record()).mergeTimeoutCounts).toEqual([]);
    const events = (await world.events()).filter((event) => event.pr === a);
    expect(events.map((event) => event.event)).not.toContain('pr_bounced');
    expect(events.some((event) => event.event === 'pr_skipped' && event.reason === 'schedule_lost')).toBe(
      true,
    );
    expect(world.forge.isScheduled(a)).toBe(false);
    await expectHonestEnd(world, [a, b]);
    await world.forge.schedule(a);
    await world.clock.advance(MINUTE_MS);
    await world.drain();
    expect((await endingOf(world, [a, b])).landed).toEqual([b, a]);
    await expectHonestEnd(world, [a, b]);
  });

  test('a push amid such a merge: said once the success is taken back, on the new head, and the line goes on', async () => {
    const world = await createQuirk({ rowDeletedBeforeMerge: true });
    const { forge } = world;
    const a = await givenScheduled(forge, 'a');
    const b = await givenScheduled(forge, 'b');
    const before = (await forge.pull(a)).headSha;
    let isPushed = false;
    forge.mergeFails = (pr) => {
      if (pr !== a || isPushed) return false;
      isPushed = true;
      void forge.pushToPullRequest(a, { 'src/more.txt': 'more\n' });
      return true;
    };
    await world.drain({ maxMs: 5 * MINUTE_MS });
    expect((await forge.pull(a)).headSha).not.toBe(before);
    expect(await endingOf(world, [a, b])).toEqual({ landed: [b], bounced: [] });
    expect(await statusOf(world, a)).toMatch(/^pending: waiting: the forge dropped the schedule/);
    expect(forge.isScheduled(a)).toBe(false);
  });

  test('the question is asked once, after the success was taken back, and its own schedule is taken back', async () => {
    const { world, a } = await loseSchedule();
    const asked = world.forge
      .calls()
      .filter((call) => call.by === 'mq-bot' && call.call.endsWith('pulls/{n}/merge'));
    expect(asked.map((call) => call.method)).toEqual(['POST', 'DELETE']);
    const statuses = world.forge.statusHistory((await world.forge.pull(a)).headSha);
    const success = statuses.findLast((status) => status.state === 'success');
    expect(success?.createdAt ?? Number.POSITIVE_INFINITY).toBeLessThan(asked[0]?.at ?? 0);
    expect(world.forge.merges().every((merge) => merge.pr !== a)).toBe(true);
  });

  test('an answer that is lost, or a worker that dies in between: the next look finds its own schedule and takes it back', async () => {
    let cut = true;
    const { world, a, b } = await loseSchedule({
      wrapForge: (forge): EngineForge => ({
        ...forge,
        probeSchedule: async (pr, head, scheduleId) => {
          const found = await forge.probeSchedule(pr, head, scheduleId);
          if (!cut) return found;
          cut = false;
          // As it is when the worker died after it had asked: the bot's schedule stands.
          await world.forge.scheduleAs('mq-bot', pr);
          throw new Error('died');
        },
      }),
    });
    await world.drain();
    expect(world.forge.isScheduled(a)).toBe(false);
    expect(await endingOf(world, [a, b])).toEqual({ landed: [b], bounced: [] });
    expect(await statusOf(world, a)).toMatch(/^pending: waiting: the forge dropped the schedule/);
  });

  test('one that a person made again with the account of the bot while the gate ran is not taken back', async () => {
    const world = await createQuirk({ rowDeletedBeforeMerge: false });
    const { forge } = world;
    forge.gateDurationMs = 10 * MINUTE_MS;
    const pr = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a\n' } });
    await forge.scheduleAs('mq-bot', pr, 'squash');
    await world.drain({ until: () => forge.runs().length > 0 });
    await world.clock.advance(MINUTE_MS);
    await forge.cancelSchedule(pr);
    await forge.scheduleAs('mq-bot', pr, 'squash');
    forge.mergeBehaviour = () => ({ kind: 'lost' });
    await world.drain();
    expect(forge.isScheduled(pr)).toBe(true);
    expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [pr] });
    const words = forge.statusHistory((await forge.pull(pr)).headSha).map(({ description }) => description);
    expect(words.filter((each) => each.includes('dropped the schedule'))).toEqual([]);
  });

  test('a schedule that still stands counts as a time-out, as before', async () => {
    const world = await createQuirk({ rowDeletedBeforeMerge: false });
    const pr = await givenScheduled(world.forge, 'a');
    world.forge.mergeFails = () => true;
    await world.drain();
    expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [pr] });
    expect(world.forge.isScheduled(pr)).toBe(true);
  });
});

describe('a conflict check that does not end', () => {
  test('waits in words that blame no pull request, is looked at again, lands once the check is done', async () => {
    const world = await createQuirk();
    const [a, b] = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    world.forge.checkDelayMs = 40 * MINUTE_MS;
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect(await statusOf(world, b)).toMatch(/^pending: waiting: the forge does not call it mergeable/);
    expect((await world.events()).map((event) => event.event)).not.toContain('pr_bounced');
    world.forge.checkDelayMs = 0;
    await world.drain({ maxMs: 120 * MINUTE_MS });
    expect((await endingOf(world, [a, b])).landed).toEqual([a, b]);
    await expectHonestEnd(world, [a, b]);
  });
});

describe('a merge that git makes and only the forge calls a conflict', () => {
  const lines = (edited: number) =>
    Array.from({ length: 30 }, (_, at) => `${at === edited ? 'edited' : 'line'} ${at}\n`).join('');

  async function givenTwoSided(world: QuirkWorld): Promise<number> {
    await world.forge.pushToBase({ 'both.txt': lines(-1) });
    const pr = await world.forge.openPullRequest({ branch: 'both', files: { 'both.txt': lines(2) } });
    await world.forge.schedule(pr);
    world.forge.mergeContents = () => null;
    await world.forge.pushToBase({ 'both.txt': lines(25) });
    return pr;
  }

  test('is refused after an hour and one run, and the others land', async () => {
    const world = await createQuirk();
    const pr = await givenTwoSided(world);
    await world.drain();
    await world.clock.advance(90 * MINUTE_MS);
    await world.drain();
    expect(await statusOf(world, pr)).toMatch(
      /^error: refused: git merges it, but the forge calls it a conflict/,
    );
    expect(world.forge.runs()).toHaveLength(1);
    const other = await givenScheduled(world.forge, 'a');
    await world.drain();
    expect(await endingOf(world, [pr, other])).toEqual({ landed: [other], bounced: [] });
    await expectHonestEnd(world, [pr, other]);
  });

  test('lands as soon as the forge thinks better of it', async () => {
    const world = await createQuirk();
    const pr = await givenTwoSided(world);
    await world.drain();
    await world.clock.advance(90 * MINUTE_MS);
    await world.drain();
    world.forge.mergeContents = mergeAsGit;
    await world.forge.setProtection({ requiredApprovals: 0 });
    await world.clock.advance(10 * MINUTE_MS);
    await world.drain();
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    await expectHonestEnd(world, [pr]);
  });
});

test('a token that lacks a scope: the look says which', async () => {
  const lacking = new ForgeError('denied', 'GET issues/{n}/timeline', 403, null, false, ['read:issue']);
  const world = await createQuirk(
    {},
    { wrapForge: (forge): EngineForge => ({ ...forge, readTimeline: () => Promise.reject(lacking) }) },
  );
  await givenScheduled(world.forge, 'a');
  const report = await world.reconcile();
  expect(report).toMatchObject({ errorCode: 'forge_access_denied', missingScopes: ['read:issue'] });
});
