import type { PullRequestNumber } from '#core/domain/ids.ts';
import { nextToLand, proofOf, provenLength } from '../batches/pipeline.ts';
import type { Batch, Member, QueueRecord } from '../record/record.ts';

/** Some of it may land by the run of a head alone, which counts only while the owner wants that (decision 0193). */
export function restsOnHead(record: QueueRecord, batch: Batch): boolean {
  if (batch.landing?.proof?.ofHead === true) return true;
  return record.evidence.some(
    ({ ofHead, gate, tree }) =>
      ofHead === true && gate === batch.gateKey && batch.chain.some((staged) => staged.tree === tree),
  );
}

/** A run of a head can be repeated by people, so each staging asks for it anew. What has landed by it stays proven. */
export function forgetHeadEvidence(record: QueueRecord, { chain, landed }: Batch): void {
  const left = new Set(chain.slice(landed).map(({ tree }) => tree));
  if (record.evidence.some(({ ofHead, tree }) => ofHead === true && left.has(tree)))
    record.evidence = record.evidence.filter(({ ofHead, tree }) => ofHead !== true || !left.has(tree));
}

/** The member whose own run is all that the next `success` on this pull request would rest on; null: more than that, or none is next. */
export function headProvenBy(
  record: QueueRecord,
  pr: PullRequestNumber,
): { readonly member: Member; readonly batch: Batch } | null {
  const batch = nextToLand(record);
  if (batch === null) return null;
  const { landing } = batch;
  const proof = landing?.pr === pr ? landing.proof : proofOf(record, batch, provenLength(record, batch));
  const member = batch.members.find(({ head }) => head === proof?.sha);
  return proof?.ofHead === true && member !== undefined ? { member, batch } : null;
}
