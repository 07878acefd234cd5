import { FORGE_PAGE_SIZE_MAX, FORGE_PAGES_MAX, FORGE_ROWS_MAX } from '#core/domain/limits.ts';
import { ListingTooLong } from '#core/ports/forge.ts';
import type { ForgeAnswer, ForgeCall, ForgeTransport } from './transport.ts';

/** A listing that keeps changing under the reader is taken as it is after this many fresh starts. */
const RESTARTS_MAX = 2;

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
): Promise<readonly Row[]> {
  for (let restarts = 0; ; restarts += 1) {
    const listing = await readPagesOnce(transport, call, readRows);
    if (listing.stable || restarts === RESTARTS_MAX) return listing.rows;
  }
}

async function readPagesOnce<Row>(
  transport: ForgeTransport,
  call: ForgeCall,
  readRows: (answer: ForgeAnswer) => readonly Row[],
): Promise<{ readonly rows: readonly Row[]; readonly stable: boolean }> {
  const rows: Row[] = [];
  let firstTotal: number | null = null;
  let stable = true;
  for (let page = 1; page <= FORGE_PAGES_MAX; page += 1) {
    const query = { ...call.query, page, limit: FORGE_PAGE_SIZE_MAX };
    const answer = await transport.request({ ...call, query });
    const more = readRows(answer);
    const total = readTotal(answer);
    if (page === 1) firstTotal = total;
    if (total !== firstTotal) stable = false;
    if (Math.max(total ?? 0, rows.length + more.length) > FORGE_ROWS_MAX) break;
    rows.push(...more);
    if (more.length === 0 || (total !== null && rows.length >= total)) return { rows, stable };
  }
  // Part of a listing must not pass for all of it.
  throw new ListingTooLong(call.label);
}

/** `X-Total-Count`; null when the endpoint or a proxy leaves it out. */
export function readTotal(answer: ForgeAnswer): number | null {
  const header = answer.headers['x-total-count'] ?? '';
  return /^\d+$/.test(header) ? Number(header) : null;
}
