import { DEFAULT_SERVICE_NAME, stagingPrefix } from '#core/domain/queue/queue-names.ts';
import { LATE_PUSH_ENTRY_MS } from '../../../engine-container/src/queue/admission/eligibility.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import type { JournalEntry } from '../../fakes/abstract-forge/world.ts';
import { landedOf } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

interface Pace {
  /** From a `success` to its merge. */
  readonly mergeMs: number;
  /** The third takes longer than the others by so much. */
  readonly thirdMs: number;
  /** How long the forge calls each pull request not mergeable after a merge. */
  readonly checkMs: number;
}

const SIZE = 8;
const STAGED = stagingPrefix(DEFAULT_SERVICE_NAME);
/** The abstract forge begins a merge so long after its `success`. */
const BEGIN_MS = 500;

/** From the first `success` to the last merge: how long, and what the engine asked meanwhile. */
function tellLanding({ forge }: World<AbstractForge>) {
  const isSuccess = (entry: JournalEntry) =>
    entry.kind === 'status' && entry.state === 'success' && entry.creator === 'mq-bot';
  const begunAt = forge.journal().find(isSuccess)?.at ?? 0;
  const endedAt = forge.merges().at(-1)?.at ?? 0;
  const calls = forge.calls().filter(({ at, by }) => by === 'mq-bot' && at > begunAt && at <= endedAt);
  return { ms: endedAt - begunAt, calls };
}

/** One batch on a forge of this pace: its merges, and what the engine asked between the first `success` and the last merge. */
async function landBatch({ mergeMs, thirdMs, checkMs }: Pace) {
  const world = await createWorld();
  await givenProject(world.forge);
  world.forge.gateDurationMs = 2_000;
  const prs: number[] = [];
  world.forge.mergeBehaviour = (pr) => ({
    kind: 'slow',
    ms: mergeMs - BEGIN_MS + (pr === prs[2] ? thirdMs : 0),
  });
  for (let at = 1; at <= SIZE; at += 1) prs.push(await givenScheduled(world.forge, `p${at}`));
  world.forge.checkDelayMs = checkMs;
  await world.clock.advance(LATE_PUSH_ENTRY_MS);
  await world.drain({ until: () => world.forge.merges().length === SIZE });
  expect(landedOf(world)).toEqual(prs);
  const { ms, calls } = tellLanding(world);
  const count = (label: string) => calls.filter(({ call }) => call === label).length;
  return { ms, count };
}

const PACES: readonly Pace[] = [
  { mergeMs: 500, thirdMs: 0, checkMs: 0 },
  { mergeMs: 700, thirdMs: 0, checkMs: 0 },
  { mergeMs: 700, thirdMs: 0, checkMs: 400 },
  { mergeMs: 1_300, thirdMs: 0, checkMs: 1_700 },
  { mergeMs: 4_000, thirdMs: 0, checkMs: 0 },
  { mergeMs: 700, thirdMs: 8_000, checkMs: 0 },
  { mergeMs: 3_000, thirdMs: 0, checkMs: 6_000 },
];

test.each(PACES)(
  'a forge that needs $mergeMs ms for a merge ($thirdMs more for the third) and $checkMs ms for its checks waits for the queue a fifth of that at most',
  async (pace) => {
    const { ms } = await landBatch(pace);
    const { mergeMs, thirdMs, checkMs } = pace;
    expect(ms).toBeLessThanOrEqual(1.2 * (SIZE * mergeMs + thirdMs + (SIZE - 1) * checkMs));
  },
);

test.each(PACES)(
  'what changed last is asked for once for each pull request that lands ($mergeMs ms, $checkMs ms)',
  async (pace) => {
    const { count } = await landBatch(pace);
    // That of the first one came before its success.
    expect(count('GET pulls (touched)')).toBe(SIZE - 1);
  },
);

test('what has passed is on its way before the next batch is staged', async () => {
  const world = await createWorld({ repo: { bisectFanout: 1 } });
  await givenProject(world.forge);
  const first = await givenScheduled(world.forge, 'first');
  await world.drain({ until: () => world.forge.runs().length === 1 });
  await givenScheduled(world.forge, 'second');
  await world.clock.advance(LATE_PUSH_ENTRY_MS);
  await world.drain({ until: () => world.forge.isMerged(first) });
  await world.drain();
  const acts = world.forge.journal().flatMap((entry) => {
    if (entry.kind === 'status' && entry.creator === 'mq-bot' && entry.state === 'success') return 'success';
    const isStaged = entry.kind === 'push' && entry.branch.startsWith(STAGED) && entry.to !== null;
    return isStaged ? 'staged' : [];
  });
  expect(acts).toEqual(['staged', 'success', 'staged', 'success']);
});

test('while others land, a gate run is looked at every five seconds', async () => {
  const world = await createWorld({ repo: { bisectFanout: 1 } });
  await givenProject(world.forge);
  world.forge.mergeBehaviour = () => ({ kind: 'slow', ms: 2_000 });
  for (let at = 1; at <= SIZE; at += 1) await givenScheduled(world.forge, `p${at}`);
  await world.drain({ until: () => world.forge.runs().length === 1 });
  world.forge.judge = () => 'hold';
  await givenScheduled(world.forge, 'behind');
  await world.clock.advance(LATE_PUSH_ENTRY_MS);
  await world.drain({ until: () => world.forge.merges().length === SIZE });
  const { ms, calls } = tellLanding(world);
  expect(world.forge.runs()).toHaveLength(2);
  const looks = calls.filter(({ call }) => call === 'GET actions/runs').length;
  // One for each of the reconciles that this took, too.
  expect(looks).toBeLessThanOrEqual(ms / 5_000 + 2);
});
