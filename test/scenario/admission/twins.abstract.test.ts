import { wrapForge } from '../hooks.ts';
import { expectHonestEnd, givenProject, givenScheduled, judgeByContent } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const toldAs = async (world: World, pr: number): Promise<readonly string[]> =>
  (await world.events()).filter((event) => event.pr === pr).map((event) => event.event);

const alarmsOf = (world: World) =>
  world.log.flatMap((line) => (line.fields.alarm === undefined ? [] : [line.fields.alarm]));

describe('two scheduled pull requests with one head', () => {
  test('landed is the one that the forge merged, and the other is told that nothing is left of it', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const first = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(first);
    const twin = await world.forge.openPullRequest({ branch: 'twin', head: headSha });
    await world.forge.schedule(twin, 'squash');
    // One success opens both, and the forge comes to the one that waits first.
    world.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
    await world.drain();
    expect([world.forge.isMerged(first), world.forge.isMerged(twin)]).toEqual([false, true]);
    expect(await toldAs(world, twin)).toContain('pr_landed');
    expect(await toldAs(world, first)).not.toContain('pr_landed');
    expect((await world.forge.status(headSha, 'mq'))?.description).toMatch(/^refused: changes nothing/);
    expect(alarmsOf(world)).toEqual([]);
    await expectHonestEnd(world, [first, twin]);
  });

  test('while the merge of the twin cannot be read it is no merge past the queue', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const first = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(first);
    const twin = await world.forge.openPullRequest({ branch: 'twin', head: headSha });
    await world.forge.schedule(twin, 'squash');
    world.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
    // Long enough for a look at everything.
    let until: number | null = null;
    world.forge.fault = ({ method, path }) => {
      if (!world.forge.isMerged(twin)) return null;
      until ??= world.clock.now() + 45_000;
      const isOfMerge = method === 'GET' && path.includes('/commits') && !path.includes('/status');
      return isOfMerge && world.clock.now() < until ? { status: 502 } : null;
    };
    await world.drain();
    expect(await toldAs(world, twin)).toContain('pr_landed');
    expect(await toldAs(world, twin)).not.toContain('pr_skipped');
    expect(alarmsOf(world)).toEqual([]);
    await expectHonestEnd(world, [first, twin]);
  });

  test('one success merges both, the second without a change: that is no landing past the queue', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const first = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(first);
    const twin = await world.forge.openPullRequest({ branch: 'twin', head: headSha });
    await world.forge.schedule(twin, 'squash');
    await world.drain();
    await world.clock.advance(10 * 60_000);
    await world.drain();
    expect([world.forge.isMerged(first), world.forge.isMerged(twin)]).toEqual([true, true]);
    expect(await toldAs(world, first)).toContain('pr_landed');
    expect(alarmsOf(world)).toEqual([]);
  });

  test('the merge of a twin that went along with a landing is no merge of a later one, after a revert', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    const first = await givenScheduled(forge, 'a');
    const { headSha } = await forge.pull(first);
    const twin = await forge.openPullRequest({ branch: 'twin', head: headSha });
    await forge.schedule(twin, 'squash');
    await world.drain();
    expect([forge.isMerged(first), forge.isMerged(twin)]).toEqual([true, true]);
    const again = await forge.openPullRequest({ branch: 'again', head: headSha });
    await forge.schedule(again, 'squash');
    await world.drain();
    const revert = await forge.openPullRequest({ branch: 'revert', files: { 'src/a.txt': null } });
    await forge.schedule(revert, 'squash');
    forge.mergeBehaviour = (pr) => (pr === again ? { kind: 'slow', ms: 20_000 } : { kind: 'now' });
    // What stands below a merge cannot be read for a while, and the tree of the twin's is the proven one again.
    forge.fault = ({ method, path }) =>
      method === 'GET' &&
      path.endsWith('/commits') &&
      forge.statusHistory(headSha).at(-1)?.state === 'success'
        ? { status: 502 }
        : null;
    await world.drain();
    expect([forge.isMerged(revert), forge.isMerged(again)]).toEqual([true, true]);
    expect(await toldAs(world, again)).toContain('pr_landed');
    expect(await toldAs(world, twin)).not.toContain('pr_landed');
    expect(alarmsOf(world)).toEqual([]);
  });

  test('one that comes before the other in the queue waits while that one is in flight, and says nothing over its success', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    const closed = await givenScheduled(forge, 'a');
    const { headSha } = await forge.pull(closed);
    await forge.close(closed);
    const early = await forge.openPullRequest({ branch: 'early', head: headSha });
    await forge.schedule(early, 'squash');
    await forge.setTitle(early, 'WIP: early');
    await world.clock.advance(5_000);
    const late = await forge.openPullRequest({ branch: 'late', head: headSha });
    await forge.schedule(late, 'squash');
    forge.mergeBehaviour = (pr) => (pr === late ? { kind: 'slow', ms: 90_000 } : { kind: 'lost' });
    let provenAt = 0;
    let isReady = false;
    forge.fault = () => {
      if (forge.statusHistory(headSha).at(-1)?.state === 'success') provenAt ||= world.clock.now();
      if (isReady || provenAt === 0 || world.clock.now() <= provenAt + 5_000) return null;
      isReady = true;
      void forge.setTitle(early, 'early');
      return null;
    };
    await world.drain();
    expect([isReady, forge.isMerged(late)]).toEqual([true, true]);
    const said = forge.statusHistory(headSha).map(({ state, description }) => ({ state, description }));
    const first = said.findIndex(({ state }) => state === 'success');
    expect(said.slice(first).find(({ state }) => state !== 'success')?.description).toMatch(/^landed:/);
    await expectHonestEnd(world, [early, late]);
  });

  test('one that was bounced is told what has become of it when its twin lands', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = judgeByContent;
    const first = await givenScheduled(world.forge, 'a', 'NEEDS:src/b.txt\n');
    world.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
    await world.drain();
    expect(await toldAs(world, first)).toContain('pr_bounced');
    await givenScheduled(world.forge, 'b');
    await world.drain();
    const { headSha } = await world.forge.pull(first);
    const twin = await world.forge.openPullRequest({ branch: 'twin', head: headSha });
    await world.forge.schedule(twin, 'squash');
    await world.drain({ maxMs: 60 * 60_000 });
    expect([world.forge.isMerged(first), world.forge.isMerged(twin)]).toEqual([false, true]);
    expect((await world.forge.status(headSha, 'mq'))?.description).toMatch(/^refused: changes nothing/);
    await expectHonestEnd(world, [first, twin]);
  });
});

describe('a twin that appears while the success stands, and that the forge merges', () => {
  test.each([
    ['alone', 'at once', 1],
    ['alone', 'once the reconcile is over', 1],
    ['first of two', 'at once', 2],
    ['last of two', 'at once', 2],
  ] as const)(
    '%s, merged %s: it is the one told as landed, the other is told what is left of it',
    async (place, when, size) => {
      let twin = 0;
      const prs: number[] = [];
      const appear = async (sha: string) => {
        if (twin !== 0) return;
        twin = -1;
        // Its check ends after it is scheduled, and that opens it (`triggerByEndedChecks`).
        world.forge.checkDelayMs = 100;
        twin = await world.forge.openPullRequest({ branch: 'twin', head: sha });
        await world.forge.schedule(twin, 'squash');
      };
      const intended = () => (place === 'last of two' ? prs[1] : prs[0]) ?? 0;
      const world = await createWorld({
        wrapForge: wrapForge(async (name, args, answer) => {
          const result = await answer();
          const { headSha } = await world.forge.pull(intended());
          const isPost = name === 'postStatus' && args[0] === headSha;
          if (isPost && when === 'at once' && (await world.forge.status(headSha, 'mq'))?.state === 'success')
            await appear(headSha);
          return result;
        }),
      });
      await givenProject(world.forge);
      for (let index = 0; index < size; index += 1) prs.push(await givenScheduled(world.forge, `p${index}`));
      const first = intended();
      const { headSha } = await world.forge.pull(first);
      world.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
      if (when !== 'at once') {
        await world.drain({
          until: async () => (await world.forge.status(headSha, 'mq'))?.state === 'success',
        });
        await appear(headSha);
        await world.clock.advance(5_000);
      }
      await world.drain({ maxMs: 60 * 60_000 });
      expect([world.forge.isMerged(first), world.forge.isMerged(twin)]).toEqual([false, true]);
      expect((await toldAs(world, twin)).filter((event) => event === 'pr_landed')).toHaveLength(1);
      expect(await toldAs(world, first)).not.toContain('pr_landed');
      expect((await toldAs(world, first)).filter((event) => event === 'pr_queued')).toHaveLength(1);
      expect((await world.forge.status(headSha, 'mq'))?.description).toMatch(/^refused: changes nothing/);
      expect(alarmsOf(world)).toEqual([]);
      await expectHonestEnd(world, [...prs, twin]);
    },
  );
});

test('a pull request that is refused in the middle of its landing keeps the words of its refusal', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(world.forge, 'a');
  const { headSha } = await world.forge.pull(pr);
  const word = async () => world.forge.status(headSha, 'mq');
  await world.drain({ until: async () => (await word())?.state === 'success' });
  await world.forge.setProtection({ requiredApprovals: 1 });
  await world.drain();
  expect(await word()).toMatchObject({
    state: 'error',
    description: expect.stringMatching(/^refused: required approvals are missing/),
  });
});

test('once no other branch is in the way, the head says again what still holds of it', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const tip = await world.forge.tip(world.forge.base);
  await world.forge.pushToBase({ 'src/a.txt': 'a\n' });
  await world.forge.pushBranch('release', tip);
  await world.forge.setProtection({ requiredContexts: ['mq'] }, 'release');
  // The same change is in the base already: nothing is left of it.
  const pr = await world.forge.openPullRequest({
    branch: 'a',
    files: { 'src/a.txt': 'a\n', 'src/b.txt': null },
  });
  await world.forge.schedule(pr, 'squash');
  await world.drain();
  const { headSha } = await world.forge.pull(pr);
  const words = async () => (await world.forge.status(headSha, 'mq'))?.description;
  expect(await words()).toMatch(/^refused: changes nothing/);
  const twin = await world.forge.openPullRequest({ branch: 'twin', head: headSha, base: 'release' });
  await world.clock.advance(10 * 60_000);
  await world.drain();
  expect(await words()).toMatch(/^refused: this commit also heads/);
  await world.forge.close(twin);
  await world.clock.advance(10 * 60_000);
  await world.drain();
  expect(await words()).toMatch(/^refused: changes nothing/);
});
