import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { isSuccess, look, type Scenes, setStage, wordOn, wordsOn } from '../scene-stage.ts';
import { type Cast, endsOf, judgeOthers, LANDED, openSame } from './merged-instead-scenes.ts';

/** Scenes in which two with the same change are both merged, in each order, and the forge shows it late. */

const HAS_LANDED = 'pr_landed null';
const WENT_PAST = 'pr_skipped merged_outside_the_queue';

/** What is told of the first, on its head and in its receipt, and that no success is left on any head. */
async function judgeFirst({ stage, first, same }: Cast, expected: string): Promise<string[]> {
  const problems: string[] = [];
  const told = String(await endsOf(stage, first));
  if (told !== expected) problems.push(`the first is told as ${told}`);
  const words = await wordsOn(stage, first);
  if (LANDED.test(words) !== (expected === HAS_LANDED))
    problems.push(`the head of the first says "${words}"`);
  const actions = (await stage.rows()).flatMap((row) => row.actions).filter(({ pr }) => pr === first);
  const receipts = actions.flatMap(({ receipt }) => receipt?.mergeCommit ?? []);
  const own = stage.forge
    .merges()
    .filter(({ pr }) => pr === first)
    .map(({ mergeCommit }) => mergeCommit);
  if (expected === HAS_LANDED && String(receipts) !== String(own))
    problems.push('a receipt names another merge');
  for (const pr of [first, same])
    if ((await wordOn(stage, pr)) === 'success') problems.push(`a success is left on #${pr}`);
  return problems;
}

interface Order {
  readonly behind: readonly string[];
  /** From when the forge could merge it to when it does. */
  readonly firstMs: number;
  readonly sameMs: number;
  /** How late the lists of pull requests are. */
  readonly listMs?: number;
}

async function playOrder({ behind, firstMs, sameMs, listMs = 0 }: Order): Promise<Cast> {
  const cast = await openSame({ behind, delays: { autoMergeMs: 420 } });
  const { forge } = cast.stage;
  forge.lags = { ...NO_LAGS, list: listMs };
  const waits = new Map([
    [cast.first, firstMs],
    [cast.same, sameMs],
  ]);
  forge.mergeBehaviour = (pr) => ({ kind: 'slow', ms: waits.get(pr) ?? 0 });
  await look(cast.stage, 40);
  return cast;
}

/** The first is merged, and the other one on top of it before a look. */
async function otherOnTop(order: Pick<Order, 'behind' | 'listMs'>): Promise<readonly string[]> {
  const cast = await playOrder({ ...order, firstMs: 0, sameMs: 20 });
  const [own, other] = cast.stage.forge.merges();
  if (own?.pr !== cast.first || other?.pr !== cast.same) return ['the scene did not come about'];
  return [...(await judgeOthers(cast)), ...(await judgeFirst(cast, HAS_LANDED))];
}

/** The other one is merged, and the first later. */
async function firstOnTop(order: Omit<Order, 'sameMs'>, told: string): Promise<readonly string[]> {
  const cast = await playOrder({ ...order, sameMs: 0 });
  const [other] = cast.stage.forge.merges();
  if (other?.pr !== cast.same || !cast.stage.forge.isMerged(cast.first))
    return ['the scene did not come about'];
  return [...(await judgeOthers(cast)), ...(await judgeFirst(cast, told))];
}

/** The only one of a batch: no look takes a base of its tree for its merge. */
async function onlyOneWaits(): Promise<readonly string[]> {
  const cast = await openSame({ behind: [] });
  const { stage, first, same } = cast;
  await look(stage, 6);
  if (!stage.forge.isMerged(same)) return ['the scene did not come about'];
  const problems = await judgeOthers(cast);
  for (const pr of [first, same])
    if ((await wordOn(stage, pr)) === 'success') problems.push(`a success stands on #${pr} after minutes`);
  const words = await wordsOn(stage, first);
  return words.includes('changes nothing') ? problems : [...problems, `an open one is told "${words}"`];
}

/** A person deletes the first before the queue knows that its merge is that of the other one. */
async function firstIsDeleted(): Promise<readonly string[]> {
  const cast = await openSame();
  const { stage, first, same, behind } = cast;
  await stage.drain({ until: async () => stage.forge.isMerged(behind[0] ?? 0) });
  await stage.forge.deletePullRequest(first);
  await look(stage, 20);
  if (!stage.forge.isMerged(same)) return ['the scene did not come about'];
  const told = (await endsOf(stage, first)).filter((each) => each.startsWith('pr_landed'));
  return [...told.map((each) => `one that was deleted is told as ${each}`), ...(await judgeOthers(cast))];
}

/** In a rebase a change that the base has comes to nothing: the forge names the merge of the first for both. */
async function nothingMoreIsMerged(): Promise<readonly string[]> {
  let head: string | null = null;
  const stage = await setStage({
    repo: { mergeStyle: 'rebase' },
    delays: { autoMergeMs: 420 },
    onEntry: (entry, { forge, clock }) => {
      const sha = head;
      if (!isSuccess(entry) || sha === null) return;
      head = null;
      // The first is merged by then, and the forge has not checked this one on the new base yet.
      clock.after(700, () => forge.postStatusAs('mallory', sha, DEFAULT_SERVICE_NAME, 'success'));
    },
  });
  const { forge } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'a', 'a\n', { style: 'rebase' });
  const same = await givenScheduled(forge, 'same', 'a\n', { path: 'src/a.txt', style: 'rebase' });
  head = forge.headOf(same);
  await look(stage, 20);
  if (!forge.isMerged(first) || !forge.isMerged(same)) return ['the scene did not come about'];
  return (await wordOn(stage, same)) === 'success' ? ['the foreign success is left'] : [];
}

export const INSTEAD_ORDER_SCENES = {
  'another one is merged on top of the only one of a batch': () => otherOnTop({ behind: [] }),
  'another one is merged on top of the first, and the list is late': () =>
    otherOnTop({ behind: ['b'], listMs: 5_000 }),
  'the first is merged on top of another one, and the list is late': () =>
    firstOnTop({ behind: ['b'], firstMs: 3_000, listMs: 5_000 }, WENT_PAST),
  'the first is merged on top of another one, and is listed as open': () =>
    firstOnTop({ behind: ['b'], firstMs: 45_000, listMs: 40_000 }, WENT_PAST),
  'the first is merged on top of another one before a look': () =>
    firstOnTop({ behind: ['b'], firstMs: 20 }, HAS_LANDED),
  'another one is merged instead and the first is deleted': firstIsDeleted,
  'a foreign success merges one whose change has landed': nothingMoreIsMerged,
  'another one is merged instead of the only one of a batch': onlyOneWaits,
} satisfies Scenes;
