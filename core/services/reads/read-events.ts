import { toActivityEvent } from '../../contracts/queue/activity.ts';
import type { EventHistoryView } from '../../contracts/queue/event-history.ts';
import { EVENTS_SCANNED_ROWS_MAX } from '../../domain/api-limits.ts';
import type { PullRequestNumber, TenantId } from '../../domain/ids.ts';
import type { ActivityEvent, ActivityEventName } from '../../domain/queue/batch.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { DispatchStore } from '../../ports/store.ts';
import { loadOwnRepo } from '../repos/owned.ts';

export interface EventsWanted {
  readonly event?: ActivityEventName | undefined;
  readonly pr?: PullRequestNumber | undefined;
  /** Words that the title, the author or the reason has, each of them, in any case. */
  readonly q: string;
  readonly limit: number;
  readonly before?: string | undefined;
}

/** One page of what happened in a repository. What it costs is bounded by rows: `next` goes on where they ended. */
export async function readEvents(
  { store }: { readonly store: Pick<DispatchStore, 'getRepo'> & Pick<AccountStore, 'readEventHistory'> },
  tenantId: TenantId,
  id: string,
  { limit, before, ...filter }: EventsWanted,
): Promise<EventHistoryView> {
  const repo = await loadOwnRepo(store, tenantId, id);
  const wanted = matcherOf(filter);
  const { events, next } = await store.readEventHistory(repo, {
    wanted,
    limit,
    before: before ?? null,
    scannedMax: EVENTS_SCANNED_ROWS_MAX,
  });
  return { events: events.map((event) => toActivityEvent(event, repo.instanceUrl)), next };
}

function matcherOf({ event, pr, q }: Pick<EventsWanted, 'event' | 'pr' | 'q'>) {
  const words = q.toLowerCase().split(/\s+/u);
  return (each: ActivityEvent): boolean => {
    if (event !== undefined && each.event !== event) return false;
    if (pr !== undefined && each.pr !== pr) return false;
    const text = `${each.title} ${each.author ?? ''} ${each.reason ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
