import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes about the costs that the row of a batch tells (decision 0188). */

const toldCalls = async (stage: Stage): Promise<readonly number[]> =>
  (await stage.rows()).flatMap(({ forgeCalls }) => forgeCalls ?? []);

/** Each look is by another engine, which has not seen the batch begin. */
async function lookByOthers(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  await look(stage, 20);
  if (!stage.forge.isMerged(pr)) return ['it did not land'];
  const told = await toldCalls(stage);
  return told.length === 0 ? [] : [`${told.join(', ')} calls are told of a batch that another engine began`];
}

/** One engine sees two batches from their beginning to their end. */
async function lookByOne(): Promise<readonly string[]> {
  let calls = 0;
  const stage = await setStage({
    lastingEngine: true,
    wrapForge: (forge) =>
      new Proxy(forge, {
        get(target, name) {
          const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
          return (...values: unknown[]) => {
            calls += 1;
            return call.apply(target, values);
          };
        },
      }),
  });
  await givenProject(stage.forge);
  for (const name of ['a', 'b']) {
    await givenScheduled(stage.forge, name);
    await look(stage, 20);
  }
  const told = await toldCalls(stage);
  const sum = told.reduce((before, each) => before + each, 0);
  if (told.length !== 2) return [`the costs of ${told.length} of 2 batches are told`];
  return sum > calls ? [`${sum} calls are told of ${calls}`] : [];
}

export const COST_SCENES = {
  'each look is by another engine': lookByOthers,
  'one engine sees two batches whole': lookByOne,
} satisfies Scenes;
