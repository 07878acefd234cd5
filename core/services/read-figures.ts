import { type FiguresView, toFiguresView } from '../contracts/queue-figures.ts';
import { FIGURE_ROWS_MAX, FIGURE_WEEKS, WEEK_MS } from '../domain/api-limits.ts';
import type { TenantId } from '../domain/ids.ts';
import { readFigures, weekOf } from '../domain/queue-figures.ts';
import type { AccountStore } from '../ports/account-store.ts';
import type { DispatchStore } from '../ports/store.ts';
import type { Clock } from '../ports/system.ts';
import { loadOwnRepo } from './owned.ts';

export interface FiguresDeps {
  readonly store: Pick<DispatchStore, 'getRepo'> & Pick<AccountStore, 'readEventsSince' | 'readNodesSince'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * The last weeks of one branch. Where the tenant has more rows than are read, fewer weeks are told, never wrong ones. What
 * was scheduled a week before the first one is known, so that its landings have all their parts.
 */
export async function readRepoFigures(
  { store, clock }: FiguresDeps,
  tenantId: TenantId,
  id: string,
): Promise<FiguresView> {
  const repo = await loadOwnRepo(store, tenantId, id);
  const last = weekOf(clock.now());
  for (let count = FIGURE_WEEKS; count > 0; count -= 1) {
    const weeks = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * WEEK_MS);
    const since = last - count * WEEK_MS;
    const events = await store.readEventsSince(tenantId, since, FIGURE_ROWS_MAX);
    const rows = events === null ? null : await store.readNodesSince(tenantId, since, FIGURE_ROWS_MAX);
    if (events === null || rows === null) continue;
    const isOwn = ({ repoId }: { readonly repoId: string }): boolean => repoId === repo.id;
    return toFiguresView(readFigures(weeks, events.filter(isOwn), rows.filter(isOwn)));
  }
  return toFiguresView({ weeks: [], flakyWindows: [] });
}
