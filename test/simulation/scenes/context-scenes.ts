import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, setStage } from '../scene-stage.ts';

/** Scenes of a queue that writes under another status context for a while. */

const NEXT = `${DEFAULT_SERVICE_NAME}/next`;
const PROMISE = /^(queued|staged|paused|requeued):/;

/** One waits behind a gate run while the context changes, gets another target under the new one, and the context changes back. */
async function retargetUnderOtherContext(): Promise<readonly string[]> {
  const said: string[] = [];
  const stage = await setStage({
    repo: { bisectFanout: 1, batchTarget: 1 },
    onEntry: (entry) => {
      if (entry.kind === 'status') said.push(entry.description);
    },
  });
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  await givenScheduled(forge, 'a');
  await stage.clock.advance(20_000);
  const pr = await givenScheduled(forge, 'b');
  const { headSha } = await forge.pull(pr);
  const wordsUnder = async (context: string) => (await forge.status(headSha, context))?.description ?? 'none';
  await look(stage, 2);
  const before = await wordsUnder(DEFAULT_SERVICE_NAME);
  const use = async (context: string) => {
    await forge.setProtection({ requiredContexts: [context] });
    await stage.settings({ statusContext: context });
  };
  await use(NEXT);
  await look(stage, 6);
  const under = await wordsUnder(NEXT);
  if (!PROMISE.test(before)) return ['the scene did not come about'];
  const problems = PROMISE.test(under) ? [] : [`one that waits is told "${under}" under the new context`];
  const old = await wordsUnder(DEFAULT_SERVICE_NAME);
  if (!old.startsWith('not used:')) problems.push(`under the old context it is told "${old}"`);
  if (said.some((each) => each.includes('another required check')))
    problems.push('the new context of the queue is told as a check of another');
  await forge.pushBranch('other', await forge.tip('main'));
  await forge.retarget(pr, 'other');
  await look(stage, 4);
  await use(DEFAULT_SERVICE_NAME);
  await look(stage, 2);
  const words = await wordsUnder(DEFAULT_SERVICE_NAME);
  return PROMISE.test(words) ? [...problems, `one with another target is told "${words}"`] : problems;
}

export const CONTEXT_SCENES = {
  'one gets another target while the queue uses another context': retargetUnderOtherContext,
} satisfies Scenes;
