import type { QueueEntry } from './queue/queue-entry.ts';
import type { Place, QueueRecord } from './queue/record.ts';

/** What one thing is called in the code, and in stored records. */
type Names<T extends string> = Readonly<Partial<Record<T, string>>>;

/**
 * Stored records keep the names that their fields had first, so that every engine reads what another has written. A name
 * that is not listed is the same in both.
 */
const FIELDS: Names<keyof QueueRecord> = {
  mergeTimeoutCounts: 'strikes',
  pendingStatuses: 'outbox',
  deferred: 'parked',
  entries: 'line',
};
const ENTRY_FIELDS: Names<keyof QueueEntry> = { passedOnStaleBase: 'cleared', failureProbability: 'doubt' };
const PLACES: Readonly<Record<Place, string>> = { pipeline: 'lane', suspect: 'suspect', trial: 'screen' };
const STORED_FIELDS = invert(FIELDS);
const STORED_ENTRY_FIELDS = invert(ENTRY_FIELDS);
const STORED_PLACES = invert(PLACES);

/** A document whose shape was checked: every field is what its name in the code says. */
interface Stored {
  readonly line: readonly Fields[];
  readonly roots: readonly (Fields & { readonly place: string })[];
}
type Fields = Readonly<Record<string, unknown>>;

export function toStoredNames(record: QueueRecord): Fields {
  const entries = record.entries.map((entry) => rename(entry, ENTRY_FIELDS));
  const roots = record.roots.map((root) => ({ ...root, place: PLACES[root.place] }));
  return rename({ ...record, entries, roots }, FIELDS);
}

export function toCodeNames(stored: Stored): QueueRecord {
  const line = stored.line.map((entry) => rename(entry, STORED_ENTRY_FIELDS));
  const roots = stored.roots.map((root): Fields => ({ ...root, place: STORED_PLACES[root.place] }));
  return rename({ ...stored, line, roots }, STORED_FIELDS) as unknown as QueueRecord;
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
