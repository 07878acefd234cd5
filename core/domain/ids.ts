/** Branded strings and numbers, so that a head SHA cannot be passed where a tree hash is meant. */
declare const brand: unique symbol;
type Branded<Base, Name extends string> = Base & { readonly [brand]?: Name };

export type TenantId = Branded<string, 'TenantId'>;
export type RepoId = Branded<string, 'RepoId'>;
export type ConnectionId = Branded<string, 'ConnectionId'>;
/** A row of a node of a bisection tree; the contract's `id` of a queue batch. */
export type NodeRowId = Branded<string, 'NodeRowId'>;
/** A batch, shared by every node of its bisection tree; the contract's `run_id`. */
export type BatchId = Branded<string, 'BatchId'>;
/** Full-length hexadecimal commit id (40 digits, 64 in a sha256 repository). */
export type CommitSha = Branded<string, 'CommitSha'>;
/** Full-length hexadecimal tree id. The key of all evidence. */
export type TreeHash = Branded<string, 'TreeHash'>;
/** Full-length hexadecimal blob id. */
export type BlobId = Branded<string, 'BlobId'>;
export type PullRequestNumber = Branded<number, 'PullRequestNumber'>;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An id of ours in its one spelling; null for what is none. */
export function canonicalId(text: string): string | null {
  return ID.test(text) ? text.toLowerCase() : null;
}

/** Milliseconds since the Unix epoch, UTC. */
export type EpochMs = Branded<number, 'EpochMs'>;
