import type { CommitSha, EpochMs, NodeRowId, PullRequestNumber, TreeHash } from '#core/domain/ids.ts';
import { frontierOf, retestOfPrefix, verdictOfPrefix } from '../gate/evidence.ts';
import type { Evidence } from '../record/evidence-state.ts';
import type { Landing } from '../record/landing-state.ts';
import { type Batch, type Member, type Node, type QueueRecord, startOf, treeOf } from '../record/record.ts';

/** The batches that land one after the other, each built on the one before. */
export function pipelineOf(record: QueueRecord): Batch[] {
  return record.batches.filter((batch) => batch.place === 'pipeline');
}

/** The batch that this one is built on; undefined: it stands on the base. */
export function batchBelow({ batches }: QueueRecord, { stagedOn }: Batch): Batch | undefined {
  return batches.find(({ batchId }) => batchId === stagedOn);
}

/** The batch that is built on this one. */
export function batchAbove({ batches }: QueueRecord, { batchId }: Batch): Batch | undefined {
  return batches.find(({ stagedOn }) => stagedOn === batchId);
}

export function findNode(
  record: QueueRecord,
  id: NodeRowId,
): { readonly batch: Batch; readonly node: Node } | null {
  for (const batch of record.batches) {
    const node = batch.nodes.find((candidate) => candidate.id === id);
    if (node !== undefined) return { batch, node };
  }
  return null;
}

/** Members that this batch still speaks for; all others are in the queue, in another batch, or out. */
export function activeMembers(batch: Batch): readonly Member[] {
  return batch.members.slice(startOf(batch), batch.limit);
}

/** Pull requests that a batch speaks for. */
export function inFlightOf(record: QueueRecord): ReadonlySet<PullRequestNumber> {
  return new Set(record.batches.flatMap((batch) => activeMembers(batch).map(({ pr }) => pr)));
}

/** A batch speaks for this pull request. */
export function isInFlight({ batches }: QueueRecord, pr: PullRequestNumber): boolean {
  return batches.some((batch) => activeMembers(batch).some((member) => member.pr === pr));
}

/** Gate runs that are out, as the record has them. */
export function runsOut({ batches }: Pick<QueueRecord, 'batches'>): readonly Node[] {
  return batches.flatMap(({ nodes }) => nodes.filter(({ state }) => state === 'gating'));
}

/** Gate runs that are out or to be started; one that is shared is counted where it is. */
export function openRunsOf({ nodes, sharesRun }: Batch): readonly Node[] {
  return nodes.filter(({ state }) => state === 'gating' || (state === 'wanted' && sharesRun !== true));
}

/** This member goes on only once more of its batch is staged: it is not proven, and no gate run of the batch is out. */
export function waitsForStaging(batch: Batch, pr: PullRequestNumber): boolean {
  if (batch.chain.length === 0) return true;
  const place = batch.members.findIndex((member) => member.pr === pr);
  const open = openRunsOf(batch);
  return open.some(({ from }) => from <= place) && open.every(({ state }) => state === 'wanted');
}

/** No member was taken out of it: what is built on it may still land. */
export function isWhole(batch: Batch): boolean {
  return batch.teardown === null && batch.limit === batch.members.length && batch.released <= batch.landed;
}

/** Tree of the base once all of it has landed. */
export function endTreeOf(batch: Batch): TreeHash | undefined {
  return treeOf(batch, batch.members.length);
}

/** End trees of the batches of suspects in flight with a member that stands before this pull request in the queue. */
export function treesAhead(record: QueueRecord, pr: PullRequestNumber): readonly TreeHash[] {
  const placeOf = (wanted: PullRequestNumber) => record.entries.findIndex((entry) => entry.pr === wanted);
  const own = placeOf(pr);
  return record.batches
    .filter((batch) => batch.place === 'suspect')
    .filter((batch) =>
      activeMembers(batch).some((member) => placeOf(member.pr) < own && placeOf(member.pr) >= 0),
    )
    .flatMap((batch) => endTreeOf(batch) ?? []);
}

/** Longest proven prefix: by its own evidence, or all of it by a success of a batch that is built on it. */
export function provenLength(record: QueueRecord, batch: Batch): number {
  return proofFromAbove(record, batch) === null ? frontierOf(record, batch).low : batch.limit;
}

/** Members of this batch, and of those built on it, that one gate run has proven. */
export function provenTogether(record: QueueRecord, batch: Batch): number {
  if (proofFromAbove(record, batch) === null) return provenLength(record, batch);
  const above = batchAbove(record, batch);
  return batch.limit + (above === undefined ? 0 : provenTogether(record, above));
}

/** A tree that contains all of this batch and passed: whatever failed below it was a flake. */
function proofFromAbove(record: QueueRecord, batch: Batch): Evidence | null {
  if (batch.place !== 'pipeline' || !isWhole(batch) || batch.chain.length === 0) return null;
  for (const above of record.batches) {
    if (above.stagedOn !== batch.batchId || above.teardown !== null || above.chain.length === 0) continue;
    if (above.gateKey !== batch.gateKey) continue;
    const { low } = frontierOf(record, above);
    const proof = low > 0 ? verdictOfPrefix(record, above, low).proof : proofFromAbove(record, above);
    return proof !== null && proof.at > (retestOfPrefix(record, batch, batch.limit) ?? 0) ? proof : null;
  }
  return null;
}

/** The gate run that proves the prefix of this length, or something that contains it. */
export function proofOf(record: QueueRecord, batch: Batch, length: number): Evidence | null {
  return verdictOfPrefix(record, batch, length).proof ?? proofFromAbove(record, batch);
}

/** The batch with the landing that is awaited, or whose success is being taken back: one at a time for a base. */
export function landingBatchOf({ batches }: QueueRecord): Batch | undefined {
  return batches.find(({ landing }) => landing !== null);
}

export function landingOf(record: QueueRecord): Landing | null {
  return landingBatchOf(record)?.landing ?? null;
}

/** A landing has posted its success on this head, or is to, and has not ended. */
export function isLandingHead({ batches }: QueueRecord, head: CommitSha): boolean {
  return batches.some(({ landing }) => landing?.head === head);
}

/** The batch whose next member may land now: one at a time for a base, the bottom of the pipeline before all. */
export function nextToLand(record: QueueRecord): Batch | null {
  const landing = landingBatchOf(record);
  if (landing !== undefined) return landing;
  return (
    record.batches.find((batch) => mayLand(record, batch) && provenLength(record, batch) > batch.landed) ??
    null
  );
}

/** A batch that stands on the verified tip may land, as long as no other batch counts on that tip. */
export function mayLand(record: QueueRecord, batch: Batch): boolean {
  if (batch.teardown !== null || batch.chain.length === 0 || batch.stagedOn !== null) return false;
  if (batch.tip !== record.tip || batch.released > batch.landed) return false;
  return batch.place === 'pipeline' || !record.batches.some((other) => other.place === 'pipeline');
}

/** Only the batch whose turn it is knows since when; one that has landed all that is proven waits for a gate again. */
export function noteNextToLand(record: QueueRecord, next: Batch | null, now: EpochMs): void {
  for (const batch of record.batches) {
    if (batch === next) batch.turnAt ??= now;
    else delete batch.turnAt;
  }
}
