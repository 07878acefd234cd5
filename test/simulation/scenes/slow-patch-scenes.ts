import { FORGE_TIMEOUT_MS } from '#core/domain/limits.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';
import { lookUntil } from './bad-head-scenes.ts';

/** Scenes about decision 0352: the forge checks a large repository out for each patch. */

const MINUTE_MS = 60_000;
/** The checkout goes on after the call was given up, and its commit comes. */
const LATE_MS = 15_000;

/** @param onFiles - Comes before whole files are written. */
async function setSlowStage(onFiles: (stage: Stage) => unknown = () => undefined, isLasting = true) {
  let patches = 0;
  const stage: Stage = await setStage({
    ...(isLasting ? { lastingEngine: true } : {}),
    wrapForge: wrapForge(async (name, _values, answer) => {
      if (name === 'writeFiles') await onFiles(stage);
      if (name !== 'applyPatch') return answer();
      patches += 1;
      stage.clock.after(LATE_MS, () => void answer().catch(() => undefined));
      await stage.clock.advance(FORGE_TIMEOUT_MS);
      throw new ForgeError('unreachable', name, null, null, true);
    }),
  });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = 3_000;
  return { stage, patches: () => patches };
}

/** New files, which need no patch. */
async function landWithoutPatches(): Promise<readonly string[]> {
  const { stage } = await setSlowStage();
  const { forge } = stage;
  const pulls = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')];
  const hasLanded = () => pulls.every((pr) => forge.isMerged(pr));
  if (!(await lookUntil(stage, 5 * MINUTE_MS, hasLanded))) return ['nothing lands where each patch is slow'];
  return (await unprovenLandings(forge)).map(() => 'a landing is not proven');
}

/** Each look is that of an engine that has just begun. */
async function beginAnew(): Promise<readonly string[]> {
  const { stage, patches } = await setSlowStage(undefined, false);
  const { forge } = stage;
  const pr = await givenScheduled(forge, 'a');
  if (!(await lookUntil(stage, 5 * MINUTE_MS, () => forge.isMerged(pr)))) return ['nothing lands'];
  const later = await givenScheduled(forge, 'b');
  await lookUntil(stage, 5 * MINUTE_MS, () => forge.isMerged(later));
  const unproven = (await unprovenLandings(forge)).map(() => 'a landing is not proven');
  return patches() === 1 ? unproven : [...unproven, `${patches()} slow patches are sent, where one tells`];
}

/** One in the middle has a name that only a patch can say. */
async function landBesidePatch(): Promise<readonly string[]> {
  const { stage } = await setSlowStage();
  const { forge } = stage;
  const first = await givenScheduled(forge, 'a');
  const patched = await givenScheduled(forge, 'star', 'star\n', { path: 'src/*.txt' });
  const others = [first, await givenScheduled(forge, 'b'), await givenScheduled(forge, 'c')];
  const hasLanded = () => others.every((pr) => forge.isMerged(pr));
  if (!(await lookUntil(stage, 4 * MINUTE_MS, hasLanded)))
    return ['others wait for one that needs a patch where each patch is slow'];
  const codes: (string | null)[] = [];
  await lookUntil(stage, 15 * MINUTE_MS, () => false, codes);
  if (!codes.includes('forge_call_failed') || codes.includes('forge_unreachable'))
    return ['a forge that answers all but patches is told as away'];
  const isTold = (await wordsOn(stage, patched)).includes('the forge fails each time');
  const unproven = (await unprovenLandings(forge)).map(() => 'a landing is not proven');
  return isTold ? unproven : [...unproven, 'one that needs a patch is told nothing'];
}

const LINES = Array.from({ length: 40 }, (_, at) => `line ${at}`);
const linesWith = (at: number) => `${LINES.map((line, nth) => (nth === at ? 'changed' : line)).join('\n')}\n`;

/** The base changes a file of the batch, as it is about to be sent whole. */
async function moveBaseUnderFiles(): Promise<readonly string[]> {
  let isMoved = false;
  const { stage, patches } = await setSlowStage(async ({ forge }) => {
    if (isMoved) return;
    isMoved = true;
    await forge.pushToBase({ 'src/lines.txt': linesWith(3) });
  });
  const { forge } = stage;
  await forge.pushToBase({ 'src/lines.txt': linesWith(-1) });
  const pr = await givenScheduled(forge, 'lines', linesWith(36));
  await lookUntil(stage, 5 * MINUTE_MS, () => forge.isMerged(pr));
  const unproven = (await unprovenLandings(forge)).map(() => 'a landing is not proven');
  if (!isMoved || !forge.isMerged(pr)) return [...unproven, 'nothing lands on a base that has moved'];
  return patches() === 1 ? unproven : [...unproven, 'a base that moves has a slow patch sent again'];
}

export const SLOW_PATCH_SCENES = {
  'each patch outlasts the time of a call': landWithoutPatches,
  'an engine begins anew where each patch is slow': beginAnew,
  'one of a batch needs a patch that outlasts the time of a call': landBesidePatch,
  'the base moves as files are sent in the place of a slow patch': moveBaseUnderFiles,
} satisfies Scenes;
