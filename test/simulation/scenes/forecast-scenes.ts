import type { Forecast } from '../../../engine-container/src/queue/policy/forecast.ts';
import type { OutcomeRate } from '../../../engine-container/src/queue/policy/rate.ts';
import { givenProject } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage, teach } from '../scene-stage.ts';

/** Scenes about what is known of a pull request before its gate run (decision 0245). */

const MINUTE_MS = 60_000;
/** Nearly all whose own CI failed were bounced. */
const FORECAST: Forecast = {
  landed: 190,
  bounced: 60,
  with: { ci_failed: { landed: 1, bounced: 58 }, ci_passed: { landed: 189, bounced: 2 } },
};
/** A gate that fails by itself now and then: one failing run says little. */
const FLAKY: OutcomeRate = { landed: 190, bounced: 10, steady: 200, flaked: 6, paces: [] };

/** By what its own CI said of each, one is scheduled after the other. */
async function play(states: readonly ('success' | 'failure')[], content = 'good\n') {
  const stage = await setStage({ repo: { bisectFanout: 8 } });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 5 * MINUTE_MS;
  await teach(stage, { rate: FLAKY, forecast: FORECAST });
  const prs: number[] = [];
  for (const [index, state] of states.entries()) {
    const branch = `b${index}`;
    const pr = await stage.forge.openPullRequest({ branch, files: { [`src/${branch}.txt`]: content } });
    await stage.forge.postStatusAs('ci', (await stage.forge.pull(pr)).headSha, 'ci/own', state);
    await stage.forge.scheduleAs('dev', pr);
    await stage.clock.advance(1_000);
    prs.push(pr);
  }
  return { stage, prs };
}

async function membersOf(stage: Stage): Promise<readonly (readonly number[])[]> {
  return (await stage.record()).batches.map(({ members }) => members.map(({ pr }) => pr));
}

/** One whose own CI failed is scheduled among others. */
async function stageBeforeRisk(): Promise<readonly string[]> {
  const { stage, prs } = await play(['success', 'success', 'failure', 'success']);
  await look(stage, 2);
  const [first] = await membersOf(stage);
  const told = String(first) === String(prs.slice(0, 2)) ? [] : [`${first} were staged together`];
  await look(stage, 120);
  const landed = stage.forge.merges().map(({ pr }) => pr);
  return String(landed) === String(prs) ? told : [...told, `landed in the order ${landed}`];
}

/** One whose own CI failed is good, and its first gate run fails by itself. */
async function judgeInSpiteOfRisk(): Promise<readonly string[]> {
  const { stage, prs } = await play(['failure']);
  let runs = 0;
  stage.forge.judge = () => {
    runs += 1;
    return runs === 1 ? 'failure' : 'success';
  };
  await look(stage, 120);
  return stage.forge.isMerged(prs[0] ?? 0) ? [] : [`bounced after ${runs} gate runs`];
}

/** The owner of a queue sees what is learned of one whose own CI failed and that fails. */
async function learnFromRisk(): Promise<readonly string[]> {
  const { stage } = await play(['failure'], 'BAD\n');
  await look(stage, 120);
  const { forecast } = await stage.record();
  const seen = [forecast?.bounced, forecast?.with.ci_failed?.bounced, forecast?.with.ci_passed?.bounced];
  return String(seen) === '61,59,2' ? [] : [`learned ${JSON.stringify(forecast)}`];
}

export const FORECAST_SCENES = {
  'one whose own CI failed is scheduled among others': stageBeforeRisk,
  'one whose own CI failed is good, and its first gate run fails by itself': judgeInSpiteOfRisk,
  'one whose own CI failed fails at the gate': learnFromRisk,
} satisfies Scenes;
