import type { BlobId, EpochMs, TreeHash } from '#core/domain/ids.ts';
import { CONFIRMED_FAILURES_MIN, EVIDENCE_ENTRIES_MAX } from '#core/domain/limits.ts';
import type { Evidence } from '../record/evidence-state.ts';
import type { Batch, QueueRecord } from '../record/record.ts';
import { startOf, treeOf } from '../record/record.ts';

/** The evidence of one tree under one gate workflow. A success proves it, whatever failed before: that was a flake. */
export interface Verdict {
  readonly proof: Evidence | null;
  readonly failures: readonly Evidence[];
}

export function verdictOf(
  record: QueueRecord,
  tree: TreeHash,
  gate: BlobId,
  after: EpochMs | null,
  failuresAfter: EpochMs | null = null,
): Verdict {
  let proof: Evidence | null = null;
  const failures: Evidence[] = [];
  for (const entry of evidenceByKey(record).get(`${tree} ${gate}`) ?? []) {
    if (after !== null && entry.at <= after) continue;
    if (entry.verdict === 'success') proof ??= entry;
    else if (failuresAfter === null || entry.at > failuresAfter) failures.push(entry);
  }
  return { proof, failures };
}

const indexes = new WeakMap<
  readonly Evidence[],
  { readonly length: number; readonly last: Evidence | undefined; readonly byKey: Map<string, Evidence[]> }
>();

/** The evidence by key, found anew when the list has changed: it is asked for every prefix of every batch. */
function evidenceByKey(record: QueueRecord): ReadonlyMap<string, readonly Evidence[]> {
  const { evidence } = record;
  const known = indexes.get(evidence);
  if (known?.length === evidence.length && known.last === evidence.at(-1)) return known.byKey;
  const byKey = new Map<string, Evidence[]>();
  for (const entry of evidence) {
    const key = `${entry.tree} ${entry.gate}`;
    const same = byKey.get(key);
    if (same === undefined) byKey.set(key, [entry]);
    else same.push(entry);
  }
  indexes.set(evidence, { length: evidence.length, last: evidence.at(-1), byKey });
  return byKey;
}

/** Verdict on the prefix of length `length`. A member under retest makes older evidence of its trees worthless (A21). */
export function verdictOfPrefix(record: QueueRecord, batch: Batch, length: number): Verdict {
  const tree = treeOf(batch, length);
  if (tree === undefined || batch.gateKey === null) return { proof: null, failures: [] };
  return verdictOf(record, tree, batch.gateKey, retestOfPrefix(record, batch, length));
}

/** When the latest retest was asked for, of the members of this prefix that have not landed, on the heads that are in it; null: none was. */
export function retestOfPrefix(record: QueueRecord, batch: Batch, length: number): EpochMs | null {
  const retests = record.entries.filter((entry) => entry.retestAfter !== null);
  let latest: EpochMs | null = null;
  for (const { pr, head, retestAfter } of retests) {
    const at = batch.members.findIndex((member) => member.pr === pr && member.head === head);
    if (at < batch.landed || at >= length) continue;
    if (retestAfter !== null && retestAfter > (latest ?? 0)) latest = retestAfter;
  }
  return latest;
}

/** Failed, confirmed by a second real gate run of the same tree, and never passed (D-08). */
export function isConfirmedFailure(verdict: Verdict): boolean {
  return verdict.proof === null && verdict.failures.length >= CONFIRMED_FAILURES_MIN;
}

/** Adds one finished gate run; the same one read twice counts once. False when it was known. */
export function addEvidence(record: QueueRecord, entry: Evidence): boolean {
  const { runKey, sha, gate } = entry;
  const isKnown = record.evidence.some(
    (known) => known.runKey === runKey && known.sha === sha && known.gate === gate,
  );
  if (isKnown) return false;
  record.evidence.push(entry);
  if (record.evidence.length > EVIDENCE_ENTRIES_MAX) {
    record.evidence.splice(0, record.evidence.length - EVIDENCE_ENTRIES_MAX);
  }
  return true;
}

/**
 * The search for the longest proven prefix. For a deterministic gate there is always a position whose prefix
 * fails while the one before it passes, whatever the interactions between members.
 */
export interface Frontier {
  /** Longest proven prefix, at least what has landed. */
  readonly low: number;
  /** Shortest failing prefix above `low` within the limit; null when none is known. */
  readonly high: number | null;
}

export function frontierOf(record: QueueRecord, batch: Batch): Frontier {
  const start = startOf(batch);
  let low = start;
  for (let length = batch.limit; length > start; length -= 1) {
    if (verdictOfPrefix(record, batch, length).proof !== null) {
      low = length;
      break;
    }
  }
  for (let length = low + 1; length <= batch.limit; length += 1) {
    const verdict = verdictOfPrefix(record, batch, length);
    if (verdict.proof === null && verdict.failures.length > 0) return { low, high: length };
  }
  return { low, high: null };
}
