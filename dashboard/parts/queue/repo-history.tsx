import { useId } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { EVENT_QUERY_CHARS_MAX } from '../../../core/domain/api-limits.ts';
import { ACTIVITY_EVENTS } from '../../../core/domain/queue/batch.ts';
import { useEvents } from '../../data/hooks.ts';
import { useSettledSearch } from '../../data/settled-search.ts';
import { Events } from '../../pages/overview.tsx';
import { path } from '../../routes.ts';
import { wordOfEvent } from '../../view/words.ts';
import { Loading } from '../frame/basics.tsx';
import type { RepoView } from '../frame/repo-frame.tsx';
import { ListProblem } from '../frame/wrong-address.tsx';

const SEARCH_SETTLES_MS = 400;

/** Events of one repository. Filters and place are in the address, so that a reload or a shared link shows the same. */
export function RepoHistory({ view }: { readonly view: RepoView }) {
  const { repo, feed } = view;
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const text = search.get('q') ?? '';
  const event = ACTIVITY_EVENTS.find((each) => each === search.get('event')) ?? null;
  const before = search.get('before');
  // A changed filter begins with the newest: the place was one of another list.
  const seek = (q: string, kind: string | null) =>
    navigate(path.queue(repo.id, { q: q || null, event: kind }), { replace: true });
  const [typed, setTyped] = useSettledSearch(text, SEARCH_SETTLES_MS, (wanted) => seek(wanted, event));
  const ids = { kind: useId(), text: useId() };
  const found = useEvents(repo.id, { ...filterOf(text), event, before });
  const isFiltered = text !== '' || event !== null;
  const filter = { q: text || null, event };
  return (
    <section className="panel" aria-labelledby="history-title">
      <h2 id="history-title">{before === null ? 'Newest events' : 'Older events'}</h2>
      <div className="find">
        <label htmlFor={ids.kind}>Show</label>
        <select
          id={ids.kind}
          value={event ?? ''}
          onChange={({ target }) => seek(typed, target.value || null)}
        >
          <option value="">all events</option>
          {ACTIVITY_EVENTS.map((each) => (
            <option key={each} value={each}>
              {wordOfEvent(each).name}
            </option>
          ))}
        </select>
        <label htmlFor={ids.text} className="sr-only">
          Search events
        </label>
        <input
          id={ids.text}
          type="search"
          autoComplete="off"
          placeholder="#12, or words of a title"
          maxLength={EVENT_QUERY_CHARS_MAX}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </div>
      {found.data === undefined ? (
        found.error === null ? (
          <Loading what="the events" />
        ) : (
          <ListProblem
            error={found.error}
            whole={{
              to: path.queue(repo.id, before === null ? { event } : filter),
              name: 'Newest events',
            }}
          />
        )
      ) : found.data.events.length === 0 ? (
        <p className="hint" role="status">
          {sayNone(isFiltered || before !== null, found.data.next !== null)}
        </p>
      ) : (
        <Events events={found.data.events} repos={feed.repos} withRepo={false} />
      )}
      <nav className="row" aria-label="Pages of events">
        {before !== null && found.data !== undefined && (
          <Link href={path.queue(repo.id, filter)}>Newest events</Link>
        )}
        {typeof found.data?.next === 'string' && (
          <Link href={path.queue(repo.id, { ...filter, before: found.data.next })}>Older events</Link>
        )}
      </nav>
    </section>
  );
}

/** A number with or without "#" asks for that pull request, all else for words. */
function filterOf(text: string): { readonly q: string | null; readonly pr: string | null } {
  const [, pr = null] = /^\s*#?([1-9]\d{0,8})\s*$/.exec(text) ?? [];
  return pr === null ? { q: text || null, pr } : { q: null, pr };
}

function sayNone(isPart: boolean, isMore: boolean): string {
  if (isMore) return 'None among the rows that were looked through. Older ones may have some.';
  return isPart ? 'No event fits.' : 'Nothing has happened here yet.';
}
