import * as z from 'zod';
import { Instant, nullableList, Sha, StyleFlags } from './schema.ts';

export const Version = z.object({ version: z.string() });

export const RepoRow = z.object({
  id: z.number().int().nullable().catch(null),
  full_name: z.string().min(1),
  default_branch: z.string(),
  archived: z.boolean().catch(false),
  mirror: z.boolean().catch(false),
  has_actions: z.boolean().catch(false),
  // Absent for a caller that is not signed in.
  permissions: z
    .object({ admin: z.boolean(), push: z.boolean() })
    .nullish()
    .transform((rights) => rights ?? { admin: false, push: false }),
  ...StyleFlags,
  allow_rebase_explicit: z.boolean().nullish(),
  allow_fast_forward_only_merge: z.boolean().nullish(),
});
export type RepoRow = z.output<typeof RepoRow>;

export const HookRow = z.object({
  id: z.number().int(),
  active: z.boolean(),
  branch_filter: z.string().catch(''),
  events: nullableList(z.string()),
  // The secret never comes back. A hook of another kind may have no URL.
  config: z.object({ url: z.string().catch(''), content_type: z.string().catch('') }),
});
export type HookRow = z.output<typeof HookRow>;
export const HookRows = nullableList(HookRow.nullable());

/** A whole rule; fields that are not known are copied and compared as they came. */
export const RawRule = z.record(z.string(), z.unknown());
export const RawRules = nullableList(RawRule.nullable());

const FileRow = z.object({ path: z.string().min(1), type: z.string(), sha: z.string() });
/** Answer of the contents call: a list for a folder, one row for a file. */
export const FolderOrFile = z.union([z.array(FileRow), FileRow]);

export const BranchRows = nullableList(
  z
    .object({
      name: z.string().min(1),
      commit: z.object({ id: Sha, timestamp: Instant }),
      protected: z.boolean().catch(false),
    })
    .nullable()
    // A branch whose commit the forge cannot read has none.
    .catch(null),
);

export const OpenedPull = z.object({ number: z.number().int().positive(), html_url: z.string().catch('') });
export const PullLinkRow = OpenedPull.extend({
  state: z.string(),
  head: z.object({ ref: z.string(), repo_id: z.number().int() }),
  base: z.object({ ref: z.string(), repo_id: z.number().int() }),
});
export type PullLinkRow = z.output<typeof PullLinkRow>;
export const PullLinkRows = nullableList(PullLinkRow.nullable());
