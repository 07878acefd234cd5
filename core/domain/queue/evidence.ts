import type { CommitSha, PullRequestNumber } from '../ids.ts';
import type { MemberAction, NodeRow, Receipt } from './batch.ts';

/** One landing that has its receipt, and the batch whose gate run proved it. */
export interface ProvenLanding {
  readonly pr: PullRequestNumber;
  readonly receipt: Receipt;
  readonly row: NodeRow;
  /** Members of the batch that the gate run judged, in their order; null: not kept, or the run was one of a head. */
  readonly judged: readonly { readonly pr: PullRequestNumber; readonly head: CommitSha | null }[] | null;
}

type Landed = MemberAction & { readonly receipt: Receipt };

/** The landing of a pull request or of a merge commit. Null: none of these rows, newest first, has a receipt of it. */
export function findLanding(
  rows: readonly NodeRow[],
  wanted: { readonly pr: PullRequestNumber } | { readonly mergeCommit: CommitSha },
): ProvenLanding | null {
  const isWanted = ({ pr, receipt }: Landed): boolean =>
    'pr' in wanted ? pr === wanted.pr : receipt.mergeCommit === wanted.mergeCommit;
  for (const row of rows) {
    const found = landedOf(row).find(isWanted);
    if (found === undefined) continue;
    return { pr: found.pr, receipt: found.receipt, row, judged: judgedBy(rows, row, found.receipt) };
  }
  return null;
}

function landedOf({ actions }: NodeRow): readonly Landed[] {
  return actions.filter((action): action is Landed => action.receipt !== undefined);
}

/** A smaller batch of the same search may have proven what the row of the whole batch tells of. */
function judgedBy(
  rows: readonly NodeRow[],
  { batchId }: NodeRow,
  { stagedSha, ofHead }: Receipt,
): ProvenLanding['judged'] {
  if (ofHead === true) return null;
  const ofBatch = rows.filter((row) => row.batchId === batchId);
  const proof = ofBatch.find((row) => row.stagingSha === stagedSha && row.gateVerdict === 'success');
  if (proof === undefined) return null;
  const heads = new Map(ofBatch.flatMap(landedOf).map(({ pr, receipt }) => [pr, receipt.head]));
  return proof.prs.map((pr) => ({ pr, head: heads.get(pr) ?? null }));
}
