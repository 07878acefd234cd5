import type { PullRequestNumber } from '#core/domain/ids.ts';
import type { BackportForge, LandedPull } from '#core/ports/backport.ts';
import { readBlob } from './blobs.ts';
import { deleteBranch, readBranchTip } from './branches.ts';
import { readCommit } from './commits.ts';
import { applyPatch } from './diffpatch.ts';
import { readPullRequest } from './pulls.ts';
import { readRepoId } from './repos.ts';
import { findPull, openPull } from './setup-pulls.ts';
import { readTree } from './trees.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Calls of a backport. None posts a status, makes a schedule or merges. */
export function createBackportForge(transport: ForgeTransport): BackportForge {
  return {
    readRepoId: () => readRepoId(transport),
    readLanded: (pr) => readLanded(transport, pr),
    readBranchTip: (branch) => readBranchTip(transport, branch),
    readCommit: (sha) => readCommit(transport, sha),
    readTree: (id, depth) => readTree(transport, id, depth),
    readBlob: (id, bytesMax) => readBlob(transport, id, bytesMax),
    applyPatch: (request) => applyPatch(transport, request),
    deleteBranch: (branch) => deleteBranch(transport, branch),
    findPull: (base, head) => findPull(transport, base, head),
    openPull: (pull) => openPull(transport, pull),
    remark: (pr, body) => remark(transport, pr, body),
  };
}

async function readLanded(transport: ForgeTransport, pr: PullRequestNumber): Promise<LandedPull> {
  const pull = await readPullRequest(transport, pr);
  const { title, author, labels = [], merged, mergeCommitSha, mergeBase } = pull;
  return { title, author, labels, mergeCommit: merged ? mergeCommitSha : null, mergeBase };
}

/** Writes a review without a verdict, which needs no right beyond those of the pull request. */
async function remark(transport: ForgeTransport, pr: PullRequestNumber, body: string): Promise<void> {
  await transport.request({
    method: 'POST',
    label: 'POST pulls/{n}/reviews',
    path: [...transport.repoPath, 'pulls', String(pr), 'reviews'],
    body: { event: 'COMMENT', body },
  });
}
