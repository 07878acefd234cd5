import type { CommitSha, EpochMs, PullRequestNumber } from '../ids.ts';
import type { ActivityEvent } from '../queue/batch.ts';
import type { MergeRefusal } from './merge-refusal.ts';

/** A label that asks for a backport: `backport v15`. */
const LABEL = /^backport\s+(\S+)$/i;
/** Branches that one pull request is carried to at most; further labels are ignored. */
export const BACKPORTS_PER_PULL_MAX = 10;
/** A landing of longer ago is not carried any more: its forge did not answer for so long, or the setting came later. */
export const BACKPORT_WINDOW_MS = 6 * 60 * 60_000;
/** Time after the landing from which a backport that fails is told as failed, and not tried again. */
export const BACKPORT_TRIES_MS = 5 * 60 * 60_000;
/** The function that carries landings has 29 seconds: it begins no further landing after this time, so that the last one has a fair part. */
export const BACKPORT_BEGIN_MS_MAX = 9_000;
/** That function reads nothing more for a plan after this time: what is written then may have to wait for one slow answer of the forge. */
export const BACKPORT_PLAN_MS_MAX = 17_000;
/** A last try that began so long ago and was not ended is over: its function died of it. */
export const BACKPORT_TRY_MS_MAX = 60_000;
/** Pull requests with a backport that are kept for their stories; those within the window are kept besides. */
const BACKPORTED_KEPT_MAX = 100;
/** The newest events that are looked through for landings. */
export const BACKPORT_EVENTS_MAX = 200;

/**
 * `opened`: the pull request of its own is there. `conflict`: the change does not go on the branch. `nothing_left`: the branch
 * has the change. `same_branch`: the label names the branch that it landed in. `name_taken`: another branch has the name.
 * `too_large`: more is to be read than the queue reads for one backport. `not_exact`: the branch could come out otherwise than
 * the change is. `failed`: the forge failed, or took too long, at each try.
 */
export const BACKPORT_RESULTS = [
  'opened',
  'conflict',
  'nothing_left',
  'no_branch',
  'same_branch',
  'name_taken',
  'too_large',
  'not_exact',
  'failed',
] as const;
export type BackportResult = (typeof BACKPORT_RESULTS)[number];

export interface Backport {
  readonly branch: string;
  readonly result: BackportResult;
  /** Null: none was opened. */
  readonly pull: PullRequestNumber | null;
}

/** A landed pull request that was dealt with; `backports` is empty where no label asked for one. */
export interface BackportedPull {
  readonly pr: PullRequestNumber;
  readonly landedAt: EpochMs;
  readonly backports: readonly Backport[];
}

/** The latest try of a landing that was not dealt with. It is noted before it begins, as a function may die of it. */
export interface BackportTry {
  readonly pr: PullRequestNumber;
  readonly at: EpochMs;
  /** A failure of it is told, and nothing is tried again. */
  readonly isLast: boolean;
}

/** Whose backports are looked for; `backports` is the owner's setting. */
export interface BackportingRepo {
  readonly backports: boolean;
  readonly queueEnabled: boolean;
  readonly tombstone: boolean;
  readonly backported?: readonly BackportedPull[];
  readonly backportTries?: readonly BackportTry[];
}

/** Branches that the labels ask for, each once, in the order of the labels. */
export function backportTargets(labels: readonly string[]): readonly string[] {
  const named = labels.flatMap((label) => LABEL.exec(label.trim())?.[1] ?? []);
  return [...new Set(named)].slice(0, BACKPORTS_PER_PULL_MAX);
}

/** Parts of names that `git check-ref-format --branch` refuses, and halves of characters, which no address can name. */
const NO_BRANCH_NAME =
  /[\s\p{Cc}\p{Cs}~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|(?:^|\/)\.|\.lock(?:\/|$)|[./]$|^(?:@|HEAD)$/u;
const BRANCH_NAME_CHARS_MAX = 200;

/** Whether git could have a branch of this name. */
export function isBranchName(name: string): boolean {
  return name !== '' && name.length <= BRANCH_NAME_CHARS_MAX && !NO_BRANCH_NAME.test(name);
}

/** Whether its owner wants landings carried, and its queue is on. */
export function mayBackport({ backports, queueEnabled, tombstone }: BackportingRepo): boolean {
  return backports && queueEnabled && !tombstone;
}

/**
 * Landings that were not dealt with: first what no try ended of, as it has only to be told; then what was not tried yet, in the
 * order of the landings; then the others, the one whose latest try was longest ago first. So none is behind another for ever.
 */
export function landingsToCarry(
  repo: Pick<BackportingRepo, 'backported' | 'backportTries'>,
  events: readonly ActivityEvent[],
  now: EpochMs,
): readonly ActivityEvent[] {
  const known = new Set((repo.backported ?? []).map(({ pr }) => pr));
  const turnOf = ({ pr }: ActivityEvent): EpochMs => {
    const tried = tryOf(repo, pr);
    return tried === undefined || tried.isLast ? 0 : tried.at;
  };
  const isOver = (landing: ActivityEvent): number => (tryOf(repo, landing.pr)?.isLast ? 0 : 1);
  return events
    .filter(({ event, pr, at }) => event === 'pr_landed' && now - at < BACKPORT_WINDOW_MS && !known.has(pr))
    .filter(({ pr }) => !isAtLastTry(repo, pr, now))
    .sort((one, other) => isOver(one) - isOver(other) || turnOf(one) - turnOf(other) || one.at - other.at);
}

function tryOf({ backportTries = [] }: Pick<BackportingRepo, 'backportTries'>, pr: PullRequestNumber) {
  return backportTries.find((each) => each.pr === pr);
}

/** Whether another function may be at its last try. */
function isAtLastTry(
  repo: Pick<BackportingRepo, 'backportTries'>,
  pr: PullRequestNumber,
  now: EpochMs,
): boolean {
  const tried = tryOf(repo, pr);
  return tried?.isLast === true && now - tried.at < BACKPORT_TRY_MS_MAX;
}

/** Which try of a landing is next. `over`: its last one has begun and not ended, so that it is told alone. */
export function nextTry(
  repo: Pick<BackportingRepo, 'backportTries'>,
  { pr, at }: Pick<ActivityEvent, 'pr' | 'at'>,
  now: EpochMs,
): 'one' | 'last' | 'over' {
  if (tryOf(repo, pr)?.isLast === true) return 'over';
  return now - at >= BACKPORT_TRIES_MS ? 'last' : 'one';
}

export function noteTry(before: readonly BackportTry[] = [], tried: BackportTry): readonly BackportTry[] {
  return [...before.filter(({ pr, at }) => pr !== tried.pr && tried.at - at < BACKPORT_WINDOW_MS), tried];
}

export function noteBackported(
  before: readonly BackportedPull[] = [],
  done: BackportedPull,
  now: EpochMs,
): readonly BackportedPull[] {
  const all = [...before.filter(({ pr }) => pr !== done.pr), done];
  const told = all.filter(({ backports }) => backports.length > 0).slice(-BACKPORTED_KEPT_MAX);
  return all.filter((each) => now - each.landedAt < BACKPORT_WINDOW_MS || told.includes(each));
}

/** How a backport ends whose merge is refused. */
export function resultOfRefusal(reason: MergeRefusal): BackportResult {
  switch (reason) {
    case 'conflict':
    case 'directory_renamed':
      return 'conflict';
    case 'file_too_large':
    case 'too_many_commits':
    case 'too_many_files':
      return 'too_large';
    case 'merge_unsure':
    case 'merge_rules':
    case 'name_not_utf8':
    case 'base_name_not_utf8':
    case 'criss_cross':
    case 'unrelated_history':
    case 'commit_left_out':
    case 'merges_in_rebase':
    case 'empty_directory':
    case 'file_converted':
      return 'not_exact';
  }
}

/** Message of the commit of a backport. */
export function backportMessage(title: string, pr: PullRequestNumber, landed: CommitSha): string {
  return `${title}\n\n${lastLine(pr, landed)}`;
}

/** Whether an earlier try wrote it: by its last line, as the title may have been edited since. */
export function isBackportMessage(message: string, pr: PullRequestNumber, landed: CommitSha): boolean {
  return message.trim().endsWith(`\n\n${lastLine(pr, landed)}`);
}

function lastLine(pr: PullRequestNumber, landed: CommitSha): string {
  return `Backport of #${pr}, which landed as ${landed}.`;
}

/** The result and the next step, for the story and for the pull request itself. */
export function sayBackport({ branch, result, pull }: Backport): { says: string; next: string | null } {
  const byHand = `make a branch from "${branch}" by hand, bring the change over with "git cherry-pick -x", and open a pull request`;
  switch (result) {
    case 'opened':
      return {
        says: `A pull request carries the change to "${branch}": #${pull}`,
        next: `look at #${pull} and press "Auto merge when all checks succeed" there: the queue does not schedule it`,
      };
    case 'conflict':
      return { says: `The change does not apply to "${branch}" as it is`, next: byHand };
    case 'nothing_left':
      return { says: `"${branch}" has the change already`, next: null };
    case 'no_branch':
      return {
        says: `There is no branch "${branch}" to carry the change to`,
        next: 'if the label is misspelt, bring the change over by hand: a landed pull request is carried once',
      };
    case 'same_branch':
      return { says: `The change landed in "${branch}", which its label names`, next: null };
    case 'name_taken':
      return { says: `Another branch has the name of the backport to "${branch}"`, next: byHand };
    case 'too_large':
      return { says: `The change is too large for the queue to carry it to "${branch}"`, next: byHand };
    case 'not_exact':
      return { says: `The queue cannot write the change to "${branch}" exactly as it is`, next: byHand };
    case 'failed':
      return {
        says: `The forge failed or took too long at each try to carry the change to "${branch}"`,
        next: byHand,
      };
  }
}
