import type {
  BranchProtection,
  Commit,
  CommitStatus,
  DependencyCount,
  GateReading,
  GateStarter,
  PostedState,
  PullRequest,
  RefInTheWay,
  Review,
  TimelineEntry,
  TreeListing,
  WriteRight,
} from '../domain/forge/forge.ts';
import type { ForgeVersion } from '../domain/forge/forge-version.ts';
import type { PostedStatus } from '../domain/forge/status-gate.ts';
import type { TokenScope } from '../domain/forge/token-scopes.ts';
import type { BlobId, CommitSha, EpochMs, PullRequestNumber, TreeHash } from '../domain/ids.ts';
import type { MergeStyle } from '../domain/repos/merge-style.ts';
import type { ForgeHook } from './forge-admin.ts';
import type { RepoIdReader } from './repo-id.ts';

const FORGE_ERROR_KINDS = [
  /** 401 or 403: the token may not do this. Also 413 of Forgejo: the repository's owner is over a quota. */
  'denied',
  /** 404: absent or unreadable. */
  'missing',
  /** 409 or 422: the forge understood and refuses. */
  'rejected',
  /** 423: the repository is archived. */
  'archived',
  /** 429 or a proxy's 503 with Retry-After. */
  'rate_limited',
  /** No answer, time-out, 5xx, a redirect, or an answer that is not the forge's JSON. */
  'unreachable',
] as const;
export type ForgeErrorKind = (typeof FORGE_ERROR_KINDS)[number];

/**
 * The one error of the forge port. It carries no upstream body, no URL with credentials and no cause (A95).
 * `status` is the HTTP status, null when there was no usable answer.
 * `effectUnknown` is true when the forge may have carried the call out all the same.
 * `missingScopes` are those of which the token would need one, where the forge has said so.
 */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';
  constructor(
    readonly kind: ForgeErrorKind,
    readonly call: string,
    readonly status: number | null,
    readonly retryAfterMs: number | null = null,
    readonly effectUnknown: boolean = false,
    readonly missingScopes: readonly TokenScope[] = [],
    /** The forge refuses everything to the account of the token. */
    readonly isAccountLocked: boolean = false,
  ) {
    super(`forge ${call}: ${kind}${status === null ? '' : ` (${status})`}`);
  }
}

/** A redirect to another repository, which is how a forge answers a call under an old name; it is not followed. */
export function isOldName({ kind, status }: ForgeError): boolean {
  return kind === 'denied' && status !== null && status >= 300 && status < 400;
}

/** Forgejo's refusal of a write where the owner of the repository is over a quota: the token is in order. */
export function isOverQuota({ kind, status }: ForgeError): boolean {
  return kind === 'denied' && status === 413;
}

/**
 * A team gives its members the parts of a repository that it names, and Actions may not be among them. The token is in order, where no
 * scope of it is said to lack.
 */
export function isActionsHidden({ kind, status, call, missingScopes, isAccountLocked }: ForgeError): boolean {
  const isOfActions = kind === 'denied' && status === 403 && call.startsWith('GET actions/');
  return isOfActions && missingScopes.length === 0 && !isAccountLocked;
}

/** A schedule of another account, which this version lets administrators alone cancel, or those who may merge. The token is in order. */
export function isScheduleKept({ kind, status, call, missingScopes, isAccountLocked }: ForgeError): boolean {
  const isOfSchedule = kind === 'denied' && status === 403 && call === 'DELETE pulls/{n}/merge';
  return isOfSchedule && missingScopes.length === 0 && !isAccountLocked;
}

const HIDDEN_STATUSES: readonly (number | null)[] = [401, 403, 404];

/** For errors of `readVersion` alone: some forges, and proxies before them, hide the version behind a page of any kind. */
export function isVersionHidden({ status }: ForgeError): boolean {
  return HIDDEN_STATUSES.includes(status);
}

/** A read that was not sent, because its reconcile has spent what it may. Nothing is known by it, and nothing has failed. */
export class ReadNotBegun extends ForgeError {
  constructor(call: string) {
    super('unreachable', call, null);
  }
}

/** A listing of more than `FORGE_ROWS_MAX` rows: the forge answers well, and asking again leads to no other end. */
export class ListingTooLong extends ForgeError {
  constructor(call: string) {
    super('unreachable', call, null);
  }
}

/** An answer of more bytes or values than are read, or a listing of which one row is: it comes to no other end when it is asked for again. */
export class AnswerTooLarge extends ForgeError {
  constructor(call: string, effectUnknown = false) {
    super('unreachable', call, null, null, effectUnknown);
  }
}

export interface StatusPost {
  readonly state: PostedState;
  readonly context: string;
  /** At most 140 characters, from fixed phrases (A38). */
  readonly description: string;
  readonly targetUrl: string | null;
}

export interface PatchRequest {
  /** Branch whose tip the patch is applied to. */
  readonly branch: string;
  /** Branch to create with the result; absent = move `branch`. */
  readonly newBranch?: string;
  readonly patch: string;
  readonly message: string;
}

/** One file of a commit. */
export interface FileWrite {
  readonly path: string;
  /** Null: the file is removed. */
  readonly content: Buffer | null;
  /** The blob that stands there, which keeps its mode; null: none, and the new file is 100644. */
  readonly replaces: BlobId | null;
}

export interface FilesRequest extends Pick<PatchRequest, 'branch' | 'newBranch' | 'message'> {
  readonly files: readonly FileWrite[];
}

/** A commit and what it stands on, first parent first. */
export interface CommitLink {
  readonly sha: CommitSha;
  readonly parents: readonly CommitSha[];
}

/** A commit with the key of the paths that differ from its first parent, of a merge perhaps fewer; null: the forge does not tell. */
export interface ChangedCommit extends CommitLink {
  readonly pathsKey: string | null;
}

export interface TimelineQuestion {
  /** The last change of the pull request, as it was read: entries that are newer may be missing. @default it is not known */
  readonly changedAt?: EpochMs;
  /** Only entries that are as new as this, and comments that were edited since. @default from the start */
  readonly since?: EpochMs;
  /** This version of the forge gives all entries where no page is asked for. @default that is not known */
  readonly givesAll?: boolean;
}

export interface TimelinePart {
  /** In the order of writing. */
  readonly entries: readonly TimelineEntry[];
  /** The time from which the next reading goes on; null: these are all. */
  readonly readTo: EpochMs | null;
}

/** Reads. Every method throws `ForgeError`; absence that is an expected outcome is `null`. */
export interface ForgeReader extends RepoIdReader {
  readBotLogin(): Promise<string>;
  /** May this user write the code of the repository? One who is gone may not. */
  readWriteRight(login: string): Promise<WriteRight>;
  /**
   * Logins of a team of the organization that owns the repository. Empty: it has no such team with a right here. Null: the bot
   * may not see who is in it.
   */
  listTeamMembers(team: string): Promise<readonly string[] | null>;
  /** Styles in which the settings of the repository let the forge merge; null where the forge does not say. */
  readAllowedStyles(): Promise<readonly MergeStyle[] | null>;
  /** Is there, or may there be, a deploy key that writes? Its pushes are shown as the owner's. */
  hasWritingKey(): Promise<boolean>;
  /** Hooks of the repository; null where the bot may not list them. */
  listOwnHooks(): Promise<readonly ForgeHook[] | null>;
  /** Null for a forge that names no version we can read. */
  readVersion(): Promise<ForgeVersion | null>;
  /** Tip of a branch; null when the branch does not exist. */
  readBranchTip(branch: string): Promise<CommitSha | null>;
  /** The reference that makes one of these branches impossible; null: none does. A branch of that very name is none. */
  findRefInTheWay(branches: readonly string[]): Promise<RefInTheWay | null>;
  /** Is there a tag of exactly this name? */
  hasTag(name: string): Promise<boolean>;
  /** A branch or tag that git takes for this branch as well, so that every push to it fails, merges among them. */
  findNamesake(branch: string): Promise<RefInTheWay | null>;
  /** The head that the forge keeps of a pull request, whose statuses set off its automatic merge; null: the forge shows none. */
  readKeptHead(pr: PullRequestNumber): Promise<CommitSha | null>;
  readCommit(sha: CommitSha): Promise<Commit>;
  /** Tree of a commit: one call, where `readCommit` takes two. */
  readTreeId(sha: CommitSha): Promise<TreeHash>;
  /** The entries below a commit or tree: directly in it, or all of it where one answer holds that. */
  readTree(id: string, depth: 'all' | 'one'): Promise<TreeListing>;
  /**
   * Bytes of a file, for one merge in memory; null where the forge keeps contents of this size back. A `ForgeError` where they
   * are more than `bytesMax`, which is the size that its tree lists.
   */
  readBlob(id: BlobId, bytesMax: number): Promise<Buffer | null>;
  /** Open pull requests to every branch, oldest first, null entries of the forge skipped. */
  listOpenPullRequests(): Promise<readonly PullRequest[]>;
  /** The open ones that changed last, to every branch, at most `FORGE_TOUCHED_PULLS_MAX`: one cheap call. */
  listTouchedPullRequests(): Promise<readonly PullRequest[]>;
  /** The merged ones that changed last, to every branch, from one page of closed ones (`FORGE_PAGE_SIZE_MAX`). */
  listMergedPullRequests(): Promise<readonly PullRequest[]>;
  readPullRequest(pr: PullRequestNumber): Promise<PullRequest>;
  /** All entries, or the first ones of a timeline that is too long for one reading. */
  readTimeline(pr: PullRequestNumber, question?: TimelineQuestion): Promise<TimelinePart>;
  listReviews(pr: PullRequestNumber): Promise<readonly Review[]>;
  /** Paths that it changes, under their new names. */
  listChangedFiles(pr: PullRequestNumber): Promise<readonly string[]>;
  /** Issues and pull requests that have to be closed before it; none where the repository has no dependencies. */
  countDependencies(pr: PullRequestNumber): Promise<DependencyCount>;
  /** The rule that governs `base`; null when none does. */
  readProtection(base: string): Promise<BranchProtection | null>;
  /** Latest status per context of one commit. */
  readStatuses(sha: CommitSha): Promise<readonly CommitStatus[]>;
  /** Every status ever posted on a commit, in no promised order. */
  listStatusHistory(sha: CommitSha): Promise<readonly PostedStatus[]>;
  /** Newest gate run for exactly this commit and branch (A12). @default startedBy 'any' */
  readGate(
    sha: CommitSha,
    branch: string,
    workflowFile: string,
    startedBy?: GateStarter,
  ): Promise<GateReading>;
  /** Labels that the runner of the first job which waits for one has to have; null: no job does, or this version does not tell. */
  readRunnerLabels(runId: string): Promise<readonly string[] | null>;
  /**
   * Commits of `head` that `base` does not have, each with its parents; in no promised order, and mostly the newest first.
   * Throws `ListingTooLong`.
   */
  listOwnCommits(base: CommitSha, head: CommitSha): Promise<readonly CommitLink[]>;
  /**
   * The same of a commit, or of a branch by its full name (`branchRef`), its tip first, one page (50) at most: one call, whatever
   * it has behind it. By its short name a forge takes a tag for it, as git does (forge facts, 6.1).
   */
  listNewCommits(base: CommitSha, of: string): Promise<readonly CommitLink[]>;
  /** Commits of `base` that `head` does not have, with what each changes; in no promised order. Throws `ListingTooLong`. */
  listChangesSince(head: CommitSha, base: CommitSha): Promise<readonly ChangedCommit[]>;
}

/** The reads that a merge of three trees needs. */
export type TreeReader = Pick<ForgeReader, 'readTree' | 'readBlob'>;

/** Writes that stage a tree and clean up after it. */
export interface ForgeStager {
  /** Applies a patch as one commit. */
  applyPatch(request: PatchRequest): Promise<Commit>;
  /** Writes whole files as one commit. `rejected`: one of them is not what it is to replace, or the new branch exists. */
  writeFiles(request: FilesRequest): Promise<Commit>;
  /** False when the name is taken. */
  createBranch(branch: string, at: CommitSha): Promise<boolean>;
  /** False: there is none, or none that the bot may see. */
  deleteBranch(branch: string): Promise<boolean>;
  /** False where the forge's version cannot cancel. */
  cancelGateRun(runId: string): Promise<boolean>;
}

/** Asks whether the forge still has a schedule: some drop it before they merge, and nothing else tells (E21). */
export interface ScheduleProbe {
  /**
   * Only while no `success` of ours stands on `head`, the one that was scheduled. `scheduleId` is the newest
   * timeline entry by which it was scheduled before the first question: a newer schedule of the bot was made by asking.
   * `lost`: there is none; a schedule made to find out is taken back. `unknown`: the forge would not say, or the pull
   * request has another head by now.
   */
  probeSchedule(
    pr: PullRequestNumber,
    head: CommitSha,
    scheduleId: number,
  ): Promise<'scheduled' | 'lost' | 'unknown'>;
}

/** The one door to commit statuses. Only the engine package may import an implementation (A6). */
export interface StatusWriter {
  postStatus(sha: CommitSha, status: StatusPost): Promise<void>;
}

/** The forge as the engine works with it. */
export interface EngineForge extends ForgeReader, ForgeStager, ScheduleProbe, StatusWriter {}
