import { type ApiClient, ApiError, type ResultOf } from '#core/contracts/routes/client.ts';
import type { Repo } from './asked.ts';
import { describeEvent } from './log.ts';

export type Happened = ResultOf<'readEvents'>['events'][number];

/** Events of the first look, where those that the service lists are all of other repositories. */
const FIRST_EVENTS_MAX = 8;
/** As many as the service gives for one page. */
const PAGE_EVENTS_MAX = 50;
const PAGES_MAX = 10;

interface Looked {
  readonly seen: { readonly events: readonly Happened[] };
  readonly isCut: boolean;
}

/**
 * The events of a look, newest first, with those since the look before that its short list leaves out: a batch of many pull
 * requests makes more of them at once. Null: the service has a fault that is temporary.
 * @param told lines of the look before; null: this is the first
 */
export async function readMissed(
  api: ApiClient,
  { id }: Pick<Repo, 'id'>,
  { seen: { events }, isCut }: Looked,
  told: ReadonlySet<string> | null,
): Promise<readonly Happened[] | null> {
  const isTold = (event: Happened): boolean => told?.has(describeEvent(event)) === true;
  if (!isCut || (told === null ? events.length > 0 : events.some(isTold))) return events;
  const limit = told === null ? FIRST_EVENTS_MAX : PAGE_EVENTS_MAX;
  const found: Happened[] = [];
  let before: string | null = null;
  try {
    for (let page = 0; page < (told === null ? 1 : PAGES_MAX); page += 1) {
      const read: ResultOf<'readEvents'> = await api.readEvents({
        id,
        query: { limit: String(limit), ...(before === null ? {} : { before }) },
      });
      found.push(...read.events);
      before = read.next;
      if (before === null || read.events.some(isTold)) break;
    }
  } catch (error) {
    if (error instanceof ApiError && error.retryable) return null;
    throw error;
  }
  const last = found.findIndex(isTold);
  // One that was told stays at the end, as the mark of the next look.
  return last === -1 ? found : found.slice(0, last + 1);
}
