import type { BatchId, EpochMs, PullRequestNumber, TreeHash } from '#core/domain/ids.ts';
import { frontierOf, verdictOfPrefix } from './evidence.ts';
import { type Evidence, type Member, type Node, type QueueRecord, type Root, treeOf } from './record.ts';

/** The batches that land one after the other, each built on the one before. */
export function pipelineOf(record: QueueRecord): Root[] {
  return record.roots.filter((root) => root.place === 'pipeline');
}

export function findNode(
  record: QueueRecord,
  id: BatchId,
): { readonly root: Root; readonly node: Node } | null {
  for (const root of record.roots) {
    const node = root.nodes.find((candidate) => candidate.id === id);
    if (node !== undefined) return { root, node };
  }
  return null;
}

/** Members before this one have landed or are back in the queue. */
export function startOf(root: Root): number {
  return Math.max(root.landed, root.released);
}

/** Members that this batch still speaks for; all others are in the queue, in another batch, or out. */
export function activeMembers(root: Root): readonly Member[] {
  return root.members.slice(startOf(root), root.limit);
}

/** No member was taken out of it: what is built on it may still land. */
export function isWhole(root: Root): boolean {
  return root.teardown === null && root.limit === root.members.length && root.released <= root.landed;
}

/** Tree of the base once all of it has landed. */
export function endTreeOf(root: Root): TreeHash | undefined {
  return treeOf(root, root.members.length);
}

/** End trees of the batches of suspects in flight with a member that stands before this pull request in the queue. */
export function treesAhead(record: QueueRecord, pr: PullRequestNumber): readonly TreeHash[] {
  const placeOf = (wanted: PullRequestNumber) => record.entries.findIndex((entry) => entry.pr === wanted);
  const own = placeOf(pr);
  return record.roots
    .filter((root) => root.place === 'suspect')
    .filter((root) =>
      activeMembers(root).some((member) => placeOf(member.pr) < own && placeOf(member.pr) >= 0),
    )
    .flatMap((root) => endTreeOf(root) ?? []);
}

/** Longest proven prefix: by its own evidence, or all of it by a pass of a batch that is built on it. */
export function provenLength(record: QueueRecord, root: Root): number {
  return passFromAbove(record, root) === null ? frontierOf(record, root).low : root.limit;
}

/** A tree that contains all of this batch and passed: whatever failed below it was a flake. */
function passFromAbove(record: QueueRecord, root: Root): Evidence | null {
  if (root.place !== 'pipeline' || !isWhole(root) || root.chain.length === 0) return null;
  for (const above of record.roots) {
    if (above.onto !== root.runId || above.teardown !== null || above.chain.length === 0) continue;
    if (above.gateKey !== root.gateKey) continue;
    const { low } = frontierOf(record, above);
    const pass = low > 0 ? verdictOfPrefix(record, above, low).pass : passFromAbove(record, above);
    return pass !== null && pass.at > retestOf(record, root) ? pass : null;
  }
  return null;
}

/** A member whose landing timed out asks for evidence younger than that (A21). */
function retestOf(record: QueueRecord, root: Root): number {
  let latest = 0;
  for (const member of activeMembers(root)) {
    const entry = record.entries.find((each) => each.pr === member.pr && each.head === member.head);
    if (entry?.retestAfter != null && entry.retestAfter > latest) latest = entry.retestAfter;
  }
  return latest;
}

/** The run that proves the prefix of this length, or something that contains it. */
export function proofOf(record: QueueRecord, root: Root, length: number): Evidence | null {
  return verdictOfPrefix(record, root, length).pass ?? passFromAbove(record, root);
}

/** The batch whose next member may land now: one at a time for a base, the bottom of the pipeline before all. */
export function nextToLand(record: QueueRecord): Root | null {
  const landing = record.roots.find((root) => root.landing !== null);
  if (landing !== undefined) return landing;
  return (
    record.roots.find((root) => mayLand(record, root) && provenLength(record, root) > root.landed) ?? null
  );
}

/** What stands on the verified tip may land, as long as no other batch counts on that tip. */
export function mayLand(record: QueueRecord, root: Root): boolean {
  if (root.teardown !== null || root.chain.length === 0 || root.onto !== null) return false;
  if (root.tip !== record.tip || root.released > root.landed) return false;
  return root.place === 'pipeline' || !record.roots.some((other) => other.place === 'pipeline');
}

/** Only the batch whose turn it is knows since when; one that has landed all that is proven waits for a gate again. */
export function noteTurn(record: QueueRecord, next: Root | null, now: EpochMs): void {
  for (const root of record.roots) {
    if (root === next) root.turnAt ??= now;
    else delete root.turnAt;
  }
}
