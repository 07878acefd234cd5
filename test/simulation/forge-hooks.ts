import type { RepoId } from '#core/domain/ids.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { JournalEntry } from '../fakes/abstract-forge/world.ts';
import type { SimClock } from '../support/sim-clock.ts';
import type { Managed } from './managed.ts';
import type { SimService } from './service/service.ts';

interface HooksDeps {
  readonly service: SimService;
  readonly clock: SimClock;
  readonly managed: readonly Managed[];
  /** Two branches of one repository are managed. */
  readonly sharesForge: boolean;
  readonly bot: string;
  /** Events of gates are sent for so long. Some forges send none, and some stop to in the middle of a life. */
  readonly gateEventsMs: number;
  readonly sometimes: (what: string) => void;
}

/** The events that the forges of a life send to the service. */
export class ForgeHooks {
  readonly #deps: HooksDeps;
  readonly #gateEventsUntil: number;

  constructor(deps: HooksDeps) {
    this.#deps = deps;
    this.#gateEventsUntil = deps.clock.now() + deps.gateEventsMs;
  }

  tell(id: RepoId, entry: JournalEntry): void {
    if (this.#isUntold(entry)) return;
    const { type, body } = this.#eventOf(entry);
    this.send(id, type, body);
  }

  send(id: RepoId, type: string, body: Readonly<Record<string, unknown>>): void {
    const { service } = this.#deps;
    const repo = service.store.peekRepo(id);
    if (repo !== null) service.deliver(this.#ownerOf(repo), type, body);
  }

  #eventOf(entry: JournalEntry): { readonly type: string; readonly body: Readonly<Record<string, unknown>> } {
    switch (entry.kind) {
      case 'push':
        return { type: 'push', body: { ref: `refs/heads/${entry.branch}`, sender: { login: entry.by } } };
      case 'status':
        return { type: 'status', body: { sender: { login: entry.creator } } };
      case 'run':
        return { type: 'action_run_success', body: { sender: { login: this.#deps.bot } } };
      default: {
        const ref = entry.kind === 'merge_elsewhere' ? entry.base : 'main';
        return { type: 'pull_request', body: { action: 'closed', pull_request: { base: { ref } } } };
      }
    }
  }

  #isUntold({ kind }: JournalEntry): boolean {
    if (kind !== 'run' && kind !== 'status') return false;
    const { clock, gateEventsMs, sometimes } = this.#deps;
    const isUntold = clock.now() >= this.#gateEventsUntil;
    if (isUntold && gateEventsMs > 0) sometimes('gate events stop');
    return isUntold;
  }

  /** Whose secret the forge signs with: of several branches one has it. */
  #ownerOf(repo: ManagedRepo): ManagedRepo {
    const { service, managed, sharesForge } = this.#deps;
    if (!sharesForge || repo.webhookSecret !== null) return repo;
    const all = managed.map((each) => service.store.peekRepo(each.id));
    return all.find((each) => each != null && each.webhookSecret !== null) ?? repo;
  }
}

/** One line of a trace. */
export function describeEntry(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'push':
      return `  push ${entry.branch} ${entry.to?.slice(0, 8) ?? 'deleted'} by ${entry.by}`;
    case 'status':
      return `  status ${entry.sha.slice(0, 8)} ${entry.context} ${entry.state} "${entry.description}" by ${entry.creator}`;
    case 'run':
      return `  run ${entry.run.id} on ${entry.run.branch} ${entry.run.state} tree ${entry.run.tree.slice(0, 8)}`;
    case 'merge':
      return `  merge #${entry.merge.pr} tree ${entry.merge.tree.slice(0, 8)}`;
    case 'merge_elsewhere':
      return `  merge #${entry.merge.pr} into ${entry.base}`;
  }
}
