import * as z from 'zod';
import type { Receipt } from '../../domain/queue/batch.ts';
import { formatTime, Time } from '../fields.ts';

/** Proof of one landing, as the API shows it. */
export const ReceiptView = z.object({
  base_before: z.string(),
  head: z.string(),
  staged_sha: z.string(),
  /** Null: not kept at the time. */
  gated_tree: z.string().nullable(),
  tree: z.string(),
  run_url: z.string().nullable(),
  /** True: the run was one of a head that has exactly the gated tree, which is then the `staged_sha`. */
  own_run: z.boolean(),
  /** Login on the forge of who scheduled the head; null: not known. */
  scheduled_by: z.string().nullable(),
  /** Logins of those who had officially approved exactly that head; null: no rule asked for reviews, or not known. */
  approved_by: z.array(z.string()).nullable(),
  merge_commit: z.string(),
  landed_at: Time,
});

export function toReceiptView(receipt: Receipt): z.infer<typeof ReceiptView> {
  return {
    base_before: receipt.baseBefore,
    head: receipt.head,
    staged_sha: receipt.stagedSha,
    gated_tree: receipt.gatedTree ?? null,
    tree: receipt.tree,
    run_url: receipt.runUrl,
    own_run: receipt.ofHead === true,
    scheduled_by: receipt.scheduledBy ?? null,
    approved_by: receipt.approvedBy === undefined ? null : [...receipt.approvedBy],
    merge_commit: receipt.mergeCommit,
    landed_at: formatTime(receipt.landedAt),
  };
}
