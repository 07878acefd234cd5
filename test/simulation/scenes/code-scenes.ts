import { codeOfEvent } from '#core/domain/pulls/find-pull-code.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, setStage } from '../scene-stage.ts';

/** Each way out that a person chooses is told with a code of the closed list. */
async function leaveInEachWay(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { batchLingerSeconds: 600 } });
  await givenProject(stage.forge);
  await stage.forge.pushBranch('other', stage.forge.tipOfBase());
  const ways: readonly ((pr: number) => Promise<void>)[] = [
    (pr) => stage.forge.close(pr),
    (pr) => stage.forge.cancelSchedule(pr),
    (pr) => stage.forge.retarget(pr, 'other'),
    (pr) => stage.forge.setTitle(pr, 'WIP: later'),
  ];
  for (const [index, leave] of ways.entries()) {
    const pr = await givenScheduled(stage.forge, `way-${index}`);
    await look(stage, 1);
    await leave(pr);
    await look(stage, 2);
  }
  const events = await stage.events();
  const left = events.filter(({ event }) => event === 'pr_skipped');
  if (left.length !== ways.length) return [`${left.length} of ${ways.length} are told to have left`];
  return left.flatMap(({ event, reason, pr }) =>
    codeOfEvent(event, reason) === null ? [`#${pr} left without a code: ${reason ?? 'no reason'}`] : [],
  );
}

export const CODE_SCENES = {
  'each way out has a code': leaveInEachWay,
} satisfies Scenes;
