import { convertRepo, convertStatus, convertUser } from '../convert/entities.ts';
import type { RepoRecord, StatusRecord } from '../model.ts';
import { takeId, type World } from '../world.ts';
import { sendWebhooks } from './webhooks.ts';

export interface StatusInput {
  readonly state: string;
  readonly context: string;
  readonly description: string;
  readonly targetUrl: string;
}

/** Appends; the newest row of a context counts. The state is stored as it comes. */
export function postStatus(
  world: World,
  repo: RepoRecord,
  sha: string,
  input: StatusInput,
  creator: string,
): StatusRecord {
  const status: StatusRecord = {
    id: takeId(world),
    sha,
    state: input.state,
    context: input.context.trim(),
    description: input.description.trim(),
    targetUrl: input.targetUrl.trim(),
    creator,
    at: world.timers.now(),
  };
  repo.statuses.push(status);
  if (world.profile.kind === 'gitea') {
    sendWebhooks(world, repo, {
      event: 'status',
      type: 'status',
      selectedBy: ['status'],
      branch: null,
      payload: {
        ...convertStatus(world, repo, status),
        sha,
        state: status.state,
        commit: { id: sha },
        repository: convertRepo(world, repo, null),
        sender: convertUser(world, creator),
      },
    });
  }
  if (status.state === 'success') triggerOnSuccess(world, repo, sha);
  return status;
}

/** A pull request whose conflict check still runs is passed over: the success is lost on it. */
function triggerOnSuccess(world: World, repo: RepoRecord, sha: string): void {
  for (const pull of repo.pulls) {
    if (pull.headSha === sha && !pull.merged && pull.conflict === 'mergeable')
      world.queueAutoMerge(repo, pull, sha);
  }
}

/** Newest row per context, in the order in which the contexts first appeared. */
export function latestStatuses(repo: RepoRecord, sha: string): StatusRecord[] {
  const latest = new Map<string, StatusRecord>();
  for (const status of repo.statuses) if (status.sha === sha) latest.set(status.context, status);
  return [...latest.values()];
}

/**
 * Do the statuses that one required pattern finds let the merge through? Forgejo begins with a success and lets only a word that
 * it knows make it worse.
 */
export function meetsPattern(world: World, states: readonly string[]): boolean {
  if (states.length === 0) return false;
  if (world.profile.combinedLikeGithub) return combineStates(world, states) === 'success';
  const success = FORGEJO_ORDER.indexOf('success');
  return states.every((state) => {
    const at = FORGEJO_ORDER.indexOf(state);
    return at < 0 || at >= success;
  });
}

/** From bad to good. */
const FORGEJO_ORDER = ['error', 'failure', 'warning', 'pending', 'success', 'skipped'];

/** One state for many; empty string for none. */
export function combineStates(world: World, states: readonly string[]): string {
  if (states.length === 0) return '';
  if (!world.profile.combinedLikeGithub) {
    const rank = (state: string): number => {
      const at = FORGEJO_ORDER.indexOf(state);
      return Math.max(at, 0);
    };
    return [...states].sort((a, b) => rank(a) - rank(b))[0] ?? '';
  }
  if (states.some((state) => ['error', 'failure', 'warning'].includes(state))) return 'failure';
  if (states.every((state) => ['success', 'skipped'].includes(state))) return 'success';
  return 'pending';
}
