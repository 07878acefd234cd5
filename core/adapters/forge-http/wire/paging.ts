import { FORGE_PAGE_SIZE_MAX, FORGE_ROWS_MAX } from '#core/domain/limits.ts';
import { AnswerTooLarge, ListingTooLong } from '#core/ports/forge.ts';
import type { ForgeAnswer, ForgeCall, ForgeTransport } from './transport.ts';

/** Fresh starts after which a listing that keeps changing is taken as it is. */
const RESTARTS_MAX = 2;
/** Rows of a page where one of the usual size is too large, because people wrote megabytes. */
const SMALL_PAGE_SIZE = 10;

export interface PagingOptions {
  /**
   * Whether a row that is too large by itself is left out, so that what its author wrote does not keep the others from
   * being read.
   */
  readonly leavesOutLarge?: boolean;
}

interface Listing<Row> {
  readonly transport: ForgeTransport;
  readonly call: ForgeCall;
  readonly readRows: (answer: ForgeAnswer) => readonly Row[];
  readonly options: PagingOptions;
}

interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number | null;
}

/**
 * Reads every page of a listing. `readRows` turns one answer into its rows, null rows of the forge included, because
 * they count towards the total.
 *
 * Ends when `X-Total-Count` rows have been seen or at an empty page. A short page is no sign of the end: the instance may
 * cap pages below what was asked for (forge facts, 1). A total that changes on the way means that rows have shifted
 * across a page edge, one of them possibly out of sight: the listing starts again. Throws `ListingTooLong`, at the first
 * page where that tells the total.
 */
export async function readAllPages<Row>(
  transport: ForgeTransport,
  call: ForgeCall,
  readRows: (answer: ForgeAnswer) => readonly Row[],
  options: PagingOptions = {},
): Promise<readonly Row[]> {
  const listing = { transport, call, readRows, options };
  for (const size of [FORGE_PAGE_SIZE_MAX, SMALL_PAGE_SIZE]) {
    const rows = await readUnlessTooLarge(listing, size);
    if (rows !== null) return rows;
  }
  return (await readStable(listing, 1)) ?? [];
}

/** The first rows of a listing, one page of `rowsMax`: fewer where the forge has fewer, or caps its pages below that. */
export async function readFirstRows<Row>(
  transport: ForgeTransport,
  call: ForgeCall,
  rowsMax: number,
  readRows: (answer: ForgeAnswer) => readonly Row[],
): Promise<readonly Row[]> {
  const listing = { transport, call, readRows, options: { leavesOutLarge: true } };
  for (const size of [rowsMax, SMALL_PAGE_SIZE, 1]) {
    const rows = size < tooLargeOf(listing).size ? await readFirstPages(listing, size, rowsMax) : null;
    if (rows !== null) return rows;
  }
  return [];
}

/** Reads the first pages; null: a page was too large. */
async function readFirstPages<Row>(
  listing: Listing<Row>,
  size: number,
  rowsMax: number,
): Promise<readonly Row[] | null> {
  const rows: Row[] = [];
  for (let page = 1; (page - 1) * size < rowsMax; page += 1) {
    const read = await readPage(listing, size, page);
    if (read === null && size > 1) return null;
    rows.push(...(read?.rows ?? []));
    if (read?.rows.length === 0) break;
  }
  return rows;
}

/** Pages that were too large for a client, which lives for one reconcile: it asks for none of them again. */
interface TooLarge {
  /** The smallest size of pages of which one was. */
  size: number;
  /** Pages of the small size that were too large, by listing and number. */
  readonly pages: Set<string>;
}

const TOO_LARGE = new WeakMap<ForgeTransport, Map<string, TooLarge>>();

/** Pages of this path that were too large: a row of megabytes makes no other listing longer. */
function tooLargeOf({ transport, call }: Pick<Listing<unknown>, 'transport' | 'call'>): TooLarge {
  const byPath = TOO_LARGE.get(transport) ?? new Map<string, TooLarge>();
  TOO_LARGE.set(transport, byPath);
  const path = call.path.join('/');
  const found = byPath.get(path) ?? { size: Number.POSITIVE_INFINITY, pages: new Set() };
  byPath.set(path, found);
  return found;
}

/** Reads a listing. Null: pages of this size are too large, or rows cannot be told apart by pages. */
async function readUnlessTooLarge<Row>(listing: Listing<Row>, size: number): Promise<readonly Row[] | null> {
  if (size > SMALL_PAGE_SIZE && size >= tooLargeOf(listing).size) return null;
  return readStable(listing, size);
}

async function readStable<Row>(listing: Listing<Row>, size: number): Promise<readonly Row[] | null> {
  for (let restarts = 0; ; restarts += 1) {
    const read = await readPagesOnce(listing, size);
    if (read === null || read.stable || restarts === RESTARTS_MAX) return read?.rows ?? null;
  }
}

async function readPagesOnce<Row>(
  listing: Listing<Row>,
  size: number,
): Promise<{ readonly rows: readonly Row[]; readonly stable: boolean } | null> {
  const totals = new Set<number | null>();
  const pages: (Page<Row> | null)[] = [];
  let seen = 0;
  while (pages.length < FORGE_ROWS_MAX / size) {
    const page = await readPage(listing, size, pages.length + 1);
    pages.push(page);
    if (page === null) {
      if (size > SMALL_PAGE_SIZE) return null;
      seen += size;
      continue;
    }
    const { rows, total } = page;
    seen += rows.length;
    if (Math.max(total ?? 0, seen) > FORGE_ROWS_MAX) break;
    if (rows.length > 0 && (total === null || seen < total)) continue;
    const whole = size === 1 ? pages : await fillIn(listing, size, pages);
    for (const each of whole ?? []) if (each !== null) totals.add(each.total);
    return whole && { rows: whole.flatMap((each) => each?.rows ?? []), stable: totals.size === 1 };
  }
  // Part of a listing must not pass for all of it.
  throw new ListingTooLong(listing.call.label);
}

/**
 * Replaces each page that was too large by pages of single rows: one row of megabytes costs a few calls, and not one
 * for each other row. Null: the forge may cap its pages below this size, so that page numbers mean other rows.
 */
async function fillIn<Row>(
  listing: Listing<Row>,
  size: number,
  pages: readonly (Page<Row> | null)[],
): Promise<readonly (Page<Row> | null)[] | null> {
  const isFull = (page: Page<Row> | null): boolean => page?.rows.length === size;
  const areFull = pages.slice(0, -1).every((page) => page === null || isFull(page)) && pages.some(isFull);
  if (pages.includes(null) && !areFull) return null;
  const filled: (Page<Row> | null)[] = [];
  for (const [at, page] of pages.entries()) {
    if (page !== null) filled.push(page);
    for (let nth = 1; page === null && nth <= size; nth += 1) {
      const single = await readPage(listing, 1, at * size + nth);
      filled.push(single);
      if (single?.rows.length === 0) break;
    }
  }
  return filled;
}

/** Reads one page. Null: it is too large, or its one row is left out. */
async function readPage<Row>(listing: Listing<Row>, size: number, page: number): Promise<Page<Row> | null> {
  const { transport, call, readRows, options } = listing;
  const tooLarge = tooLargeOf(listing);
  const name = `${call.label} ${page}`;
  if (size === SMALL_PAGE_SIZE && tooLarge.pages.has(name)) return null;
  const query = { ...call.query, page, limit: size };
  try {
    const answer = await transport.request({ ...call, query });
    return { rows: readRows(answer), total: readTotal(answer) };
  } catch (error) {
    if (!(error instanceof AnswerTooLarge) || (size === 1 && options.leavesOutLarge !== true)) throw error;
    if (size > 1) tooLarge.size = Math.min(tooLarge.size, size);
    if (size === SMALL_PAGE_SIZE) tooLarge.pages.add(name);
    return null;
  }
}

/** `X-Total-Count`; null when the endpoint or a proxy leaves it out. */
export function readTotal(answer: ForgeAnswer): number | null {
  const header = answer.headers['x-total-count'] ?? '';
  return /^\d+$/.test(header) ? Number(header) : null;
}
