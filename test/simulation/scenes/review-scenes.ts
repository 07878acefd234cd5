import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { isSuccess, look, type Scene, type Scenes, setStage } from '../scene-stage.ts';

/** Scenes in which an approval is missing that a person has to give before a head is staged. */

/** Reviews that the rule asks for are missing, or are of an older commit (A29, A31). */
function askForReviews(isStale: boolean): Scene {
  return async () => {
    const stage = await setStage();
    await givenProject(stage.forge);
    await stage.forge.setProtection({ requiredApprovals: 1, ignoreStaleApprovals: true });
    const pr = await givenScheduled(stage.forge, 'a');
    if (isStale) {
      await stage.forge.review(pr, 'reviewer', 'approve');
      await stage.forge.cancelSchedule(pr);
      await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'other\n' });
      await stage.clock.advance(60_000);
      await stage.forge.schedule(pr, 'squash');
    }
    await look(stage, 4);
    const runs = stage.forge.runs().length;
    return runs === 0 ? [] : [`${runs} runs for a pull request that the reviews refuse`];
  };
}

/** Code that one who cannot write here has pushed runs with the secrets of the repository once it is staged (D-99). */
function stageOutside(from: 'fork' | 'agit' | 'reader'): Scene {
  return async () => {
    const stage = await setStage();
    await givenProject(stage.forge);
    if (from === 'reader') await stage.forge.setAccess('stranger', 'read');
    const pr = await stage.forge.openPullRequest({
      branch: 'a',
      files: { 'src/a.txt': 'a\n' },
      ...(from === 'reader' ? {} : { [from]: true }),
      author: 'stranger',
    });
    await stage.forge.scheduleAs(from === 'fork' ? 'stranger' : 'maintainer', pr, 'squash');
    await look(stage, 4);
    return stage.forge.runs().length === 0 ? [] : ['the code of a stranger ran with our secrets'];
  };
}

/** An approval is deleted, which leaves no trace, while the gate run is out: what does not merge for it is not tried again and again. */
async function deleteApproval(): Promise<readonly string[]> {
  let successes = 0;
  let isOut = true;
  const stage = await setStage({
    lastingEngine: true,
    onEntry: (entry) => {
      if (entry.kind !== 'status') return;
      if (isSuccess(entry) && isOut) successes += 1;
      isOut = !isSuccess(entry);
    },
  });
  const { forge } = stage;
  await givenProject(forge);
  await forge.setProtection({ requiredApprovals: 1 });
  const pr = await givenScheduled(forge, 'a');
  await forge.review(pr, 'reviewer', 'approve');
  forge.gateDurationMs = 3 * 60_000;
  await look(stage, 4);
  await forge.deleteReviews(pr);
  await look(stage, 30);
  if (successes === 0) return ['the scene did not come about'];
  return successes === 1 ? [] : [`${successes} successes for one that its reviews refuse`];
}

export const REVIEW_SCENES = {
  'an approval is deleted while a gate run is out': deleteApproval,
  'no approval': askForReviews(false),
  'a stale approval': askForReviews(true),
  'a fork without approval': stageOutside('fork'),
  'an AGit head without approval': stageOutside('agit'),
  'a branch of an author who may only read': stageOutside('reader'),
} satisfies Scenes;
