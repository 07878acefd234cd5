import {
  BATCH_OUTCOMES,
  BATCH_PHASES,
  GATE_VERDICTS,
  hasHonestPhase,
  MEMBER_ACTIONS,
  type MemberAction,
  type NodeRow,
} from '../../../domain/queue/batch.ts';
import {
  type Codec,
  listOf,
  nullable,
  oneOf,
  optional,
  record,
  text,
  UnreadableValue,
  whole,
} from './codec.ts';
import { receipt } from './receipt-item.ts';

const memberAction = record<MemberAction>({
  pr: ['pr', whole],
  action: ['action', oneOf(MEMBER_ACTIONS)],
  stagingSha: ['staging_sha', nullable(text)],
  gateVerdict: ['gate_verdict', oneOf(GATE_VERDICTS)],
  cursor: ['cursor', whole],
  receipt: ['receipt', optional(receipt) as Codec<NonNullable<MemberAction['receipt']>>],
  reason: ['reason', optional(text) as Codec<string>],
});

const batchFields = record<NodeRow>({
  id: ['batch_id', text],
  tenantId: ['tenant_id', text],
  repoId: ['repo_id', text],
  repoSlug: ['repo_slug', text],
  instanceUrl: ['instance_url', text],
  parentId: ['parent_id', nullable(text)],
  batchId: ['run_id', text],
  nodeId: ['node_id', text],
  parentNodeId: ['parent_node_id', nullable(text)],
  attempt: ['attempt', whole],
  stagingSha: ['staging_sha', nullable(text)],
  stagingTree: ['staging_tree', nullable(text)],
  stagingBranch: ['staging_branch', nullable(text)],
  gateVerdict: ['gate_verdict', oneOf(GATE_VERDICTS)],
  gateSource: ['gate_source', nullable(oneOf(['cached']))],
  runUrl: ['run_url', nullable(text)],
  gateRuns: ['gate_runs', optional(whole) as Codec<number>],
  forgeCalls: ['forge_calls', optional(whole) as Codec<number>],
  forgeBytes: ['forge_bytes', optional(whole) as Codec<number>],
  prs: ['prs', listOf(whole)],
  outcome: ['outcome', oneOf(BATCH_OUTCOMES)],
  phase: ['phase', nullable(oneOf(BATCH_PHASES))],
  phaseSince: ['phase_since', optional(whole) as Codec<number>],
  terminalReason: ['terminal_reason', nullable(text)],
  actions: ['actions', listOf(memberAction)],
  createdAt: ['created_at', whole],
  // Rows of before the parts of a landing were told have neither.
  stagedAt: ['staged_at', optional(whole) as Codec<number>],
  judgedAt: ['judged_at', optional(whole) as Codec<number>],
  resolvedAt: ['resolved_at', nullable(whole)],
});

export const nodeRow = {
  write: (row: NodeRow): Record<string, unknown> => {
    if (!hasHonestPhase(row)) throw new RangeError(`batch ${row.id} is neither running nor resolved`);
    return batchFields.write(row);
  },
  read: (raw: unknown): NodeRow => {
    const row = batchFields.read(raw);
    if (!hasHonestPhase(row)) throw new UnreadableValue();
    return row;
  },
};
