import { keyOfPaths } from '#core/contracts/paths-key.ts';
import type { RefInTheWay } from '#core/domain/forge/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { FORGE_TOUCHED_PULLS_MAX } from '#core/domain/limits.ts';
import { MERGE_STYLES } from '#core/domain/repos/merge-style.ts';
import { type EngineForge, ForgeError, ListingTooLong } from '#core/ports/forge.ts';
import { isMergeable, startDelayedCheck } from './checks.ts';
import { type Call, exchange, found, Refusal } from './exchange.ts';
import { branchAgo } from './past.ts';
import { cancelPullSchedule, schedulePull } from './people.ts';
import { changedPaths } from './rebase.ts';
import { refsInTheWay } from './refs.ts';
import { viewWriteRight } from './rights.ts';
import { countDependencies, listChangedFiles, ruleOf } from './rules.ts';
import { createStager } from './stager-port.ts';
import { appendStatus } from './statuses.ts';
import { readTimeline } from './timeline.ts';
import {
  viewCommit,
  viewGate,
  viewMergedPulls,
  viewOpenPulls,
  viewPull,
  viewStatuses,
  viewStatusHistory,
} from './views.ts';
import type { World } from './world.ts';

/** The forge as the bot's token sees it: the port of the engine, without HTTP in between. */
export function createBotPort(world: World): EngineForge {
  return {
    ...createReader(world),
    ...createStager(world),
    ...createProbe(world),
    ...createStatusWriter(world),
  };
}

function get(path: string, label: string): Call {
  return { method: 'GET', path, label: `GET ${label}` };
}

type Reader = Omit<
  EngineForge,
  | 'applyPatch'
  | 'writeFiles'
  | 'createBranch'
  | 'deleteBranch'
  | 'cancelGateRun'
  | 'probeSchedule'
  | 'postStatus'
>;

function createReader(world: World): Reader {
  const { objects } = world;
  return {
    readWriteRight: async (login) =>
      exchange(world, get('assignees', 'assignees'), () => viewWriteRight(world, login)),
    listTeamMembers: async (team) =>
      exchange(world, get('teams', 'teams'), () => {
        const members = world.teams.get(team.toLowerCase());
        if (members !== undefined) return members;
        const lender = world.lenders.get(team);
        return lender?.hidden === true ? null : (lender?.members ?? []);
      }),
    readRepoId: async () => exchange(world, get('repo', 'repo'), () => world.repoId),
    readAllowedStyles: async () =>
      exchange(world, get('repo', 'repo'), () =>
        MERGE_STYLES.filter((style) => !world.forbiddenStyles.has(style)),
      ),
    hasWritingKey: async () => exchange(world, get('keys', 'keys'), () => world.hasWritingKey),
    listOwnHooks: async () => exchange(world, get('hooks', 'hooks'), () => world.hooks),
    readBotLogin: async () => exchange(world, get('/user', 'user'), () => world.bot),
    readVersion: async () =>
      exchange(world, get('/version', 'version'), () =>
        world.switches.forkPermission
          ? { kind: 'forgejo', major: 15, minor: 0, patch: 3 }
          : { kind: 'gitea', major: 1, minor: world.switches.hiddenChecks === null ? 26 : 27, patch: 3 },
      ),
    readBranchTip: async (branch) => readBranchTip(world, branch),
    findRefInTheWay: async (branches) => findRefInTheWay(world, branches),
    hasTag: async (name) => exchange(world, get(`tags/${name}`, 'tags/{tag}'), () => world.tags.has(name)),
    findNamesake: async (branch) => findNamesake(world, branch),
    // This forge keeps the head that it shows.
    readKeptHead: async (pr) =>
      exchange(
        world,
        get(`git/refs/pull/${pr}/head`, 'git/refs/{ref}'),
        () => viewPull(world, found(world.pulls.get(pr))).headSha,
      ),
    readCommit: async (sha) =>
      exchange(world, get(`git/commits/${sha}`, 'git/commits/{sha}'), () =>
        viewCommit(found(objects.commit(sha))),
      ),
    readTreeId: async (sha) =>
      exchange(world, get(`git/trees/${sha}`, 'git/trees/{sha}'), () => found(objects.commit(sha)).tree),
    readTree: async (id, depth) =>
      exchange(world, get(`git/trees/${id}`, 'git/trees/{sha}'), () => found(objects.listTree(id, depth))),
    readBlob: async (id, bytesMax) =>
      exchange(world, get(`git/blobs/${id}`, 'git/blobs/{sha}'), () => {
        const content = Buffer.from(found(objects.blob(id)));
        if (content.length > bytesMax) throw new ForgeError('unreachable', 'GET git/blobs/{sha}', 200);
        return content;
      }),
    listOpenPullRequests: async () => exchange(world, get('pulls', 'pulls'), () => viewOpenPulls(world)),
    listTouchedPullRequests: async () =>
      exchange(world, get('pulls', 'pulls (touched)'), () =>
        viewOpenPulls(world)
          .toSorted((a, b) => b.updatedAt - a.updatedAt)
          .slice(0, FORGE_TOUCHED_PULLS_MAX),
      ),
    listMergedPullRequests: async () =>
      exchange(world, get('pulls', 'pulls (merged)'), () => viewMergedPulls(world)),
    readPullRequest: async (pr) =>
      exchange(world, get(`pulls/${pr}`, 'pulls/{n}'), () => {
        const { pull: factsMs, pullRefs: refsMs } = world.knobs.lags;
        const pull = found(world.pulls.get(pr));
        startDelayedCheck(world, pull);
        return viewPull(world, pull, { factsMs, refsMs });
      }),
    readTimeline: async (pr, question) =>
      exchange(world, get(`issues/${pr}/timeline`, 'issues/{n}/timeline'), () =>
        readTimeline(world, found(world.pulls.get(pr)), question),
      ),
    listReviews: async (pr) =>
      exchange(world, get(`pulls/${pr}/reviews`, 'pulls/{n}/reviews'), () => [
        ...found(world.pulls.get(pr)).reviews,
      ]),
    listChangedFiles: async (pr) =>
      exchange(world, get(`pulls/${pr}/files`, 'pulls/{n}/files'), () =>
        listChangedFiles(world, found(world.pulls.get(pr))),
      ),
    countDependencies: async (pr) =>
      exchange(world, get(`issues/${pr}/dependencies`, 'issues/{n}/dependencies'), () =>
        countDependencies(world, found(world.pulls.get(pr))),
      ),
    readProtection: async (base) =>
      exchange(world, get('branch_protections', 'branch_protections'), () => viewRule(world, base)),
    readStatuses: async (sha) =>
      exchange(world, get(`commits/${sha}/status`, 'commits/{sha}/status'), () => {
        found(objects.commit(sha));
        return viewStatuses(world, sha);
      }),
    listStatusHistory: async (sha) =>
      exchange(world, get(`commits/${sha}/statuses`, 'commits/{sha}/statuses'), () => {
        found(objects.commit(sha));
        return viewStatusHistory(world, sha);
      }),
    readGate: async (sha, branch, workflowFile) =>
      exchange(world, get('actions/runs', 'actions/runs'), () => viewGate(world, sha, branch, workflowFile)),
    readRunnerLabels: async (runId) =>
      exchange(world, get(`actions/runs/${runId}/jobs`, 'actions/runs/{id}/jobs'), () =>
        world.runs.find(({ id }) => id === runId)?.state === 'waiting' ? world.knobs.runnerLabels : null,
      ),
    listOwnCommits: async (base, head) =>
      exchange(world, get('commits', 'commits?not'), () => {
        found(objects.commit(head));
        leftOut(objects.commit(base));
        const missing = objects.listMissingCommits(base, head);
        // Like the HTTP client, which sees on the first page how many there are.
        if (missing.length > world.knobs.listingRowsMax) throw new ListingTooLong('GET commits?not');
        return missing.toReversed().map(({ sha, parents }) => ({ sha, parents }));
      }),
    listChangesSince: async (head, base) =>
      exchange(world, get('commits', 'commits?not'), () => {
        found(objects.commit(base));
        leftOut(objects.commit(head));
        const missing = objects.listMissingCommits(head, base);
        return missing.map(({ sha, parents }) => ({
          sha,
          parents,
          pathsKey: keyOfPaths(changedPaths(world, sha)),
        }));
      }),
    listNewCommits: async (base, of) =>
      exchange(world, get('commits', 'commits?not'), () => {
        const tip = found(resolveName(world, of));
        leftOut(objects.commit(base));
        return objects
          .listMissingCommits(base, tip)
          .toReversed()
          .slice(0, 50)
          .map(({ sha, parents }) => ({ sha, parents }));
      }),
  };
}

/** As git does: a tag before the branch of that name. */
function resolveName({ tags, branches, objects }: World, name: string): CommitSha | undefined {
  const branch = /^refs\/heads\/(.+)$/.exec(name)?.[1];
  if (branch !== undefined) return branches.get(branch);
  return objects.commit(name)?.sha ?? tags.get(name) ?? branches.get(name);
}

/** A list that is to leave out a commit which is not there is a bare 500 (forge facts, 6.1). */
function leftOut(commit: unknown): void {
  if (commit === undefined) throw new Refusal(500);
}

/** Like the HTTP client: one call for branches, one for tags. */
function findRefInTheWay(world: World, branches: readonly string[]): RefInTheWay | null {
  const call = get('git/refs', 'git/refs/{ref}');
  const branch = exchange(world, call, () => branches.flatMap((name) => refsInTheWay(world, name))[0]);
  if (branch !== undefined) return { kind: 'branch', name: branch };
  const tag = exchange(world, call, () => branches.find((name) => world.tags.has(name)));
  return tag === undefined ? null : { kind: 'tag', name: tag };
}

/** Like the HTTP client: one call for branches, one for tags. */
function findNamesake(world: World, branch: string): RefInTheWay | null {
  const call = get('git/refs', 'git/refs/{ref}');
  const name = `refs/heads/${branch}`;
  if (exchange(world, call, () => world.branches.has(name))) return { kind: 'branch', name };
  return exchange(world, call, () => world.tags.has(name)) ? { kind: 'tag', name } : null;
}

/** Like the HTTP client: a branch that is not there makes it look whether the repository is. */
function readBranchTip(world: World, branch: string): CommitSha | null {
  const call = get(`branches/${branch}`, 'branches/{branch}');
  const absent = new Map<number, CommitSha | null>([[404, null]]);
  const lagMs = world.knobs.lags.branch;
  const tip = exchange(world, call, () => found(branchAgo(world, branch, lagMs)), absent);
  if (tip === null) exchange(world, get('', 'repo'), () => true);
  return tip;
}

function viewRule(world: World, base: string): ReturnType<typeof ruleOf> {
  const rule = ruleOf(world, base);
  if (rule === null || world.switches.botIsAdmin) return rule;
  const { protectedFilePatterns: _files, mergeList: _people, mergeTeams: _teams, ...more } = rule;
  const { requiresSigned: _signed, ...shown } = more;
  return {
    ...shown,
    scope: 'summary',
    ruleName: null,
    blockOnRejectedReviews: false,
    blockOnOfficialReviewRequests: false,
    blockOnOutdatedBranch: false,
    ignoreStaleApprovals: false,
    dismissStaleApprovals: false,
  };
}

/** Like the HTTP client: asks for a schedule on the recorded head, and takes back the one it got. */
function createProbe(world: World): Pick<EngineForge, 'probeSchedule'> {
  const isOpenAt = (pr: number, head: CommitSha): boolean =>
    exchange(
      world,
      get(`pulls/${pr}`, 'pulls/{n}'),
      () => {
        const pull = viewPull(world, found(world.pulls.get(pr)));
        return pull.state === 'open' && pull.headSha === head;
      },
      new Map([[404, false]]),
    );
  const isOwn = (pr: number, scheduleId: number): boolean =>
    exchange(world, get(`issues/${pr}/timeline`, 'issues/{n}/timeline'), () => {
      const { timeline } = found(world.pulls.get(pr));
      const last = timeline.findLast(({ kind }) => kind === 'scheduled' || kind === 'cancelled');
      return last?.kind === 'scheduled' && last.id > scheduleId && last.user === world.bot;
    });
  const takeBack = (pr: number): boolean =>
    exchange(
      world,
      { method: 'DELETE', path: `pulls/${pr}/merge`, label: 'DELETE pulls/{n}/merge' },
      () => {
        cancelPullSchedule(world, found(world.pulls.get(pr)), world.bot);
        return true;
      },
      new Map([[404, true]]),
    );
  const giveUp = (pr: number, scheduleId: number): 'unknown' => {
    if (isOwn(pr, scheduleId)) takeBack(pr);
    return 'unknown';
  };
  return {
    probeSchedule: async (pr, head, scheduleId) => {
      if (!isOpenAt(pr, head)) return giveUp(pr, scheduleId);
      const answer = exchange<'made' | 'there' | 'refused'>(
        world,
        { method: 'POST', path: `pulls/${pr}/merge`, label: 'POST pulls/{n}/merge' },
        () => {
          const pull = found(world.pulls.get(pr));
          if (pull.state !== 'open') throw new Refusal(404);
          if (!isMergeable(world, pull)) throw new Refusal(405);
          if (pull.schedule !== null) throw new Refusal(409);
          schedulePull(world, pull, 'fast-forward-only', world.bot);
          return 'made';
        },
        new Map([
          [404, 'refused'],
          [405, 'refused'],
          [409, 'there'],
        ]),
      );
      if (answer === 'refused') return giveUp(pr, scheduleId);
      if (answer === 'there' && !isOwn(pr, scheduleId)) return isOpenAt(pr, head) ? 'scheduled' : 'unknown';
      takeBack(pr);
      return 'lost';
    },
  };
}

function createStatusWriter(world: World): Pick<EngineForge, 'postStatus'> {
  return {
    postStatus: async (sha, { state, context, description, targetUrl }) => {
      const call: Call = {
        method: 'POST',
        path: `statuses/${sha}`,
        label: 'POST statuses/{sha}',
        about: state,
      };
      exchange(world, call, () => {
        found(world.objects.commit(sha));
        appendStatus(world, sha, {
          state,
          context: context.trim(),
          description: description.trim(),
          targetUrl,
          creator: world.bot,
        });
        return true;
      });
    },
  };
}
