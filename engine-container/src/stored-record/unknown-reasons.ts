import { REFUSALS } from '../queue/admission/admission-facts.ts';
import { isTakeBackReason, isTeardown } from '../queue/batches/end-batch.ts';
import { isDeferReason } from '../queue/record/deferral.ts';
import { DEPARTURES, type TakeBackReason } from '../queue/record/landing-state.ts';
import { BOUNCE_CAUSES, KNOWN_VERDICT_REASONS } from '../queue/record/tried-heads-state.ts';

type Row = Readonly<Record<string, unknown>>;

/** Each of its members is staged anew, and none is blamed. */
const REASON_OF_NEWER: TakeBackReason = 'candidate_changed';

/**
 * A stored record without reasons that only a newer release knows, as after a roll-back, instead of every reconcile failing on
 * one. A refusal and a deferral are judged anew; a bounce stands without its cause; a batch that is torn down, and a `success`
 * that is taken back, are so because a pull request changed. The shape of the rest is for the reader of the record to check.
 */
export function withoutUnknownReasons({ parked, line, roots, bounced, ...record }: Row): Row {
  return {
    ...record,
    parked: Array.isArray(parked) ? parked.filter((row) => isDeferReason(row?.reason)) : parked,
    line: changeRows(line, (entry) =>
      isOneOf(REFUSALS, entry.refusedFor) ? entry : { ...entry, refusedFor: null },
    ),
    roots: changeRows(roots, withKnownEnd),
    bounced: changeRows(bounced, withKnownCause),
  };
}

function withKnownEnd(batch: Row): Row {
  const { teardown, landing } = batch;
  const isKnown = (teardown ?? null) === null || isTeardown(teardown);
  const kept = isKnown ? batch : { ...batch, teardown: REASON_OF_NEWER };
  return isRow(landing) ? { ...kept, landing: withKnownWords(landing) } : kept;
}

function withKnownWords({ left, ...landing }: Row): Row {
  const { revoke: takeBack } = landing;
  const kept = isOneOf(DEPARTURES, left) ? { ...landing, left } : landing;
  if (!isRow(takeBack)) return kept;
  const { reason } = takeBack;
  if (isTeardown(reason) && isTakeBackReason(reason)) return kept;
  return { ...kept, revoke: { ...takeBack, reason: REASON_OF_NEWER } };
}

function withKnownCause({ cause, again, ...bounce }: Row): Row {
  return {
    ...bounce,
    ...(isOneOf(BOUNCE_CAUSES, cause) ? { cause } : {}),
    ...(isOneOf(KNOWN_VERDICT_REASONS, again) ? { again } : {}),
  };
}

function isOneOf(known: readonly string[], reason: unknown): boolean {
  return known.some((each) => each === reason);
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}

function changeRows(rows: unknown, change: (row: Row) => Row): unknown {
  return Array.isArray(rows) ? rows.map((row) => (isRow(row) ? change(row) : row)) : rows;
}
