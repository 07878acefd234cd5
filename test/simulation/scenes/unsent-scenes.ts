import { LANDING_NUDGE_AGES_MS, RECONCILE_BUDGET_MS } from '#core/domain/limits.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';

const [NUDGE_AFTER_MS = 0] = LANDING_NUDGE_AGES_MS;

/** The time of a reconcile is over between a look that asks for a success once more and that post. */
async function spendBudgetBeforeNudge(): Promise<readonly string[]> {
  const seen = { pr: 0, postedAt: 0, isSpent: false, isSentAgain: false };
  const stage: Stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, _args, answer) => {
      const { clock } = stage;
      if (seen.pr > 0 && seen.postedAt === 0 && (await wordOn(stage, seen.pr)) === 'success')
        seen.postedAt = clock.now();
      const isLate = seen.postedAt > 0 && clock.now() - seen.postedAt >= NUDGE_AFTER_MS;
      if (name === 'postStatus' && seen.isSpent) seen.isSentAgain = true;
      if (name === 'readPullRequest' && isLate && !seen.isSpent) {
        seen.isSpent = true;
        await clock.advance(RECONCILE_BUDGET_MS);
      }
      return answer();
    }),
  });
  await givenProject(stage.forge);
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  seen.pr = await givenScheduled(stage.forge, 'a');
  await stage.drain({ until: () => seen.isSentAgain });
  const landing = (await stage.record()).batches[0]?.landing;
  if (landing?.asked === undefined || landing.asked < 2) return ['the scene did not come about'];
  return landing.asked === landing.answered
    ? []
    : ['a success that was never sent is waited for as one that may be carried out late'];
}

export const UNSENT_SCENES = {
  'the time of a reconcile is over before a success is sent once more': spendBudgetBeforeNudge,
} satisfies Scenes;
