import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { type Stage, setStage, wordOn, wordsOn } from '../../simulation/scene-stage.ts';
import { givenProject, givenScheduled } from '../stories.ts';

/** The forge does not merge one in time: what that costs the others, and in which order all go on (decision 0011). */

const MINUTE_MS = 60_000;
const PEOPLE = {
  incidentLabels: ['incident'],
  highLabels: ['high'],
  lowLabels: ['low'],
  priorityPeople: ['oncall'],
} satisfies Partial<ManagedRepo>;

async function givenStage(repo: Partial<ManagedRepo> = {}): Promise<Stage> {
  const stage = await setStage({ lastingEngine: true, mayBeOlder: true, repo: { ...PEOPLE, ...repo } });
  await givenProject(stage.forge);
  return stage;
}

async function givenLabelled({ forge }: Stage, branch: string, label: string | null): Promise<number> {
  const pr = await givenScheduled(forge, branch);
  if (label !== null) await forge.setLabel(pr, label, true, 'oncall');
  return pr;
}

const loseMergeOf = ({ forge }: Stage, lost: number): void => {
  forge.mergeBehaviour = (pr) => ({ kind: pr === lost ? 'lost' : 'now' });
};

const mergeAllAgain = ({ forge }: Stage): void => {
  forge.mergeBehaviour = () => ({ kind: 'now' });
};

/** Minutes until this one is merged. */
async function minutesUntilMerged(stage: Stage, pr: number): Promise<number> {
  const begunAt = stage.clock.now();
  await stage.drain({ maxMs: 120 * MINUTE_MS, until: () => stage.forge.isMerged(pr) });
  return (stage.clock.now() - begunAt) / MINUTE_MS;
}

describe('the others land before one whose merge timed out', () => {
  test.each([
    { bisectFanout: 1, first: null, second: null },
    { bisectFanout: 4, first: null, second: null },
    { bisectFanout: 1, first: 'incident', second: 'incident' },
    { bisectFanout: 4, first: 'incident', second: null },
    { bisectFanout: 1, first: 'low', second: 'high' },
  ])('with $bisectFanout slots, label of the first $first, of the second $second', async (row) => {
    const { bisectFanout, first, second } = row;
    const stage = await givenStage({ bisectFanout });
    const lost = await givenLabelled(stage, 'a', first);
    loseMergeOf(stage, lost);
    await stage.drain({ until: async () => (await wordOn(stage, lost)) === 'success' });
    const other = await givenLabelled(stage, 'b', second);
    // One time-out of ten minutes, and not the second one too.
    expect(await minutesUntilMerged(stage, other)).toBeLessThan(15);
  });

  test('an incident that comes meanwhile lands first, and the next pull request right after it', async () => {
    const stage = await givenStage({ bisectFanout: 1 });
    const lost = await givenScheduled(stage.forge, 'a');
    const other = await givenScheduled(stage.forge, 'b');
    loseMergeOf(stage, lost);
    const isTakingBack = async () => (await stage.record()).batches[0]?.landing?.takeBack != null;
    await stage.drain({ maxMs: 60 * MINUTE_MS, until: isTakingBack });
    const incident = await givenLabelled(stage, 'fix', 'incident');
    expect(await minutesUntilMerged(stage, other)).toBeLessThan(5);
    expect(stage.forge.merges().map(({ pr }) => pr)).toEqual([incident, other]);
  });

  test('where the branch rule has each other branch updated after a landing, it keeps its place', async () => {
    const stage = await givenStage();
    await stage.forge.setProtection({ blockOnOutdatedBranch: true });
    const first = await givenScheduled(stage.forge, 'a');
    const second = await givenScheduled(stage.forge, 'b');
    loseMergeOf(stage, first);
    const hasTimedOut = async () => (await stage.record()).mergeTimeoutCounts.length > 0;
    await stage.drain({ maxMs: 60 * MINUTE_MS, until: hasTimedOut });
    mergeAllAgain(stage);
    await stage.drain({ maxMs: 60 * MINUTE_MS });
    expect(stage.forge.merges().map(({ pr }) => pr)).toEqual([first]);
    expect(await wordsOn(stage, second)).toMatch(/^refused: branch is out of date/);
  });
});

describe('a success whose trigger the forge has lost is posted again', () => {
  test.each<
    [string, (stage: Stage, head: string) => Promise<unknown>, (stage: Stage) => Promise<void> | void]
  >([
    ['in any case', async () => undefined, () => undefined],
    [
      'also where the rule asks for another check, which has all statuses read at each look',
      async ({ forge }, head) => {
        await forge.setProtection({ requiredContexts: ['mq', 'other/ci'] });
        await forge.postStatusAs('other-ci', head, 'other/ci', 'success');
      },
      () => undefined,
    ],
    [
      'also where a pull request with the same head has come before it',
      async () => undefined,
      async (stage) => {
        const [{ pr = 0, head = '' } = {}] = (await stage.record()).entries;
        const twin = await stage.forge.openPullRequest({ branch: `twin-of-${pr}`, head });
        await stage.forge.schedule(twin, 'squash');
        await stage.forge.setLabel(twin, 'high', true, 'oncall');
      },
    ],
    [
      'also by an engine that has begun meanwhile, and reads each head anew',
      async () => undefined,
      (stage) => stage.restartEngine(),
    ],
  ])('%s', async (_case, prepare, meanwhile) => {
    const stage = await givenStage();
    const { forge } = stage;
    const pr = await givenScheduled(forge, 'a');
    await prepare(stage, (await forge.pull(pr)).headSha);
    loseMergeOf(stage, pr);
    await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
    const begunAt = stage.clock.now();
    mergeAllAgain(stage);
    await meanwhile(stage);
    await stage.drain({ maxMs: 60 * MINUTE_MS, until: () => forge.merges().length > 0 });
    expect(stage.clock.now() - begunAt).toBeLessThan(2 * MINUTE_MS);
    expect(forge.runs()).toHaveLength(1);
  });
});

test('a time-out of an earlier head is none of the head that was pushed since', async () => {
  const stage = await givenStage();
  const { forge } = stage;
  const pr = await givenScheduled(forge, 'a');
  loseMergeOf(stage, pr);
  const timedOut = async () => (await stage.record()).mergeTimeoutCounts[0]?.head;
  await stage.drain({ maxMs: 60 * MINUTE_MS, until: async () => (await timedOut()) !== undefined });
  await forge.pushToPullRequest(pr, { 'src/a.txt': 'another\n' });
  await forge.cancelSchedule(pr);
  await forge.scheduleAs('dev', pr);
  const { headSha } = await forge.pull(pr);
  await stage.drain({ maxMs: 120 * MINUTE_MS, until: async () => (await timedOut()) === headSha });
  expect(await timedOut()).toBe(headSha);
  expect((await stage.record()).bounced).toEqual([]);
  mergeAllAgain(stage);
  await minutesUntilMerged(stage, pr);
  expect(forge.isMerged(pr)).toBe(true);
});
