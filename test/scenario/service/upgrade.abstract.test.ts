import type { StoredQueueRecord } from '#core/ports/store.ts';
import { NEWEST_FORMAT } from '../../../engine-container/src/stored-record/record-migrations.ts';
import { runStory, SWEEP_STORIES } from '../crash-sweep-stories.ts';
import { expectHonestEnd } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

/**
 * During a deployment the engine of the release before and this one run side by side for minutes, and take turns at the same
 * record. The rule that lets them: a release adds attributes, an older one takes no notice of those that it does not know,
 * and a newer one gives a default to those that are missing.
 */
const ADDED_LATER = 'addedByTheNextRelease';

/** As the next release may leave a record: in the next format, with more in every object of it. */
function asNext(document: unknown): unknown {
  return { ...(addTo(document) as object), schema: NEWEST_FORMAT };
}

function addTo(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addTo);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, addTo(inner)]);
  return { ...Object.fromEntries(entries), [ADDED_LATER]: { of: 'the next release' } };
}

/** As the release before suspects could go on in the queue left it: its entries have no failure probability. */
function asPrevious(document: unknown): unknown {
  const { line } = document as { readonly line: readonly object[] };
  return {
    ...(document as object),
    line: line.map((entry) => Object.fromEntries(Object.entries(entry).filter(([name]) => name !== 'doubt'))),
  };
}

/** Every reconcile finds the record as another release has left it, each in turn. */
function letReleasesTakeTurns(
  world: World,
  releases: readonly ((document: unknown) => unknown)[],
): () => number {
  const { store } = world;
  const load = store.loadQueueRecord.bind(store);
  let turns = 0;
  store.loadQueueRecord = async (repoId): Promise<StoredQueueRecord | null> => {
    const stored = await load(repoId);
    const change = releases[turns % releases.length];
    turns += 1;
    return stored === null || change === undefined
      ? stored
      : { ...stored, document: change(stored.document) };
  };
  return () => turns;
}

const asThis = (document: unknown): unknown => document;

describe('on one record with the next release and the one before, in turn, as when a deployment is rolled back', () => {
  const releases = [asThis, asNext, asPrevious];
  test.each(SWEEP_STORIES.map((story) => [story.name, story] as const))('%s', async (_name, story) => {
    const world = await createWorld(story.repo === undefined ? {} : { repo: story.repo });
    const turns = letReleasesTakeTurns(world, releases);
    const ending = await runStory(world, story);
    if (story.landed === 'any order') expect([...ending.landed].sort()).toEqual(story.landedSet);
    else expect(ending.landed).toEqual(story.landed);
    expect(ending.bounced).toEqual(story.bounced);
    if (story.stops !== true) await expectHonestEnd(world, ending.prs);
    expect(world.log.filter(({ message }) => message.includes('unreadable'))).toEqual([]);
    expect(turns()).toBeGreaterThanOrEqual(releases.length);
  });
});
