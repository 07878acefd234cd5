import type { BlobId, EpochMs, TreeHash } from '#core/domain/ids.ts';
import { CONFIRMED_FAILURES_MIN, EVIDENCE_ENTRIES_MAX } from '#core/domain/limits.ts';
import type { Evidence, QueueRecord, Root } from './record.ts';
import { treeOf } from './record.ts';

/** What the ledger says of one tree under one gate workflow. A pass proves it, whatever failed before: that was a flake. */
export interface Verdict {
  readonly pass: Evidence | null;
  readonly failures: readonly Evidence[];
}

export function verdictOf(
  record: QueueRecord,
  tree: TreeHash,
  gate: BlobId,
  after: EpochMs | null,
  failuresAfter: EpochMs | null = null,
): Verdict {
  const entries = record.evidence.filter(
    (entry) => entry.tree === tree && entry.gate === gate && (after === null || entry.at > after),
  );
  return {
    pass: entries.find((entry) => entry.verdict === 'success') ?? null,
    failures: entries.filter(
      (entry) => entry.verdict === 'failure' && (failuresAfter === null || entry.at > failuresAfter),
    ),
  };
}

/** Verdict on the prefix of length `length`. A member under retest makes older evidence of its trees worthless (A21). */
export function verdictOfPrefix(record: QueueRecord, root: Root, length: number): Verdict {
  const tree = treeOf(root, length);
  if (tree === undefined || root.gateKey === null) return { pass: null, failures: [] };
  let after: EpochMs | null = null;
  for (const member of root.members.slice(root.landed, length)) {
    const entry = record.line.find(
      (candidate) => candidate.pr === member.pr && candidate.head === member.head,
    );
    if (entry?.retestAfter != null && entry.retestAfter > (after ?? 0)) after = entry.retestAfter;
  }
  return verdictOf(record, tree, root.gateKey, after);
}

/** Failed, confirmed by a second real run of the same tree, and never passed (D-08). */
export function isConfirmedFailure(verdict: Verdict): boolean {
  return verdict.pass === null && verdict.failures.length >= CONFIRMED_FAILURES_MIN;
}

/** Adds one finished run; the same run read twice counts once. */
export function addEvidence(record: QueueRecord, entry: Evidence): void {
  if (record.evidence.some((known) => known.runKey === entry.runKey && known.sha === entry.sha)) return;
  record.evidence.push(entry);
  if (record.evidence.length > EVIDENCE_ENTRIES_MAX) {
    record.evidence.splice(0, record.evidence.length - EVIDENCE_ENTRIES_MAX);
  }
}

/**
 * The search for the longest proven prefix. For a deterministic gate there is always a position whose prefix is red
 * while the one before it is green, whatever the interactions between members.
 */
export interface Frontier {
  /** Longest proven prefix, at least what has landed. */
  readonly low: number;
  /** Shortest failing prefix above `low` within the limit; null when none is known. */
  readonly high: number | null;
}

export function frontierOf(record: QueueRecord, root: Root): Frontier {
  let low = root.landed;
  for (let length = root.limit; length > root.landed; length -= 1) {
    if (verdictOfPrefix(record, root, length).pass !== null) {
      low = length;
      break;
    }
  }
  for (let length = low + 1; length <= root.limit; length += 1) {
    const verdict = verdictOfPrefix(record, root, length);
    if (verdict.pass === null && verdict.failures.length > 0) return { low, high: length };
  }
  return { low, high: null };
}
