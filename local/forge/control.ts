import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';

/** Path -> text content; null deletes. Modes other than 100644 are given as `{content, mode}`. */
export type FileChanges = Readonly<
  Record<string, string | null | { readonly content: string; readonly mode: string }>
>;

export type GateJudgement = 'success' | 'failure' | 'cancelled' | 'error' | 'never' | 'hold';

export interface ForgeCallRecord {
  readonly at: number;
  readonly method: string;
  /** Static label such as `POST statuses/{sha}`, with numbers, names and SHAs left out. */
  readonly call: string;
  readonly write: boolean;
  readonly status: number;
  /** Login whose token was used. */
  readonly by: string;
}

export interface GateRunView {
  readonly id: string;
  readonly sha: string;
  readonly branch: string;
  readonly tree: string;
  readonly state: 'waiting' | 'running' | 'success' | 'failure' | 'cancelled' | 'error';
  readonly createdAt: number;
}

export interface MergeView {
  readonly pr: number;
  readonly head: string;
  readonly mergeCommit: string;
  readonly tree: string;
  readonly firstParent: string;
  readonly at: number;
}

/** A status as an account posts it. */
export type PostedBy = readonly [
  user: string,
  sha: string,
  context: string,
  state: string,
  description?: string,
  targetUrl?: string | null,
];

/**
 * The acts of people and tests on a forge. Both levels of the fake implement it: the abstract one for speed
 * and the one over real git for truth, so one scenario runs on both. People act as user `dev` unless said otherwise;
 * the bot is `mq-bot`. One repository `acme/app`, base branch `main`, the status context that its rule asks for is the name of the queue.
 */
export interface ForgeControl {
  readonly slug: string;
  readonly base: string;

  pushToBase(files: FileChanges): Promise<string>;
  /**
   * A new branch from `from` (default: the tip of `base`) with one commit, and its pull request. Returns the number.
   * With `head` the branch stands at that commit, which may be the head of others, and may have stood there before.
   */
  openPullRequest(options: {
    readonly branch: string;
    readonly title?: string;
    readonly files?: FileChanges;
    readonly from?: string;
    readonly head?: string;
    /** Default: the base of this repository. */
    readonly base?: string;
    readonly fork?: boolean;
    /** Pushed to `refs/for/…`, which takes no right to write: no branch is made. */
    readonly agit?: boolean;
    readonly author?: string;
  }): Promise<number>;
  /** The rights of a person in the repository. */
  setAccess(user: string, access: 'read' | 'write'): Promise<void>;
  /** A team of the organization that owns the repository from now on. `hidden`: the bot may not see who is in it. */
  lendByTeam(team: {
    readonly name: string;
    readonly members: readonly string[];
    readonly code: 'read' | 'write';
    readonly hidden?: boolean;
  }): Promise<void>;
  /** By its author, or by another account that may. */
  pushToPullRequest(pr: number, files: FileChanges, by?: string): Promise<string>;
  forcePushPullRequest(pr: number, sha: string): Promise<void>;
  schedule(pr: number, style?: 'merge' | 'squash' | 'rebase'): Promise<void>;
  cancelSchedule(pr: number): Promise<void>;
  close(pr: number): Promise<void>;
  reopen(pr: number): Promise<void>;
  retarget(pr: number, base: string, by?: string): Promise<void>;
  /** As an administrator can: reading it is a 404 from now on, and no list has it. */
  deletePullRequest(pr: number): Promise<void>;
  setTitle(pr: number, title: string): Promise<void>;
  review(pr: number, user: string, verdict: 'approve' | 'reject' | 'comment'): Promise<void>;
  dismissReviews(pr: number): Promise<void>;
  /** By the API, as who wrote a review can: nothing else of the pull request shows it. */
  deleteReviews(pr: number): Promise<void>;
  /** `pr` is not to be merged before the pull request `on` is closed. */
  addDependency(pr: number, on: number): Promise<void>;
  /** Merges at once as a person with the power to bypass the rule. @default 'merge' */
  mergeByHand(pr: number, style?: MergeStyle): Promise<string>;
  /** As a person whom the repository lets call a pull request merged, with a commit that the base holds: nothing is merged. */
  markMerged(pr: number, commit: string): Promise<void>;
  /** The rule of `branch`, default the base: made if there is none, changed in what is named here. */
  setProtection(
    rule: Partial<{
      requiredContexts: readonly string[];
      requiredApprovals: number;
      blockOnRejectedReviews: boolean;
      blockOnOfficialReviewRequests: boolean;
      blockOnOutdatedBranch: boolean;
      ignoreStaleApprovals: boolean;
      directPushAllowed: boolean;
      /** The forge has no key. */
      requiresSigned: boolean;
      /** Names of those who alone may merge, with the members of `mergeTeams`. */
      mergeList: readonly string[];
      /** Teams of `lendByTeam`. */
      mergeTeams: readonly string[];
      /** Where the forge has priorities, lower first. */
      priority: number;
      /** As the forge's form takes them: separated by semicolons. */
      protectedFilePatterns: string;
    }>,
    branch?: string,
  ): Promise<void>;
  postStatusAs(...post: PostedBy): Promise<void>;
  deleteBranch(branch: string): Promise<void>;
  /** A push of an existing commit to a branch of the repository, new or not. */
  pushBranch(branch: string, sha: string): Promise<void>;
  /** The forge died over a push of a new branch: git has it, and the forge's own table of branches has not. */
  leaveHalfMade(branch: string, sha: string): Promise<void>;
  /** Null: takes it away. */
  pushTag(name: string, sha: string | null): Promise<void>;

  /** Decides what a gate run on a tree comes to; called when the run would start. Default: success. */
  judge: (
    files: ReadonlyMap<string, string>,
    run: { readonly branch: string; readonly sha: string },
  ) => GateJudgement;
  /** How long a judged run takes, ms of the forge's clock. */
  gateDurationMs: number;
  /** Ends a run that is held or running. */
  finishRun(runId: string, state: 'success' | 'failure' | 'cancelled' | 'error'): Promise<void>;
  runs(): readonly GateRunView[];

  /** Knobs of the native merge. `lost`: the trigger is dropped; `slow`: ms until it happens. */
  mergeBehaviour: (
    pr: number,
  ) => { readonly kind: 'now' } | { readonly kind: 'lost' } | { readonly kind: 'slow'; readonly ms: number };
  /** Conflict check after a base move takes this long; while it runs, `mergeable` is false. */
  checkDelayMs: number;
  /** Called before each API call; may name a fault. `after` = the effect happens, the answer is lost. */
  fault: (call: {
    readonly method: string;
    readonly path: string;
    /** The patch of a call that applies one. */
    readonly about?: string;
  }) => null | {
    readonly status: number;
    readonly body?: string;
    readonly html?: boolean;
    readonly when?: 'before' | 'after';
  };

  pull(pr: number): Promise<PullRequest>;
  /** Latest status of one context, null when none. */
  status(
    sha: string,
    context: string,
  ): Promise<{ readonly state: string; readonly description: string; readonly creator: string } | null>;
  branches(): Promise<readonly string[]>;
  tip(branch: string): Promise<string>;
  tree(commit: string): Promise<string>;
  readFiles(commit: string): Promise<ReadonlyMap<string, string>>;
  /** Every merge into the base since the start, in order: the independent judge reads this. */
  merges(): readonly MergeView[];
  calls(): readonly ForgeCallRecord[];
  clearCalls(): void;
}
