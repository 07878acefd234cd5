import type { PullCodeName } from '#core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { landedOf } from '../hooks.ts';
import { expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { givenThreeScheduled } from '../three-scheduled.ts';
import { createWorld, SERVICE_URL } from '../world.ts';

/** The author sees on the forge where a pull request stands, with one word for each change of that (decision 0079). */
const MINUTE_MS = 60_000;
const AT_PLACE_4 = 'queued: waits for its batch; place 4 when this was written';
const STAGED = 'staged: in a batch whose gate run judges it';

type World = Awaited<ReturnType<typeof createWorld>>;

async function wordsOn(world: World, pr: number): Promise<readonly (string | undefined)[]> {
  const { headSha } = await world.forge.pull(pr);
  return world.forge.statusHistory(headSha).map(({ description }) => description);
}

test('one that is staged at once is told so with one word, however often it is looked at', async () => {
  const { world, a, b, c } = await givenThreeScheduled();
  world.forge.gateDurationMs = 30 * MINUTE_MS;
  await world.drain({ until: () => world.forge.runs().length > 0 });
  for (let look = 0; look < 5; look += 1) await world.reconcile();
  for (const pr of [a, b, c]) expect(await wordsOn(world, pr)).toEqual([STAGED]);
  await world.drain();
  expect(landedOf(world)).toEqual([a, b, c]);
  for (const pr of [a, b, c]) expect(await wordsOn(world, pr)).toHaveLength(3);
});

test('one that waits for its batch is told so, and that it is staged once it is', async () => {
  const { world } = await givenThreeScheduled({ repo: { bisectFanout: 1 } });
  world.forge.gateDurationMs = 30 * MINUTE_MS;
  await world.drain({ until: () => world.forge.runs().length > 0 });
  const late = await givenScheduled(world.forge, 'late');
  await world.clock.advance(MINUTE_MS);
  await world.reconcile();
  expect(await wordsOn(world, late)).toEqual([AT_PLACE_4]);
  await world.drain({ until: () => world.forge.runs().length > 1 });
  await world.reconcile();
  expect(await wordsOn(world, late)).toEqual([AT_PLACE_4, STAGED]);
  await world.drain();
  await expectHonestEnd(world, [late]);
});

test('its words link to the page with its story, those of a verdict to the gate run', async () => {
  const links: (string | null)[] = [];
  const world = await createWorld({
    wrapForge: (forge) => ({
      ...forge,
      postStatus: (sha, status) => {
        links.push(status.targetUrl);
        return forge.postStatus(sha, status);
      },
    }),
  });
  await givenProject(world.forge);
  world.forge.gateDurationMs = 30 * MINUTE_MS;
  const pr = await givenScheduled(world.forge, 'a', 'BAD\n');
  await world.drain();
  expect(await wordsOn(world, pr)).toEqual([STAGED, expect.stringMatching(/^bounced:/)]);
  expect(links).toEqual([
    `${SERVICE_URL}/repos/repo-1/pulls/${pr}`,
    expect.stringContaining('/actions/runs/'),
  ]);
});

test('what it posts is pending, success or error, with no title, branch or login in its words (A38)', async () => {
  const posts: { readonly state: string; readonly description: string }[] = [];
  const world = await createWorld({
    wrapForge: (forge) => ({
      ...forge,
      postStatus: (sha, status) => {
        posts.push(status);
        return forge.postStatus(sha, status);
      },
    }),
  });
  const { forge } = world;
  await givenProject(forge, { 'shared.txt': 'one\n' });
  await forge.setProtection({ blockOnRejectedReviews: true });
  const prs: number[] = [];
  for (const [name, path, content] of [
    ['good', 'a.txt', 'a\n'],
    ['bad', 'b.txt', 'BAD\n'],
    ['first', 'shared.txt', 'two\n'],
    ['in conflict', 'shared.txt', 'three\n'],
    ['rejected', 'c.txt', 'c\n'],
    ['cancelled', 'd.txt', 'd\n'],
    ['pushed', 'e.txt', 'e\n'],
  ] as const) {
    const named = { branch: `canary-${name.replace(' ', '-')}`, title: `Canary ${name}`, author: 'canary' };
    const pr = await forge.openPullRequest({ ...named, files: { [path]: content } });
    await forge.schedule(pr);
    prs.push(pr);
  }
  const [, , , , rejected = 0, cancelled = 0, pushed = 0] = prs;
  await forge.review(rejected, 'reviewer', 'reject');
  await world.drain({ until: () => forge.runs().length > 0 });
  await forge.cancelSchedule(cancelled);
  await forge.pushToPullRequest(pushed, { 'e.txt': 'newer\n' });
  await world.drain({ maxMs: 2 * 60 * MINUTE_MS });
  const words = posts.map(({ description }) => description);
  for (const begin of [
    'staged',
    'proven',
    'bounced',
    'refused: conflicts',
    'refused: a review',
    'requeued',
    'not queued',
  ])
    expect(words).toContainEqual(expect.stringMatching(`^${begin}`));
  expect(words.filter((each) => /canary/i.test(each) || each.length > 140)).toEqual([]);
  expect([...new Set(posts.map(({ state }) => state))].sort()).toEqual(['error', 'pending', 'success']);
});

describe('one that leaves the queue is not promised any more that the queue goes on with it', () => {
  async function givenStaged(): Promise<{ readonly world: World; readonly pr: number }> {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.gateDurationMs = 30 * MINUTE_MS;
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain({ until: () => world.forge.runs().length > 0 });
    await world.reconcile();
    return { world, pr };
  }

  const retargetToNext = async ({ forge }: World, pr: number): Promise<void> => {
    await forge.pushBranch('next', await forge.tip(forge.base));
    await forge.retarget(pr, 'next');
  };

  test.each<[string, string, (world: World, pr: number) => Promise<unknown>]>([
    ['its auto-merge is cancelled', 'auto_merge_cancelled', ({ forge }, pr) => forge.cancelSchedule(pr)],
    ['it becomes a draft', 'draft', ({ forge }, pr) => forge.setTitle(pr, 'WIP: a')],
    ['it is closed', 'closed', ({ forge }, pr) => forge.close(pr)],
    ['it is sent to another branch', 'retargeted', retargetToNext],
  ])('%s', async (_name, code, leave) => {
    const { world, pr } = await givenStaged();
    expect(await wordsOn(world, pr)).toEqual([STAGED]);
    await leave(world, pr);
    await world.clock.advance(MINUTE_MS);
    for (let look = 0; look < 3; look += 1) await world.reconcile();
    expect(await wordsOn(world, pr)).toEqual([STAGED, PULL_CODES[code as PullCodeName].says]);
  });

  test('its auto-merge is cancelled while its queue is switched off', async () => {
    const { world, pr } = await givenStaged();
    await world.settings({ queueEnabled: false });
    await world.forge.cancelSchedule(pr);
    await world.clock.advance(MINUTE_MS);
    for (let look = 0; look < 3; look += 1) await world.reconcile();
    expect((await wordsOn(world, pr)).at(-1)).toBe(PULL_CODES.cancelled_while_off.says);
  });

  test('its auto-merge is cancelled after its head has said that the queue is off', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    const landing = await givenScheduled(world.forge, 'a');
    const next = await givenScheduled(world.forge, 'b');
    const { headSha } = await world.forge.pull(landing);
    await world.drain({ until: async () => (await world.forge.status(headSha, 'mq'))?.state === 'success' });
    await world.settings({ queueEnabled: false });
    await world.reconcile();
    for (const pr of [landing, next])
      expect((await wordsOn(world, pr)).at(-1)).toBe(PULL_CODES.queue_disabled.says);
    for (const pr of [landing, next]) await world.forge.cancelSchedule(pr);
    await world.drain({ maxMs: 10 * MINUTE_MS });
    await world.settings({ queueEnabled: true, enabledAt: world.clock.now() });
    await world.drain({ maxMs: 10 * MINUTE_MS });
    for (const pr of [landing, next])
      expect((await wordsOn(world, pr)).at(-1)).toBe(PULL_CODES.cancelled_while_off.says);
  });

  test('its landing ends by it, from the moment the success is taken back', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    await world.drain({ until: async () => (await world.forge.status(headSha, 'mq'))?.state === 'success' });
    await retargetToNext(world, pr);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    const said = await wordsOn(world, pr);
    const after = said.slice(said.findLastIndex((each) => each?.startsWith('proven:')) + 1);
    expect([...new Set(after)]).toEqual([PULL_CODES.retargeted.says]);
  });

  test('and once it is back it is told so', async () => {
    const { world, pr } = await givenStaged();
    await world.forge.cancelSchedule(pr);
    await world.clock.advance(MINUTE_MS);
    await world.reconcile();
    await world.forge.schedule(pr, 'squash');
    await world.clock.advance(MINUTE_MS);
    for (let look = 0; look < 3; look += 1) await world.reconcile();
    const left = PULL_CODES.auto_merge_cancelled.says;
    expect(await wordsOn(world, pr)).toEqual([STAGED, left, STAGED]);
  });

  const approvalMissing = async (): Promise<{ readonly world: World; readonly pr: number }> => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.forge.setProtection({ requiredApprovals: 1 });
    return { world, pr: await givenScheduled(world.forge, 'a') };
  };
  const conflicting = async (): Promise<{ readonly world: World; readonly pr: number }> => {
    const world = await createWorld();
    await givenProject(world.forge, { 'shared.txt': 'base\n' });
    await givenScheduled(world.forge, 'a', 'a\n', { path: 'shared.txt' });
    return { world, pr: await givenScheduled(world.forge, 'b', 'b\n', { path: 'shared.txt' }) };
  };

  test.each([
    ['approvals_missing', approvalMissing],
    ['conflict', conflicting],
  ] as const)('where it was refused as %s, which the queue looks at again', async (code, given) => {
    const { world, pr } = await given();
    await world.drain();
    expect((await wordsOn(world, pr)).at(-1)).toBe(PULL_CODES[code].says);
    await world.forge.cancelSchedule(pr);
    await world.drain();
    expect((await wordsOn(world, pr)).at(-1)).toBe(PULL_CODES.auto_merge_cancelled.says);
  });

  test('and once it is back, and refused as before, it is told so', async () => {
    const { world, pr } = await approvalMissing();
    await world.drain();
    await world.forge.cancelSchedule(pr);
    await world.drain();
    await world.forge.schedule(pr, 'squash');
    await world.drain();
    expect((await wordsOn(world, pr)).at(-1)).toBe(PULL_CODES.approvals_missing.says);
  });

  test('a refusal that says what is wrong with it stays', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'a', 'hello\n', { path: 'README.md' });
    await world.drain();
    expect((await wordsOn(world, pr)).at(-1)).toBe(PULL_CODES.no_changes.says);
    await world.forge.cancelSchedule(pr);
    await world.drain();
    expect((await wordsOn(world, pr)).at(-1)).toBe(PULL_CODES.no_changes.says);
  });

  test('back where another check is not green, it is told so', async () => {
    const { world, pr } = await givenStaged();
    await world.forge.cancelSchedule(pr);
    await world.clock.advance(MINUTE_MS);
    await world.reconcile();
    await world.forge.setProtection({ requiredContexts: ['mq', 'lint'] });
    await world.forge.schedule(pr, 'squash');
    await world.clock.advance(MINUTE_MS);
    for (let look = 0; look < 3; look += 1) await world.reconcile();
    expect((await wordsOn(world, pr)).at(-1)).toBe(PULL_CODES.not_admitted.says);
  });
});

test('of two pull requests with one head one speaks', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const first = await givenScheduled(world.forge, 'a');
  const twin = await world.forge.openPullRequest({
    branch: 'twin',
    head: (await world.forge.pull(first)).headSha,
  });
  await world.forge.schedule(twin, 'squash');
  world.forge.gateDurationMs = 30 * MINUTE_MS;
  await world.drain({ until: () => world.forge.runs().length > 0 });
  for (let look = 0; look < 5; look += 1) await world.reconcile();
  expect(await wordsOn(world, first)).toEqual([STAGED]);
});

test('a look that only writes a word does not forget when the next batch may start', async () => {
  const world = await createWorld({ repo: { bisectFanout: 8, wakeupMode: 'webhook' } });
  await givenProject(world.forge);
  world.forge.gateDurationMs = 9 * MINUTE_MS;
  await givenScheduled(world.forge, 'first');
  await world.drain();
  await world.clock.advance(MINUTE_MS);
  await world.store.noteHeard('repo-1', 'run', world.clock.now());
  await givenScheduled(world.forge, 'below');
  const runs = world.forge.runs().length;
  await world.drain({ until: () => world.forge.runs().length > runs });
  await givenScheduled(world.forge, 'above');
  await world.clock.advance(MINUTE_MS / 4);
  const report = await world.reconcile();
  const { batches } = await world.record();
  expect(batches).toHaveLength(1);
  expect(world.forge.calls().at(-1)?.call).toBe('POST statuses/{sha}');
  // Three places of the pipeline share the time of a gate run.
  const waitMs = (report?.wakeAt ?? Number.POSITIVE_INFINITY) - (batches[0]?.createdAt ?? 0);
  expect(Math.round(waitMs / MINUTE_MS)).toBe(3);
});
