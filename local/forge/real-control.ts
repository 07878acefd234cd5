import { finishRun } from './actions/runs.ts';
import type { ForgeCallRecord, ForgeControl, GateRunView, PostedBy } from './control.ts';
import { convertPull } from './convert/entities.ts';
import { convertMerges } from './convert/merges.ts';
import { ZERO_ID } from './git/refs.ts';
import type { MergeStyle, PullRecord, RepoRecord } from './model.ts';
import {
  changeRule,
  commitChanges,
  commitToHead,
  leaveHalfMade,
  lendByTeam,
  markByHand,
  mergeByHand,
  moveBranch,
  moveHead,
  OWNER,
  PERSON,
  propose,
  removeBranch,
} from './people.ts';
import { ensureUser } from './set-up.ts';
import { cancelSchedule, scheduleMerge } from './world/automerge.ts';
import { addDependency } from './world/dependencies.ts';
import { closePull, deletePull, mustPull, renamePull, reopenPull } from './world/pulls.ts';
import { syncHead } from './world/pushes.ts';
import { retargetPull } from './world/retarget.ts';
import { deleteReviews, dismissReviews, submitReview } from './world/reviews.ts';
import { latestStatuses, postStatus } from './world/statuses.ts';
import { findRepo, gitOf, headTip, slugOf, type World } from './world.ts';

type Changes = Parameters<ForgeControl['pushToBase']>[0];

/** The acts of people on one repository of the forge, straight inside the process. */
class RealControl implements ForgeControl {
  readonly #world: World;
  readonly #repo: RepoRecord;
  readonly #calls: ForgeCallRecord[];
  readonly base: string;

  constructor(world: World, repo: RepoRecord, calls: ForgeCallRecord[]) {
    this.#world = world;
    this.#repo = repo;
    this.#calls = calls;
    this.base = repo.defaultBranch;
  }

  get slug(): string {
    return slugOf(this.#repo);
  }

  get judge(): ForgeControl['judge'] {
    return this.#world.knobs.judge;
  }
  set judge(judge: ForgeControl['judge']) {
    this.#world.knobs.judge = judge;
  }
  get gateDurationMs(): number {
    return this.#world.knobs.gateDurationMs;
  }
  set gateDurationMs(ms: number) {
    this.#world.knobs.gateDurationMs = ms;
  }
  get mergeBehaviour(): ForgeControl['mergeBehaviour'] {
    return this.#world.knobs.mergeBehaviour;
  }
  set mergeBehaviour(behaviour: ForgeControl['mergeBehaviour']) {
    this.#world.knobs.mergeBehaviour = behaviour;
  }
  get checkDelayMs(): number {
    return this.#world.knobs.checkDelayMs;
  }
  set checkDelayMs(ms: number) {
    this.#world.knobs.checkDelayMs = ms;
  }
  get fault(): ForgeControl['fault'] {
    return this.#world.knobs.fault;
  }
  set fault(fault: ForgeControl['fault']) {
    this.#world.knobs.fault = fault;
  }

  #locked<T>(run: () => Promise<T>): Promise<T> {
    this.#world.store.changed();
    return this.#world.background.exclusive(run);
  }

  #pull(index: number): PullRecord {
    return mustPull(this.#repo, index);
  }

  pushToBase(files: Changes): Promise<string> {
    return this.#locked(() => {
      const tip = gitOf(this.#world, this.#repo).tip(this.base);
      return commitChanges(this.#world, this.#repo, this.base, tip, files, PERSON);
    });
  }

  openPullRequest(options: Parameters<ForgeControl['openPullRequest']>[0]): Promise<number> {
    return this.#locked(() => propose(this.#world, this.#repo, options));
  }

  setAccess(user: string, access: 'read' | 'write'): Promise<void> {
    return this.#locked(async () => {
      ensureUser(this.#world, user);
      this.#repo.collaborators[user] = access;
    });
  }

  lendByTeam(team: Parameters<ForgeControl['lendByTeam']>[0]): Promise<void> {
    return this.#locked(async () => lendByTeam(this.#world, this.#repo, team));
  }

  pushToPullRequest(pr: number, files: Changes, by?: string): Promise<string> {
    return this.#locked(async () => {
      const pull = this.#pull(pr);
      const after = await commitToHead(this.#world, this.#headRepo(pull), pull, files, by);
      await this.#syncNow(pull, by);
      return after;
    });
  }

  forcePushPullRequest(pr: number, sha: string): Promise<void> {
    return this.#locked(async () => {
      const pull = this.#pull(pr);
      const headRepo = this.#headRepo(pull);
      const git = gitOf(this.#world, headRepo);
      await git.copyCommit(gitOf(this.#world, this.#repo), sha);
      await moveHead(this.#world, headRepo, pull, sha);
      await this.#syncNow(pull);
    });
  }

  /** Without a push delay the forge has dealt with the push when the person looks again. */
  async #syncNow(pull: PullRecord, by = pull.author): Promise<void> {
    if (this.#world.knobs.pushDelayMs > 0 || pull.state !== 'open') return;
    await syncHead(this.#world, this.#repo, pull, by);
  }

  #headRepo(pull: PullRecord): RepoRecord {
    const repo = this.#world.state.repos.find((each) => each.id === pull.headRepoId);
    if (repo === undefined) throw new Error('head repository is gone');
    return repo;
  }

  /** People wait until the forge has checked for conflicts; a schedule made here does not refuse meanwhile. */
  schedule(pr: number, style: 'merge' | 'squash' | 'rebase' = 'merge'): Promise<void> {
    return this.#locked(async () => {
      const pull = this.#pull(pr);
      // The web page replaces an older row without a word.
      pull.schedule = null;
      const request = {
        doer: PERSON,
        style: style satisfies MergeStyle,
        title: '',
        message: '',
        deleteBranch: false,
      };
      scheduleMerge(this.#world, this.#repo, pull, request);
    });
  }

  cancelSchedule(pr: number): Promise<void> {
    return this.#locked(async () => {
      const result = cancelSchedule(this.#world, this.#repo, this.#pull(pr), PERSON);
      if (result !== 'cancelled') throw new Error(`schedule not cancelled: ${result}`);
    });
  }

  close(pr: number): Promise<void> {
    return this.#locked(async () => closePull(this.#world, this.#repo, this.#pull(pr), PERSON));
  }

  reopen(pr: number): Promise<void> {
    return this.#locked(async () => {
      if (!(await reopenPull(this.#world, this.#repo, this.#pull(pr), PERSON)))
        throw new Error('not reopened');
    });
  }

  deletePullRequest(pr: number): Promise<void> {
    return this.#locked(async () => deletePull(this.#repo, this.#pull(pr)));
  }

  retarget(pr: number, base: string, by = PERSON): Promise<void> {
    return this.#locked(async () => {
      const git = gitOf(this.#world, this.#repo);
      const tip = git.tip(this.base);
      if (git.tip(base) === null && tip !== null) {
        await moveBranch(this.#world, this.#repo, base, tip, PERSON);
      }
      const result = await retargetPull(this.#world, this.#repo, this.#pull(pr), base, by);
      if (result !== 'changed') throw new Error(`not retargeted: ${result}`);
    });
  }

  setTitle(pr: number, title: string): Promise<void> {
    return this.#locked(async () => renamePull(this.#world, this.#repo, this.#pull(pr), title, PERSON));
  }

  review(pr: number, user: string, verdict: 'approve' | 'reject' | 'comment'): Promise<void> {
    return this.#locked(async () => {
      ensureUser(this.#world, user);
      this.#repo.collaborators[user] ??= 'write';
      const review = submitReview(this.#world, this.#repo, this.#pull(pr), user, verdict, '');
      if (review === null) throw new Error('an author cannot review their own pull request');
    });
  }

  dismissReviews(pr: number): Promise<void> {
    return this.#locked(async () => dismissReviews(this.#world, this.#repo, this.#pull(pr), OWNER));
  }

  deleteReviews(pr: number): Promise<void> {
    return this.#locked(async () => deleteReviews(this.#pull(pr)));
  }

  mergeByHand(pr: number, style: MergeStyle = 'merge'): Promise<string> {
    return this.#locked(() => mergeByHand(this.#world, this.#repo, this.#pull(pr), style));
  }

  markMerged(pr: number, commit: string): Promise<void> {
    return this.#locked(() => markByHand(this.#world, this.#repo, this.#pull(pr), commit));
  }

  addDependency(pr: number, on: number): Promise<void> {
    return this.#locked(async () => addDependency(this.#world, this.#pull(pr), this.#pull(on), PERSON));
  }

  setProtection(rule: Parameters<ForgeControl['setProtection']>[0], branch = this.base): Promise<void> {
    return this.#locked(async () => changeRule(this.#world, this.#repo, branch, rule));
  }

  postStatusAs(...[user, sha, context, state, description = '', link]: PostedBy): Promise<void> {
    return this.#locked(async () => {
      ensureUser(this.#world, user);
      postStatus(this.#world, this.#repo, sha, { state, context, description, targetUrl: link ?? '' }, user);
    });
  }

  deleteBranch(branch: string): Promise<void> {
    return this.#locked(() => removeBranch(this.#world, this.#repo, branch, PERSON));
  }

  leaveHalfMade(branch: string, sha: string): Promise<void> {
    return this.#locked(() => leaveHalfMade(this.#world, this.#repo, branch, sha));
  }

  pushBranch(branch: string, sha: string): Promise<void> {
    return this.#locked(() => moveBranch(this.#world, this.#repo, branch, sha, PERSON));
  }

  pushTag(name: string, sha: string | null): Promise<void> {
    return this.#locked(() => gitOf(this.#world, this.#repo).setRef(`refs/tags/${name}`, sha ?? ZERO_ID));
  }

  finishRun(runId: string, state: 'success' | 'failure' | 'cancelled' | 'error'): Promise<void> {
    return this.#locked(async () => {
      const run = this.#repo.runs.find((each) => String(each.id) === runId);
      if (run === undefined) throw new Error(`no run ${runId}`);
      finishRun(this.#world, this.#repo, run, state);
    });
  }

  runs(): readonly GateRunView[] {
    return this.#repo.runs.map((run) => ({
      id: String(run.id),
      sha: run.sha,
      branch: run.branch,
      tree: run.tree,
      // No job of it ran: it proves as little as one in error.
      state: run.status === 'skipped' ? 'error' : run.status,
      createdAt: run.createdAt,
    }));
  }

  async pull(pr: number): Promise<Awaited<ReturnType<ForgeControl['pull']>>> {
    const pull = this.#pull(pr);
    const shown = convertPull(this.#world, this.#repo, pull, null) as {
      draft: boolean;
      mergeable: boolean;
      base: { sha: string };
      head: { sha: string; ref: string };
    };
    return {
      number: pull.index,
      title: pull.title,
      state: pull.state,
      draft: shown.draft,
      mergeable: shown.mergeable,
      merged: pull.merged,
      mergeCommitSha: pull.mergeCommit,
      mergeBase: pull.mergeBase,
      baseRef: pull.base,
      baseTip: shown.base.sha,
      headRef: shown.head.ref,
      headSha: shown.head.sha,
      fromFork: pull.headRepoId !== this.#repo.id,
      agit: pull.agit === true,
      ...(pull.agit !== true && headTip(this.#world, pull) === null ? { isBranchGone: true } : {}),
      author: pull.author,
      updatedAt: Math.floor(pull.updatedAt / 1000) * 1000,
    };
  }

  async status(sha: string, context: string): ReturnType<ForgeControl['status']> {
    const found = latestStatuses(this.#repo, sha).find((row) => row.context === context);
    if (found === undefined) return null;
    return { state: found.state, description: found.description, creator: found.creator };
  }

  async branches(): Promise<readonly string[]> {
    return (await gitOf(this.#world, this.#repo).branches()).map((branch) => branch.name);
  }

  async tip(branch: string): Promise<string> {
    const tip = gitOf(this.#world, this.#repo).tip(branch);
    if (tip === null) throw new Error(`no branch ${branch}`);
    return tip;
  }

  async tree(commit: string): Promise<string> {
    return (await gitOf(this.#world, this.#repo).mustCommit(commit)).tree;
  }

  readFiles(commit: string): Promise<ReadonlyMap<string, string>> {
    return gitOf(this.#world, this.#repo).readFiles(commit);
  }

  merges(): ReturnType<ForgeControl['merges']> {
    return convertMerges(this.#repo, this.base);
  }

  calls(): readonly ForgeCallRecord[] {
    return this.#calls;
  }

  clearCalls(): void {
    this.#calls.length = 0;
  }
}

export function controlFor(world: World, slug: string, calls: ForgeCallRecord[]): RealControl {
  const [owner = '', name = ''] = slug.split('/');
  const repo = findRepo(world, owner, name);
  if (repo === undefined) throw new Error(`no repository ${slug}`);
  return new RealControl(world, repo, calls);
}
