import { FORGE_PAGE_SIZE_MAX, FORGE_ROWS_MAX } from '#core/domain/limits.ts';
import { AnswerTooLarge, ListingTooLong } from '#core/ports/forge.ts';
import type { ForgeAnswer, ForgeCall, ForgeTransport } from './transport.ts';

/** A listing that keeps changing under the reader is taken as it is after this many fresh starts. */
const RESTARTS_MAX = 2;
/** Sizes of pages, from the first that is asked for to a single row. A page is too large where people wrote megabytes. */
const PAGE_SIZES = [FORGE_PAGE_SIZE_MAX, 10, 1] as const;

export interface PagingOptions {
  /** A row that is too large alone is left out: what its author wrote must not keep the others from being read. */
  readonly leavesOutLarge?: boolean;
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
  return inSmallerPages(transport, PAGE_SIZES, async (size) => {
    for (let restarts = 0; ; restarts += 1) {
      const listing = await readPagesOnce({ transport, call, readRows, size, options });
      if (listing.stable || restarts === RESTARTS_MAX) return listing.rows;
    }
  });
}

/** The first rows of a listing, one page of `rowsMax`: fewer where the forge has fewer, or caps its pages below that. */
export async function readFirstRows<Row>(
  transport: ForgeTransport,
  call: ForgeCall,
  rowsMax: number,
  readRows: (answer: ForgeAnswer) => readonly Row[],
): Promise<readonly Row[]> {
  const sizes = [rowsMax, ...PAGE_SIZES.filter((size) => size < rowsMax)];
  return inSmallerPages(transport, sizes, async (size) => {
    const pages = { transport, call, readRows, size, options: { leavesOutLarge: true } };
    const rows: Row[] = [];
    for (let page = 1; (page - 1) * size < rowsMax; page += 1) {
      const read = await readPage(pages, page);
      rows.push(...(read?.rows ?? []));
      if (read?.rows.length === 0) break;
    }
    return rows;
  });
}

/** Pages of this size were too large for a client, which lives for one reconcile: it asks for no such page again. */
const TOO_LARGE = new WeakMap<ForgeTransport, number>();

/** A listing of which one page is too large is read again in smaller ones. */
async function inSmallerPages<Rows>(
  transport: ForgeTransport,
  sizes: readonly number[],
  read: (size: number) => Promise<Rows>,
): Promise<Rows> {
  for (const size of sizes.filter((each) => each > 1)) {
    if (size >= (TOO_LARGE.get(transport) ?? Number.POSITIVE_INFINITY)) continue;
    try {
      return await read(size);
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error;
      TOO_LARGE.set(transport, size);
    }
  }
  return read(1);
}

interface Pages<Row> {
  readonly transport: ForgeTransport;
  readonly call: ForgeCall;
  readonly readRows: (answer: ForgeAnswer) => readonly Row[];
  readonly size: number;
  readonly options: PagingOptions;
}

async function readPagesOnce<Row>(
  pages: Pages<Row>,
): Promise<{ readonly rows: readonly Row[]; readonly stable: boolean }> {
  const rows: Row[] = [];
  const totals = new Set<number | null>();
  let leftOut = 0;
  for (let page = 1; page <= FORGE_ROWS_MAX / pages.size; page += 1) {
    const read = await readPage(pages, page);
    if (read === null) {
      leftOut += 1;
      continue;
    }
    totals.add(read.total);
    const seen = rows.length + leftOut + read.rows.length;
    if (Math.max(read.total ?? 0, seen) > FORGE_ROWS_MAX) break;
    rows.push(...read.rows);
    const isEnd = read.rows.length === 0 || (read.total !== null && seen >= read.total);
    if (isEnd) return { rows, stable: totals.size === 1 };
  }
  // Part of a listing must not pass for all of it.
  throw new ListingTooLong(pages.call.label);
}

/** Null: its one row is left out. */
async function readPage<Row>(
  { transport, call, readRows, size, options }: Pages<Row>,
  page: number,
): Promise<{ readonly rows: readonly Row[]; readonly total: number | null } | null> {
  const query = { ...call.query, page, limit: size };
  try {
    const answer = await transport.request({ ...call, query });
    return { rows: readRows(answer), total: readTotal(answer) };
  } catch (error) {
    if (error instanceof AnswerTooLarge && size === 1 && options.leavesOutLarge === true) return null;
    throw error;
  }
}

/** `X-Total-Count`; null when the endpoint or a proxy leaves it out. */
export function readTotal(answer: ForgeAnswer): number | null {
  const header = answer.headers['x-total-count'] ?? '';
  return /^\d+$/.test(header) ? Number(header) : null;
}
