import * as z from 'zod';
import {
  FORGE_LABEL_CHARS_MAX,
  FORGE_LOGIN_CHARS_MAX,
  FORGE_ROWS_MAX,
  FORGE_TITLE_CHARS_MAX,
} from '#core/domain/limits.ts';
import { ASSIGNEES_MAX } from './answer-limits.ts';

/** Only the fields we use, tolerant where a real forge was seen to be odd; each tolerance names the answer that needs it. */

export const Sha = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** Epoch ms of an RFC 3339 time. */
export const Instant = z
  .string()
  .transform((text) => Date.parse(text))
  .refine((at) => !Number.isNaN(at));

/**
 * Login of a user; '' where the forge has none: `user` is null on entries of a team and on some system entries. One that
 * no forge would take belongs to no account.
 */
const Login = z
  .object({ login: z.string() })
  .nullish()
  .transform((user) => (user != null && user.login.length <= FORGE_LOGIN_CHARS_MAX ? user.login : ''));

/**
 * Schema of a list that is JSON null when empty (timeline, combined status, status contexts). It stops at the first row
 * that is no row: a hundred thousand wrong rows would make a hundred thousand reports.
 */
export function nullableList<Row extends z.ZodType>(row: Row, rowsMax: number = FORGE_ROWS_MAX) {
  return z
    .array(z.unknown())
    .max(rowsMax)
    .nullish()
    .transform((values, context): z.output<Row>[] => {
      const rows: z.output<Row>[] = [];
      for (const value of values ?? []) {
        const parsed = row.safeParse(value);
        if (!parsed.success) {
          context.addIssue('a row is not as it should be');
          return z.NEVER;
        }
        rows.push(parsed.data);
      }
      return rows;
    });
}

/** A commit id that is '' or absent where there is none: `merge_base` before the first conflict check. */
const OptionalSha = z
  .string()
  .nullish()
  .transform((text) => (Sha.safeParse(text).success ? (text ?? null) : null));

export const BotUser = z.object({
  login: z.string().min(1),
  id: z.number().int().optional().catch(undefined),
});

export const Branch = z.object({
  commit: z.object({ id: Sha }),
  protected: z.boolean(),
  required_approvals: z.number().int().catch(0),
  enable_status_check: z.boolean().catch(false),
  status_check_contexts: nullableList(z.string()),
  user_can_push: z.boolean().catch(false),
  // '' unless the asker is a repository administrator.
  effective_branch_protection_name: z.string().catch(''),
});
export type Branch = z.output<typeof Branch>;

export const CommitRow = z.object({
  sha: Sha,
  commit: z.object({ message: z.string(), tree: z.object({ sha: Sha }) }),
  // A root commit has null in some versions.
  parents: nullableList(z.object({ sha: Sha })),
});
export type CommitRow = z.output<typeof CommitRow>;

/** One commit of the history listing, with its place in the graph. */
export const HistoryRow = z.object({ sha: Sha, parents: nullableList(z.object({ sha: Sha })) });
export type HistoryRow = z.output<typeof HistoryRow>;

/** A commit of the history listing with the files that it changes. */
export const ChangedRow = HistoryRow.extend({ files: z.array(z.object({ filename: z.string() })).nullish() });
export type ChangedRow = z.output<typeof ChangedRow>;

/** Answer of the calls that make a commit: the one answer that names its tree. */
export const CommitAnswer = z.object({
  commit: z.object({
    sha: Sha,
    tree: z.object({ sha: Sha }),
    parents: nullableList(z.object({ sha: Sha })),
    message: z.string(),
  }),
});

export const TreeHead = z.object({ sha: Sha });

export const TreePage = z.object({
  sha: Sha,
  tree: nullableList(
    z.object({
      path: z.string().min(1),
      mode: z.string().regex(/^[0-7]{6}$/),
      type: z.string(),
      sha: Sha,
      size: z.number().int().nonnegative().nullable().catch(null),
    }),
  ),
  total_count: z.number().int().nonnegative(),
});
export type TreePage = z.output<typeof TreePage>;

/** `content` is '' or null above the forge's limit for blobs, whatever `size` says. */
export const BlobRow = z.object({
  size: z.number().int().nonnegative(),
  content: z
    .string()
    .nullish()
    .transform((text) => text ?? ''),
});

/** `sha` is '' where the branch is gone and the forge kept no copy. `repo_id` is -1 where the repository is gone. */
const PullEnd = z.object({ ref: z.string(), sha: z.string(), repo_id: z.number().int() });
/** `label` is the name of its branch, there or gone, and '' on Gitea for one that was pushed to `refs/for/…`. */
const PullHead = PullEnd.extend({ label: z.string().nullable().catch(null) });

/** Text that people wrote. Half a surrogate pair is no text, and a store that speaks UTF-8 refuses the whole row for it. */
const Prose = z.string().transform((text) => text.replace(/\p{Surrogate}/gu, '\uFFFD'));
/** A title, cut at a whole character, because rows have a limited size. */
const Title = Prose.transform((text) => {
  if (text.length <= FORGE_TITLE_CHARS_MAX) return text;
  return [...text.slice(0, 2 * FORGE_TITLE_CHARS_MAX)].slice(0, FORGE_TITLE_CHARS_MAX).join('');
});

/** A label. A longer name than a forge takes is none that a setting could mean. */
const LabelRow = z.object({ name: z.string().max(FORGE_LABEL_CHARS_MAX) });
const Labels = nullableList(LabelRow);

/** The merge styles on a row of a repository. Absent where its pull requests are not readable. */
export const StyleFlags = {
  allow_merge_commits: z.boolean().nullish(),
  allow_squash_merge: z.boolean().nullish(),
  allow_rebase: z.boolean().nullish(),
};

export const PullRow = z.object({
  number: z.number().int().positive(),
  title: Title,
  state: z.enum(['open', 'closed']),
  // Absent in Forgejo 7 and Gitea before 1.22, where the title prefix alone tells.
  draft: z.boolean().catch(false),
  // Documented as never null; absent must not read as mergeable.
  mergeable: z.boolean().catch(false),
  merged: z.boolean(),
  merge_commit_sha: OptionalSha,
  merge_base: OptionalSha,
  base: PullEnd.extend({
    repo: z
      .object({ archived: z.boolean(), ...StyleFlags })
      .nullable()
      .catch(null),
  }),
  head: PullHead,
  // Forgejo's alone.
  flow: z.number().int().nullable().catch(null),
  user: Login,
  labels: Labels.catch([]),
  updated_at: Instant,
});
export type PullRow = z.output<typeof PullRow>;

/** Forgejo 12 documents null for a pull request that it could not convert. */
export const PullRows = nullableList(PullRow.nullable());

export const TimelineRow = z.object({
  id: z.number().int(),
  type: z.string(),
  created_at: Instant,
  user: Login,
  body: z.string().catch(''),
  label: LabelRow.nullish().catch(null),
  old_ref: z.string().catch(''),
});
export type TimelineRow = z.output<typeof TimelineRow>;

/** JSON null for an empty timeline; null entries where one could not be converted. */
export const TimelineRows = nullableList(TimelineRow.nullable());

/** The body of a `pull_push` entry, itself JSON in a string. */
export const PushBody = z.object({ commit_ids: z.array(Sha).min(1) });

export const DeployKeys = nullableList(z.object({ read_only: z.boolean() }).nullable());

export const Teams = nullableList(
  z.object({
    id: z.int(),
    name: z.string(),
    permission: z.string().catch(''),
    // By the part of a repository that it is for.
    units_map: z.record(z.string(), z.string()).nullable().catch(null),
  }),
);
export const TeamMembers = nullableList(z.object({ login: z.string() }).nullable());
/** Accounts that can be given work here, in one answer without pages. */
export const Assignees = nullableList(z.object({ login: z.string() }), ASSIGNEES_MAX);

/** Gitea says `none` for what a team may do. */
export const Permission = z.object({ permission: z.string() });

export const ReviewRow = z.object({
  id: z.number().int(),
  user: Login,
  state: z.string(),
  official: z.boolean().catch(false),
  stale: z.boolean().catch(false),
  dismissed: z.boolean().catch(false),
  // '' on review requests.
  commit_id: OptionalSha,
  // One without is never newer than a push.
  submitted_at: Instant.catch(0),
});
export type ReviewRow = z.output<typeof ReviewRow>;
export const ReviewRows = nullableList(ReviewRow.nullable());

export const ProtectionRow = z.object({
  // `branch_name` is the old name of the field and the only one in old versions.
  rule_name: z.string().catch(''),
  branch_name: z.string().catch(''),
  // Gitea 1.23 and newer; lower comes first.
  priority: z.number().int().nullish().catch(null),
  created_at: Instant,
  enable_push: z.boolean(),
  enable_status_check: z.boolean(),
  status_check_contexts: nullableList(z.string()),
  enable_merge_whitelist: z.boolean().catch(false),
  merge_whitelist_usernames: nullableList(z.string()),
  merge_whitelist_teams: nullableList(z.string()),
  required_approvals: z.number().int(),
  block_on_rejected_reviews: z.boolean(),
  block_on_official_review_requests: z.boolean().catch(false),
  block_on_outdated_branch: z.boolean(),
  dismiss_stale_approvals: z.boolean(),
  // Gitea 1.22 and Forgejo 7 and newer.
  ignore_stale_approvals: z.boolean().catch(false),
  protected_file_patterns: z.string().catch(''),
  unprotected_file_patterns: z.string().catch(''),
  require_signed_commits: z.boolean().catch(false),
  // Gitea 1.27 and newer.
  enable_bypass_allowlist: z.boolean().catch(false),
  bypass_allowlist_usernames: nullableList(z.string()).catch([]),
  bypass_allowlist_teams: nullableList(z.string()).catch([]),
});
export type ProtectionRow = z.output<typeof ProtectionRow>;
export const ProtectionRows = nullableList(ProtectionRow.nullable());

export const StatusRow = z.object({
  // Counts up per commit on some versions, over all on others.
  id: z.number().int(),
  // The answer says `status` where the request says `state`. Any string is stored.
  status: z.string(),
  context: z.string(),
  description: z.string().catch(''),
  target_url: z.string().catch(''),
  creator: Login,
  created_at: Instant,
});
export type StatusRow = z.output<typeof StatusRow>;
export const StatusRows = nullableList(StatusRow.nullable());

/** JSON null as a whole, or `statuses: null`, for a commit without any status; `sha` is '' there on Forgejo. */
export const CombinedStatus = z
  .object({ sha: OptionalSha, statuses: nullableList(StatusRow.nullable()) })
  .nullable()
  .transform((combined) => ({
    sha: combined?.sha ?? null,
    statuses: (combined?.statuses ?? []).filter((row) => row !== null),
  }));

const Account = z.object({ login: z.string() }).nullish().catch(null);
/** One run, in the fields of either forge; a field that a forge does not send is undefined and matches nothing. */
export const RunRow = z.object({
  id: z.number().int(),
  event: z.string().catch(''),
  status: z.string().catch(''),
  html_url: z.string().catch(''),
  // Forgejo
  workflow_id: z.string().optional(),
  prettyref: z.string().optional(),
  commit_sha: z.string().optional(),
  /** The event that set it off; `event` of a scheduled run is that of the push which brought its workflow. */
  trigger_event: z.string().nullish(),
  trigger_user: Account,
  /** The event as its webhook tells it, as JSON in a text. */
  event_payload: z.string().nullish().catch(null),
  // Gitea; `conclusion` is null or '' while the run is open.
  path: z.string().optional(),
  head_branch: z.string().nullish(),
  head_sha: z.string().optional(),
  conclusion: z.string().nullish(),
  actor: Account,
  /** Address of the previous attempt: null where there was none, absent before Gitea 1.27. */
  previous_attempt_url: z.string().nullish().catch(null),
});
export type RunRow = z.output<typeof RunRow>;

/** Of a push: the full name of the branch or tag. */
export const PushPayload = z.object({ ref: z.string() });

/** `workflow_runs` is null where nothing matches. */
export const RunPage = z.object({
  workflow_runs: nullableList(RunRow.nullable()),
  total_count: z.number().int().nonnegative().catch(0),
});

export const TaskRow = z.object({
  id: z.number().int(),
  name: z.string().catch(''),
  status: z.string().catch(''),
  head_branch: z.string().catch(''),
  head_sha: z.string().catch(''),
  run_number: z.number().int(),
  event: z.string().catch(''),
  workflow_id: z.string().catch(''),
  created_at: Instant,
});
export type TaskRow = z.output<typeof TaskRow>;
export const TaskPage = z.object({ workflow_runs: nullableList(TaskRow.nullable()) });

const RefRow = z.object({ ref: z.string() });
/** Answer of the references call: a list, or the one reference that has exactly this name. */
export const RefRows = z.union([z.array(RefRow), RefRow.transform((row) => [row])]);

export const TagRow = z.object({ name: z.string() });

export const ChangedFileRows = nullableList(z.object({ filename: z.string() }));
/** Dependencies. One is null, or has number 0 and a meaningless state, where the asker may not read what blocks. */
export const DependencyRows = nullableList(
  z.object({ number: z.number().optional(), state: z.string() }).nullable(),
);
