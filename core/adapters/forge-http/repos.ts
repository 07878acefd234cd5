import { type ForgeVersion, parseForgeVersion } from '#core/domain/forge/forge-version.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { ForgeRepo } from '#core/ports/forge-admin.ts';
import { readBody } from './wire/read-body.ts';
import { RepoRow, Version } from './wire/schema-admin.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Version of the forge; null where it names none that can be parsed. */
export async function readVersion(transport: ForgeTransport): Promise<ForgeVersion | null> {
  const call = { method: 'GET', label: 'GET version', path: ['version'] } as const;
  return parseForgeVersion(readBody(Version, call, await transport.request(call)).version);
}

export async function readRepoRow(transport: ForgeTransport): Promise<RepoRow> {
  const call = { method: 'GET', label: 'GET repo', path: transport.repoPath } as const;
  return readBody(RepoRow, call, await transport.request(call));
}

export async function readRepoId(transport: ForgeTransport): Promise<number | null> {
  return (await readRepoRow(transport)).id;
}

export async function readRepo(transport: ForgeTransport): Promise<ForgeRepo> {
  const row = await readRepoRow(transport);
  return {
    fullName: row.full_name,
    defaultBranch: row.default_branch,
    archived: row.archived,
    isMirror: row.mirror,
    hasActions: row.has_actions,
    isAdmin: row.permissions.admin,
    canPush: row.permissions.push,
    allowedStyles: readStyles(row),
  };
}

type StyleFlags = Pick<RepoRow, 'allow_merge_commits' | 'allow_squash_merge' | 'allow_rebase'>;

/** Merge styles that the repository allows; null where the forge does not say. */
export function readStyles(row: StyleFlags): readonly MergeStyle[] | null {
  const { allow_merge_commits: merge, allow_squash_merge: squash, allow_rebase: rebase } = row;
  if (merge == null || squash == null || rebase == null) return null;
  const styles: MergeStyle[] = [];
  if (merge) styles.push('merge');
  if (squash) styles.push('squash');
  if (rebase) styles.push('rebase');
  return styles;
}
