/** The state of the forge. Plain data, written to disk as it is; git content lives in the bare repositories. */
export interface ForgeState {
  /** Grows with every row of any kind; also the order of timeline entries. */
  nextId: number;
  users: UserRecord[];
  tokens: TokenRecord[];
  repos: RepoRecord[];
}

export type AccessLevel = 'none' | 'read' | 'write' | 'admin';

export interface UserRecord {
  readonly id: number;
  readonly login: string;
  fullName: string;
  email: string;
  /** Administrator of the whole forge. */
  siteAdmin: boolean;
}

export interface TokenRecord {
  readonly login: string;
  /** SHA-256 of the token. */
  readonly hash: string;
  readonly scopes: readonly string[];
}

export const MERGE_STYLES = [
  'merge',
  'rebase',
  'rebase-merge',
  'squash',
  'fast-forward-only',
  'manually-merged',
] as const;
export type MergeStyle = (typeof MERGE_STYLES)[number];

export interface RepoRecord {
  readonly id: number;
  owner: string;
  name: string;
  /** Names it had before; calls to them are redirected. */
  formerNames?: string[];
  private: boolean;
  archived: boolean;
  /** @default false */
  pullsOff?: boolean;
  defaultBranch: string;
  /** Branches that git has, and the forge's own table of branches has not. */
  halfMade?: string[];
  hasActions: boolean;
  forkOf: number | null;
  collaborators: Record<string, AccessLevel>;
  allowedStyles: MergeStyle[];
  /** @default merge */
  defaultMergeStyle?: MergeStyle;
  deleteBranchAfterMerge: boolean;
  /** The conflict check calls an open pull request merged whose head the base holds. @default false */
  autodetectsMerges?: boolean;
  nextIndex: number;
  nextRunIndex: number;
  pulls: PullRecord[];
  rules: ProtectionRule[];
  hooks: HookRecord[];
  statuses: StatusRecord[];
  runs: RunRecord[];
  merges: MergeRecord[];
  labels?: { readonly id: number; readonly name: string }[];
  /** Teams of the organization that owns it; absent: it belongs to a person. */
  teams?: readonly TeamRecord[];
}

export interface TeamRecord {
  readonly id: number;
  readonly name: string;
  readonly members: readonly string[];
  /** The right of its members to the code; all else they read. */
  readonly code: AccessLevel;
  /** The caller may not see who is in it. @default false */
  readonly hidden?: boolean;
}

export type ConflictState = 'checking' | 'mergeable' | 'conflict' | 'ancestor' | 'empty' | 'error';

export interface PullRecord {
  readonly id: number;
  readonly index: number;
  title: string;
  body: string;
  author: string;
  base: string;
  headRepoId: number;
  headBranch: string;
  /** Pushed to `refs/for/…`: the head is on no branch, only where the forge keeps it. Absent: it is on `headBranch`. */
  agit?: boolean;
  /** The commit of `refs/pull/N/head`; a push reaches it a moment later. */
  headSha: string;
  mergeBase: string | null;
  behind: number;
  conflict: ConflictState;
  /** Only the newest check may write its result. */
  checkSeq: number;
  /** It is checked once it is read by its number. Absent: it is checked, or was. */
  isCheckDelayed?: true;
  state: 'open' | 'closed';
  merged: boolean;
  mergeCommit: string | null;
  mergedBy: string | null;
  mergedAt: number | null;
  readonly createdAt: number;
  updatedAt: number;
  closedAt: number | null;
  schedule: ScheduleRecord | null;
  /** Pull requests that have to be closed before it is merged. */
  dependsOn?: number[];
  /** Names. */
  labels?: string[];
  /** By the last check: it changes a file that the rule of its base protects. */
  changesProtected?: boolean;
  timeline: TimelineRecord[];
  reviews: ReviewRecord[];
}

/** No head SHA in it: a schedule survives pushes, closes and reopens. */
export interface ScheduleRecord {
  readonly doer: string;
  readonly style: MergeStyle;
  readonly title: string;
  readonly message: string;
  readonly deleteBranch: boolean;
  readonly at: number;
  /** Title of the pull request at that time; absent: it was not kept. */
  readonly titleThen?: string;
}

export interface TimelineRecord {
  readonly id: number;
  readonly type: string;
  readonly user: string;
  body: string;
  readonly at: number;
  readonly oldRef?: string;
  readonly newRef?: string;
  readonly commit?: string;
  readonly reviewId?: number;
  /** Name. */
  readonly label?: string;
}

export type ReviewState = 'APPROVED' | 'REQUEST_CHANGES' | 'COMMENT' | 'REQUEST_REVIEW';

export interface ReviewRecord {
  readonly id: number;
  readonly user: string;
  readonly state: ReviewState;
  readonly body: string;
  readonly commit: string;
  stale: boolean;
  official: boolean;
  dismissed: boolean;
  readonly at: number;
  updatedAt: number;
}

/** Fields as the API names them: a rule is edited through it, field by field. */
export interface ProtectionRule {
  readonly id: number;
  rule_name: string;
  enable_push: boolean;
  enable_push_whitelist: boolean;
  push_whitelist_usernames: string[];
  enable_merge_whitelist: boolean;
  merge_whitelist_usernames: string[];
  merge_whitelist_teams: string[];
  enable_status_check: boolean;
  status_check_contexts: string[];
  required_approvals: number;
  enable_approvals_whitelist: boolean;
  approvals_whitelist_username: string[];
  block_on_rejected_reviews: boolean;
  block_on_official_review_requests: boolean;
  block_on_outdated_branch: boolean;
  dismiss_stale_approvals: boolean;
  ignore_stale_approvals: boolean;
  require_signed_commits: boolean;
  protected_file_patterns: string;
  unprotected_file_patterns: string;
  /** Gitea from 1.27 on. */
  enable_bypass_allowlist: boolean;
  bypass_allowlist_usernames: string[];
  /** `apply_to_admins` or `block_admin_merge_override`. */
  applies_to_admins: boolean;
  priority: number;
  readonly created_at: number;
  updated_at: number;
}

export interface HookRecord {
  readonly id: number;
  readonly type: string;
  url: string;
  contentType: string;
  readonly secret: string;
  events: string[];
  active: boolean;
  branchFilter: string;
  readonly createdAt: number;
  updatedAt: number;
  /** Newest last; bounded. */
  deliveries: DeliveryRecord[];
}

export interface DeliveryRecord {
  readonly id: string;
  readonly event: string;
  readonly at: number;
  /** HTTP status; null: no answer. */
  readonly status: number | null;
}

export interface StatusRecord {
  readonly id: number;
  readonly sha: string;
  readonly state: string;
  readonly context: string;
  readonly description: string;
  readonly targetUrl: string;
  readonly creator: string;
  readonly at: number;
}

export type RunStatus = 'waiting' | 'running' | 'success' | 'failure' | 'cancelled' | 'error' | 'skipped';

export interface RunRecord {
  readonly id: number;
  readonly index: number;
  readonly workflowFile: string;
  readonly workflowName: string;
  readonly title: string;
  /** Message of its commit. Absent: of a run that was made before it was kept. */
  readonly message?: string;
  readonly branch: string;
  readonly sha: string;
  readonly tree: string;
  readonly event: 'push';
  /** Of a workflow that is in another repository. Absent: of one in this one. */
  readonly isScoped?: true;
  readonly triggerUser: string;
  status: RunStatus;
  readonly createdAt: number;
  startedAt: number | null;
  stoppedAt: number | null;
  jobs: JobRecord[];
}

export interface JobRecord {
  readonly id: number;
  readonly name: string;
  /** Absent: of a run that was made before it was kept. */
  readonly runsOn?: readonly string[];
  status: RunStatus;
  startedAt: number | null;
  stoppedAt: number | null;
  log: string;
}

export interface MergeRecord {
  readonly pull: number;
  readonly base: string;
  readonly head: string;
  readonly mergeCommit: string;
  readonly tree: string;
  /** Tip of the base before the merge; with `rebase` of several commits not the parent of the last one. */
  readonly previousTip: string;
  readonly style: MergeStyle;
  readonly at: number;
}

/** Who runs what a push starts: the forge's own Actions, or a stand-in of another CI that posts as that one does. */
export type CiKind = 'actions' | 'woodpecker' | 'jenkins';
export type OtherCi = Exclude<CiKind, 'actions'>;
