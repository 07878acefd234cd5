import type { Commit, CommitStatus, GateReading, PullRequest } from '#core/domain/forge/forge.ts';
import type { PostedStatus } from '#core/domain/forge/status-gate.ts';
import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import { FORGE_PAGE_SIZE_MAX } from '#core/domain/limits.ts';
import { MERGE_STYLES } from '#core/domain/repos/merge-style.ts';
import { isDraft, isMergeable, storedMergeBase } from './checks.ts';
import { isUnfinished } from './gate.ts';
import type { StoredCommit } from './object-store.ts';
import { branchAgo, factsAgo, headAgo } from './past.ts';
import {
  liveHeadOf,
  type Pull,
  type PullFacts,
  type StatusRow,
  type StatusRows,
  type World,
} from './world.ts';

/** How old the two halves of a reading are. */
export interface Lag {
  /** The pull request's own fields. */
  readonly factsMs: number;
  /** Where its branches stand. */
  readonly refsMs: number;
}

const NO_LAG: Lag = { factsMs: 0, refsMs: 0 };

/** The head as it is right now; once its branch is gone, what the forge kept of it. */
export function viewPull(world: World, pull: Pull, { factsMs, refsMs }: Lag = NO_LAG): PullRequest {
  const liveHead = refsMs === 0 ? liveHeadOf(world, pull) : headAgo(world, pull, refsMs);
  const facts: Omit<PullFacts, 'at'> =
    (factsMs === 0 ? undefined : (factsAgo(world, pull, factsMs) ?? pull.past[0])) ?? pull;
  return {
    number: pull.number,
    repoId: world.repoId,
    title: facts.title,
    state: facts.state,
    draft: isDraft(facts),
    mergeable: isMergeable(world, pull, factsMs),
    merged: facts.mergeCommit !== null,
    mergeCommitSha: facts.mergeCommit,
    mergeBase: storedMergeBase(world, pull),
    baseRef: facts.base,
    baseTip: branchAgo(world, facts.base, refsMs) ?? pull.check.tip,
    headRef: liveHead === undefined || pull.agit ? `refs/pull/${pull.number}/head` : pull.branch,
    headSha: liveHead ?? facts.pullHead,
    fromFork: pull.fork && !pull.agit,
    agit: pull.agit,
    ...(liveHead === undefined && !pull.agit ? { isBranchGone: true } : {}),
    ...(world.isArchived ? { isArchived: true } : {}),
    allowedStyles: MERGE_STYLES.filter((style) => !world.forbiddenStyles.has(style)),
    author: pull.author,
    ...(pull.labels.size === 0 ? {} : { labels: [...pull.labels] }),
    updatedAt: facts.updatedAt,
  };
}

/** The open list of a base, which may be behind: a merged one still in it, a new one not yet. */
export function viewOpenPulls(world: World): readonly PullRequest[] {
  const { list: factsMs, listRefs: refsMs } = world.knobs.lags;
  const lag = { factsMs, refsMs };
  const candidates = factsMs === 0 ? world.openPulls.values() : world.pulls.values();
  return [...candidates]
    .filter((pull) => factsMs === 0 || factsAgo(world, pull, factsMs)?.state === 'open')
    .map((pull) => withListedTip(world, viewPull(world, pull, lag)))
    .sort((a, b) => a.number - b.number);
}

function withListedTip({ base, knobs: { listedTip } }: World, pull: PullRequest): PullRequest {
  return listedTip === null || pull.baseRef !== base ? pull : { ...pull, baseTip: listedTip };
}

/** The merged ones of the page of closed ones that changed last; as late as the open list. */
export function viewMergedPulls(world: World): readonly PullRequest[] {
  const { list: factsMs, listRefs: refsMs } = world.knobs.lags;
  return [...world.pulls.values()]
    .map((pull) => viewPull(world, pull, { factsMs, refsMs }))
    .filter(({ state }) => state === 'closed')
    .sort((a, b) => b.updatedAt - a.updatedAt || b.number - a.number)
    .slice(0, FORGE_PAGE_SIZE_MAX)
    .filter(({ merged }) => merged);
}

export function viewCommit({ sha, tree, parents, message }: StoredCommit): Commit {
  return { sha, tree, parents, message };
}

export function viewStatuses(world: World, sha: CommitSha): readonly CommitStatus[] {
  const rows = world.statuses.get(sha);
  if (rows === undefined) return [];
  return latestRows(rows, world.timers.now(), world.knobs.lags.status).map(
    ({ context, state, description, creator, createdAt }) => ({
      context,
      state,
      description,
      creator,
      createdAt,
    }),
  );
}

function latestRows(rows: StatusRows, now: EpochMs, lagMs: number): readonly StatusRow[] {
  if (lagMs === 0) return [...rows.latest.values()];
  const seen = rows.history.filter((row) => row.at <= now - lagMs);
  return [...new Map(seen.map((row) => [row.context, row])).values()];
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
  const mayFollow = world.knobs.lateJobs === null ? {} : { isOpenEnded: true as const };
  if (isUnfinished(run) && run.hidesJob === true)
    return { kind: 'finished', verdict: 'success', runId: run.id, url, ...mayFollow };
  if (isUnfinished(run) || state === 'waiting' || state === 'running') {
    return { kind: 'running', runId: run.id, url, ...(state === 'waiting' ? { waitsForRunner: true } : {}) };
  }
  return {
    kind: 'finished',
    verdict: state,
    runId: run.id,
    url,
    ...(state === 'success' ? mayFollow : {}),
    ...(run.isSkipped ? { isSkipped: true } : {}),
  };
}

export function viewStatusHistory(world: World, sha: CommitSha): readonly PostedStatus[] {
  const visible = world.timers.now() - world.knobs.lags.status;
  return (world.statuses.get(sha)?.history ?? []).flatMap((row, index) => {
    const { at, targetUrl, ...status } = row;
    return at > visible ? [] : [{ ...status, id: index + 1, url: targetUrl }];
  });
}
