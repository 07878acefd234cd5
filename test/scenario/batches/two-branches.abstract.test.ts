import { contextForBase, DEFAULT_SERVICE_NAME, stagingPrefix } from '#core/domain/queue/queue-names.ts';
import { type AbstractForge, createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { expectHonestEnd, givenProject, givenScheduled, judgeByContent } from '../stories.ts';
import { createWorldOn, type World } from '../world.ts';

const RELEASE = 'release/v15';
const RELEASE_CONTEXT = contextForBase(DEFAULT_SERVICE_NAME, RELEASE);

interface Both {
  readonly main: World<AbstractForge>;
  readonly release: World<AbstractForge>;
}

/** One repository with two managed branches: each has a record, a lease and a context of its own. */
async function createBoth(): Promise<Both> {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock });
  const main = await createWorldOn(clock, forge, forge.forge, {});
  const release = await createWorldOn(clock, forge, forge.forge, {
    repo: { id: 'repo-2', baseBranch: RELEASE, statusContext: RELEASE_CONTEXT },
  });
  await givenProject(forge);
  await forge.pushBranch(RELEASE, await forge.tip('main'));
  await forge.protectBranch(RELEASE, { requiredContexts: [RELEASE_CONTEXT] });
  return { main, release };
}

async function drainBoth({ main, release }: Both, times = 40): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await Promise.all([main.reconcile(), release.reconcile()]);
    await main.clock.advance(15_000);
  }
}

/** The same commit heads a pull request to each of the two branches. */
async function givenTwins(forge: AbstractForge, name: string): Promise<readonly [number, number]> {
  const first = await givenScheduled(forge, name);
  const { headSha } = await forge.pull(first);
  const second = await forge.openPullRequest({ branch: `${name}-backport`, head: headSha, base: RELEASE });
  await forge.schedule(second, 'squash');
  return [first, second];
}

const alarmsOf = (world: World) =>
  world.log.flatMap((line) => (line.fields.alarm === undefined ? [] : [line.fields.alarm]));

describe('two managed branches of one repository', () => {
  test('one head before both: each is gated on its own branch, and both land', async () => {
    const both = await createBoth();
    const { forge } = both.main;
    const [first, second] = await givenTwins(forge, 'a');
    await drainBoth(both);
    expect([forge.isMerged(first), forge.isMerged(second)]).toEqual([true, true]);
    const gated = forge.runs().map(({ branch, state }) => [branch.replace(/staging.*/, ''), state]);
    expect(gated.sort()).toEqual([
      [`${stagingPrefix(DEFAULT_SERVICE_NAME)}main/`, 'success'],
      [`${stagingPrefix(DEFAULT_SERVICE_NAME)}${RELEASE}/`, 'success'],
    ]);
    expect([...alarmsOf(both.main), ...alarmsOf(both.release)]).toEqual([]);
  });

  test.each([
    ['main', RELEASE],
    [RELEASE, 'main'],
  ])('one head before both: the success on %s does not open the one that fails on %s', async (good, bad) => {
    const both = await createBoth();
    const { forge } = both.main;
    forge.judge = (files, { branch }) =>
      branch.startsWith(`${stagingPrefix(DEFAULT_SERVICE_NAME)}${bad}/`) && files.has('src/a.txt')
        ? 'failure'
        : 'success';
    const twins = await givenTwins(forge, 'a');
    const passing = good === 'main' ? twins[0] : twins[1];
    await drainBoth(both, 60);
    const { headSha } = await forge.pull(twins[0]);
    expect(twins.map((pr) => forge.isMerged(pr))).toEqual(twins.map((pr) => pr === passing));
    const context = bad === 'main' ? DEFAULT_SERVICE_NAME : RELEASE_CONTEXT;
    expect(forge.statusHistory(headSha).filter((status) => status.context === context)).not.toContainEqual(
      expect.objectContaining({ state: 'success' }),
    );
    expect((await forge.status(headSha, context))?.description).toMatch(/^bounced/);
  });

  test('their batches go side by side: all land, none under the name or the branches of the other', async () => {
    const both = await createBoth();
    const { forge } = both.main;
    forge.judge = judgeByContent;
    const toMain: number[] = [];
    const toRelease: number[] = [];
    for (const name of ['a', 'b', 'c']) {
      toMain.push(await givenScheduled(forge, name, name === 'b' ? 'BAD\n' : `${name}\n`));
      const pr = await forge.openPullRequest({
        branch: `${name}-15`,
        base: RELEASE,
        title: name,
        files: { [`src/${name}-15.txt`]: name === 'c' ? 'BAD\n' : `${name}\n` },
      });
      await forge.schedule(pr, 'squash');
      toRelease.push(pr);
      await drainBoth(both, 4);
    }
    await drainBoth(both, 80);
    expect(toMain.map((pr) => forge.isMerged(pr))).toEqual([true, false, true]);
    expect(toRelease.map((pr) => forge.isMerged(pr))).toEqual([true, true, false]);
    expect([...alarmsOf(both.main), ...alarmsOf(both.release)]).toEqual([]);
    await expectHonestEnd(both.main, toMain);
    const left = (await forge.branches()).filter((branch) =>
      branch.startsWith(stagingPrefix(DEFAULT_SERVICE_NAME)),
    );
    expect(left).toEqual([]);
  });

  test('one that goes off takes back its own alone: the other goes on landing', async () => {
    const both = await createBoth();
    const { forge } = both.main;
    forge.gateDurationMs = 10 * 60_000;
    const [first, second] = await givenTwins(forge, 'a');
    await drainBoth(both, 6);
    await both.main.settings({ queueEnabled: false });
    await drainBoth(both, 60);
    expect([forge.isMerged(first), forge.isMerged(second)]).toEqual([false, true]);
    const { headSha } = await forge.pull(first);
    expect((await forge.status(headSha, DEFAULT_SERVICE_NAME))?.state).not.toBe('success');
    expect((await forge.status(headSha, RELEASE_CONTEXT))?.description).toMatch(/^landed/);
  });
});
