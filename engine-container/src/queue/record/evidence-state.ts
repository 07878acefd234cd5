import type { BlobId, CommitSha, EpochMs, TreeHash } from '#core/domain/ids.ts';

/** One finished gate run. The key is (tree, gate): never a node, a branch or a batch (E17). */
export interface Evidence {
  readonly tree: TreeHash;
  readonly gate: BlobId;
  readonly verdict: 'success' | 'failure';
  readonly runKey: string;
  readonly runUrl: string | null;
  readonly sha: CommitSha;
  readonly at: EpochMs;
  /** The run of a pull request's own head, which has this tree; absent: of a staged commit. */
  readonly ofHead?: true;
  /** A failure that a later success showed to be a flake, counted in the rates once. */
  readonly flake?: true;
}
