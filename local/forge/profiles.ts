import type { GlobReader } from './globs.ts';

export const PROFILE_NAMES = ['fj11', 'fj15', 'fj16', 'gt125', 'gt126', 'gt127'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** Where versions differ. One flag per difference that a client of the API can see. */
export interface Profile {
  readonly kind: 'forgejo' | 'gitea';
  readonly version: string;
  /** Query parameter of the pull request list that filters by base; null: ignored. */
  readonly pullBaseFilter: 'base' | 'base_branch' | null;
  /** Shape of `/actions/runs`; null: 404. */
  readonly runsApi: 'forgejo' | 'gitea' | null;
  /** `/actions/runs` is 403 for all but the owner of the repository, administrators of it too. */
  readonly runsForOwners: boolean;
  readonly runsFilterByRef: boolean;
  /** A workflow of another repository may run here, and one list leaves such runs out. */
  readonly scopedWorkflows: boolean;
  /** The list of runs tells with each run the open pull requests of its branch, unless the call leaves them out. */
  readonly runsTellPulls: boolean;
  readonly runCancelApi: boolean;
  readonly runJobsApi: boolean;
  /** Actions posts `skipped` for a job that its condition leaves out; false: `success`. */
  readonly postsSkipped: boolean;
  /**
   * Actions posts nothing for a job where the newest row of its context has its state. False: and its words, as Forgejo does from
   * 11.0.9 on: fj11 goes on as those before it, which tell less.
   */
  readonly dropsSameState: boolean;
  /** The context of a job whose workflow has no name begins with that of its file, and the words of a job are shorter. */
  readonly namesJobsByFile: boolean;
  readonly refUpdateApi: boolean;
  /** Field of the contents API that overwrites an existing new branch. */
  readonly contentsForceField: 'force_overwrite_new_branch' | 'force_push' | null;
  readonly patchNeedsSha: boolean;
  /** To a patch that makes a branch which a rule covers. */
  readonly ruledPatchStatusCode: 403 | 500;
  /** To contents that are to replace another blob than the one that is there. */
  readonly otherBlobStatusCode: 409 | 422;
  readonly unknownShaStatusCode: 404 | 500;
  /** Of an answer to a former name of a repository. */
  readonly movedStatusCode: 301 | 307;
  /** A former name is 404 to an account that may not see the repository under its new one. */
  readonly hidesFormerNames: boolean;
  /** A hook's address is looked at before it is stored. */
  readonly checksHookUrls: boolean;
  /** Of a pull request whose head branch is not there. */
  readonly absentHeadStatusCode: 404 | 500;
  /** Auto-merge is tried again when a conflict check ends well. */
  readonly recheckAfterConflictCheck: boolean;
  readonly queueAtScheduling: boolean;
  readonly rowDeletedBeforeMerge: boolean;
  /**
   * A head that was up to date at its last check is not rebased: its merges stay, and if the base has moved since, the merge
   * fails.
   */
  readonly rebaseTrustsLastCheck: boolean;
  /** A head that holds the whole base is checked out to be rebased as well, which stops at a file that git converts. */
  readonly rebasesUpToDate: boolean;
  /**
   * Gitea on a git before 2.40: the conflict check goes path by path, so it follows no rename, and a file whose mode
   * changed on one side and whose contents on the other is a conflict, although git merges it.
   */
  readonly checksByPath: boolean;
  /** The scheduler's permission is looked up on the head repository. */
  readonly permissionOnHeadRepo: boolean;
  /** True: a person who may merge may cancel a schedule. False: only repository admins may. */
  readonly cancelNeedsMergeOnly: boolean;
  readonly combinedLikeGithub: boolean;
  /** Pull requests whose target branch is deleted target the default branch then; false: they are closed. */
  readonly sendsToDefaultBranch: boolean;
  /** A pull request that was closed because its branch went can be opened again without one. */
  readonly reopensWithoutBranch: boolean;
  /**
   * The list shows the head that the forge keeps, and the reading of one pull request the tip of its branch. They part for good
   * where a branch was deleted and made again: opening the pull request again does not renew what is kept.
   */
  readonly listsKeptHead: boolean;
  /** The list shows a head that was pushed to `refs/for/…` as the branch that has the name of its topic, where there is one. */
  readonly listsTopicAsBranch: boolean;
  readonly forcePushListsAllCommits: boolean;
  /** A timeline that is asked for without a page is its first page. */
  readonly pagesTimelines: boolean;
  /** A change of the target deletes the entries of all pushes, and writes one in the name of who made it. */
  readonly retargetRestatesPush: boolean;
  /** A merge is made on a tag of the base's name, where there is one. */
  readonly mergesIntoTag: boolean;
  readonly adminBypassField: 'apply_to_admins' | 'block_admin_merge_override';
  readonly rulePriorities: boolean;
  /** Who reads the patterns of rules, required contexts and protected files. */
  readonly globs: GlobReader;
  readonly rawSlashesInRuleNames: boolean;
  readonly workflowDirs: readonly string[];
  readonly actionsUser: string;
  readonly hookEvents: readonly string[];
}

const HOOK_EVENTS = [
  'push',
  'create',
  'delete',
  'fork',
  'issues',
  'issue_comment',
  'pull_request',
  'pull_request_only',
  'pull_request_sync',
  'pull_request_review',
  'pull_request_review_request',
  'pull_request_comment',
  'release',
  'repository',
  'wiki',
  'package',
] as const;

const FORGEJO_11: Profile = {
  kind: 'forgejo',
  version: '11.0.15+gitea-1.22.0',
  pullBaseFilter: null,
  runsApi: null,
  runsForOwners: false,
  runsFilterByRef: false,
  scopedWorkflows: false,
  runsTellPulls: false,
  runCancelApi: false,
  runJobsApi: false,
  postsSkipped: false,
  dropsSameState: true,
  namesJobsByFile: false,
  refUpdateApi: false,
  contentsForceField: null,
  patchNeedsSha: true,
  ruledPatchStatusCode: 500,
  otherBlobStatusCode: 422,
  unknownShaStatusCode: 500,
  movedStatusCode: 307,
  hidesFormerNames: true,
  checksHookUrls: false,
  absentHeadStatusCode: 500,
  recheckAfterConflictCheck: true,
  queueAtScheduling: false,
  rowDeletedBeforeMerge: true,
  rebaseTrustsLastCheck: false,
  rebasesUpToDate: true,
  checksByPath: false,
  permissionOnHeadRepo: true,
  cancelNeedsMergeOnly: true,
  combinedLikeGithub: false,
  sendsToDefaultBranch: false,
  reopensWithoutBranch: false,
  listsKeptHead: false,
  listsTopicAsBranch: false,
  forcePushListsAllCommits: false,
  pagesTimelines: false,
  retargetRestatesPush: false,
  mergesIntoTag: true,
  adminBypassField: 'apply_to_admins',
  rulePriorities: false,
  globs: 'gobwas',
  rawSlashesInRuleNames: false,
  workflowDirs: ['.forgejo/workflows', '.gitea/workflows', '.github/workflows'],
  actionsUser: 'forgejo-actions',
  hookEvents: HOOK_EVENTS,
};

const FORGEJO_15: Profile = {
  ...FORGEJO_11,
  dropsSameState: false,
  rebaseTrustsLastCheck: true,
  rebasesUpToDate: false,
  version: '15.0.3+gitea-1.22.0',
  runsApi: 'forgejo',
  runsFilterByRef: true,
  otherBlobStatusCode: 409,
  unknownShaStatusCode: 404,
  movedStatusCode: 301,
  checksHookUrls: true,
  absentHeadStatusCode: 404,
  hookEvents: [...HOOK_EVENTS, 'action_run_success', 'action_run_failure', 'action_run_recover'],
};

const GITEA_126: Profile = {
  ...FORGEJO_11,
  kind: 'gitea',
  version: '1.26.3',
  movedStatusCode: 301,
  hidesFormerNames: false,
  checksHookUrls: true,
  absentHeadStatusCode: 404,
  pullBaseFilter: 'base_branch',
  runsApi: 'gitea',
  runJobsApi: true,
  postsSkipped: true,
  dropsSameState: false,
  refUpdateApi: true,
  contentsForceField: 'force_push',
  patchNeedsSha: false,
  ruledPatchStatusCode: 403,
  queueAtScheduling: true,
  rowDeletedBeforeMerge: false,
  rebaseTrustsLastCheck: false,
  rebasesUpToDate: true,
  checksByPath: true,
  permissionOnHeadRepo: false,
  combinedLikeGithub: true,
  sendsToDefaultBranch: true,
  reopensWithoutBranch: true,
  listsKeptHead: true,
  listsTopicAsBranch: true,
  forcePushListsAllCommits: true,
  pagesTimelines: true,
  retargetRestatesPush: true,
  mergesIntoTag: false,
  adminBypassField: 'block_admin_merge_override',
  rulePriorities: true,
  globs: 'gitea',
  rawSlashesInRuleNames: true,
  workflowDirs: ['.gitea/workflows', '.github/workflows'],
  actionsUser: 'gitea-actions',
  hookEvents: [...HOOK_EVENTS, 'status', 'workflow_job', 'workflow_run'],
};

const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  fj11: FORGEJO_11,
  fj15: FORGEJO_15,
  fj16: {
    ...FORGEJO_15,
    version: '16.0.0+gitea-1.22.0',
    pullBaseFilter: 'base',
    runCancelApi: true,
    runJobsApi: true,
    postsSkipped: true,
    contentsForceField: 'force_overwrite_new_branch',
  },
  gt125: {
    ...GITEA_126,
    version: '1.25.5',
    runsForOwners: true,
    dropsSameState: true,
    refUpdateApi: false,
    contentsForceField: null,
    ruledPatchStatusCode: 500,
    pagesTimelines: false,
    rawSlashesInRuleNames: false,
  },
  gt126: GITEA_126,
  gt127: {
    ...GITEA_126,
    version: '1.27.3',
    scopedWorkflows: true,
    runsTellPulls: true,
    dropsSameState: false,
    namesJobsByFile: true,
  },
};

/** `overrides`: one switch at a time, such as the merge that deletes its row first. */
export function profileOf(name: ProfileName, overrides: Partial<Profile> = {}): Profile {
  return { ...PROFILES[name], ...overrides };
}
