import type { BranchRule } from '../domain/forge/branch-rule.ts';
import type { BranchProtection, Commit, GateReading, RefInTheWay } from '../domain/forge/forge.ts';
import type { ForgeVersion } from '../domain/forge/forge-version.ts';
import type { PostedStatus } from '../domain/forge/status-gate.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '../domain/ids.ts';
import type { MergeStyle } from '../domain/repos/merge-style.ts';
import type { Secret } from '../secret.ts';
import type { RepoIdReader } from './repo-id.ts';

/** A repository as the bot sees it. */
export interface ForgeRepo {
  /** `owner/name` as the forge spells it. */
  readonly fullName: string;
  readonly defaultBranch: string;
  readonly archived: boolean;
  /** It follows another repository: the forge takes neither pull requests nor branches of its own there. */
  readonly isMirror: boolean;
  readonly hasActions: boolean;
  /** The rights of the bot. */
  readonly isAdmin: boolean;
  readonly canPush: boolean;
  /** Null where the forge does not say: the pull request unit is not readable. */
  readonly allowedStyles: readonly MergeStyle[] | null;
}

export interface ForgeHook {
  readonly id: number;
  readonly url: string;
  readonly isJson: boolean;
  readonly active: boolean;
  readonly branchFilter: string;
  readonly events: readonly string[];
}

export interface HookSpec {
  readonly url: string;
  readonly secret: Secret<string>;
  readonly events: readonly string[];
}

export interface ForgeFile {
  readonly path: string;
  readonly blob: string;
}

export interface FileCommit {
  /** Branch whose tip the commit stands on. */
  readonly branch: string;
  /** Branch to make with it. */
  readonly newBranch: string;
  readonly path: string;
  readonly content: string;
  readonly message: string;
}

export interface PullLink {
  readonly number: PullRequestNumber;
  /** Page for people; null when the forge's link is no web address. */
  readonly url: string | null;
}

export interface ForgeBranch {
  readonly name: string;
  readonly tip: CommitSha;
  /** Time of its newest commit. */
  readonly committedAt: EpochMs;
  /** Does a rule govern it? Every reader is told. */
  readonly isProtected: boolean;
}

/** The calls that setting up a repository needs, and none that could move its base or a status. Throws `ForgeError`. */
export interface ForgeAdmin extends RepoIdReader {
  readVersion(): Promise<ForgeVersion | null>;
  readRepo(): Promise<ForgeRepo>;
  readBranchTip(branch: string): Promise<CommitSha | null>;

  listHooks(): Promise<readonly ForgeHook[]>;
  createHook(spec: HookSpec): Promise<ForgeHook>;
  /** Gone already is fine. */
  deleteHook(id: number): Promise<void>;

  /** The rule that governs `base`, null when none does: in full, or the summary that every reader is shown. */
  readProtection(base: string): Promise<BranchProtection | null>;
  /** For administrators alone. */
  listRules(): Promise<readonly BranchRule[]>;
  /** Fields as the forge names them; `rule_name` is one of them. */
  createRule(fields: Readonly<Record<string, unknown>>): Promise<BranchRule>;
  /** Fields that are left out stay as they are. */
  editRule(name: string, fields: Readonly<Record<string, unknown>>): Promise<BranchRule>;

  /** Files right below a folder; null when there is no such folder on that branch. */
  listFolder(path: string, branch: string): Promise<readonly ForgeFile[] | null>;
  /** One file, one commit, one new branch. `rejected` when the branch exists. */
  commitFile(commit: FileCommit): Promise<Commit>;
  /** Newest branches first where the forge promises an order; at most `max`. */
  listBranches(max: number): Promise<readonly ForgeBranch[]>;
  /** The reference that makes a branch of such a name impossible. */
  findRefInTheWay(branches: readonly string[]): Promise<RefInTheWay | null>;
  /** False: there was none, or none that the bot may see. */
  deleteBranch(branch: string): Promise<boolean>;
  /** The open pull request of one branch of this repository into `base`. */
  findOpenPull(base: string, head: string): Promise<PullLink | null>;
  openPull(pull: {
    readonly base: string;
    readonly head: string;
    readonly title: string;
    readonly body: string;
  }): Promise<PullLink>;
  readGate(sha: CommitSha, branch: string, workflowFile: string): Promise<GateReading>;

  /** Every status ever posted on a commit, in no promised order. */
  listStatusHistory(sha: CommitSha): Promise<readonly PostedStatus[]>;

  /** Takes a scheduled merge back. `not_scheduled` when there was none. */
  cancelAutoMerge(pr: PullRequestNumber): Promise<'cancelled' | 'not_scheduled'>;
}
