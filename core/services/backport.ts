import {
  BACKPORT_EVENTS_MAX,
  type BackportedPull,
  landingsToCarry,
  mayBackport,
  noteBackported,
} from '../domain/backport.ts';
import type { ActivityEvent } from '../domain/batch.ts';
import type { RepoId } from '../domain/ids.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import type { BackportAsker, BackportForge, OpenBackportPlanner } from '../ports/backport.ts';
import { ForgeError } from '../ports/forge.ts';
import type { EngineStore } from '../ports/store.ts';
import type { Clock, Log } from '../ports/system.ts';
import { type CarryDeps, carryLanding } from './carry-landing.ts';
import type { OpenForge } from './open-forge.ts';
import { type RepoStore, saveRepo } from './save-repo.ts';

export interface BackportDeps extends Omit<CarryDeps, 'forge' | 'planner'> {
  readonly store: RepoStore & Pick<EngineStore, 'listOwnEvents'> & CarryDeps['store'];
  readonly openBackports: OpenForge<BackportForge>;
  readonly openPlanner: OpenBackportPlanner;
}

/**
 * Carries what landed to the branches that its labels name. What the forge fails on is asked again
 * by the next look and holds up no other; a forge that does not answer ends it. Each step finds what an earlier try left, so
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
  const carry = { ...deps, forge, planner: deps.openPlanner(forge) };
  const carried: BackportedPull[] = [];
  let current = repo;
  try {
    for (const landing of landings) {
      const { pr, at } = landing;
      const backports = await carryLanding(carry, current, landing);
      if (backports === 'waits') continue;
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
    deps.log.warn('backports wait: the forge does not answer', { repo_id: repoId, call: error.call });
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
