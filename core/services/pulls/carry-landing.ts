import type { Commit } from '../../domain/forge/forge.ts';
import type { CommitSha } from '../../domain/ids.ts';
import {
  type Backport,
  type BackportResult,
  backportMessage,
  backportTargets,
  isBackportMessage,
  isBranchName,
  sayBackport,
} from '../../domain/pulls/backport.ts';
import type { ActivityEvent } from '../../domain/queue/batch.ts';
import { backportBranch, FORGE_BRANCH_CHARS_MAX } from '../../domain/queue/queue-names.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { BackportForge, BackportPlanner, LandedPull } from '../../ports/backport.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { PullLink } from '../../ports/forge-admin.ts';
import type { DispatchStore } from '../../ports/store.ts';
import type { Log } from '../../ports/system.ts';

export interface CarryDeps {
  readonly store: Pick<DispatchStore, 'claimDelivery'>;
  readonly forge: BackportForge;
  readonly planner: BackportPlanner;
  readonly log: Log;
  readonly queueName: string;
}

type Landed = LandedPull & { readonly pr: number; readonly head: CommitSha; readonly mergeCommit: CommitSha };

/**
 * One end for each label. At its last try what fails has ended too, and where that is `over` nothing is made: it is told what
 * was not made. `waits`: there is more to do, and the next look asks again. Throws `ForgeError` only where the forge
 * answers nothing, so that no other landing need be tried.
 */
export async function carryLanding(
  deps: CarryDeps,
  repo: ManagedRepo,
  { pr, head }: Pick<ActivityEvent, 'pr' | 'head'>,
  next: 'one' | 'last' | 'over',
): Promise<readonly Backport[] | 'waits'> {
  const landed = await unlessItFails(deps, repo, pr, () => deps.forge.readLanded(pr));
  if (landed === null) return 'waits';
  const { mergeCommit } = landed;
  const isLast = next !== 'one';
  if (mergeCommit === null && !isLast) return 'waits';
  const backports: Backport[] = [];
  let waits = false;
  for (const branch of backportTargets(landed.labels)) {
    const tried =
      mergeCommit === null
        ? null
        : await unlessItFails(deps, repo, pr, () =>
            carryTo(deps, repo, { ...landed, pr, head, mergeCommit }, branch, next !== 'over'),
          );
    if (tried === null && !isLast) {
      waits = true;
      continue;
    }
    const backport = tried ?? { branch, result: 'failed', pull: null };
    backports.push(backport);
    deps.log.info('a backport ended', { repo_id: repo.id, pr, result: backport.result });
    if (backport.result !== 'opened') await tell(deps, repo, pr, backport);
  }
  return waits ? 'waits' : backports;
}

/** Null: the forge fails on this alone. Throws where it does not even say where the base stands. */
async function unlessItFails<Result>(
  { forge, log }: CarryDeps,
  repo: ManagedRepo,
  pr: number,
  act: () => Promise<Result>,
): Promise<Result | null> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    log.warn('a backport was not made yet', { repo_id: repo.id, pr, call: error.call, status: error.status });
  }
  await forge.readBranchTip(repo.baseBranch);
  return null;
}

/** Null: to be tried again. */
async function carryTo(
  deps: CarryDeps,
  repo: ManagedRepo,
  landed: Landed,
  branch: string,
  mayMake: boolean,
): Promise<Backport | null> {
  const { forge } = deps;
  const ends = (result: BackportResult): Backport => ({ branch, result, pull: null });
  if (branch === repo.baseBranch) return ends('same_branch');
  const tip = isBranchName(branch) ? await forge.readBranchTip(branch) : null;
  if (tip === null) return ends('no_branch');
  // The forge refuses each call that names it, at each try.
  if (branch.length > FORGE_BRANCH_CHARS_MAX) return ends('not_exact');
  const head = backportBranch(deps.queueName, landed.pr, branch);
  const there = await forge.findPull(branch, head);
  if (there !== null) return { branch, result: 'opened', pull: there.number };
  if (!mayMake) return null;
  const made = await makeBranch(deps, landed, { branch, tip, head });
  if (made === 'unfinished') return null;
  if (made !== 'made') return ends(made);
  const pull = await openPull(forge, branch, head, landed, repo.baseBranch);
  return { branch, result: 'opened', pull: pull.number };
}

/** Makes the branch, or finds it made, as by a patch whose answer was lost. Nothing is proposed whose tree is not the planned one. */
async function makeBranch(
  { forge, planner }: CarryDeps,
  landed: Landed,
  { branch, tip, head }: { readonly branch: string; readonly tip: CommitSha; readonly head: string },
): Promise<BackportResult | 'made' | 'unfinished'> {
  const { pr, title, mergeCommit } = landed;
  const standing = await forge.readBranchTip(head);
  const before = standing === null ? null : await forge.readCommit(standing);
  if (before !== null && !isBackportMessage(before.message, pr, mergeCommit)) return 'name_taken';
  const change = await findChange(forge, landed);
  if (change === null) return 'not_exact';
  // A person may have gone on with a branch that an earlier try left: it is not taken away.
  if (before !== null) {
    const is = await compare(planner, before, change);
    return is === 'as_planned' ? 'made' : is;
  }
  const plan = await planner.plan(tip, change.before, change.after);
  if (plan.kind === 'unfinished') return 'unfinished';
  if (plan.kind === 'refused') return plan.result;
  if (plan.patch === '') return 'nothing_left';
  const message = backportMessage(title, pr, mergeCommit);
  const made = await forge.applyPatch({ branch, newBranch: head, patch: plan.patch, message });
  const isOnTip = made.parents[0] === tip;
  if (isOnTip ? made.tree === plan.tree : (await compare(planner, made, change)) === 'as_planned')
    return 'made';
  await forge.deleteBranch(head);
  return isOnTip ? 'not_exact' : 'unfinished';
}

interface Change {
  readonly before: CommitSha;
  readonly after: CommitSha;
}

/**
 * The merge that landed shows the change against its first parent, and so does a squash. The last of several commits that were
 * replayed, and the head itself, do not: there the forge's merge base says where the change began, which is too early for a
 * pull request that stands on another one.
 */
async function findChange(forge: BackportForge, landed: Landed): Promise<Change | null> {
  const { mergeCommit, mergeBase, head } = landed;
  const merge = await forge.readCommit(mergeCommit);
  const [first, second] = merge.parents;
  if (first !== undefined && mergeCommit !== head)
    if (second !== undefined || !(await mayBeReplayed(forge, merge, first, head)))
      return { before: first, after: mergeCommit };
  return mergeBase === null || mergeBase === head ? null : { before: mergeBase, after: head };
}

/**
 * Whether it has the words of the head, or stands on one with the words of the head's parent: the forge may write the last of
 * the replayed commits anew by a template, and no other. A commit that may be either is held to be replayed: a change with
 * more than its own is seen, and a part of one is not.
 */
async function mayBeReplayed(
  forge: BackportForge,
  merge: Commit,
  parent: CommitSha,
  head: CommitSha,
): Promise<boolean> {
  const tip = await forge.readCommit(head);
  const [below, ...others] = tip.parents;
  if (below === parent) return false;
  if (below === undefined || others.length > 0 || haveSameWords(tip, merge)) return true;
  return haveSameWords(await forge.readCommit(below), await forge.readCommit(parent));
}

const haveSameWords = (one: Commit, other: Commit): boolean =>
  one.message.replace(/\s+/g, ' ').trim() === other.message.replace(/\s+/g, ' ').trim();

/** With the plan on the commit that it stands on, which is not where the branch stood when it was read. */
async function compare(
  planner: BackportPlanner,
  { parents, tree }: Commit,
  { before, after }: Change,
): Promise<'as_planned' | 'not_exact' | 'unfinished'> {
  const [on] = parents;
  if (on === undefined) return 'not_exact';
  const plan = await planner.plan(on, before, after);
  if (plan.kind === 'unfinished') return 'unfinished';
  return plan.kind === 'plan' && plan.tree === tree ? 'as_planned' : 'not_exact';
}

/** A failure that comes of another function which was faster is no harm: the next try finds what that one has opened. */
function openPull(
  forge: BackportForge,
  base: string,
  head: string,
  { pr, title, author, mergeCommit }: Landed,
  from: string,
): Promise<PullLink> {
  const by = author === '' ? '' : ` by @${author}`;
  const body = [
    `Carries the change of #${pr}${by} to \`${base}\`. It landed in \`${from}\` as ${mergeCommit}.`,
    '',
    'The queue does not schedule it. Look at it, and press "Auto merge when all checks succeed" if it is right for this branch.',
  ].join('\n');
  return forge.openPull({ base, head, title: `[${base}] ${title}`, body });
}

/** Once, at most: the claim comes before the words. The story tells the same, so words that are lost are told there. */
async function tell(
  { store, forge, log }: CarryDeps,
  repo: ManagedRepo,
  pr: number,
  backport: Backport,
): Promise<void> {
  if (!(await store.claimDelivery(repo.id, `backport:${pr}:${backport.branch}`))) return;
  const { says, next } = sayBackport(backport);
  const words = next === null ? `${says}.` : `${says}. Next: ${next}.`;
  try {
    await forge.remark(pr, toRemark(words, backport));
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    log.warn('a backport could not be told on its pull request', { repo_id: repo.id, pr });
  }
}

/** Neither a mention nor a reference, wherever it stands. */
const PLAIN_NAME = /^[\w./-]+$/;

/** A label may hold any signs, and a remark is Markdown: a name that could be more than a name there is shown as code. */
function toRemark(words: string, { branch }: Pick<Backport, 'branch'>): string {
  const fence = '`'.repeat(branch.split('`').length);
  return PLAIN_NAME.test(branch)
    ? words
    : words.replaceAll(`"${branch}"`, () => `${fence} ${branch} ${fence}`);
}
