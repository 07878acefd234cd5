import { BISECT_FANOUT_MAX } from '#core/domain/limits.ts';
import { givenProject } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes in which the queue chooses how many gate runs are out at once (decision 0242). */

const MINUTE_MS = 60_000;

interface Seen {
  readonly stage: Stage;
  /** Gate runs that were out at the same time, at most. */
  readonly most: number;
  /** Numbers that were in force, in order. */
  readonly inForce: readonly number[];
}

/**
 * So many are scheduled this long after each other, every fourth of them bad, and all but every fourth up to `badUpTo`; then
 * they are looked at for two hours.
 */
async function play(
  repo: Readonly<Record<string, unknown>>,
  {
    count,
    gapMs,
    badUpTo = 0,
  }: { readonly count: number; readonly gapMs: number; readonly badUpTo?: number },
): Promise<Seen> {
  const stage = await setStage({ repo: { fanoutAuto: true, ...repo } });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 5 * MINUTE_MS;
  const inForce: number[] = [];
  let most = 0;
  const see = async (): Promise<void> => {
    const { autoFanout } = await stage.record();
    if (autoFanout !== undefined && autoFanout.inForce !== inForce.at(-1)) inForce.push(autoFanout.inForce);
    most = Math.max(most, stage.forge.runs().filter(({ state }) => state === 'running').length);
  };
  for (let each = 1; each <= count; each += 1) {
    const isBad = (each % 4 === 0) === each > badUpTo;
    const content = isBad ? 'BAD\n' : `${each}\n`;
    const pr = await stage.forge.openPullRequest({
      branch: `b${each}`,
      author: `author-${each}`,
      files: { [`src/${each}.txt`]: content },
    });
    await stage.forge.scheduleAs('dev', pr);
    if (gapMs < MINUTE_MS) await stage.clock.advance(gapMs);
    for (let rest = gapMs; rest >= MINUTE_MS; rest -= MINUTE_MS) {
      await look(stage, 2);
      await see();
    }
  }
  for (let looks = 0; looks < 240; looks += 1) {
    await look(stage, 1);
    await see();
  }
  return { stage, most, inForce };
}

const BUSY = { count: 40, gapMs: 1_000 };

/** Many are scheduled, and the queue may spend what it wants. */
async function chooseOfPlenty(): Promise<readonly string[]> {
  const { most, inForce } = await play({ autoRunsPer100Landed: 1_000 }, BUSY);
  const top = Math.max(...inForce);
  return [
    ...(top === BISECT_FANOUT_MAX ? [] : [`${top} gate runs at once were in force`]),
    ...(most <= BISECT_FANOUT_MAX ? [] : [`${most} gate runs were out`]),
  ];
}

/** Many are scheduled, and the queue may spend little: it keeps to four at once, which keep up. */
async function chooseOfLittle(): Promise<readonly string[]> {
  const { most, inForce } = await play({ autoRunsPer100Landed: 20 }, BUSY);
  return [
    ...(String(inForce) === '4' ? [] : [`${inForce} gate runs at once were in force`]),
    ...(most <= 4 ? [] : [`${most} gate runs were out`]),
  ];
}

/** Few are scheduled, and the queue may spend little: one at a time keeps up. */
async function chooseForFew(): Promise<readonly string[]> {
  const { inForce } = await play({ autoRunsPer100Landed: 20 }, { count: 11, gapMs: 30 * MINUTE_MS });
  return inForce.at(-1) === 1 ? [] : [`${inForce} gate runs at once were in force`];
}

/** Nearly all of the first are bad, and the budget begins with many at once. */
async function chooseAfterDear(): Promise<readonly string[]> {
  const { inForce } = await play({ autoRunsPer100Landed: 100 }, { ...BUSY, badUpTo: 12 });
  const falls = inForce.slice(1).map((number, index) => number / (inForce[index] ?? 1));
  const first = inForce[0] ?? 0;
  return [
    ...(first > 6 && Math.min(...falls) < 1 ? [] : [`nothing fell: ${inForce}`]),
    ...(Math.min(...falls) >= 0.5 ? [] : [`fell by more than half: ${inForce}`]),
  ];
}

/** The owner leaves the choice to the queue, and takes it back. */
async function takeChoiceBack(): Promise<readonly string[]> {
  const { stage } = await play({ autoRunsPer100Landed: 1_000 }, { count: 2, gapMs: 1_000 });
  await stage.settings({ fanoutAuto: false, bisectFanout: 2 });
  await look(stage, 2);
  const kept = (await stage.record()).autoFanout;
  return kept === undefined ? [] : [`${kept.inForce} at once, which the queue had chosen, is still kept`];
}

export const FANOUT_SCENES = {
  'many are scheduled, and the queue may spend what it wants': chooseOfPlenty,
  'many are scheduled, and the queue may spend little': chooseOfLittle,
  'few are scheduled, and the queue may spend little': chooseForFew,
  'the first that land after a choice are dear': chooseAfterDear,
  'the choice of the fan-out is taken back from the queue': takeChoiceBack,
} satisfies Scenes;
