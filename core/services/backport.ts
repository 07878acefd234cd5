import {
  BACKPORT_EVENTS_MAX,
  type Backport,
  type BackportedPull,
  backportMessage,
  backportTargets,
  isPlainBranch,
  landingsToCarry,
  mayBackport,
  noteBackported,
  sayBackport,
} from '../domain/backport.ts';
import type { ActivityEvent } from '../domain/batch.ts';
import type { RepoId } from '../domain/ids.ts';
import { backportBranch } from '../domain/queue-names.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import type { BackportAsker, BackportForge, LandedPull } from '../ports/backport.ts';
import { ForgeError } from '../ports/forge.ts';
import type { PullLink } from '../ports/forge-admin.ts';
import type { DispatchStore, EngineStore } from '../ports/store.ts';
import type { Clock, Log } from '../ports/system.ts';
import type { OpenForge } from './open-forge.ts';
import { type RepoStore, saveRepo } from './save-repo.ts';

export interface BackportDeps {
  readonly store: RepoStore & Pick<EngineStore, 'listOwnEvents'> & Pick<DispatchStore, 'claimDelivery'>;
  readonly openBackports: OpenForge<BackportForge>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly queueName: string;
}

/**
 * Carries what landed to the branches that its labels name, the oldest landing first. A forge that does not answer ends it;
 * the next look asks again, and the log says what ended it. Each step finds what an earlier try left, so that one (pull request,
 * branch) has one backport.
 */
export async function carryLandings(deps: BackportDeps, repoId: RepoId): Promise<readonly BackportedPull[]> {
  const repo = await deps.store.getRepo(repoId);
  if (repo === null) return [];
  const landings = await listLandings(deps, repo);
  if (landings.length === 0) return [];
  const opened = await deps.openBackports(repo);
  if (opened.kind !== 'open') {
    deps.log.warn('backports wait: the forge cannot be opened', { repo_id: repoId, reason: opened.kind });
    return [];
  }
  const carried: BackportedPull[] = [];
  let current = repo;
  try {
    for (const { pr, at } of landings) {
      const backports = await carry(deps, opened.forge, current, pr);
      const done: BackportedPull = { pr, landedAt: at, backports };
      const saved = await saveRepo(deps.store, current, ({ backported }) => ({
        backported: noteBackported(backported, done, deps.clock.now()),
      }));
      if (typeof saved === 'string') {
        deps.log.warn('a backport was made and cannot be stored', { repo_id: repoId, pr, reason: saved });
        return carried;
      }
      current = saved;
      carried.push(done);
    }
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    deps.log.warn('a backport was not made yet', { repo_id: repoId, call: error.call, status: error.status });
  }
  return carried;
}

async function listLandings(
  { store, clock }: Pick<BackportDeps, 'clock'> & { readonly store: Pick<EngineStore, 'listOwnEvents'> },
  repo: ManagedRepo,
): Promise<readonly ActivityEvent[]> {
  if (!mayBackport(repo)) return [];
  return landingsToCarry(repo, await store.listOwnEvents(repo, BACKPORT_EVENTS_MAX), clock.now());
}

async function carry(
  deps: BackportDeps,
  forge: BackportForge,
  repo: ManagedRepo,
  pr: number,
): Promise<readonly Backport[]> {
  const landed = await forge.readLanded(pr);
  const backports: Backport[] = [];
  if (landed.mergeCommit === null) return backports;
  for (const branch of backportTargets(landed.labels)) {
    const backport = await carryTo(
      deps,
      forge,
      repo,
      { ...landed, mergeCommit: landed.mergeCommit, pr },
      branch,
    );
    backports.push(backport);
    deps.log.info('a backport ended', { repo_id: repo.id, pr, result: backport.result });
    if (backport.result !== 'opened') await tell(deps, forge, repo, pr, backport);
  }
  return backports;
}

type Landed = LandedPull & { readonly pr: number; readonly mergeCommit: string };

async function carryTo(
  deps: BackportDeps,
  forge: BackportForge,
  repo: ManagedRepo,
  landed: Landed,
  branch: string,
): Promise<Backport> {
  const ends = (result: Backport['result']): Backport => ({ branch, result, pull: null });
  if (branch === repo.baseBranch) return ends('same_branch');
  const tip = isPlainBranch(branch) ? await forge.readBranchTip(branch) : null;
  if (tip === null) return ends('no_branch');
  const head = backportBranch(deps.queueName, landed.pr, branch);
  const there = await forge.findPull(branch, head);
  if (there !== null) return { branch, result: 'opened', pull: there.number };
  const message = backportMessage(landed.title, landed.pr, landed.mergeCommit);
  const before = await forge.readBranchTip(head);
  if (before === null) {
    const made = await apply(forge, { branch, newBranch: head, message }, landed.pr);
    if (made === null) return ends('conflict');
    if (made.tree === (await forge.readTreeId(made.parents[0] ?? tip))) {
      await forge.deleteBranch(head);
      return ends('nothing_left');
    }
  } else if ((await forge.readCommit(before)).message.trim() !== message) return ends('name_taken');
  const pull = await openPull(forge, branch, head, landed, repo.baseBranch);
  return { branch, result: 'opened', pull: pull.number };
}

/**
 * Null: the change does not go on the branch. The forge says so with a bare 500, as of a fault of its own, so the branch is
 * looked for afterwards: an answer that was lost may have made it, and a forge that answers this is well.
 */
async function apply(
  forge: BackportForge,
  {
    branch,
    newBranch,
    message,
  }: { readonly branch: string; readonly newBranch: string; readonly message: string },
  pr: number,
) {
  const patch = await forge.readDiff(pr);
  if (patch === null) return null;
  try {
    return await forge.applyPatch({ branch, newBranch, patch, message });
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const made = await forge.readBranchTip(newBranch);
    if (made !== null) return forge.readCommit(made);
    if (error.status === 500) return null;
    throw error;
  }
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
  { store, log }: BackportDeps,
  forge: BackportForge,
  repo: ManagedRepo,
  pr: number,
  backport: Backport,
): Promise<void> {
  if (!(await store.claimDelivery(repo.id, `backport:${pr}:${backport.branch}`))) return;
  const { says, next } = sayBackport(backport);
  try {
    await forge.remark(pr, next === null ? `${says}.` : `${says}. Next: ${next}.`);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    log.warn('a backport could not be told on its pull request', { repo_id: repo.id, pr });
  }
}

export interface BackportWishDeps {
  readonly store: Pick<EngineStore, 'listOwnEvents'>;
  readonly backports: BackportAsker;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

/** After a look: asks for what landed to be carried. A wish that is lost is made again by the next look. */
export async function wishBackports(deps: BackportWishDeps, repo: ManagedRepo): Promise<void> {
  try {
    if ((await listLandings(deps, repo)).length > 0) await deps.backports.ask(repo.id);
  } catch (error) {
    deps.log.warn('a backport could not be asked for', { repo_id: repo.id, error });
  }
}
