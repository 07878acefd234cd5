import type { BranchProtection, CommitStatus, Review, TimelineEntry } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { ForgeHook } from '#core/ports/forge-admin.ts';
import type { GlobReader } from '../../../local/forge/globs.ts';
import { givenRule } from '../../builders/snapshot.ts';
import type {
  ForgeCallRecord,
  ForgeControl,
  GateJudgement,
  GateRunView,
  MergeView,
} from '../../support/forge-control.ts';
import type { Timers } from '../../support/virtual-clock.ts';
import { ObjectStore } from './object-store.ts';
import { TreeMerger } from './tree-merge.ts';

/** Where forge versions differ (forge facts, 3.5 and 12). */
export interface Switches {
  /** Forgejo from 11.0.3: the schedule is gone even when the merge it was for then fails. */
  readonly rowDeletedBeforeMerge: boolean;
  /** Newer versions try again when a conflict check ends well; older ones forget a success posted meanwhile. */
  readonly recheckTriggers: boolean;
  /** Gitea from 1.24.3: scheduling a pull request that is green already merges it. */
  readonly scheduleTriggers: boolean;
  /** Forgejo: a pull request from a fork merges only if its scheduler may write to the fork. */
  readonly forkPermission: boolean;
  /** Those who schedule are administrators: a slow merge takes whatever the head has become since it was checked (E1). */
  readonly mergesUncheckedHead: boolean;
  /** A slow merge takes the head that it was begun with, and the newer one stays that of the closed pull request (seen on a Gitea, of AGit heads). */
  readonly mergesHeadItBeganWith: boolean;
  readonly runsCanBeCancelled: boolean;
  /** Forgejo: a word of state that it does not know keeps nothing back. */
  readonly passesUnknownWords: boolean;
  /** All but Gitea before 1.25: a pattern is met where all that it finds was skipped. */
  readonly passesSkippedAlone: boolean;
  /** Gitea from 1.27 on: patterns of checks that are asked for and that no API shows. Null: an older version. */
  readonly hiddenChecks: readonly string[] | null;
  /** Who reads the patterns of required contexts and protected files. */
  readonly globs: GlobReader;
  /** Repository admin: reads the rule in full. */
  readonly botIsAdmin: boolean;
  /** Setting of a repository: the conflict check calls an open pull request merged whose head the base holds. */
  readonly autodetectsMerges: boolean;
  /** A head that holds the whole base is not rebased: its merges land with it. */
  readonly keepsMergesInRebase: boolean;
  /** A head that holds the whole base is checked out to be rebased as well, which stops at a file that git converts. */
  readonly rebasesUpToDate: boolean;
  /** Gitea on a git before 2.40: a file whose mode changed on one side and whose contents on the other is a conflict. */
  readonly modesClash: boolean;
  /** Gitea: a change of the target deletes the entries of all pushes, and writes one in the name of who made it. */
  readonly retargetRestatesPush: boolean;
  /** Forgejo: a merge is made on a tag of the base's name, where there is one. */
  readonly mergesIntoTag: boolean;
  /** Gitea 1.26.4: a patch onto a name that another branch makes impossible is denied (403), and no bare 500. */
  readonly deniesTakenNames: boolean;
  /** Gitea: a patch onto a new branch that a rule covers is denied (403), and no bare 500. */
  readonly deniesRuledPatches: boolean;
  /** Who runs the gate: the forge itself, or another CI that posts statuses like Woodpecker. */
  readonly ci: 'actions' | 'statuses';
  /** Pushes to every branch start what the files say, not those of the queue alone: a life of many people is slower so. */
  readonly runsOnHeads: boolean;
  /** Workflows are read from the first of these that exists. */
  readonly workflowFolders: readonly string[];
}

export const FORGEJO_15_SWITCHES: Switches = {
  runsOnHeads: false,
  rowDeletedBeforeMerge: true,
  recheckTriggers: true,
  scheduleTriggers: false,
  forkPermission: true,
  mergesUncheckedHead: false,
  mergesHeadItBeganWith: false,
  runsCanBeCancelled: true,
  passesUnknownWords: true,
  passesSkippedAlone: true,
  hiddenChecks: null,
  globs: 'gobwas',
  botIsAdmin: true,
  modesClash: false,
  keepsMergesInRebase: true,
  rebasesUpToDate: false,
  autodetectsMerges: false,
  retargetRestatesPush: false,
  mergesIntoTag: true,
  deniesTakenNames: false,
  deniesRuledPatches: false,
  ci: 'actions',
  workflowFolders: ['.forgejo/workflows', '.gitea/workflows', '.github/workflows'],
};

export const GITEA_126_SWITCHES: Switches = {
  ...FORGEJO_15_SWITCHES,
  rowDeletedBeforeMerge: false,
  scheduleTriggers: true,
  forkPermission: false,
  runsCanBeCancelled: false,
  passesUnknownWords: false,
  keepsMergesInRebase: false,
  rebasesUpToDate: true,
  globs: 'gitea',
  retargetRestatesPush: true,
  mergesIntoTag: false,
  deniesTakenNames: true,
  deniesRuledPatches: true,
  modesClash: true,
  workflowFolders: ['.gitea/workflows', '.github/workflows'],
};

/** Times of what the forge does after it has answered, ms. */
export interface Delays {
  /** From a trigger to the automatic merge. */
  readonly autoMergeMs: number;
  /** From a push to its gate run; a branch deleted within it gets no run. */
  readonly runVisibleMs: number;
  /** From a push to its entry in the timeline. */
  readonly pushEntryMs: number;
}

/** How old each reading is, ms: it shows what was true that long ago. Each becomes true at its own time. */
export interface ReadingLags {
  /** Which pull requests the open list holds, and what they say of themselves … */
  readonly list: number;
  /** … and where their heads and bases stand in it. */
  readonly listRefs: number;
  /** The same of one pull request read by its number. */
  readonly pull: number;
  readonly pullRefs: number;
  readonly branch: number;
  readonly status: number;
}

export const NO_LAGS: ReadingLags = { list: 0, listRefs: 0, pull: 0, pullRefs: 0, branch: 0, status: 0 };

/** What the statuses of another CI may be like, all of them allowed. */
export interface CiHabits {
  /** The last context answers this long after the pipeline has ended, ms. */
  readonly lateMs: number;
  /** Each status is posted twice. */
  readonly repeats: boolean;
  /** An account that is no author of the gate says the opposite, before and after. */
  readonly strangers: boolean;
  /** A pipeline that passes was first posted as failed. */
  readonly restarts: boolean;
}

/** Of two jobs with one name a forge without a list of runs tells the second only after the first has passed (forge facts, 8). */
export interface LateJob {
  /** From the pass of the job before it, ms. */
  readonly toldAfterMs: number;
  readonly takesMs: number;
}

export const PLAIN_CI: CiHabits = { lateMs: 0, repeats: false, strangers: false, restarts: false };

/** Knobs that tests turn while the forge works. */
export type Knobs = Pick<
  ForgeControl,
  'judge' | 'gateDurationMs' | 'mergeBehaviour' | 'checkDelayMs' | 'fault'
> & {
  lags: ReadingLags;
  /** Gitea from 1.24 on, of pull requests that nothing touched for days: a moved base has none checked before it is read by its number. */
  delaysChecks: boolean;
  /** Gitea: the tip that the list shows of the base, whose later pushes it failed to write down. Null: it has written down all. */
  listedTip: CommitSha | null;
  /** How another CI posts, where one does. */
  ciHabits: CiHabits;
  /** A call that takes longer than the client waits is carried out by the forge this much later. */
  lateEffectMs: number;
  /** Entries of a timeline that one reading comes to, and all others of the last one's second. */
  timelineRowsMax: number;
  /** A longer listing of commits is given up by the client. */
  listingRowsMax: number;
  /** How long a run waits for a runner; infinite: no runner has its label. */
  runnerWaitMs: number;
  /** How many runs go on at once; those beyond wait, in order. */
  runners: number;
  /** A runner asks for its next run so long after it has ended one, ms. */
  runnerRestMs: number;
  /** Jobs of a run behind its first, each told late; the last one decides. Null: the forge lists runs, with all of their jobs. */
  lateJobs: readonly LateJob[] | null;
  /** `runs-on` of the gate's job, as the list of its jobs tells it; null: this version has no such list. */
  runnerLabels: readonly string[] | null;
  /** How far the forge's own time stamps are ahead of all other clocks, ms. */
  clockAheadMs: number;
  /**
   * The forge's own merge of a file that both sides changed, where it differs from git's. Its
   * result null: a conflict.
   */
  mergeContents: (base: string, ours: string, theirs: string) => string | null;
  /** True: the next automatic merge of this pull request fails after all checks, as in a push race. */
  mergeFails: (pr: number) => boolean;
  /** True: the caller never gets the answer of this API call, and the forge carries it out some time later (E7). */
  isLate: (call: { readonly method: string; readonly path: string; readonly about?: string }) => boolean;
};

/** Styles that a person can choose on the forge; the queue itself is never set to the last. */
export type NativeStyle = MergeStyle | 'fast-forward-only';

export interface ScheduleRow {
  readonly doer: string;
  readonly style: NativeStyle;
  /** Of the pull request when it was scheduled: the forge keeps the message. */
  readonly title: string;
}

/** The branch positions a conflict check looks at; it ends at `dueAt`. */
export interface ConflictCheck {
  readonly startedAt: EpochMs;
  readonly dueAt: EpochMs;
  readonly tip: CommitSha;
  readonly head: CommitSha;
}

export type ConflictState = 'checking' | 'mergeable' | 'conflict' | 'ancestor' | 'empty';

export interface Pull {
  readonly number: PullRequestNumber;
  readonly branch: string;
  readonly author: string;
  /** The head is kept apart from the branches of the repository: in a fork, or as an AGit head. */
  readonly fork: boolean;
  /** Pushed to `refs/for/…`: of no fork, and of no branch. */
  readonly agit: boolean;
  title: string;
  base: string;
  /** The commit of `refs/pull/N/head`: not moved while the pull request is closed. */
  pullHead: CommitSha;
  state: 'open' | 'closed';
  mergeCommit: CommitSha | null;
  schedule: ScheduleRow | null;
  /** Newest check, running or ended, and the one that ended before it. */
  check: ConflictCheck;
  lastCheck: ConflictCheck | null;
  /** Outcomes of both, once a caller asked. */
  checkResult: ConflictState | null;
  lastResult: ConflictState | null;
  updatedAt: EpochMs;
  readonly timeline: TimelineEntry[];
  readonly reviews: Review[];
  /** Pull requests that have to be closed before it is merged. */
  readonly dependsOn: Set<PullRequestNumber>;
  /** The same in a repository that the bot may not see; null: nothing. */
  dependsOnHidden: 'open' | 'closed' | null;
  readonly labels: Set<string>;
  /** Its own fields at each change since it was opened, oldest first. */
  readonly past: PullFacts[];
}

/** A pull request's own fields at one instant, without its branches. */
export interface PullFacts {
  readonly at: EpochMs;
  readonly title: string;
  readonly base: string;
  readonly pullHead: CommitSha;
  readonly state: 'open' | 'closed';
  readonly mergeCommit: CommitSha | null;
  readonly updatedAt: EpochMs;
}

/** Words of the bot on a pull request. */
export interface Remark {
  readonly pr: PullRequestNumber;
  readonly body: string;
}

export interface StatusRow extends CommitStatus {
  readonly targetUrl: string | null;
  /** When it was written; `createdAt` is the second of it by the forge's own clock. */
  readonly at: EpochMs;
}

export interface StatusRows {
  readonly history: StatusRow[];
  /** Newest row per exact context. */
  readonly latest: Map<string, StatusRow>;
}

export interface Run extends Omit<GateRunView, 'state'> {
  state: GateRunView['state'];
  readonly workflowFile: string;
  isSkipped?: true;
  /** Each job that is told by now has passed, and another one follows. */
  hidesJob?: boolean;
}

/** A run that waits for a free runner. */
export interface WaitingRun {
  readonly run: Run;
  readonly judgement: Exclude<GateJudgement, 'never'>;
}

export interface StartedCheck {
  readonly pull: Pull;
  readonly check: ConflictCheck;
}

/** The code that sets off automatic merges; filled in once, so that no module has to import the one it is called by. */
export interface Reactions {
  statusSucceeded(sha: CommitSha): void;
  checksEnded(started: readonly StartedCheck[]): void;
}

/** All events in order: all that a judge from outside may read. */
export type JournalEntry =
  /** A branch moved; `to` is null when it was deleted. */
  | {
      readonly kind: 'push';
      readonly at: EpochMs;
      readonly branch: string;
      readonly to: CommitSha | null;
      readonly by: string;
    }
  | {
      readonly kind: 'status';
      readonly at: EpochMs;
      readonly sha: CommitSha;
      readonly context: string;
      readonly state: string;
      readonly description: string;
      readonly creator: string;
    }
  | { readonly kind: 'run'; readonly at: EpochMs; readonly run: GateRunView }
  | { readonly kind: 'merge'; readonly at: EpochMs; readonly merge: MergeView }
  /** A merge into another base than the one that this forge is about. */
  | {
      readonly kind: 'merge_elsewhere';
      readonly at: EpochMs;
      readonly base: string;
      readonly merge: MergeView;
    };

/** Everything the forge keeps. One repository and the branches of its forks. */
export interface World {
  readonly timers: Timers;
  readonly slug: string;
  readonly repoId: number;
  readonly base: string;
  readonly bot: string;
  readonly switches: Switches;
  readonly delays: Delays;
  readonly knobs: Knobs;
  readonly reactions: Reactions;
  readonly objects: ObjectStore;
  /** Applies patches. */
  readonly merger: TreeMerger;
  /** Checks and merges pull requests. */
  readonly branches: Map<string, CommitSha>;
  /** Those that git has, and the forge's own table of branches has not: the forge died over their push. */
  readonly halfMade: Set<string>;
  /** Every move of every branch, oldest first; null where it was deleted. */
  readonly moves: Map<string, { readonly at: EpochMs; readonly to: CommitSha | null }[]>;
  readonly tags: Map<string, CommitSha>;
  /** By owner and branch. */
  readonly forkBranches: Map<string, CommitSha>;
  /** People who may read and no more, unless a team lends them more; all others may write. */
  readonly readers: Set<string>;
  /** Teams of the owner that lend rights, by name. */
  readonly lenders: Map<string, Parameters<ForgeControl['lendByTeam']>[0]>;
  /** Members of each team of the owner, by its name in lower case; null: the bot may not see them. */
  readonly teams: Map<string, readonly string[] | null>;
  /** A deploy key may push here, in the owner's name. */
  hasWritingKey: boolean;
  /** Styles that the settings of the repository do not allow: a merge that is due in one of them fails. */
  readonly forbiddenStyles: Set<NativeStyle>;
  /** Null: the bot may not list them. */
  hooks: readonly ForgeHook[] | null;
  readonly pulls: Map<PullRequestNumber, Pull>;
  /** Numbers are given once, deleted ones included. */
  pullsOpened: number;
  /** The open ones of `pulls`. */
  readonly openPulls: Map<PullRequestNumber, Pull>;
  /** The open ones that have a schedule row. */
  readonly scheduledPulls: Set<Pull>;
  isArchived: boolean;
  /** By branch. */
  readonly rules: Map<string, BranchProtection>;
  readonly statuses: Map<CommitSha, StatusRows>;
  readonly runs: Run[];
  /** Every run by branch, newest last. */
  readonly runsByBranch: Map<string, Run[]>;
  readonly runnerLine: WaitingRun[];
  /** Runners that have ended a run and have not asked for the next one yet. */
  runnersResting: number;
  readonly merges: MergeView[];
  readonly callLog: ForgeCallRecord[];
  /** Reviews without a verdict, oldest first. */
  readonly remarks: Remark[];
  readonly journal: JournalEntry[];
  /** Told of every entry as it is written: where webhooks come from. */
  readonly onEntry: (entry: JournalEntry) => void;
  /** Waiting automatic merges, by pull request and SHA: the forge's queue holds each pair once. */
  readonly queuedMerges: Set<string>;
  nextId: number;
}

export interface WorldOptions {
  readonly clock: Timers;
  readonly slug: string;
  readonly repoId: number;
  readonly base: string;
  readonly bot: string;
  readonly switches: Switches;
  readonly delays: Delays;
  readonly knobs: Knobs;
  readonly reactions: Reactions;
  readonly onEntry: (entry: JournalEntry) => void;
}

export function createWorld(options: WorldOptions): World {
  const objects = new ObjectStore();
  return {
    timers: options.clock,
    slug: options.slug,
    repoId: options.repoId,
    base: options.base,
    bot: options.bot,
    switches: options.switches,
    delays: options.delays,
    knobs: options.knobs,
    reactions: options.reactions,
    objects,
    merger: new TreeMerger(objects, () => options.knobs.mergeContents),
    branches: new Map(),
    moves: new Map(),
    halfMade: new Set(),
    tags: new Map(),
    forkBranches: new Map(),
    readers: new Set(),
    lenders: new Map(),
    teams: new Map(),
    hasWritingKey: false,
    forbiddenStyles: new Set(),
    hooks: [],
    pulls: new Map(),
    pullsOpened: 0,
    openPulls: new Map(),
    scheduledPulls: new Set(),
    isArchived: false,
    rules: new Map([[options.base, defaultRule(options.base)]]),
    statuses: new Map(),
    runs: [],
    runsByBranch: new Map(),
    runnerLine: [],
    runnersResting: 0,
    merges: [],
    callLog: [],
    remarks: [],
    journal: [],
    onEntry: options.onEntry,
    queuedMerges: new Set(),
    nextId: 1,
  };
}

/** No account may push directly, and the queue's context is required. */
export function defaultRule(base: string): BranchProtection {
  return givenRule({ ruleName: base });
}

export function writeJournal(world: World, entry: JournalEntry): void {
  world.journal.push(entry);
  world.onEntry(entry);
}

/** The forge stores whole seconds of its own clock. */
export function stampOf(world: World): EpochMs {
  return Math.floor((world.timers.now() + world.knobs.clockAheadMs) / 1000) * 1000;
}

export function mustPull(world: World, number: PullRequestNumber): Pull {
  const pull = world.pulls.get(number);
  if (pull === undefined) throw new Error(`no pull request ${number}`);
  return pull;
}

export function mustRun(world: World, id: string): Run {
  const run = world.runs.find((candidate) => candidate.id === id);
  if (run === undefined) throw new Error(`no run ${id}`);
  return run;
}

export function mustTip(world: World, branch: string): CommitSha {
  const tip = world.branches.get(branch);
  if (tip === undefined) throw new Error(`no branch ${branch}`);
  return tip;
}

/** Where the head branch stands right now; undefined once it is gone. */
export function liveHeadOf(world: World, pull: Pull): CommitSha | undefined {
  return pull.fork
    ? world.forkBranches.get(forkKey(pull.author, pull.branch))
    : world.branches.get(pull.branch);
}

export function forkKey(owner: string, branch: string): string {
  return `${owner}/${branch}`;
}

export function addTimelineEntry(
  world: World,
  pull: Pull,
  kind: TimelineEntry['kind'],
  user: string,
  newHead: CommitSha | null = null,
  more: Pick<TimelineEntry, 'label' | 'baseBefore'> = {},
): void {
  const at = stampOf(world);
  pull.timeline.push({ id: world.nextId++, kind, at, user, newHead, ...more });
  pull.updatedAt = at;
  const { title, base, pullHead, state, mergeCommit, updatedAt } = pull;
  pull.past.push({ at: world.timers.now(), title, base, pullHead, state, mergeCommit, updatedAt });
}

/** Drops or sets the schedule row and keeps the index of scheduled pull requests in step. */
export function setSchedule(world: World, pull: Pull, row: ScheduleRow | null): void {
  pull.schedule = row;
  indexPull(world, pull);
}

export function setPullState(world: World, pull: Pull, state: 'open' | 'closed'): void {
  pull.state = state;
  indexPull(world, pull);
}

/** An act of an administrator: nothing is left of the repository but its commits. */
export function erasePull(world: World, pull: Pull): void {
  setSchedule(world, pull, null);
  world.openPulls.delete(pull.number);
  world.pulls.delete(pull.number);
}

function indexPull(world: World, pull: Pull): void {
  if (pull.state === 'closed') world.openPulls.delete(pull.number);
  else world.openPulls.set(pull.number, pull);
  if (pull.schedule !== null && pull.state === 'open') world.scheduledPulls.add(pull);
  else world.scheduledPulls.delete(pull);
}
