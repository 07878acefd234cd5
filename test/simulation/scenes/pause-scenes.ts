import type { Pause } from '#core/domain/repos/pause.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { STATUS_GATE } from '../../scenario/world.ts';
import {
  judgeWords,
  look,
  openLostMerge,
  type Scenes,
  type Stage,
  setStage,
  wordOn,
  wordsOn,
} from '../scene-stage.ts';

/** Scenes in which the owner of a queue holds it up for a while (decision 0205). */

const DID_NOT_COME = ['the scene did not come about'];

const hold = (stage: Stage, kind: Pause['kind'], untilMs: number | null = null): Promise<void> =>
  stage.settings({
    pause: {
      kind,
      reason: null,
      since: stage.clock.now(),
      until: untilMs === null ? null : stage.clock.now() + untilMs,
    },
  });

/** Two wait while the queue is paused; the pause ends by itself. */
async function pauseBeforeStaging(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await hold(stage, 'pause', 10 * 60_000);
  const first = await givenScheduled(stage.forge, 'a');
  await look(stage, 4);
  const second = await givenScheduled(stage.forge, 'b');
  await look(stage, 4);
  const problems = stage.forge.runs().length > 0 ? ['a gate run began in a pause'] : [];
  if (!(await wordsOn(stage, first)).startsWith('paused: ')) problems.push('a pause is not told');
  await look(stage, 13);
  if ((await wordsOn(stage, second)).startsWith('paused: ')) problems.push('a pause is told that is over');
  await look(stage, 20);
  const order = stage.forge.merges().map(({ pr }) => pr);
  if (String(order) !== String([first, second])) problems.push(`after the pause landed ${String(order)}`);
  return problems;
}

/** The queue is paused while a success stands and its merge does not come. */
async function pauseInLanding(): Promise<readonly string[]> {
  const opened = await openLostMerge();
  if (opened === null) return DID_NOT_COME;
  const { stage, pr } = opened;
  await hold(stage, 'pause');
  await look(stage, 8);
  return (await wordOn(stage, pr)) === 'success' ? ['a success stands on a head in a pause'] : [];
}

/** The queue is drained while a gate run is out, and the next pull request waits. */
async function drainInGate(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const running = await givenScheduled(stage.forge, 'a');
  stage.forge.gateDurationMs = 180_000;
  await look(stage, 2);
  if (stage.forge.runs().length === 0) return DID_NOT_COME;
  await hold(stage, 'drain');
  const later = await givenScheduled(stage.forge, 'b');
  await look(stage, 20);
  return [
    ...(stage.forge.isMerged(running) ? [] : ['what was in flight did not land in a drain']),
    ...(stage.forge.isMerged(later) ? ['something new landed in a drain'] : []),
  ];
}

/** One of two with the same head is refused in a pause: the pause of the other is not told over what to do about it. */
async function pauseBesideRefusedTwin(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await hold(stage, 'pause');
  const refused = await givenScheduled(forge, 'a');
  await forge.addDependency(refused, await forge.openPullRequest({ branch: 'x', files: { x: 'x' } }));
  await look(stage, 4);
  const { headSha: head } = await forge.pull(refused);
  await forge.schedule(await forge.openPullRequest({ branch: 'twin', head }), 'squash');
  await look(stage, 4);
  const words = await wordsOn(stage, refused);
  return words.startsWith('refused: ') ? [] : [`one that is refused is told "${words}"`];
}

/** The record is lost in a pause, which ends before anything else is said; the queue waits for others then. */
async function pauseOverLostRecord(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { batchLingerSeconds: 3_600 } });
  await givenProject(stage.forge);
  await hold(stage, 'pause');
  const pr = await givenScheduled(stage.forge, 'a');
  await look(stage, 4);
  if (!(await wordsOn(stage, pr)).startsWith('paused: ')) return DID_NOT_COME;
  await stage.loseRecord();
  await stage.settings({ pause: null });
  await look(stage, 4);
  const words = await wordsOn(stage, pr);
  return words.startsWith('paused: ') ? ['a pause is told that is over'] : [];
}

/** The queue is paused while the engine looks, in the moment in which the gate run is seen to have passed. */
const pauseWithinLook = (): Promise<readonly string[]> => heldWithinLook((stage) => hold(stage, 'pause'));

/** The owner drains the queue while it looks at what came behind a gate run: the page tells that as the heads do. */
async function drainWithinLook(): Promise<readonly string[]> {
  let isDue = false;
  const stage: Stage = await setStage({
    wrapForge: wrapForge(async (name, _args, answer) => {
      if (name === 'listOpenPullRequests' && isDue) {
        isDue = false;
        await hold(stage, 'drain');
      }
      return answer();
    }),
  });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 30 * 60_000;
  await givenScheduled(stage.forge, 'a');
  await look(stage, 4);
  if (stage.forge.runs().length === 0) return DID_NOT_COME;
  await givenScheduled(stage.forge, 'b');
  isDue = true;
  await look(stage, 4);
  return isDue ? DID_NOT_COME : judgeWords(stage);
}

/** A switch-off asks the engine to stop in that moment. */
const switchOffWithinLook = (): Promise<readonly string[]> =>
  heldWithinLook(async (stage) => {
    await stage.store.askStop('repo-1', stage.clock.now() + 60 * 60_000);
  });

/** The owner chooses another gate in that moment: what the gate of before has passed must not land. */
const changeGateWithinLook = (): Promise<readonly string[]> =>
  heldWithinLook((stage) => stage.settings({ ...STATUS_GATE, gateContexts: ['ci/never-answers'] }));

async function heldWithinLook(holdUp: (stage: Stage) => Promise<void>): Promise<readonly string[]> {
  let isHeld = false;
  const stage: Stage = await setStage({
    wrapForge: (forge) => ({
      ...forge,
      readGate: async (...asked) => {
        const answer = await forge.readGate(...asked);
        if (answer.kind === 'finished' && !isHeld) {
          isHeld = true;
          await holdUp(stage);
        }
        return answer;
      },
    }),
  });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 3_000;
  const pr = await givenScheduled(stage.forge, 'a');
  // The head has settled: what passes may land in the same look.
  await stage.clock.advance(60_000);
  await look(stage, 4);
  if (!isHeld) return DID_NOT_COME;
  return stage.forge.isMerged(pr) ? ['it landed against what its owner had just set'] : [];
}

/** One waits for another one, which it conflicts with, and whose merge is slow: what the page and the heads say from the hold on. */
async function holdBesideConflict(kind: Pause['kind']): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge, { 'shared.txt': 'base\n' });
  forge.mergeBehaviour = () => ({ kind: 'slow', ms: 2 * 60_000 });
  await givenScheduled(forge, 'a', 'a\n', { path: 'shared.txt' });
  const second = await givenScheduled(forge, 'b', 'b\n', { path: 'shared.txt' });
  const isSetAside = async (): Promise<boolean> =>
    (await stage.record()).deferred[0]?.reason === 'conflict_ahead';
  await stage.drain({ until: isSetAside });
  await hold(stage, kind);
  const problems: string[] = [];
  for (let count = 0; count < 8; count += 1) {
    await look(stage, 1);
    problems.push(...(await judgeWords(stage)).filter((each) => each.startsWith(`#${second} `)));
  }
  return problems;
}

export const PAUSE_SCENES = {
  'the queue is paused while one waits for another one': () => holdBesideConflict('pause'),
  'the queue is drained while one waits for another one': () => holdBesideConflict('drain'),
  'a pause beside the refusal of a twin': pauseBesideRefusedTwin,
  'the record is lost in a pause, which then ends': pauseOverLostRecord,
  'two wait for the end of a pause': pauseBeforeStaging,
  'the queue is paused while the engine looks': pauseWithinLook,
  'the queue is drained while the engine looks': drainWithinLook,
  'a switch-off asks the engine to stop while it looks': switchOffWithinLook,
  'the gate is changed while the engine looks': changeGateWithinLook,
  'the queue is paused while a success stands': pauseInLanding,
  'the queue is drained while a gate run is out': drainInGate,
} satisfies Scenes;
