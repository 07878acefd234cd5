import type { RepoId } from '#core/domain/ids.ts';
import { ENGINE_TIMEOUT_MS } from '#core/domain/limits.ts';
import type { HeldLease } from '#core/domain/wakes/lease.ts';
import { type EngineForge, ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import type { EngineAnswer, EnginePort, ReconcileOrder, ReconcileRequest } from '#core/ports/system.ts';
import { EngineMemory } from '../../../engine-container/src/reconcile/engine-memory.ts';
import { createReconciler } from '../../../engine-container/src/reconcile/reconciler.ts';
import { FORGE_WRITE_LABELS, forgeOn, type Machine, storeOn } from '../../support/machine.ts';
import { SKEW_EXTREME_MS } from '../odds.ts';
import type { Host } from './hosts.ts';
import { type Parts, settle, tokenOf } from './parts.ts';

const WRITES: ReadonlySet<string> = new Set(FORGE_WRITE_LABELS);

/** The container of the engine: the real engine for all repositories, on a machine that dies, with an eye on its leases. */
export class EngineHost {
  readonly #parts: Parts;
  #container: Host = { dead: false, skewMs: 0, memory: new EngineMemory() };
  readonly #fences = new Map<RepoId, number>();
  /** Reconciles that an engine is at work on, by repo and fence. */
  readonly #atWork = new Set<string>();
  /** Under which the forge is being called right now. */
  #callFence = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.store.onRelease = (repoId, fence) => {
      if (this.#atWork.has(`${repoId} ${fence}`))
        parts.witness.violate(`the lease ${fence} of ${repoId} is given back while its engine is at work`);
    };
  }

  /** The engine's next run is on a new container, with a clock as right as the odds in force make it. */
  replaceContainer(): void {
    this.#container = { ...this.#container, dead: true, skewMs: 0 };
  }

  /** The engine's process dies in the middle of whatever it is at, for every repo. */
  kill(): void {
    if (this.#atWork.size > 1) this.#parts.witness.sometimes('the engine dies with several reconciles');
    this.#parts.witness.note('the engine dies');
    this.#container.dead = true;
  }

  portFor(repoId: RepoId): EnginePort {
    return {
      isHealthy: async () => true,
      reconcile: async (request, order) => {
        if (this.#parts.random.chance(this.#parts.hosts.odds.engineLost)) {
          if (this.#parts.random.chance(0.5)) return 'unreachable';
          // The request is under way for longer than its sender waits: it must not act under a newer lease.
          this.#parts.witness.sometimes('engine request late');
          const lateMs = ENGINE_TIMEOUT_MS + this.#parts.random.int(180_000);
          this.#parts.clock.after(lateMs, async () => {
            await this.#runEngine(repoId, request, order);
          });
          await this.#parts.clock.sleep(ENGINE_TIMEOUT_MS);
          return 'lost';
        }
        return new Promise((resolve) => {
          this.#runEngine(repoId, request, order).then(resolve, () => resolve('failed'));
          this.#parts.clock.sleep(ENGINE_TIMEOUT_MS).then(() => resolve('lost'));
        });
      },
    };
  }

  async #runEngine(repoId: RepoId, request: ReconcileRequest, order: ReconcileOrder): Promise<EngineAnswer> {
    const { fence } = order;
    if (this.#container.dead) {
      this.#container = this.#parts.hosts.newHost();
      if (this.#parts.store.isLanding(repoId))
        this.#parts.witness.sometimes('restart in the middle of a landing');
    }
    const container = this.#container;
    const machine = this.#parts.hosts.machineOn(container);
    const reconciler = createReconciler({
      store: storeOn(machine, this.#parts.store),
      clock: this.#parts.hosts.clockOf(container),
      ids: this.#parts.ids,
      log: this.#parts.log,
      forgeFor: (asked, held, mayRead) => {
        if (held.fence !== fence)
          this.#parts.witness.violate(`asked under fence ${fence}, the engine works under ${held.fence}`);
        return this.#forgeFor(machine, asked, held, mayRead);
      },
      memory: container.memory,
    });
    let answer: EngineAnswer = 'failed';
    this.#atWork.add(`${repoId} ${fence}`);
    const settled = await settle(this.#parts.witness, async () => {
      answer = await reconciler(request, order);
    });
    this.#atWork.delete(`${repoId} ${fence}`);
    if (container.dead) return 'lost';
    return settled === 'done' ? answer : 'failed';
  }

  #forgeFor(
    machine: Machine,
    request: ReconcileRequest,
    held: HeldLease,
    mayRead: () => boolean,
  ): EngineForge {
    const { repoId, fence } = held;
    const forge = this.#parts.forges.get(repoId);
    if (
      forge === undefined ||
      forge.slug !== request.repoSlug ||
      request.token.reveal() !== tokenOf(request.tenantId)
    ) {
      this.#parts.witness.violate(
        `the engine asks for ${request.repoSlug} of ${request.tenantId} in the name of ${repoId}`,
      );
      throw new ForgeError('denied', 'sim', 401);
    }
    const guarded: Machine = {
      // The deadline is looked at when the call is sent, after whatever kept the machine until then.
      io: (label, call) =>
        machine.io(label, () => {
          if (held.isPastDeadline()) return Promise.reject(new ForgeError('unreachable', label, null));
          if (!WRITES.has(label) && !mayRead()) return Promise.reject(new ReadNotBegun(label));
          if (WRITES.has(label)) this.#watchFence(repoId, label, fence);
          this.#callFence = fence;
          return call();
        }),
    };
    return forgeOn(guarded, forge.forge);
  }

  /** The call under way is carried out only in `delayMs`: no holder that took the lease over may have written by then (E7). */
  watchLate(repoId: RepoId, delayMs: number): void {
    const fence = this.#callFence;
    this.#parts.clock.after(delayMs, () => {
      const newest = this.#fences.get(repoId) ?? 0;
      const overtaken = fence < newest && !this.#parts.store.wasReleased(repoId, fence);
      if (overtaken && this.#parts.hosts.odds.skewMs < SKEW_EXTREME_MS)
        this.#parts.witness.violate(`a late call under fence ${fence} comes after one under ${newest}`);
    });
  }

  /** A40, A41: once a newer owner has written to the forge, an older one sends nothing more. */
  #watchFence(repoId: RepoId, label: string, fence: number): void {
    const newest = this.#fences.get(repoId) ?? 0;
    if (fence < newest && this.#parts.hosts.odds.skewMs < SKEW_EXTREME_MS) {
      this.#parts.witness.violate(`${label} under fence ${fence} after one under ${newest}`);
    }
    this.#fences.set(repoId, Math.max(newest, fence));
  }
}
