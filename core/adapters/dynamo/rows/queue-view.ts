import type { RepoId } from '../../../domain/ids.ts';
import { type ChosenFanout, FANOUT_REASONS } from '../../../domain/queue/auto-fanout.ts';
import { SIGNALS, type ToldForecast } from '../../../domain/queue/forecast.ts';
import {
  BLOCK_KINDS,
  type Block,
  type HaltEvidence,
  PLACE_STATES,
  type QueuePlace,
  type QueueView,
} from '../../../domain/queue/queue-view.ts';
import { PRIORITIES, type Priority } from '../../../domain/repos/priority.ts';
import type { Table } from '../table/table.ts';
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

const forecast = record<ToldForecast>({
  percent: ['percent', whole],
  usualPercent: ['usual_percent', whole],
  because: ['because', listOf(oneOf(SIGNALS))],
});
const place = record<QueuePlace>({
  pr: ['pr', whole],
  title: ['title', text],
  head: ['head', text],
  queuedAt: ['queued_at', whole],
  priority: ['priority', optional(oneOf(PRIORITIES)) as Codec<Priority>],
  isExempt: ['exempt', optional(flag) as Codec<true>],
  state: ['state', oneOf(PLACE_STATES)],
  reason: ['reason', nullable(text)],
  until: ['until', nullable(whole)],
  says: ['says', optional(text) as Codec<string>],
  settings: ['settings', optional(text) as Codec<string>],
  forecast: ['forecast', optional(forecast) as Codec<ToldForecast>],
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
  labels: ['labels', optional(listOf(text)) as Codec<readonly string[]>],
  evidence: ['evidence', optional(evidence)],
});
const fanout = record<ChosenFanout>({
  inForce: ['in_force', whole],
  reason: ['reason', oneOf(FANOUT_REASONS)],
  runsPer100Landed: ['runs_per_100_landed', nullable(whole)],
  budget: ['budget', whole],
});
export const queueView = record<QueueView>({
  at: ['at', whole],
  places: ['line', listOf(place)],
  more: ['more', whole],
  block: ['block', block],
  fanout: ['fanout', optional(fanout) as Codec<ChosenFanout>],
  unprovenSince: ['unproven_since', optional(whole) as Codec<number>],
});

/** Queue views by repository. An unreadable view is left out, and the reader says "unknown" (A51). */
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
