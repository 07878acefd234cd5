import type { EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { DecisionContext } from '../decision-context.ts';
import { labelRankOf, type QueueEntry, rankOf } from '../record/queue-entry.ts';
import { waitingEntries } from './ready.ts';

/** So many of a line are no crowd, whatever share of it they are. */
const AUTHOR_WAITING_FREE = 4;
/** An author with more than this share of a line has one turn in so many as the share says. */
const AUTHOR_LINE_SHARE_MAX = 1 / 4;
/** Turns of others between two turns of such an author, while others wait. */
const TURNS_BETWEEN = 1 / AUTHOR_LINE_SHARE_MAX - 1;

export interface Line {
  readonly now: EpochMs;
  /** Whether it may be staged in its turn. All others keep the places of their schedules. */
  readonly isWaiting: (entry: QueueEntry) => boolean;
  /** Login of its author, in lower case; undefined: not known, which makes no crowd. */
  readonly authorOf: (pr: PullRequestNumber) => string | undefined;
  /** Authors of those that were staged last, the latest at the end. */
  readonly lately: readonly string[];
}

/**
 * The order in which what waits is staged (decision 0215): the order of the queue, in which an author who has more than a
 * share of the line of one priority takes turns with the others of that line. The order of those under the share among
 * each other is never changed, and nothing comes before them that was scheduled after them.
 */
export function orderLine(pass: DecisionContext): void {
  const { record } = pass;
  const line = lineOf(pass);
  if (line === null) return;
  const isCrowded = crowdsOf(record.entries, line).size > 0;
  if (isCrowded) record.turns = line.lately;
  else delete record.turns;
  if (isCrowded) record.entries = orderByTurns(record.entries, line);
}

/**
 * The pull requests of a batch up to the last one of an author under the share, or that has passed: what else a crowd has behind it would only add
 * to what may fail with it. All of them where there is none.
 */
export function endBeforeCrowd(pass: DecisionContext, entries: readonly QueueEntry[]): readonly QueueEntry[] {
  const line = pass.record.turns === undefined ? null : lineOf(pass);
  const isOfCrowd = line === null ? null : crowdsIn(pass.record.entries, line);
  if (isOfCrowd === null || entries.every(isOfCrowd)) return entries;
  const last = entries.findLastIndex((entry) => entry.passedOnStaleBase || !isOfCrowd(entry));
  return entries.slice(0, last + 1);
}

/** Tells the pull requests of authors who crowd this line; null: no author does. */
export function crowdsIn(
  entries: readonly QueueEntry[],
  line: Pick<Line, 'isWaiting' | 'authorOf'>,
): ((entry: QueueEntry) => boolean) | null {
  const crowds = crowdsOf(entries, line);
  if (crowds.size === 0) return null;
  return (entry) => {
    const author = line.authorOf(entry.pr);
    return author !== undefined && crowds.has(keyOf(entry, author));
  };
}

/** Null: what may be staged is not known in this look. */
export function lineOf(pass: DecisionContext): Line | null {
  const { record, s } = pass;
  if (!s.full || !s.base.known) return null;
  const authors = authorsOf(pass);
  const waiting = new Set(waitingEntries(pass, s.base.value.tree, true));
  return {
    now: s.now,
    isWaiting: (entry) => waiting.has(entry),
    authorOf: (pr) => authors.get(pr),
    lately: record.turns ?? [],
  };
}

/** Whose turns these were. Kept only while an author crowds a line. */
export function noteTurns(pass: DecisionContext, entries: readonly QueueEntry[]): void {
  const { record } = pass;
  if (record.turns === undefined) return;
  const authors = authorsOf(pass);
  record.turns = [...record.turns, ...entries.map(({ pr }) => authors.get(pr) ?? '')].slice(-TURNS_BETWEEN);
}

/** Batches are opened while the list cannot be read, too: then the authors are those that the entries keep. */
function authorsOf({ record, s }: DecisionContext): ReadonlyMap<PullRequestNumber, string> {
  const kept = record.entries.flatMap(({ pr, author }) =>
    author === undefined ? [] : [[pr, author] as const],
  );
  const views = s.pulls.known ? s.pulls.value : [];
  const listed = views.map(({ pull }) => [pull.number, pull.author] as const);
  return new Map([...kept, ...listed].map(([pr, author]) => [pr, author.toLowerCase()]));
}

export function orderByTurns(entries: readonly QueueEntry[], line: Line): QueueEntry[] {
  const crowds = crowdsOf(entries, line);
  const crowdOf = (entry: QueueEntry): string | null => {
    const author = line.isWaiting(entry) ? line.authorOf(entry.pr) : undefined;
    return author !== undefined && crowds.has(keyOf(entry, author)) ? author : null;
  };
  const oldest = new Map<string, QueueEntry>();
  const bySchedule = [...entries].sort((a, b) => a.queuedAt - b.queuedAt || a.pr - b.pr);
  for (const entry of bySchedule) {
    const crowd = crowdOf(entry);
    if (crowd !== null && !oldest.has(keyOf(entry, crowd))) oldest.set(keyOf(entry, crowd), entry);
  }
  // What waits for its own author grows older without coming closer: of a crowd only the oldest is lifted, in its turn.
  const ages = (entry: QueueEntry): boolean => {
    const crowd = crowdOf(entry);
    return crowd === null || (oldest.get(keyOf(entry, crowd)) === entry && !line.lately.includes(crowd));
  };
  const rankIn = new Map(
    entries.map((entry) => [entry, ages(entry) ? rankOf(entry, line.now) : labelRankOf(entry)]),
  );
  const sorted = bySchedule.sort((a, b) => (rankIn.get(a) ?? 0) - (rankIn.get(b) ?? 0));
  const turns: (string | null)[] = [...line.lately];
  const shared = [...new Set(sorted.map((entry) => rankIn.get(entry)))].flatMap((rank) =>
    shareOut(
      sorted.filter((entry) => rankIn.get(entry) === rank && line.isWaiting(entry)),
      turns,
      crowdOf,
    ),
  );
  let next = 0;
  return sorted.map((entry) => (line.isWaiting(entry) ? (shared[next++] ?? entry) : entry));
}

const keyOf = (entry: QueueEntry, author: string): string => `${labelRankOf(entry)} ${author}`;

/** Authors with more than their share of what waits with one priority, as `keyOf` writes them. */
function crowdsOf(
  entries: readonly QueueEntry[],
  { isWaiting, authorOf }: Pick<Line, 'isWaiting' | 'authorOf'>,
): ReadonlySet<string> {
  const inLine = new Map<number, number>();
  const ofAuthor = new Map<string, { rank: number; count: number }>();
  for (const entry of entries.filter(isWaiting)) {
    const rank = labelRankOf(entry);
    inLine.set(rank, (inLine.get(rank) ?? 0) + 1);
    const author = authorOf(entry.pr);
    if (author === undefined) continue;
    const key = keyOf(entry, author);
    ofAuthor.set(key, { rank, count: (ofAuthor.get(key)?.count ?? 0) + 1 });
  }
  const crowds = [...ofAuthor].filter(
    ([, { rank, count }]) =>
      count > AUTHOR_WAITING_FREE && count > AUTHOR_LINE_SHARE_MAX * (inLine.get(rank) ?? 0),
  );
  return new Set(crowds.map(([key]) => key));
}

/**
 * One line: next is the earliest of those whose turn was longest ago. Only the turns of a crowd are counted. `turns` are
 * those before it, and it appends its own: null is one under the share.
 */
function shareOut(
  line: readonly QueueEntry[],
  turns: (string | null)[],
  crowdOf: (entry: QueueEntry) => string | null,
): readonly QueueEntry[] {
  const rows = new Map<string | null, number[]>();
  for (const [place, entry] of line.entries()) {
    const crowd = crowdOf(entry);
    const row = rows.get(crowd);
    if (row === undefined) rows.set(crowd, [place]);
    else row.push(place);
  }
  const order: QueueEntry[] = [];
  while (order.length < line.length) {
    const recent = turns.slice(-TURNS_BETWEEN);
    const heads = [...rows].flatMap(([crowd, [place]]) =>
      place === undefined ? [] : [{ crowd, place, since: crowd === null ? -1 : recent.lastIndexOf(crowd) }],
    );
    heads.sort((a, b) => a.since - b.since || a.place - b.place);
    const [next] = heads;
    if (next === undefined) break;
    rows.get(next.crowd)?.shift();
    const entry = line[next.place];
    if (entry !== undefined) order.push(entry);
    turns.push(next.crowd);
  }
  return order;
}
