import type { TimelineEntry } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { FORGE_PAGE_SIZE_MAX } from '#core/domain/limits.ts';
import {
  AnswerTooLarge,
  ForgeError,
  ListingTooLong,
  type TimelinePart,
  type TimelineQuestion,
} from '#core/ports/forge.ts';
import { readBody } from './wire/read-body.ts';
import { PushBody, type TimelineRow, TimelineRows } from './wire/schema.ts';
import type { ForgeCall, ForgeTransport } from './wire/transport.ts';

const KINDS: ReadonlyMap<string, TimelineEntry['kind']> = new Map([
  ['pull_scheduled_merge', 'scheduled'],
  ['pull_cancel_scheduled_merge', 'cancelled'],
  ['pull_push', 'pushed'],
  ['reopen', 'reopened'],
  ['change_target_branch', 'retargeted'],
  ['add_dependency', 'dependency'],
  ['remove_dependency', 'dependency'],
]);

/**
 * Answers in a row without a new entry that are passed over. The forge leaves inline comments, and references from repositories that
 * the bot may not read, out of a page after it has cut it: an empty page is no sign of the end.
 */
const EMPTY_PAGES_MAX = 10;
/** The same where no schedule stands: what may be missed then lands nothing. */
const EMPTY_UNASKED_PAGES_MAX = 3;
/** A page of so many rows may be full, and the next page may hold entries of the same second. By default a full page has no fewer. */
const FULL_PAGE_ROWS_MIN = 30;
/** Calls of one reading from the start, and of one that goes on, which comes after all others. */
const CALLS_MAX = 20;
const CALLS_ON_MAX = 40;

/**
 * Reads a timeline, or what is newer than `since`, oldest first (decisions 0320, 0321). Numbers are given in the order of writing;
 * the forge sorts by the second of its clock, which can go back. Throws `AnswerTooLarge` where one entry alone is.
 */
export async function readTimeline(
  transport: ForgeTransport,
  pr: PullRequestNumber,
  { changedAt, since, givesAll = false }: TimelineQuestion = {},
): Promise<TimelinePart> {
  const pages = new TimelinePages(transport, pr, givesAll);
  const callsMax = since === undefined ? CALLS_MAX : CALLS_ON_MAX;
  const first = await walk(pages, changedAt, since, callsMax);
  // An account that deletes its comment between two pages moves a later entry over the edge of a page, out of sight.
  const again = first.counted === null ? first : await walk(pages, changedAt, first.counted.since, callsMax);
  const rows = new Map([...first.rows, ...again.rows]);
  const entries = [...rows.values()].sort((one, other) => one.id - other.id).map(toTimelineEntry);
  return { entries, readTo: again.readTo };
}

/** Reads a timeline, however long. Throws `ListingTooLong` where more was written in one second than one reading comes to. */
export async function readWholeTimeline(
  transport: ForgeTransport,
  pr: PullRequestNumber,
): Promise<readonly TimelineEntry[]> {
  const entries: TimelineEntry[] = [];
  for (let since: EpochMs | undefined; ; ) {
    const part = await readTimeline(transport, pr, since === undefined ? {} : { since });
    entries.push(...part.entries);
    if (part.readTo === null) return entries;
    if (part.readTo === since) throw new ListingTooLong('GET issues/{n}/timeline');
    since = part.readTo;
  }
}

interface Walked {
  readonly rows: ReadonlyMap<number, TimelineRow>;
  /** The time from which it goes on; null: that was all. */
  readonly readTo: EpochMs | null;
  /** Since when pages were asked for by number; null: none was. */
  readonly counted: { readonly since: EpochMs | undefined } | null;
}

/**
 * Asks for what is no older than the newest entry of the answer before, so that no deletion meanwhile hides an entry. Pages are
 * counted where that leads no further: comments that were edited since, or a second of more entries than a page holds. An entry as
 * new as the last change of the pull request, `changedAt`, is the last one. Without `changedAt` the timeline ends with the first
 * answer that brings no new entry.
 */
async function walk(
  pages: TimelinePages,
  changedAt: EpochMs | undefined,
  from: EpochMs | undefined,
  callsMax: number,
): Promise<Walked> {
  const rows = new Map<number, TimelineRow>();
  let counted: Walked['counted'] = null;
  let since = from;
  let page = 1;
  let empty = 0;
  let isAsNew = false;
  for (let calls = 0; calls < callsMax; calls += 1) {
    const part = await pages.read(since, page);
    if (part === null) {
      page = 1;
      continue;
    }
    const before = rows.size;
    for (const row of part) rows.set(row.id, row);
    if (page > 1 && part.length > 0) counted ??= { since };
    const newest = Math.max(0, ...part.map(({ created_at: at }) => at));
    isAsNew ||= changedAt !== undefined && newest >= changedAt;
    const isShort = part.length < pages.fullRows;
    empty = isShort && rows.size === before ? empty + 1 : 0;
    // A reading that goes on does not know whether a schedule stands.
    const mayBeAsked = from !== undefined || hasSchedule(rows);
    const emptyMax = changedAt === undefined ? 1 : mayBeAsked ? EMPTY_PAGES_MAX : EMPTY_UNASKED_PAGES_MAX;
    const isAll = pages.isWhole || part.length > FORGE_PAGE_SIZE_MAX;
    if (isAll || (isShort && isAsNew) || empty === emptyMax) return { rows, readTo: null, counted };
    const isFurther = counted === null && newest > (since ?? 0);
    [since, page] = isFurther ? [newest, 1] : [since, page + 1];
  }
  return { rows, readTo: since ?? 0, counted };
}

function hasSchedule(rows: ReadonlyMap<number, TimelineRow>): boolean {
  const written = [...rows.values()]
    .sort((one, other) => one.id - other.id)
    .map(({ type }) => KINDS.get(type));
  return written.lastIndexOf('scheduled') > written.lastIndexOf('cancelled');
}

/** Where no page is asked for, Forgejo and Gitea before 1.26 give all, and later versions the first page (forge facts, 3.4). */
class TimelinePages {
  readonly #transport: ForgeTransport;
  readonly #call: ForgeCall;
  #limit = FORGE_PAGE_SIZE_MAX;
  /** The last answer was all that there is. */
  isWhole = false;
  readonly #givesAll: boolean;
  #isCounted = false;

  constructor(transport: ForgeTransport, pr: PullRequestNumber, givesAll: boolean) {
    this.#givesAll = givesAll;
    const path = [...transport.repoPath, 'issues', String(pr), 'timeline'];
    this.#transport = transport;
    this.#call = { method: 'GET', label: 'GET issues/{n}/timeline', path };
  }

  /** Rows of a page that may be full. */
  get fullRows(): number {
    return Math.min(FULL_PAGE_ROWS_MIN, this.#limit);
  }

  /** Null: the answer is too large, and pages are smaller from now on, so that they count anew. */
  async read(since: EpochMs | undefined, page: number): Promise<readonly TimelineRow[] | null> {
    // The entries since a time may be as many as all of them.
    this.#isCounted ||= page > 1 || since !== undefined;
    const query = {
      limit: this.#limit,
      ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
      ...(this.#isCounted ? { page } : {}),
    };
    const call = { ...this.#call, query };
    try {
      const rows = readBody(TimelineRows, call, await this.#transport.request(call));
      this.isWhole = this.#givesAll && !this.#isCounted;
      return rows.filter((row) => row !== null);
    } catch (error) {
      if (!this.#isTooMuch(error)) throw error;
      if (this.#isCounted) this.#limit = Math.ceil(this.#limit / 2);
      this.#isCounted = true;
      return null;
    }
  }

  /** Too large; or, where all entries were asked for, more of them than one list may have. */
  #isTooMuch(error: unknown): boolean {
    if (error instanceof AnswerTooLarge) return this.#limit > 1;
    return !this.#isCounted && error instanceof ForgeError && error.status === 200;
  }
}

function toTimelineEntry(row: TimelineRow): TimelineEntry {
  const kind = row.type === 'label' ? labelKind(row) : (KINDS.get(row.type) ?? 'other');
  return {
    id: row.id,
    kind,
    at: row.created_at,
    user: row.user,
    newHead: kind === 'pushed' ? readNewHead(row.body) : null,
    ...(kind === 'retargeted' && row.old_ref !== '' ? { baseBefore: row.old_ref } : {}),
    ...(row.type === 'label' && row.label != null ? { label: row.label.name } : {}),
  };
}

/** Kind of a label entry: its body is "1" where the label was put on, and empty where it was taken off. */
function labelKind({ body }: TimelineRow): TimelineEntry['kind'] {
  return body === '1' ? 'labelled' : 'unlabelled';
}

/** Newest commit of a push: the last id, in a normal push (oldest first) and in a force push (`[old, new]`) alike. */
function readNewHead(body: string): CommitSha | null {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return null;
  }
  const parsed = PushBody.safeParse(json);
  return parsed.success ? (parsed.data.commit_ids.at(-1) ?? null) : null;
}
