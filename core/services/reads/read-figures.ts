import { type FiguresView, toFiguresView } from '../../contracts/queue/queue-figures.ts';
import { FIGURE_ROWS_MAX, FIGURE_WEEKS, WEEK_MS } from '../../domain/api-limits.ts';
import type { EpochMs, RepoId, TenantId } from '../../domain/ids.ts';
import type { EventHead } from '../../domain/queue/activity.ts';
import type { NodeRow } from '../../domain/queue/batch.ts';
import { readFigures, weekOf } from '../../domain/queue/queue-figures.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { DispatchStore } from '../../ports/store.ts';
import type { Clock } from '../../ports/system.ts';
import { loadOwnRepo } from '../repos/owned.ts';

type FigureStore = Pick<AccountStore, 'readEventsSince' | 'readNodesSince'>;

export interface FiguresDeps {
  readonly store: Pick<DispatchStore, 'getRepo'> & FigureStore;
  readonly clock: Pick<Clock, 'now'>;
}

export interface FigureRows {
  /** Begins of the weeks that they tell exactly, oldest first. */
  readonly weeks: readonly EpochMs[];
  readonly events: readonly EventHead[];
  readonly rows: readonly NodeRow[];
}

/** The last weeks of one branch, of exact rows alone. */
export async function readRepoFigures(
  deps: FiguresDeps,
  tenantId: TenantId,
  id: string,
): Promise<FiguresView> {
  const repo = await loadOwnRepo(deps.store, tenantId, id);
  const read = await readFigureRows(deps, tenantId, repo.id);
  if (read === null) return toFiguresView({ weeks: [], flakyWindows: [] });
  return toFiguresView(readFigures(read.weeks, read.events, read.rows));
}

/**
 * Rows and events of which the figures of one branch are made. Where the tenant has more rows than are read, fewer weeks are told, never
 * wrong ones; null: not even one. What was scheduled a week before the first one is known, so that its landings have all
 * their parts.
 */
export async function readFigureRows(
  { store, clock }: { readonly store: FigureStore; readonly clock: FiguresDeps['clock'] },
  tenantId: TenantId,
  repoId: RepoId,
): Promise<FigureRows | null> {
  const last = weekOf(clock.now());
  for (let count = FIGURE_WEEKS; count > 0; count -= 1) {
    const weeks = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * WEEK_MS);
    const since = last - count * WEEK_MS;
    const events = await store.readEventsSince(tenantId, since, FIGURE_ROWS_MAX);
    const rows = events === null ? null : await store.readNodesSince(tenantId, since, FIGURE_ROWS_MAX);
    if (events === null || rows === null) continue;
    const isOwn = (each: { readonly repoId: string }): boolean => each.repoId === repoId;
    return { weeks, events: events.filter(isOwn), rows: rows.filter(isOwn) };
  }
  return null;
}
