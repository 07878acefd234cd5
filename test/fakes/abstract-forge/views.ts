import type { Commit, CommitStatus, GateReading, PullRequest } from '#core/domain/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { isDraft, isMergeable, storedMergeBase } from './checks.ts';
import { isUnfinished } from './gate.ts';
import type { StoredCommit } from './object-store.ts';
import { liveHeadOf, type Pull, type World } from './world.ts';

/** The head as it is right now; once its branch is gone, what the forge kept of it. */
export function viewPull(world: World, pull: Pull): PullRequest {
  const liveHead = liveHeadOf(world, pull);
  return {
    number: pull.number,
    title: pull.title,
    state: pull.state,
    draft: isDraft(pull),
    mergeable: isMergeable(world, pull),
    merged: pull.mergeCommit !== null,
    mergeCommitSha: pull.mergeCommit,
    mergeBase: storedMergeBase(world, pull),
    baseRef: pull.base,
    baseTip: world.branches.get(pull.base) ?? pull.check.tip,
    headRef: liveHead === undefined ? `refs/pull/${pull.number}/head` : pull.branch,
    headSha: liveHead ?? pull.pullHead,
    fromFork: pull.fork,
    author: pull.author,
    updatedAt: pull.updatedAt,
  };
}

export function viewCommit({ sha, tree, parents, message }: StoredCommit): Commit {
  return { sha, tree, parents, message };
}

export function viewStatuses(world: World, sha: CommitSha): readonly CommitStatus[] {
  const rows = world.statuses.get(sha)?.latest.values() ?? [];
  return [...rows].map(({ context, state, description, creator, createdAt }) => ({
    context,
    state,
    description,
    creator,
    createdAt,
  }));
}

/** `workflowFile` as a name or a path: the forge knows the name only. */
export function viewGate(world: World, sha: CommitSha, branch: string, workflowFile: string): GateReading {
  const name = workflowFile.slice(workflowFile.lastIndexOf('/') + 1);
  const run = (world.runsByBranch.get(branch) ?? []).findLast(
    (candidate) => candidate.sha === sha && candidate.workflowFile === name,
  );
  if (run === undefined) return { kind: 'none' };
  const url = `https://forge.test/${world.slug}/actions/runs/${run.id}`;
  const { state } = run;
  if (isUnfinished(run) || state === 'waiting' || state === 'running') {
    return { kind: 'running', runId: run.id, url };
  }
  return { kind: 'finished', verdict: state, runId: run.id, url };
}
