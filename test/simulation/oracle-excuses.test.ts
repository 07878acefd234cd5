import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { createAbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { SimClock } from '../support/sim-clock.ts';
import { judgeGoneWords } from './gone-words.ts';
import { listUnsettled } from './oracle.ts';
import { judgePageWords } from './page-words.ts';

const CONTEXTS = ['merge-queue', 'merge-queue-next'] as const;

/** One pull request that a person has scheduled, and that has nothing wrong with it. */
async function given() {
  const clock = new SimClock();
  const forge = createAbstractForge({ clock });
  const pr = await forge.openPullRequest({ branch: 'p1', title: 'Add p1', files: { 'p1.txt': 'p1\n' } });
  await clock.runUntil(clock.now() + 1_000);
  await forge.schedule(pr);
  const head = forge.headOf(pr);
  const say = async (words: string, by = 'mq-bot'): Promise<void> => {
    await clock.runUntil(clock.now() + 60_000);
    await forge.postStatusAs(by, head, CONTEXTS[0], 'pending', words);
  };
  const project = {
    prs: [pr],
    heads: { wasScheduled: () => true, askersOf: () => ['maintainer'] },
    authorOf: () => 'dev',
    isTold: async () => false,
  } as unknown as Parameters<typeof listUnsettled>[0]['project'];
  const unsettled = async () => (await listUnsettled({ forge, project, contexts: CONTEXTS })).length;
  return { clock, forge, pr, project, say, unsettled };
}

describe('words on a head excuse that it waits only while they are true', () => {
  test.each([
    'requeued: head changed by a push that renews no schedule',
    'waiting: its schedule is from when it targeted another branch',
    'refused: branch is out of date and the branch rule blocks outdated branches; update it',
    'refused: its branch is gone, and without it the forge does not merge by itself',
    'refused: a pull request from a fork needs an official approval',
    'refused: pushed to refs/for, so that it needs an official approval',
    'refused: the settings of this queue list who may schedule',
    'refused: this head was tried as often as this queue allows',
    'refused: conflicts with the base',
  ])('%s', async (words) => {
    const world = await given();
    await world.say(words);
    expect(await world.unsettled()).toBe(1);
  });

  test('of a branch that is out of date', async () => {
    const world = await given();
    await world.forge.pushToBase({ 'other.txt': 'other\n' });
    await world.say('refused: branch is out of date and the branch rule blocks outdated branches; update it');
    expect(await world.unsettled()).toBe(0);
  });

  test('of a bounce, until the head is scheduled again', async () => {
    const world = await given();
    await world.say('bounced: the gate fails with this pull request');
    expect(await world.unsettled()).toBe(0);
    await world.clock.runUntil(world.clock.now() + 60_000);
    await world.forge.cancelSchedule(world.pr);
    await world.forge.schedule(world.pr);
    expect(await world.unsettled()).toBe(1);
  });

  test('of the queue, whatever another account writes over them', async () => {
    const world = await given();
    await world.say('anything', 'mallory');
    expect(await world.unsettled()).toBe(1);
    await world.say('bounced: the gate fails with this pull request');
    await world.say('anything', 'mallory');
    expect(await world.unsettled()).toBe(0);
  });
});

test('one that was retargeted is promised nothing on its head', async () => {
  const { forge, pr, project, say } = await given();
  await forge.pushBranch('other', forge.tipOfBase());
  await say('queued: it waits for its batch');
  const judge = () => judgeGoneWords({ forge, project }, CONTEXTS[0]);
  expect(await judge()).toEqual([]);
  await forge.retarget(pr, 'other');
  expect(await judge()).toHaveLength(1);
  // A record that is new never learns of it.
  expect(await judgeGoneWords({ forge, project }, CONTEXTS[0], 1)).toEqual([]);
});

test('a place on the page whose head says nothing is told, unless it was told under the context of before', async () => {
  const { forge, pr, say } = await given();
  const record = { entries: [{ pr, head: forge.headOf(pr) }], context: CONTEXTS[1] };
  const view = { places: [{ pr, state: 'bounced', reason: 'gate_failed' }] };
  const judge = () => judgePageWords(forge, record as never, view as never, CONTEXTS);
  expect(await judge()).toHaveLength(1);
  await say('bounced: the gate fails with this pull request');
  expect(await judge()).toEqual([]);
});

test.each([
  ['refused: conflicts with the base branch', 'conflict', 'refused', 'waiting'],
  ['waiting: its author has as many pull requests', 'author_limit', 'waiting', 'refused'],
] as const)('a place is in the state that its status begins with: %s', async (_words, code, right, wrong) => {
  const { forge, pr, say } = await given();
  const record = { entries: [{ pr, head: forge.headOf(pr) }], context: CONTEXTS[1] };
  await say(PULL_CODES[code].says);
  const judge = (state: string) =>
    judgePageWords(forge, record as never, { places: [{ pr, state, reason: code }] } as never, CONTEXTS);
  expect(await judge(right)).toEqual([]);
  expect(await judge(wrong)).toHaveLength(1);
});
