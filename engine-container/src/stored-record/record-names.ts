import type { NodeRow } from '#core/domain/queue/batch.ts';
import type { Landing } from '../queue/record/landing-state.ts';
import type { QueueEntry } from '../queue/record/queue-entry.ts';
import type { Batch, Place, QueueRecord } from '../queue/record/record.ts';

/** The name of one thing in the code, and in stored records. */
type Names<T extends string> = Readonly<Partial<Record<T, string>>>;

/**
 * Stored records keep the names that their fields had first, so that every engine reads what another has written. A name
 * that is not listed is the same in both.
 */
const FIELDS = {
  restsUntil: 'pausedUntil',
  hasLeftOut: 'crowded',
  setAsideInARow: 'stagingAsides',
  outsideMove: 'passed',
  mergeTimeoutCounts: 'strikes',
  pendingStatuses: 'outbox',
  deferred: 'parked',
  entries: 'line',
  batches: 'roots',
} as const satisfies Names<keyof QueueRecord>;
/** The name of each field of the record where it is stored. */
export type StoredField = {
  [Name in keyof QueueRecord]-?: Name extends keyof typeof FIELDS ? (typeof FIELDS)[Name] : Name;
}[keyof QueueRecord];
const ENTRY_FIELDS: Names<keyof QueueEntry> = {
  passedOnStaleBase: 'cleared',
  failureProbability: 'doubt',
  timesSetAside: 'stagingAsides',
};
const BATCH_FIELDS: Names<keyof Batch> = {
  batchId: 'runId',
  stagedOn: 'onto',
  groundSha: 'baseSha',
  groundTree: 'baseTree',
};
const LANDING_FIELDS: Names<keyof Landing> = { takeBack: 'revoke' };
const ROW_FIELDS: Names<keyof NodeRow> = { batchId: 'runId' };
const PLACES: Readonly<Record<Place, string>> = { pipeline: 'lane', suspect: 'suspect', trial: 'screen' };
const STORED_FIELDS = invert(FIELDS);
const STORED_ENTRY_FIELDS = invert(ENTRY_FIELDS);
const STORED_BATCH_FIELDS = invert(BATCH_FIELDS);
const STORED_LANDING_FIELDS = invert(LANDING_FIELDS);
const STORED_ROW_FIELDS = invert(ROW_FIELDS);
const STORED_PLACES = invert(PLACES);

/** A document whose shape was checked: every field is what its name in the code says. */
interface Stored {
  readonly line: readonly Fields[];
  readonly roots: readonly (Fields & { readonly place: string; readonly landing: object | null })[];
}
type Fields = Readonly<Record<string, unknown>>;

export function toStoredNames(record: QueueRecord): Fields {
  const entries = record.entries.map((entry) => rename(entry, ENTRY_FIELDS));
  const batches = record.batches.map((batch) => {
    const landing = batch.landing === null ? null : rename(batch.landing, LANDING_FIELDS);
    return rename({ ...batch, place: PLACES[batch.place], landing }, BATCH_FIELDS);
  });
  return rename({ ...record, entries, batches }, FIELDS);
}

export function toCodeNames(stored: Stored): QueueRecord {
  const line = stored.line.map((entry) => rename(entry, STORED_ENTRY_FIELDS));
  const roots = stored.roots.map((batch) => {
    const landing = batch.landing === null ? null : rename(batch.landing, STORED_LANDING_FIELDS);
    return rename({ ...batch, place: STORED_PLACES[batch.place], landing }, STORED_BATCH_FIELDS);
  });
  return rename({ ...stored, line, roots }, STORED_FIELDS) as unknown as QueueRecord;
}

/** Rows of an unfinished save, which are stored beside the record. */
export function toStoredRows(rows: readonly NodeRow[]): readonly Fields[] {
  return rows.map((row) => rename(row, ROW_FIELDS));
}

export function toCodeRows(rows: readonly object[]): readonly NodeRow[] {
  return rows.map((row) => rename(row, STORED_ROW_FIELDS) as unknown as NodeRow);
}

/** One loop, as an entry of each of thousands passes here at each look. */
function rename<T extends object>(fields: T, names: Names<string>): Fields {
  const renamed: Record<string, unknown> = {};
  for (const name in fields) renamed[names[name] ?? name] = fields[name];
  return renamed;
}

function invert(names: Names<string>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(names).map(([name, stored]) => [stored ?? name, name]));
}
