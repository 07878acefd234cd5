import { SWEEP_STORIES, type SweepStory } from '../scenario/crash-sweep-stories.ts';
import { givenProject, givenScheduled, judgeByContent } from '../scenario/stories.ts';
import type { World } from '../scenario/world.ts';

async function open(world: World, contents: readonly string[]): Promise<number[]> {
  await givenProject(world.forge);
  const prs: number[] = [];
  for (const [index, content] of contents.entries())
    prs.push(await givenScheduled(world.forge, `p${index + 1}`, `${content}\n`));
  await world.clock.advance(30_000);
  return prs;
}

const all = (count: number): string[] => Array.from({ length: count }, (_, index) => `c${index}`);
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/**
 * For the crash sweep: a pipeline with batches built on each other, suspects searched beside it, trial batches
 * (`engine-container/README.md`, The pipeline).
 */
export const PIPELINE_STORIES: readonly SweepStory[] = [
  {
    name: '26 a pipeline of several green batches',
    repo: { bisectFanout: 16 },
    given: (world) => open(world, all(12)),
    landed: 'any order',
    landedSet: numbers(12),
    bounced: [],
  },
  {
    name: '27 a suspect beside the pipeline',
    repo: { bisectFanout: 16 },
    given: (world) => open(world, ['a', 'BAD', ...all(8)]),
    landed: 'any order',
    landedSet: [1, ...numbers(10).slice(2)],
    bounced: [2],
  },
  {
    name: '28 two suspects and what is tried beside them',
    repo: { bisectFanout: 8 },
    given: (world) => open(world, ['a', 'BAD', 'c', 'd', 'BAD', ...all(7)]),
    landed: 'any order',
    landedSet: [1, 3, 4, ...numbers(12).slice(5)],
    bounced: [2, 5],
  },
  {
    name: '29 the base is pushed to under a pipeline',
    repo: { bisectFanout: 16 },
    async given(world) {
      const prs = await open(world, all(8));
      world.forge.judge = () => 'hold';
      return prs;
    },
    async meanwhile(world) {
      const rows = await world.rows();
      if (rows.filter((row) => row.phase === 'waiting_gate').length < 2) return false;
      await world.forge.pushToBase({ 'pushed.txt': 'pushed\n' });
      world.forge.judge = judgeByContent;
      for (const run of world.forge.runs()) {
        if (run.state !== 'running' && run.state !== 'waiting') continue;
        await world.forge.finishRun(run.id, judgeByContent(await world.forge.readFiles(run.sha)));
      }
      return true;
    },
    landed: 'any order',
    landedSet: numbers(8),
    bounced: [],
  },
  {
    // Each is an event as it enters the queue, and one transaction takes 97 rows.
    name: '30 more to tell than one write holds',
    async given(world) {
      const prs = await open(world, all(105));
      await world.forge.setProtection({ requiredApprovals: 1 });
      for (const pr of prs.slice(0, 2)) await world.forge.review(pr, 'alice', 'approve');
      await world.clock.advance(30_000);
      return prs;
    },
    landed: [1, 2],
    bounced: [],
    struck: ['store saveQueue'],
    toldOnce: { pr_queued: 105, pr_refused: 103, pr_landed: 2 },
  },
];

export const CRASH_STORIES: readonly SweepStory[] = [...SWEEP_STORIES, ...PIPELINE_STORIES];
