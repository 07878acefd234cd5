import type { EpochMs } from '#core/domain/ids.ts';
import { SUCCESS_LATE_MS } from '#core/domain/limits.ts';
import type { NodeRow } from '#core/domain/queue/batch.ts';
import type { LeftHeads } from '#core/domain/queue/obligations.ts';
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
    'garbage' | 'recall' | 'recallHeads' | 'recallContexts' | 'recalledAt' | 'lateUntil' | 'landedNumbers'
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
  const known = { garbage: [...garbage], ...(numbers.length === 0 ? {} : { landedNumbers: numbers }) };
  const left = [...(await store.listLeftHeads(repo)), ...(await readOwnLeft(store, repo))];
  const told = left.flatMap(({ heads }) => heads);
  const standing = told.flatMap(({ pr, head, isMereWord }) => (isMereWord === true ? [] : [{ pr, head }]));
  const owed = told.flatMap(({ pr, head, isMereWord }) => (isMereWord === true ? [{ pr, head }] : []));
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

/**
 * The heads of the lost record itself, as it told them with its last write. A landing may go on while each row of its
 * batch is resolved, so that no open row tells of it.
 */
async function readOwnLeft(
  store: Pick<EngineStore, 'readObligations'>,
  { id }: ManagedRepo,
): Promise<readonly LeftHeads[]> {
  try {
    const told = await store.readObligations(id);
    return told?.left == null ? [] : [told.left];
  } catch (error) {
    // As lost as the record: nothing would ever begin again if it had to be read.
    if (error instanceof StoreError && error.kind === 'unreadable') return [];
    throw error;
  }
}
