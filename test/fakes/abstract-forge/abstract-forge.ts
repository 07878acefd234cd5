import type {
  BranchProtection,
  Commit,
  CommitStatus,
  Review,
  TimelineEntry,
} from '#core/domain/forge/forge.ts';
import { parseFilePatterns } from '#core/domain/forge/protected-files.ts';
import { FORGE_ROWS_MAX } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME, stagingPattern } from '#core/domain/queue/queue-names.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { BackportForge } from '#core/ports/backport.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { ForgeAdmin, ForgeHook } from '#core/ports/forge-admin.ts';
import type { ForgePerson } from '#core/ports/forge-person.ts';
import type { FileChanges, ForgeControl } from '../../support/forge-control.ts';
import type { Timers } from '../../support/virtual-clock.ts';
import { createAdminPort } from './admin-port.ts';
import { detectMerges, triggerByEndedChecks, triggerByStatus } from './auto-merge.ts';
import { createBackportPort } from './backport-port.ts';
import { createBotPort } from './bot-port.ts';
import { LATE_EFFECT_MS } from './exchange.ts';
import { endRun, GATE_WORKFLOW_FILE } from './gate.ts';
import { noteMove } from './past.ts';
import {
  addRepeated,
  cancelPullSchedule,
  closePull,
  commitFiles,
  DEFAULT_PERSON,
  deletePullReviews,
  dismissPullReviews,
  importHistory,
  markPullMerged,
  mergePullByHand,
  movePullBranch,
  openPull,
  pushToPull,
  reopenPull,
  retargetPull,
  reviewPull,
  schedulePull,
  updatePullBranch,
} from './people.ts';
import { createPersonPort } from './person-port.ts';
import { putBack } from './put-back.ts';
import { moveBranch, removeBranch, renameBranch, startChecksOfBase } from './refs.ts';
import { findRuleViolation } from './rules.ts';
import { appendStatus } from './statuses.ts';
import { mergeAsGit } from './tree-merge.ts';
import { viewCommit, viewPull } from './views.ts';
import {
  addTimelineEntry,
  createWorld,
  type Delays,
  defaultRule,
  erasePull,
  FORGEJO_15_SWITCHES,
  type JournalEntry,
  type Knobs,
  liveHeadOf,
  mustPull,
  mustRun,
  mustTip,
  type NativeStyle,
  NO_LAGS,
  PLAIN_CI,
  type Pull,
  type Remark,
  type Switches,
  type World,
} from './world.ts';

export interface AbstractForgeOptions {
  readonly clock: Timers;
  readonly slug?: string;
  /** The id of the repository. @default 1 */
  readonly repoId?: number;
  readonly base?: string;
  readonly bot?: string;
  /** First commit of the base; the gate's workflow file is added unless it is named here (null leaves it out). */
  readonly files?: FileChanges;
  readonly switches?: Partial<Switches>;
  readonly delays?: Partial<Delays>;
  readonly onEntry?: (entry: JournalEntry) => void;
}

/** A forge in memory: what the engine sees of it, and what people and tests do to it. */
export interface AbstractForge extends ForgeControl, Knobs {
  readonly forge: EngineForge;
  /** The forge as the function that sets repositories up sees it. */
  readonly admin: ForgeAdmin;
  /** The forge as the function that carries landings sees it. */
  readonly backports: BackportForge;
  /** Puts the repository into the archive, or takes it out: there it takes no contents, and statuses and automatic merges all the same. */
  setArchived(isArchived: boolean): void;
  isArchived(): boolean;
  /** Conditions of the workflow keep each job of a run from running. */
  skipRun(runId: string): Promise<void>;
  /** What the bot has said on pull requests, oldest first. */
  remarks(): readonly Remark[];
  /** All pull requests that a branch of the repository was ever proposed with. */
  pullsFrom(branch: string): readonly Pick<Pull, 'number' | 'base' | 'author' | 'state' | 'schedule'>[];
  /** The forge as the token of a person sees it. */
  asPerson(login: string): ForgePerson;
  /** @param branch - @default the base */
  pushToBase(files: FileChanges, branch?: string): Promise<string>;
  /** From now on a deploy key may push, in the owner's name. */
  addWritingKey(): Promise<void>;
  /** Members of a team of the owner; null: the bot may not see them. */
  setTeam(name: string, members: readonly string[] | null): Promise<void>;
  scheduleAs(user: string, pr: number, style?: NativeStyle): Promise<void>;
  /**
   * The button "update branch" merges the base into the head, or a person does, who changes `files` in the merge.
   *
   * @returns the new head
   */
  updateBranch(pr: number, files?: FileChanges): Promise<string>;
  /** Merges a history of these files, which shares nothing with the base, into the head. */
  importHistory(pr: number, files: FileChanges): Promise<string>;
  /** Pushes a directory of two objects whose names stand for `count` squared files. Returns the new head. */
  addRepeated(pr: number, count: number): Promise<string>;
  /** A rule for another branch than the base, which asks for the queue's status unless `rule` says otherwise. */
  protectBranch(branch: string, rule?: Partial<BranchProtection>): Promise<void>;
  unprotectBranch(branch: string): Promise<void>;
  /** The whole forge is put back from a copy of when its base ended in `tip`. */
  putBack(tip: string): void;
  /** A person renames a branch: pull requests to it and its rule go along. */
  renameBranch(from: string, to: string): Promise<void>;
  requestReview(pr: number, user: string): Promise<void>;
  removeProtection(): Promise<void>;
  /** Every status of a commit ever posted, oldest first. */
  statusHistory(sha: string): readonly CommitStatus[];
  /** Pushes, statuses, ends of runs and merges, in order. */
  journal(): readonly JournalEntry[];
  commit(sha: string): Commit;
  /** Tree that a squash of `head` onto the commit `onto` would have; null = a conflict. */
  previewMerge(onto: string, head: string): string | null;
  /** All best common ancestors, as `git merge-base --all` names them. */
  mergeBases(left: string, right: string): readonly string[];
  readTreeFiles(tree: string): ReadonlyMap<string, string>;
  reviewsOf(pr: number): readonly Review[];
  timelineOf(pr: number): readonly TimelineEntry[];
  /** Why the branch rule forbids the merge now, statuses apart; null when it does not. */
  ruleViolation(pr: number): string | null;
  /** The settings of the repository do not allow a style from now on. */
  forbidStyle(style: NativeStyle): void;
  /** Something that has to be closed before it, in a repository that the bot may not see. Null: it is taken away. */
  setHiddenDependency(pr: number, state: 'open' | 'closed' | null): Promise<void>;
  /** People change the hooks of the repository; null: the bot may not list them. */
  setHooks(hooks: readonly ForgeHook[] | null): Promise<void>;
  /** A person puts a label on a pull request, or takes it off. */
  setLabel(pr: number, name: string, isOn: boolean, user?: string): Promise<void>;
  /** @param branch - @default the base */
  tipOfBase(branch?: string): string;
  isMerged(pr: number): boolean;
  /** Where its head stands; once its branch is gone, where it stood. */
  headOf(pr: number): string;
  /** Whether the forge still has the schedule row, which no API tells. */
  isScheduled(pr: number): boolean;
}

const DEFAULT_DELAYS: Delays = { autoMergeMs: 500, runVisibleMs: 1000, pushEntryMs: 0 };
const DEFAULT_GATE_DURATION_MS = 60_000;

export function createAbstractForge(options: AbstractForgeOptions): AbstractForge {
  const knobs: Knobs = {
    judge: () => 'success',
    gateDurationMs: DEFAULT_GATE_DURATION_MS,
    mergeBehaviour: () => ({ kind: 'now' }),
    checkDelayMs: 0,
    delaysChecks: false,
    listedTip: null,
    timelineRowsMax: FORGE_ROWS_MAX,
    listingRowsMax: FORGE_ROWS_MAX,
    runnerWaitMs: 0,
    runners: Number.POSITIVE_INFINITY,
    runnerRestMs: 0,
    lateJobs: null,
    runnerLabels: null,
    fault: () => null,
    isLate: () => false,
    lags: NO_LAGS,
    ciHabits: PLAIN_CI,
    lateEffectMs: LATE_EFFECT_MS,
    clockAheadMs: 0,
    mergeContents: mergeAsGit,
    mergeFails: () => false,
  };
  const world: World = createWorld({
    clock: options.clock,
    slug: options.slug ?? 'acme/app',
    repoId: options.repoId ?? 1,
    base: options.base ?? 'main',
    bot: options.bot ?? 'mq-bot',
    switches: { ...FORGEJO_15_SWITCHES, ...options.switches },
    delays: { ...DEFAULT_DELAYS, ...options.delays },
    knobs,
    onEntry: options.onEntry ?? (() => undefined),
    reactions: {
      statusSucceeded: (sha) => triggerByStatus(world, sha),
      checksEnded: (started) => {
        detectMerges(world, started);
        triggerByEndedChecks(world, started);
      },
    },
  });
  const [folder] = world.switches.workflowFolders;
  const gate = { [`${folder}/${GATE_WORKFLOW_FILE}`]: GATE_WORKFLOW };
  const files = { 'README.md': '# app\n', ...gate, ...options.files };
  const first = commitFiles(world, null, files, DEFAULT_PERSON, 'Begin');
  world.branches.set(world.base, first);
  noteMove(world, world.base, first);
  const bot = createBotPort(world);
  // The knobs object itself becomes the forge: a test that turns a knob turns what the world reads.
  return Object.assign(knobs, {
    slug: world.slug,
    base: world.base,
    forge: bot,
    admin: createAdminPort(world),
    backports: createBackportPort(world, bot),
    remarks: () => [...world.remarks],
    pullsFrom: (branch: string) =>
      [...world.pulls.values()].filter((pull) => pull.branch === branch && !pull.fork),
    asPerson: (login: string) => createPersonPort(world, login),
    ...createBranchControl(world),
    ...createPullControl(world),
    ...createViews(world),
  });
}

const GATE_WORKFLOW = `on:
  push:
    branches: ['${stagingPattern(DEFAULT_SERVICE_NAME)}']
jobs:
  gate:
    runs-on: docker
    steps:
      - run: make check
`;

function createBranchControl(world: World) {
  return {
    async pushToBase(files: FileChanges, branch = world.base) {
      const sha = commitFiles(world, mustTip(world, branch), files, DEFAULT_PERSON, 'Push to the base');
      moveBranch(world, branch, sha, DEFAULT_PERSON);
      return sha;
    },
    putBack(tip: string) {
      putBack(world, tip);
    },
    async pushBranch(branch: string, sha: string) {
      world.objects.mustCommit(sha);
      moveBranch(world, branch, sha, DEFAULT_PERSON);
    },
    async deleteBranch(branch: string) {
      removeBranch(world, branch, DEFAULT_PERSON);
    },
    async leaveHalfMade(branch: string, sha: string) {
      world.objects.mustCommit(sha);
      world.branches.set(branch, sha);
      world.halfMade.add(branch);
    },
    async pushTag(name: string, sha: string | null) {
      if (sha === null) return void world.tags.delete(name);
      world.objects.mustCommit(sha);
      world.tags.set(name, sha);
    },
    setArchived(isArchived: boolean) {
      world.isArchived = isArchived;
    },
    isArchived: () => world.isArchived,
    async setProtection(rule: Parameters<ForgeControl['setProtection']>[0], branch = world.base) {
      const { protectedFilePatterns: patterns, priority: _only, ...rest } = rule;
      const files = patterns === undefined ? {} : { protectedFilePatterns: parseFilePatterns(patterns) };
      world.rules.set(branch, { ...(world.rules.get(branch) ?? defaultRule(branch)), ...rest, ...files });
      startChecksOfBase(world, branch);
    },
    async protectBranch(branch: string, rule: Partial<BranchProtection> = {}) {
      world.rules.set(branch, { ...defaultRule(branch), ...rule });
    },
    async unprotectBranch(branch: string) {
      world.rules.delete(branch);
    },
    async removeProtection() {
      world.rules.delete(world.base);
      startChecksOfBase(world, world.base);
    },
    async postStatusAs(
      user: string,
      sha: string,
      context: string,
      state: string,
      description = '',
      targetUrl: string | null = null,
    ) {
      world.objects.mustCommit(sha);
      appendStatus(world, sha, { context, state, description, creator: user, targetUrl });
    },
    async skipRun(runId: string) {
      const run = mustRun(world, runId);
      run.isSkipped = true;
      endRun(world, run, 'error');
    },
    async finishRun(runId: string, state: 'success' | 'failure' | 'cancelled' | 'error') {
      const run = mustRun(world, runId);
      endRun(world, run, state);
    },
  };
}

function createPullControl(world: World) {
  return {
    async openPullRequest(pull: Parameters<ForgeControl['openPullRequest']>[0]) {
      return openPull(world, pull);
    },
    async updateBranch(pr: number, files: FileChanges = {}) {
      return updatePullBranch(world, mustPull(world, pr), files);
    },
    async importHistory(pr: number, files: FileChanges) {
      return importHistory(world, mustPull(world, pr), files);
    },
    async addRepeated(pr: number, count: number) {
      return addRepeated(world, mustPull(world, pr), count);
    },
    async setTeam(name: string, members: readonly string[] | null) {
      world.teams.set(name.toLowerCase(), members);
    },
    async setAccess(user: string, access: 'read' | 'write') {
      if (access === 'read') world.readers.add(user);
      else world.readers.delete(user);
    },
    async lendByTeam(team: Parameters<ForgeControl['lendByTeam']>[0]) {
      world.lenders.set(team.name, team);
    },
    async pushToPullRequest(pr: number, files: FileChanges, by?: string) {
      return pushToPull(world, mustPull(world, pr), files, by);
    },
    forbidStyle(style: NativeStyle) {
      world.forbiddenStyles.add(style);
    },
    async setHooks(hooks: readonly ForgeHook[] | null) {
      world.hooks = hooks;
    },
    async addWritingKey() {
      world.hasWritingKey = true;
    },
    async forcePushPullRequest(pr: number, sha: string) {
      movePullBranch(world, mustPull(world, pr), sha);
    },
    async schedule(pr: number, style: MergeStyle = 'merge') {
      schedulePull(world, mustPull(world, pr), style, DEFAULT_PERSON);
    },
    async scheduleAs(user: string, pr: number, style: NativeStyle = 'merge') {
      schedulePull(world, mustPull(world, pr), style, user);
    },
    async cancelSchedule(pr: number) {
      cancelPullSchedule(world, mustPull(world, pr), DEFAULT_PERSON);
    },
    async close(pr: number) {
      closePull(world, mustPull(world, pr));
    },
    async reopen(pr: number) {
      reopenPull(world, mustPull(world, pr));
    },
    async deletePullRequest(pr: number) {
      erasePull(world, mustPull(world, pr));
    },
    async retarget(pr: number, base: string, by?: string) {
      retargetPull(world, mustPull(world, pr), base, by);
    },
    async renameBranch(from: string, to: string) {
      renameBranch(world, from, to, DEFAULT_PERSON);
    },
    async setTitle(pr: number, title: string) {
      const pull = mustPull(world, pr);
      pull.title = title;
      addTimelineEntry(world, pull, 'other', DEFAULT_PERSON);
    },
    async review(pr: number, user: string, verdict: 'approve' | 'reject' | 'comment') {
      reviewPull(world, mustPull(world, pr), user, verdict);
    },
    async requestReview(pr: number, user: string) {
      reviewPull(world, mustPull(world, pr), user, 'request');
    },
    async addDependency(pr: number, on: number) {
      const [pull, before] = [mustPull(world, pr), mustPull(world, on)];
      pull.dependsOn.add(on);
      for (const each of [pull, before]) addTimelineEntry(world, each, 'dependency', DEFAULT_PERSON);
    },
    async setHiddenDependency(pr: number, state: 'open' | 'closed' | null) {
      const pull = mustPull(world, pr);
      const isEntry = (pull.dependsOnHidden === null) !== (state === null);
      pull.dependsOnHidden = state;
      if (isEntry) addTimelineEntry(world, pull, 'dependency', DEFAULT_PERSON);
    },
    async setLabel(pr: number, name: string, isOn: boolean, user = DEFAULT_PERSON) {
      const pull = mustPull(world, pr);
      if (pull.labels.has(name) === isOn) return;
      if (isOn) pull.labels.add(name);
      else pull.labels.delete(name);
      addTimelineEntry(world, pull, isOn ? 'labelled' : 'unlabelled', user, null, { label: name });
    },
    async deleteReviews(pr: number) {
      deletePullReviews(mustPull(world, pr));
    },
    async dismissReviews(pr: number) {
      dismissPullReviews(world, mustPull(world, pr));
    },
    async mergeByHand(pr: number, style: MergeStyle = 'merge') {
      return mergePullByHand(world, pr, style);
    },
    async markMerged(pr: number, commit: string) {
      markPullMerged(world, pr, commit);
    },
  };
}

function createViews(world: World) {
  const { objects } = world;
  return {
    async pull(pr: number) {
      return viewPull(world, mustPull(world, pr));
    },
    async status(sha: string, context: string) {
      const row = world.statuses.get(sha)?.latest.get(context);
      if (row === undefined) return null;
      return { state: row.state, description: row.description, creator: row.creator };
    },
    statusHistory: (sha: string) => [...(world.statuses.get(sha)?.history ?? [])],
    isScheduled: (pr: number) => mustPull(world, pr).schedule !== null,
    ruleViolation: (pr: number) => findRuleViolation(world, mustPull(world, pr)),
    headOf(pr: number) {
      const pull = mustPull(world, pr);
      return liveHeadOf(world, pull) ?? pull.pullHead;
    },
    isMerged: (pr: number) => mustPull(world, pr).mergeCommit !== null,
    tipOfBase: (branch = world.base) => mustTip(world, branch),
    async branches() {
      return [...world.branches.keys()].sort();
    },
    async tip(branch: string) {
      return mustTip(world, branch);
    },
    async tree(commit: string) {
      return objects.mustCommit(commit).tree;
    },
    async readFiles(commit: string) {
      return objects.filesOf(objects.treeOf(commit));
    },
    runs: () =>
      world.runs.map(({ id, sha, branch, tree, state, createdAt }) => ({
        id,
        sha,
        branch,
        tree,
        state,
        createdAt,
      })),
    merges: () => [...world.merges],
    journal: () => world.journal,
    commit: (sha: string) => viewCommit(objects.mustCommit(sha)),
    timelineOf: (pr: number) => [...mustPull(world, pr).timeline],
    reviewsOf: (pr: number) => [...mustPull(world, pr).reviews],
    readTreeFiles(hash: string) {
      const tree = objects.tree(hash);
      if (tree === undefined) throw new Error(`no tree ${hash}`);
      return objects.filesOf(tree);
    },
    previewMerge(onto: string, head: string) {
      const fork = objects.mergeBase(onto, head);
      if (fork === null) return null;
      const tree = world.merger.merge(objects.treeOf(fork), objects.treeOf(onto), objects.treeOf(head));
      return tree?.hash ?? null;
    },
    mergeBases: (left: string, right: string) => objects.mergeBases(left, right),
    calls: () => [...world.callLog],
    clearCalls() {
      world.callLog.length = 0;
    },
  };
}
