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
  const places = invert(PLACES);
  const names = invert(ENTRY_FIELDS);
  const line = stored.line.map((entry) => rename(entry, names));
  const roots = stored.roots.map((root): Fields => ({ ...root, place: places[root.place] }));
  return rename({ ...stored, line, roots }, invert(FIELDS)) as unknown as QueueRecord;
}

function rename(fields: object, names: Names<string>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]));
}

function invert(names: Names<string>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(names).map(([name, stored]) => [stored ?? name, name]));
}
