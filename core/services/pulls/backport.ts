import type { RepoId } from '../../domain/ids.ts';
import {
  BACKPORT_BEGIN_MS_MAX,
  BACKPORT_EVENTS_MAX,
  BACKPORT_PLAN_MS_MAX,
  type BackportedPull,
  type BackportTry,
  landingsToCarry,
  mayBackport,
  nextTry,
  noteBackported,
  noteTry,
} from '../../domain/pulls/backport.ts';
import type { ActivityEvent } from '../../domain/queue/batch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { BackportAsker, BackportForge, OpenBackportPlanner } from '../../ports/backport.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { EngineStore } from '../../ports/store.ts';
import type { Clock, Log } from '../../ports/system.ts';
import type { OpenForge } from '../connections/open-forge.ts';
import { type RepoStore, saveRepo } from '../repos/save-repo.ts';
import { type CarryDeps, carryLanding } from './carry-landing.ts';

export interface BackportDeps extends Omit<CarryDeps, 'forge' | 'planner'> {
  readonly store: RepoStore & Pick<EngineStore, 'listOwnEvents'> & CarryDeps['store'];
  readonly openBackports: OpenForge<BackportForge>;
  readonly openPlanner: OpenBackportPlanner;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * Carries what landed to the branches that its labels name. What the forge fails on, or what takes longer than a function has,
 * is asked again by the next look and holds up no other; a forge that does not answer ends it. Each step finds what an earlier try left, so
 * that one (pull request, branch) has one backport.
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
  const { forge } = opened;
  const startedAt = deps.clock.monotonic();
  const isPast = (ms: number): boolean => deps.clock.monotonic() - startedAt >= ms;
  const planner = deps.openPlanner(forge, () => isPast(BACKPORT_PLAN_MS_MAX));
  const carry = { ...deps, forge, planner };
  const carried: BackportedPull[] = [];
  const row = new CarriedRow(deps, repo);
  for (const landing of landings) {
    if (isPast(BACKPORT_BEGIN_MS_MAX)) break;
    const { pr, at } = landing;
    const next = nextTry(row.repo, landing, deps.clock.now());
    const tried: BackportTry = { pr, at: deps.clock.now(), isLast: next !== 'one' };
    if (next !== 'over' && !(await row.noteTry(tried))) break;
    try {
      const backports = await carryLanding(carry, row.repo, landing, next);
      if (backports === 'waits') continue;
      const done: BackportedPull = { pr, landedAt: at, backports };
      if (!(await row.noteDone(done))) break;
      carried.push(done);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      deps.log.warn('backports wait: the forge does not answer', { repo_id: repoId, call: error.call });
      // It was no try of this landing: nothing is given up for it.
      if (next === 'last') await row.noteTry({ ...tried, isLast: false });
      break;
    }
  }
  return carried;
}

/** The row of the repository, as this function has it: each note is on top of what the row has by then. */
class CarriedRow {
  readonly #deps: Pick<BackportDeps, 'store' | 'clock' | 'log'>;
  repo: ManagedRepo;

  constructor(deps: Pick<BackportDeps, 'store' | 'clock' | 'log'>, repo: ManagedRepo) {
    this.#deps = deps;
    this.repo = repo;
  }

  /** False: it is not stored. */
  noteTry(tried: BackportTry): Promise<boolean> {
    return this.#save(tried.pr, ({ backportTries }) => ({ backportTries: noteTry(backportTries, tried) }));
  }

  noteDone(done: BackportedPull): Promise<boolean> {
    return this.#save(done.pr, ({ backported, backportTries = [] }) => ({
      backported: noteBackported(backported, done, this.#deps.clock.now()),
      backportTries: backportTries.filter(({ pr }) => pr !== done.pr),
    }));
  }

  async #save(pr: number, change: (current: ManagedRepo) => Partial<ManagedRepo>): Promise<boolean> {
    const { store, log } = this.#deps;
    const saved = await saveRepo(store, this.repo, change);
    if (typeof saved === 'string') {
      log.warn('what became of a landing cannot be stored', { repo_id: this.repo.id, pr, reason: saved });
      return false;
    }
    this.repo = saved;
    return true;
  }
}

async function listLandings(
  { store, clock }: Pick<BackportWishDeps, 'store' | 'clock'>,
  repo: ManagedRepo,
): Promise<readonly ActivityEvent[]> {
  if (!mayBackport(repo)) return [];
  return landingsToCarry(repo, await store.listOwnEvents(repo, BACKPORT_EVENTS_MAX), clock.now());
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
