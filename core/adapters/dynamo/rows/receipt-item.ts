import type { Receipt } from '../../../domain/queue/batch.ts';
import { type Codec, flag, listOf, nullable, optional, record, text, whole } from './codec.ts';

export const receipt = record<Receipt>({
  baseBefore: ['base_before', text],
  head: ['head', text],
  stagedSha: ['staged_sha', text],
  gatedTree: ['gated_tree', optional(text)],
  tree: ['tree', text],
  runUrl: ['run_url', nullable(text)],
  ofHead: ['of_head', optional(flag) as Codec<boolean>],
  scheduledBy: ['scheduled_by', optional(text) as Codec<string>],
  approvedBy: ['approved_by', optional(listOf(text)) as Codec<readonly string[]>],
  mergeCommit: ['merge_commit', text],
  landedAt: ['landed_at', whole],
});
