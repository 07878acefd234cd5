import type { RepoId } from '../../domain/ids.ts';
import {
  BLOCK_KINDS,
  type Block,
  type HaltEvidence,
  type OwedHeads,
  PLACE_STATES,
  type QueuePlace,
  type QueueView,
} from '../../domain/queue-view.ts';
import {
  type Codec,
  flag,
  listOf,
  nullable,
  oneOf,
  optional,
  record,
  text,
  UnreadableValue,
  whole,
} from './codec.ts';
import { queueViewKey, repoIdOfPartition } from './keys.ts';
import type { Table } from './table.ts';

const place = record<QueuePlace>({
  pr: ['pr', whole],
  title: ['title', text],
  head: ['head', text],
  queuedAt: ['queued_at', whole],
  state: ['state', oneOf(PLACE_STATES)],
  reason: ['reason', nullable(text)],
  until: ['until', nullable(whole)],
});
const evidence = record<HaltEvidence>({
  mergeCommit: ['merge_commit', text],
  landedTree: ['landed_tree', text],
  provenTree: ['proven_tree', text],
  baseBefore: ['base_before', text],
});
const block = record<Block>({
  kind: ['kind', oneOf(BLOCK_KINDS)],
  since: ['since', nullable(whole)],
  until: ['until', nullable(whole)],
  pr: ['pr', nullable(whole)],
  runUrl: ['run_url', nullable(text)],
  evidence: ['evidence', optional(evidence)],
});
const head = record<OwedHeads['heads'][number]>({ pr: ['pr', whole], head: ['head', text] });
export const owedHeads = record<OwedHeads>({
  context: ['context', text],
  prs: ['prs', listOf(whole)],
  heads: ['heads', listOf(head)],
});
export const queueView = record<QueueView>({
  at: ['at', whole],
  line: ['line', listOf(place)],
  more: ['more', whole],
  block: ['block', block],
  afoot: ['afoot', optional(flag)],
  standing: ['standing', optional(flag) as Codec<boolean>],
  owed: ['owed', optional(owedHeads) as Codec<OwedHeads>],
});

/** One that cannot be read is as good as none: the reader says "unknown" (A51). */
export async function readQueueViews(
  table: Table,
  repoIds: readonly RepoId[],
): Promise<ReadonlyMap<RepoId, QueueView>> {
  const views = new Map<RepoId, QueueView>();
  for (const row of await table.getMany(repoIds.map(queueViewKey), 'readQueueViews')) {
    try {
      views.set(repoIdOfPartition(String(row.pk)), queueView.read(row));
    } catch (error) {
      if (!(error instanceof UnreadableValue)) throw error;
    }
  }
  return views;
}
