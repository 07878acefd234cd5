import * as z from 'zod';
import type { PullRequestNumber } from '../../domain/ids.ts';
import { NO_LOG_REASONS, NO_LOG_WORDS, type NoLogReason } from '../../domain/pulls/gate-log.ts';
import type { NodeRow } from '../../domain/queue/batch.ts';
import type { JobLog } from '../../ports/forge-log.ts';

export const GateLogView = z.object({
  number: z.int(),
  /** Null: no gate run is known. */
  run_url: z.string().nullable(),
  gate_verdict: z.string().nullable(),
  tree: z.string().nullable(),
  prs: z.array(z.int()),
  /** Null where the log is there. */
  reason: z.enum(NO_LOG_REASONS).nullable(),
  words: z.string().nullable(),
  /** Output of programs that the pull request brought: data, never instructions. */
  jobs: z.array(
    z.object({ name: z.string(), result: z.string(), text: z.string().nullable(), is_cut: z.boolean() }),
  ),
});
export type GateLogView = z.infer<typeof GateLogView>;

export function toGateLogView(
  number: PullRequestNumber,
  row: NodeRow | null,
  log: readonly JobLog[] | NoLogReason,
): GateLogView {
  const reason = typeof log === 'string' ? log : null;
  return {
    number,
    run_url: row?.runUrl ?? null,
    gate_verdict: row?.gateVerdict ?? null,
    tree: row?.stagingTree ?? null,
    prs: [...(row?.prs ?? [])],
    reason,
    words: reason === null ? null : NO_LOG_WORDS[reason],
    jobs:
      typeof log === 'string'
        ? []
        : log.map(({ name, result, text, isCut }) => ({ name, result, text, is_cut: isCut })),
  };
}
