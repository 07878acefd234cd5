import type { GlobDialect } from '../globs/glob.ts';

/** The answer of `/version`: `15.0.3+gitea-1.22.0` on Forgejo, `1.26.3` on Gitea. */
export interface ForgeVersion {
  readonly kind: 'forgejo' | 'gitea';
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Null for a version string of neither. */
export function parseForgeVersion(text: string): ForgeVersion | null {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  if (match === null) return null;
  const [, major = '', minor = '', patch = '0'] = match;
  return {
    kind: text.includes('+gitea-') ? 'forgejo' : 'gitea',
    major: Number(major),
    minor: Number(minor),
    patch: Number(patch),
  };
}

/**
 * Versions that the suite and the demo have been run against (forge facts, 12): a patch release is taken for its series. A
 * forge of another version is told to its owner, and nothing is refused.
 */
const SEEN: readonly Pick<ForgeVersion, 'kind' | 'major' | 'minor'>[] = [
  { kind: 'forgejo', major: 11, minor: 0 },
  { kind: 'forgejo', major: 12, minor: 0 },
  { kind: 'forgejo', major: 13, minor: 0 },
  { kind: 'forgejo', major: 14, minor: 0 },
  { kind: 'forgejo', major: 15, minor: 0 },
  { kind: 'forgejo', major: 16, minor: 0 },
  { kind: 'gitea', major: 1, minor: 23 },
  { kind: 'gitea', major: 1, minor: 24 },
  { kind: 'gitea', major: 1, minor: 25 },
  { kind: 'gitea', major: 1, minor: 26 },
  { kind: 'gitea', major: 1, minor: 27 },
];

export function isSeenVersion({ kind, major, minor }: ForgeVersion): boolean {
  return SEEN.some((seen) => seen.kind === kind && seen.major === major && seen.minor === minor);
}

/** As people name it: `Forgejo 15.0.3`. */
export function nameVersion({ kind, major, minor, patch }: ForgeVersion): string {
  return `${kind === 'forgejo' ? 'Forgejo' : 'Gitea'} ${major}.${minor}.${patch}`;
}

function isAtLeast(version: ForgeVersion, major: number, minor: number, patch: number): boolean {
  const order = version.major - major || version.minor - minor || version.patch - patch;
  return order >= 0;
}

/**
 * Does the forge ask the fork, not the base, whether the person who scheduled may merge? Then the merge of a maintainer
 * without write access to the fork silently never happens. Every Forgejo; Gitea before 1.25.5 (forge facts, 11).
 */
export function asksForkForMergeRight(version: ForgeVersion): boolean {
  return version.kind === 'forgejo' || !isAtLeast(version, 1, 25, 5);
}

/**
 * Is this the account that stands for the token of a job? It is in no table of users, so that the forge merges nothing in its name
 * (forge facts, 3.5). Another person can have the name only on a forge that does not reserve it: Gitea knows no `forgejo-actions`.
 */
export function isJobAccount(login: string, version: ForgeVersion | null): boolean {
  const name = login.toLowerCase();
  return name === 'gitea-actions' || (name === 'forgejo-actions' && version?.kind === 'forgejo');
}

/** Is a required pattern met where all that it finds was skipped? On Forgejo, and on Gitea from 1.25 (forge facts, 7). */
export function passesSkippedAlone(version: ForgeVersion): boolean {
  return version.kind === 'forgejo' || isAtLeast(version, 1, 25, 0);
}

/** Can the owner, or the site's administrator, ask for checks that no API shows? Scoped workflows of Gitea from 1.27 on. */
export function hidesRequiredChecks(version: ForgeVersion): boolean {
  return version.kind === 'gitea' && isAtLeast(version, 1, 27, 0);
}

/**
 * Does the forge merge into a tag of the base's name instead of the base? Forgejo, and Gitea before 1.25.4, fetch the base by its bare
 * name, which git takes for the tag's (forge facts, 3.5). Null: a forge whose version we do not know.
 */
export function mergesIntoTag(version: ForgeVersion | null): boolean {
  return version?.kind !== 'gitea' || !isAtLeast(version, 1, 25, 4);
}

/**
 * Is a timeline that is asked for without a page all of it? On Forgejo (forge facts, 3.4). On Gitea before 1.26 it is as well, but a
 * version is known for an hour, and the first page of an upgraded Gitea must not be taken for all.
 */
export function givesWholeTimelines(version: ForgeVersion | null): boolean {
  return version?.kind === 'forgejo';
}

/** Gitea left `gobwas/glob`, by which Forgejo goes on reading patterns, in 1.25. Null: a forge whose version we do not know. */
export function globDialect(version: ForgeVersion | null): GlobDialect {
  return version === null || (version.kind === 'gitea' && isAtLeast(version, 1, 25, 0)) ? 'gitea' : 'gobwas';
}

/** Does the forge hold a job's token to the `permissions` of its workflow? Forgejo 16 warns of the key, older ones skip it. */
export function heedsJobPermissions(version: ForgeVersion): boolean {
  return version.kind === 'gitea' && isAtLeast(version, 1, 26, 0);
}

/**
 * Is a head checked out to be rebased that holds the whole base? Forgejo from 12 on leaves it as it is (forge facts, 11). Null: a
 * forge whose version we do not know.
 */
export function rebasesUpToDate(version: ForgeVersion | null): boolean {
  return version?.kind !== 'forgejo' || !isAtLeast(version, 12, 0, 0);
}

/** Does the forge list the runs of Actions? Forgejo from 12 and Gitea from 1.25 on (forge facts, 8). Null: a forge whose version we do not know. */
export function listsRuns(version: ForgeVersion | null): boolean {
  if (version === null) return false;
  return version.kind === 'forgejo' ? isAtLeast(version, 12, 0, 0) : isAtLeast(version, 1, 25, 0);
}

/**
 * Is the list of runs shown to owners of the repository alone, so that its administrators are refused? Gitea 1.25 (forge facts, 8).
 * Null, a forge whose version we do not know, may be one.
 */
export function listsRunsForOwners(version: ForgeVersion | null): boolean {
  if (version === null) return true;
  return version.kind === 'gitea' && isAtLeast(version, 1, 25, 0) && !isAtLeast(version, 1, 26, 0);
}

/**
 * Does the forge tell of which workflow and branch a job is, by a list of runs or of tasks? Gitea before 1.23 and Forgejo 7 have neither
 * (forge facts, 12), so that no gate run can be told from others. True for a forge whose version we do not know.
 */
export function tellsGateRuns(version: ForgeVersion | null): boolean {
  if (version === null) return true;
  return version.kind === 'forgejo' ? isAtLeast(version, 8, 0, 0) : isAtLeast(version, 1, 23, 0);
}

const GITEA_FOLDERS: readonly string[] = ['.gitea/workflows', '.github/workflows'];
const FORGEJO_FOLDERS: readonly string[] = ['.forgejo/workflows', ...GITEA_FOLDERS];

/**
 * Folders that workflows are read from; the first that exists counts alone (forge facts, 8). Null: a forge whose version
 * we do not know.
 */
export function workflowFolders(version: ForgeVersion | null): readonly string[] {
  return version?.kind === 'gitea' ? GITEA_FOLDERS : FORGEJO_FOLDERS;
}

/** Folders in which the gate workflow is looked for: none on a forge that tells of no gate run, where it would be waited for in vain. */
export function gateFolders(version: ForgeVersion | null): readonly string[] {
  return tellsGateRuns(version) ? workflowFolders(version) : [];
}

/** Folders that this forge may be reading instead: a forge that hides its version may be either. Null: no others. */
export function otherWorkflowFolders(version: ForgeVersion | null): readonly string[] | null {
  return version === null ? GITEA_FOLDERS : null;
}
