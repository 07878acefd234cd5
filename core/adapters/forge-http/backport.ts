import type { PullRequestNumber } from '#core/domain/ids.ts';
import type { BackportForge, LandedPull } from '#core/ports/backport.ts';
import { deleteBranch, readBranchTip } from './branches.ts';
import { readCommit, readTreeId } from './commits.ts';
import { applyPatch } from './diffpatch.ts';
import { readPullRequest } from './pulls.ts';
import { findPull, openPull } from './setup-pulls.ts';
import type { ForgeTransport } from './transport.ts';

/** The calls of a backport: no status, no schedule and no merge is among them. */
export function createBackportForge(transport: ForgeTransport): BackportForge {
  return {
    readLanded: (pr) => readLanded(transport, pr),
    readDiff: (pr) => readDiff(transport, pr),
    readBranchTip: (branch) => readBranchTip(transport, branch),
    readCommit: (sha) => readCommit(transport, sha),
    readTreeId: (sha) => readTreeId(transport, sha),
    applyPatch: (request) => applyPatch(transport, request),
    deleteBranch: (branch) => deleteBranch(transport, branch),
    findPull: (base, head) => findPull(transport, base, head),
    openPull: (pull) => openPull(transport, pull),
    remark: (pr, body) => remark(transport, pr, body),
  };
}

async function readLanded(transport: ForgeTransport, pr: PullRequestNumber): Promise<LandedPull> {
  const { title, author, labels = [], merged, mergeCommitSha } = await readPullRequest(transport, pr);
  return { title, author, labels, mergeCommit: merged ? mergeCommitSha : null };
}

async function readDiff(transport: ForgeTransport, pr: PullRequestNumber): Promise<string | null> {
  const call = {
    method: 'GET',
    label: 'GET pulls/{n}.diff',
    path: [...transport.repoPath, 'pulls', `${pr}.diff`],
    query: { binary: 'true' },
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status !== 200) throw transport.failure(call, answer);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(answer.body);
  } catch {
    return null;
  }
}

/** A review without a verdict: it needs no right beyond those of the pull request. */
async function remark(transport: ForgeTransport, pr: PullRequestNumber, body: string): Promise<void> {
  await transport.request({
    method: 'POST',
    label: 'POST pulls/{n}/reviews',
    path: [...transport.repoPath, 'pulls', String(pr), 'reviews'],
    body: { event: 'COMMENT', body },
  });
}
