import type { ActivityEventName } from '#core/domain/queue/batch.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { endingOf, givenProject, givenScheduled, judgeByContent } from './stories.ts';
import type { World } from './world.ts';

/** One of the 25 scenarios of the crash sweep: what is given, what people do meanwhile, how it must end. */
export interface SweepStory {
  readonly name: string;
  readonly repo?: Partial<ManagedRepo>;
  /** Sets the stage and returns every pull request. */
  readonly given: (world: World) => Promise<readonly number[]>;
  /** Events while the queue works; called after each reconcile until it returns true. */
  readonly meanwhile?: (world: World, prs: readonly number[]) => Promise<boolean>;
  /** Positions (from 1) of the pull requests that must land, in order, and of those that must be bounced. */
  readonly landed: readonly number[] | 'any order';
  readonly bounced: readonly number[];
  /** Where the order of landing may differ by timing: the set that must land. */
  readonly landedSet?: readonly number[];
  /** Other orders of landing that are as right once a call was struck. */
  readonly landedStruck?: readonly (readonly number[])[];
  /** Only these calls are struck; absent: all. */
  readonly struck?: readonly string[];
  /** So many pull requests have such an event at the end, each exactly one. */
  readonly toldOnce?: Readonly<Partial<Record<ActivityEventName, number>>>;
  /** True when the queue stands still at the end by intent (disabled, deleted). */
  readonly stops?: boolean;
  /** Why a worker that dies at the wrong moment may let this one end in a halt: detected, alarmed, nothing more lands. */
  readonly mayHalt?: string;
}

async function open(world: World, contents: readonly string[]): Promise<number[]> {
  await givenProject(world.forge);
  const prs: number[] = [];
  for (let index = 0; index < contents.length; index += 1) {
    prs.push(await givenScheduled(world.forge, `p${index + 1}`, `${contents[index]}\n`));
  }
  await world.clock.advance(30_000);
  return prs;
}

const isGated = async (world: World): Promise<boolean> => {
  const [row] = await world.rows();
  return row?.outcome === 'running' && row.phase === 'waiting_gate';
};

/** Runs wait until `release`: whatever happens meanwhile happens while the batch is gated, however late a worker is. */
function holdRuns(world: World): void {
  world.forge.judge = () => 'hold';
}

async function releaseRuns(world: World): Promise<void> {
  world.forge.judge = judgeByContent;
  for (const run of world.forge.runs()) {
    if (run.state !== 'running' && run.state !== 'waiting') continue;
    await world.forge.finishRun(run.id, judgeByContent(await world.forge.readFiles(run.sha)));
  }
}

const hasLanded = async (world: World, count: number): Promise<boolean> =>
  world.forge.merges().length >= count;

/** A success that the forge did not act on: merges are lost until `release`. */
function loseMerges(world: World, pr: number, times: number): void {
  let left = times;
  world.forge.mergeBehaviour = (candidate) => {
    if (candidate !== pr || left === 0) return { kind: 'now' };
    left -= 1;
    return { kind: 'lost' };
  };
}

/** Nudges included: a landing tries this often before it times out. */
const POSTS_PER_LANDING = 5;

export const SWEEP_STORIES: readonly SweepStory[] = [
  { name: '1 single green', given: (world) => open(world, ['a']), landed: [1], bounced: [] },
  { name: '2 single red', given: (world) => open(world, ['BAD']), landed: [], bounced: [1] },
  { name: '3 three green', given: (world) => open(world, ['a', 'b', 'c']), landed: [1, 2, 3], bounced: [] },
  {
    name: '4 three, middle red',
    given: (world) => open(world, ['a', 'BAD', 'c']),
    landed: [1, 3],
    bounced: [2],
  },
  { name: '5 two clash', given: (world) => open(world, ['CLASH', 'CLASH']), landed: [1], bounced: [2] },
  {
    name: '6 two need each other',
    given: (world) => open(world, ['NEEDS:src/p2.txt', 'NEEDS:src/p1.txt']),
    landed: [1, 2],
    bounced: [],
  },
  {
    name: '7 conflict at position 2 of 4',
    async given(world) {
      await givenProject(world.forge, { 'shared.txt': 'base\n' });
      const prs = [
        await givenScheduled(world.forge, 'p1', 'one\n', { path: 'shared.txt' }),
        await givenScheduled(world.forge, 'p2', 'two\n', { path: 'shared.txt' }),
        await givenScheduled(world.forge, 'p3'),
        await givenScheduled(world.forge, 'p4'),
      ];
      await world.clock.advance(30_000);
      return prs;
    },
    landed: [1, 3, 4],
    bounced: [],
  },
  {
    name: '8 head change while gated',
    async given(world) {
      const prs = await open(world, ['a', 'b', 'c']);
      holdRuns(world);
      return prs;
    },
    async meanwhile(world, prs) {
      if (!(await isGated(world))) return false;
      await world.forge.pushToPullRequest(prs[1] ?? 0, { 'src/p2.txt': 'changed\n' });
      await releaseRuns(world);
      return true;
    },
    landed: [1, 2, 3],
    // Where the forge does not tell whose push it was, the others do not wait for the one that was pushed to.
    landedStruck: [[1, 3, 2]],
    bounced: [],
  },
  {
    name: '9 head change after first landing',
    async given(world) {
      const prs = await open(world, ['a', 'b', 'c']);
      world.forge.mergeBehaviour = () => ({ kind: 'slow', ms: 60_000 });
      return prs;
    },
    async meanwhile(world, prs) {
      if (!(await hasLanded(world, 1))) return false;
      await world.forge.pushToPullRequest(prs[2] ?? 0, { 'src/p3.txt': 'changed\n' });
      return true;
    },
    landed: [1, 2, 3],
    bounced: [],
  },
  {
    name: '10 cancel while gated',
    async given(world) {
      const prs = await open(world, ['a', 'b', 'c']);
      holdRuns(world);
      return prs;
    },
    async meanwhile(world, prs) {
      if (!(await isGated(world))) return false;
      await world.forge.cancelSchedule(prs[0] ?? 0);
      await releaseRuns(world);
      return true;
    },
    landed: [2, 3],
    bounced: [],
  },
  {
    name: '11 cancel after success',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      loseMerges(world, prs[0] ?? 0, 2 * POSTS_PER_LANDING);
      return prs;
    },
    async meanwhile(world, prs) {
      const head = (await world.forge.pull(prs[0] ?? 0)).headSha;
      if ((await world.forge.status(head, 'mq'))?.state !== 'success') return false;
      await world.forge.cancelSchedule(prs[0] ?? 0);
      return true;
    },
    landed: [2],
    bounced: [],
  },
  {
    name: '12 base push while gated',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      holdRuns(world);
      return prs;
    },
    async meanwhile(world) {
      if (!(await isGated(world))) return false;
      await world.forge.pushToBase({ 'pushed.txt': 'pushed\n' });
      await releaseRuns(world);
      return true;
    },
    landed: [1, 2],
    bounced: [],
  },
  {
    name: '13 base push after success',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      loseMerges(world, prs[0] ?? 0, 3);
      // The forge is slow to notice: the success is taken back before it could merge onto the pushed commit.
      world.forge.checkDelayMs = 40_000;
      return prs;
    },
    async meanwhile(world, prs) {
      const head = (await world.forge.pull(prs[0] ?? 0)).headSha;
      if ((await world.forge.status(head, 'mq'))?.state !== 'success') return false;
      await world.forge.pushToBase({ 'pushed.txt': 'pushed\n' });
      return true;
    },
    landed: [1, 2],
    bounced: [],
    mayHalt:
      'while the queue cannot take the success back, the forge ends its conflict check and merges onto the pushed commit',
  },
  {
    name: '14 merge lost once',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      loseMerges(world, prs[0] ?? 0, 1);
      return prs;
    },
    landed: [1, 2],
    bounced: [],
  },
  {
    name: '15 merge lost twice',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      loseMerges(world, prs[0] ?? 0, 1_000);
      return prs;
    },
    landed: [2],
    bounced: [1],
  },
  {
    name: '16 gate never appears, then appears',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      world.forge.judge = () => 'never';
      return prs;
    },
    async meanwhile(world) {
      if (!(await isGated(world))) return false;
      // A person takes the branch away after a while; the forge then runs what is staged next.
      world.forge.judge = judgeByContent;
      await world.forge.pushToBase({ 'pushed.txt': 'pushed\n' });
      return true;
    },
    landed: [1, 2],
    bounced: [],
  },
  {
    name: '17 run cancelled',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      let runs = 0;
      world.forge.judge = (files) => {
        runs += 1;
        return runs === 1 ? 'cancelled' : judgeByContent(files);
      };
      return prs;
    },
    landed: [1, 2],
    bounced: [],
  },
  {
    name: '18 flaky red then green',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      let runs = 0;
      world.forge.judge = (files) => {
        runs += 1;
        return runs === 1 ? 'failure' : judgeByContent(files);
      };
      return prs;
    },
    landed: [1, 2],
    bounced: [],
  },
  {
    name: '19 fan-out 4 with one red of 8, superseded nodes',
    repo: { bisectFanout: 4 },
    given: (world) => open(world, ['a', 'b', 'BAD', 'd', 'e', 'f', 'g', 'h']),
    // The pull requests behind the suspects do not wait for them.
    landed: 'any order',
    landedSet: [1, 2, 4, 5, 6, 7, 8],
    bounced: [3],
  },
  {
    name: '20 cached half',
    given: (world) => open(world, ['a', 'b', 'c', 'BAD']),
    landed: [1, 2, 3],
    bounced: [4],
  },
  {
    name: '21 disable while landing',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      loseMerges(world, prs[0] ?? 0, 1_000);
      return prs;
    },
    async meanwhile(world, prs) {
      const head = (await world.forge.pull(prs[0] ?? 0)).headSha;
      if ((await world.forge.status(head, 'mq'))?.state !== 'success') return false;
      await world.settings({ queueEnabled: false });
      return true;
    },
    landed: [],
    bounced: [],
    stops: true,
  },
  {
    name: '22 delete repo while gated',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      holdRuns(world);
      return prs;
    },
    async meanwhile(world) {
      if (!(await isGated(world))) return false;
      await world.settings({ tombstone: true });
      await releaseRuns(world);
      return true;
    },
    landed: [],
    bounced: [],
    stops: true,
  },
  {
    name: '23 status_context change while gated',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      holdRuns(world);
      return prs;
    },
    async meanwhile(world) {
      if (!(await isGated(world))) return false;
      await world.forge.setProtection({ requiredContexts: ['mq/next'] });
      await world.settings({ statusContext: 'mq/next' });
      await releaseRuns(world);
      return true;
    },
    landed: [1, 2],
    bounced: [],
  },
  {
    name: '24 red base with a healing pull request',
    async given(world) {
      const prs = await open(world, ['a', 'b']);
      await world.forge.pushToBase({ 'broken.txt': 'BAD\n' });
      const heals = await world.forge.openPullRequest({ branch: 'heals', files: { healed: 'yes\n' } });
      await world.forge.schedule(heals);
      return [...prs, heals];
    },
    landed: 'any order',
    landedSet: [1, 2, 3],
    bounced: [],
  },
  {
    name: '25 lease expiry while landing, zombie returns',
    async given(world) {
      const prs = await open(world, ['a', 'b', 'c']);
      world.forge.mergeBehaviour = () => ({ kind: 'slow', ms: 45_000 });
      return prs;
    },
    async meanwhile(world) {
      if (!(await hasLanded(world, 1))) return false;
      await world.loseLease();
      return true;
    },
    landed: [1, 2, 3],
    bounced: [],
  },
];

/** Runs a story to its end and says how it ended, in positions. */
export async function runStory(
  world: World,
  story: SweepStory,
): Promise<{ landed: number[]; bounced: number[]; prs: readonly number[] }> {
  const prs = await story.given(world);
  let pending = story.meanwhile;
  await world.drain({
    maxMs: 5 * 60 * 60_000,
    afterEach: async () => {
      if (pending !== undefined && (await pending(world, prs))) pending = undefined;
      return pending === undefined;
    },
  });
  if (pending !== undefined) throw new Error(`${story.name}: what should happen meanwhile never did`);
  const ending = await endingOf(world, prs);
  const position = (pr: number) => prs.indexOf(pr) + 1;
  return { landed: ending.landed.map(position), bounced: ending.bounced.map(position), prs };
}
