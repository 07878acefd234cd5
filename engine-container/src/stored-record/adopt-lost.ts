import type { EpochMs } from '#core/domain/ids.ts';
import { SUCCESS_LATE_MS } from '#core/domain/limits.ts';
import type { NodeRow } from '#core/domain/queue/batch.ts';
import type { Obligations } from '#core/domain/queue/obligations.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { type EngineStore, StoreError } from '#core/ports/store.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import { closeOrphans, landedHeads, landedNumbers, recentlyLost, stagedHeads } from '../queue/told/rows.ts';

/** How far back rows of a lost record are looked for. */
const ORPHAN_ROWS_MAX = 2_000;
const ORPHAN_EVENTS_MAX = 1_000;

export interface Adopted {
  /** Rows to store with the first write of the new record. */
  readonly rows: readonly NodeRow[];
  readonly record: Pick<
    QueueRecord,
    | 'garbage'
    | 'recall'
    | 'recallHeads'
    | 'recallContexts'
    | 'recalledAt'
    | 'lateUntil'
    | 'landedNumbers'
    | 'repoId'
  >;
}

/**
 * The past that a repo without a record takes over: from a record of its own that was lost, and from deleted records of
 * the same forge address that could not take back what they had posted (A24, A32).
 */
export async function adoptLost(
  store: Pick<EngineStore, 'listOwnBatches' | 'listOwnEvents' | 'listLeftHeads' | 'readObligations'>,
  repo: ManagedRepo,
  now: EpochMs,
): Promise<Adopted> {
  const stored = await store.listOwnBatches(repo, ORPHAN_ROWS_MAX);
  const { rows, garbage } = closeOrphans(stored, repo, now);
  const lost = [...rows, ...recentlyLost(stored, now)];
  const events = await store.listOwnEvents(repo, ORPHAN_EVENTS_MAX);
  const landed = landedHeads(events, repo, now);
  const numbers = landedNumbers(events, repo);
  const told = await readTold(store, repo);
  const known = {
    garbage: [...garbage],
    ...(numbers.length === 0 ? {} : { landedNumbers: numbers }),
    ...(told?.repoId === undefined ? {} : { repoId: told.repoId }),
  };
  // A landing may go on while each row of its batch is resolved, so that no open row tells of it.
  const left = [...(await store.listLeftHeads(repo)), ...(told?.left == null ? [] : [told.left])];
  const heads = left.flatMap((each) => each.heads);
  const standing = heads.flatMap(({ pr, head, isMereWord }) => (isMereWord === true ? [] : [{ pr, head }]));
  const owed = heads.flatMap(({ pr, head, isMereWord }) => (isMereWord === true ? [{ pr, head }] : []));
  // Those that hold up all others are read first.
  const recall = new Set([
    ...standing.map(({ pr }) => pr),
    ...lost.flatMap((row) => row.prs),
    ...landed.map(({ pr }) => pr),
    ...left.flatMap(({ prs }) => prs),
    ...owed.map(({ pr }) => pr),
  ]);
  if (recall.size === 0) return { rows, record: known };
  const mayStand = standing.map((each) => ({ ...each, mayStand: true as const }));
  const recallHeads = [...stagedHeads(lost, events), ...landed, ...owed, ...mayStand];
  const recallContexts = [...new Set(left.map(({ context }) => context))];
  return {
    rows,
    record: {
      ...known,
      recall: [...recall],
      recallHeads,
      recalledAt: now,
      ...(standing.length === 0 ? {} : { lateUntil: now + SUCCESS_LATE_MS }),
      ...(recallContexts.length === 0 ? {} : { recallContexts }),
    },
  };
}

/** The last words of the lost record itself; null: they are as lost as the record. */
async function readTold(
  store: Pick<EngineStore, 'readObligations'>,
  { id }: ManagedRepo,
): Promise<Obligations | null> {
  try {
    return await store.readObligations(id);
  } catch (error) {
    // Nothing would ever begin again if it had to be read.
    if (error instanceof StoreError && error.kind === 'unreadable') return null;
    throw error;
  }
}
