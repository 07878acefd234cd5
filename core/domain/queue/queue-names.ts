import { hashCharacters } from '../hash-text.ts';
import type { CommitSha } from '../ids.ts';

/**
 * Every name that the queue gives on a forge. `queueName` is the service's name as the deployment sets it (D-91): all
 * of them follow it.
 */
export const DEFAULT_SERVICE_NAME = 'mq';

/** Branches below it start a gate run when they are pushed: staged batches and probes. */
export function stagingPrefix(queueName: string): string {
  return `${queueName}/`;
}

/** Trigger of the gate workflow: everything below `stagingPrefix`. */
export function stagingPattern(queueName: string): string {
  return `${stagingPrefix(queueName)}**`;
}

export function stagingBranch(queueName: string, base: string): string {
  return `${stagingPrefix(queueName)}${base}/staging`;
}

/** Branches below it start no gate run: what is built in several commits is built there (E22). */
export function workPrefix(queueName: string): string {
  return `${queueName}-work/`;
}

/** `part`: tells the work branches of one base apart. */
export function workBranch(queueName: string, base: string, part: string): string {
  return `${workPrefix(queueName)}${base}/${part}`;
}

/** A name of no branch: the answer to its removal tells whether the bot may write. */
export function absentBranch(sha: CommitSha): string {
  return `none-${sha}`;
}

/** Probe branches of one base all begin so; they fall under the trigger of the template. */
export function probePrefix(queueName: string, base: string): string {
  return `${stagingPrefix(queueName)}${base}/verify-`;
}

/**
 * Branch of the set-up pull request of one base: outside `stagingPattern`, so that its push starts no gate (D-64). One for
 * all bases would be taken from the open pull request of another base, with what its owner pushed there.
 */
export function setupBranch(queueName: string, base: string, defaultBranch: string): string {
  const name = `setup-${queueName}-gate`;
  return base === defaultBranch ? name : `${name}-${base}`;
}

/**
 * Head of a backport: a branch like those of people, so that its pull request is one like theirs. A long name of the branch that it is
 * for is cut, and ends with a mark of what was cut.
 */
export function backportBranch(queueName: string, pr: number, target: string): string {
  const prefix = `${queueName}-backport/${pr}-`;
  if (prefix.length + target.length <= FORGE_BRANCH_CHARS_MAX) return `${prefix}${target}`;
  const mark = `-${markOf(target)}`;
  const cut = target.slice(0, FORGE_BRANCH_CHARS_MAX - prefix.length - mark.length);
  // No half of a character at its end.
  return `${prefix}${cut.replace(/[\uD800-\uDBFF]$/, '')}${mark}`;
}

/** Eight hex digits that differ for names that begin alike: they only keep two backports of one pull request apart. */
function markOf(name: string): string {
  return hashCharacters(name).toString(16).padStart(8, '0');
}

/** Pattern of what no base may be where the deployment sets no name: how such branches begin, or just the name. */
export const DEFAULT_OWN_BRANCHES = `${DEFAULT_SERVICE_NAME}(-work)?(/|$)`;

/** Whether only the queue itself has branches of such a name. */
export function isOwnBranch(queueName: string, branch: string): boolean {
  return branch.startsWith(stagingPrefix(queueName)) || branch.startsWith(workPrefix(queueName));
}

/** Forges take no longer name of a branch in a call (`MaxSize(100)` in `modules/structs` of both). */
export const FORGE_BRANCH_CHARS_MAX = 100;
/** Of the id that ends the name of a probe branch, the longest of those that every queue makes. */
export const PROBE_ID_CHARS = 8;

/** Characters that a base may have: the forge refuses each branch of the queue whose name is too long. */
export function baseCharsMax(queueName: string): number {
  return FORGE_BRANCH_CHARS_MAX - probePrefix(queueName, '').length - PROBE_ID_CHARS;
}

/** Name of the gate workflow file in the forge's workflow folder. */
export function gateFileName(queueName: string): string {
  return `${queueName}-gate.yaml`;
}

/** Names under which the engine finds the gate, best first. */
export function gateFileNames(queueName: string): readonly string[] {
  return [gateFileName(queueName), `${queueName}-gate.yml`];
}

/** A status context of one base branch, for a repository where one commit may head pull requests to several. */
export function contextForBase(statusContext: string, base: string): string {
  return `${statusContext}/${base}`;
}

/** First line of a staged commit. */
export function stagedMessage(queueName: string, batch8: string, about: string): string {
  return `${queueName}: ${batch8} ${about}`;
}

/** File that a commit of our own adds for a moment where its tree is to stay the same. */
export function sameTreeFile(queueName: string): string {
  return `${queueName}-same-tree`;
}

/** The settings that a repository keeps itself: in the root of the base branch. */
export const SETTINGS_FILE = '.mergeyard.yml';

/** Also a name that leaves no room for those of the queue: git holds no `mq/main/staging` beside `mq`. */
export function isTakenByQueue(queueName: string, base: string): boolean {
  return isOwnBranch(queueName, `${base}/`);
}
