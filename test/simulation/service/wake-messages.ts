import type { RepoId } from '#core/domain/ids.ts';
import { WAKE_HIDDEN_MS } from '#core/domain/limits.ts';
import { redeliverySeconds } from '#core/domain/wakes/wake-rule.ts';
import type { DueGlance, WakeQueue } from '#core/ports/system.ts';
import { recordAbandonedWake } from '#core/services/wakes/dispatch-reconcile.ts';
import { forwardDelayedWake } from '#core/services/wakes/send-wakes.ts';
import { type Machine, storeOn } from '../../support/machine.ts';
import { type Parts, type Settled, settle } from './parts.ts';

const RECEIVES_MAX = 5;
const DEDUP_MS = 5 * 60_000;

/** The worker, which takes the messages. */
export interface MessageHandlers {
  /** As drawn: what heals is looked at as before. */
  readonly looksIdle: boolean;
  work(repoId: RepoId): Promise<Settled>;
  glance(glance: DueGlance): Promise<Settled>;
}

/** The queues of wakes: in order for each repository, late, doubled, tried again, and written off in the end. */
export class WakeMessages {
  readonly #parts: Parts;
  readonly #handlers: MessageHandlers;
  readonly #waiting = new Map<RepoId, { receives: number; readonly glance: DueGlance | null }[]>();
  readonly #inFlight = new Set<RepoId>();
  readonly #sentAt = new Map<string, number>();

  constructor(parts: Parts, handlers: MessageHandlers) {
    this.#parts = parts;
    this.#handlers = handlers;
  }

  queueOn(machine: Machine): WakeQueue {
    return {
      sendWake: (repoId, wakeSeq) => machine.io('queue sendWake', async () => this.send(repoId, wakeSeq)),
      sendDelayedWake: (repoId, wakeSeq, delayMs) =>
        machine.io('queue sendDelayedWake', async () => this.#sendDelayed(repoId, wakeSeq, delayMs)),
      sendGlance: (glance) =>
        machine.io('queue sendGlance', async () => this.send(glance.repoId, glance.wakeSeq, glance)),
      sendDelayedGlance: async (glance, delayMs) => {
        // Lives without idle looks are older than glances, and their seeds are kept.
        if (!this.#handlers.looksIdle) return;
        await machine.io('queue sendDelayedGlance', async () =>
          this.#sendDelayed(glance.repoId, glance.wakeSeq, delayMs, glance),
        );
      },
    };
  }

  send(repoId: RepoId, wakeSeq: number, glance: DueGlance | null = null): void {
    const key = `${repoId} ${wakeSeq} ${glance?.step ?? 'wake'}`;
    const now = this.#parts.clock.now();
    if (now - (this.#sentAt.get(key) ?? Number.NEGATIVE_INFINITY) < DEDUP_MS) return;
    this.#sentAt.set(key, now);
    const waiting = this.#waiting.get(repoId) ?? [];
    waiting.push({ receives: 0, glance });
    this.#waiting.set(repoId, waiting);
    this.#parts.clock.after(30 + this.#parts.random.int(200), () => this.#receive(repoId));
    if (this.#parts.random.chance(this.#parts.hosts.odds.wakeTwice)) {
      this.#parts.witness.sometimes('two workers from one message');
      this.#parts.clock.after(this.#parts.random.int(5_000), async () => {
        await (glance === null ? this.#handlers.work(repoId) : this.#handlers.glance(glance));
      });
    }
  }

  /** One message of a repo at a time; a failed one comes back before the next. */
  async #receive(repoId: RepoId): Promise<void> {
    const waiting = this.#waiting.get(repoId);
    const message = waiting?.[0];
    if (message === undefined || this.#inFlight.has(repoId)) return;
    this.#inFlight.add(repoId);
    message.receives += 1;
    const { glance } = message;
    const result = await (glance === null ? this.#handlers.work(repoId) : this.#handlers.glance(glance));
    const again = result !== 'done' && message.receives < RECEIVES_MAX;
    if (again)
      await this.#parts.clock.sleep(
        result === 'died' ? WAKE_HIDDEN_MS : redeliverySeconds(message.receives) * 1000,
      );
    else {
      waiting?.shift();
      if (result !== 'done' && glance === null) await this.#writeOff(repoId);
    }
    this.#inFlight.delete(repoId);
    await this.#receive(repoId);
  }

  #sendDelayed(repoId: RepoId, wakeSeq: number, delayMs: number, glance: DueGlance | null = null): void {
    const waitMs = Math.ceil(delayMs / 1000) * 1000 + this.#parts.random.int(500);
    this.#parts.clock.after(waitMs, () => this.#forward(repoId, wakeSeq, 1, glance));
  }

  async #forward(repoId: RepoId, wakeSeq: number, receives: number, glance: DueGlance | null): Promise<void> {
    const host = this.#parts.hosts.newHost();
    const machine = this.#parts.hosts.machineOn(host);
    const deps = {
      store: storeOn(machine, this.#parts.store),
      queue: this.queueOn(machine),
      clock: this.#parts.hosts.clockOf(host),
    };
    const done = await settle(this.#parts.witness, () =>
      glance === null ? forwardDelayedWake(deps, { repoId, wakeSeq }) : deps.queue.sendGlance(glance),
    );
    if (done === 'done' || receives >= RECEIVES_MAX) return;
    this.#parts.clock.after(60_000, () => this.#forward(repoId, wakeSeq, receives + 1, glance));
  }

  async #writeOff(repoId: RepoId): Promise<void> {
    this.#parts.witness.sometimes('wake given up');
    const host = this.#parts.hosts.newHost();
    const store = storeOn(this.#parts.hosts.machineOn(host), this.#parts.store);
    await settle(this.#parts.witness, () =>
      recordAbandonedWake({ store, clock: this.#parts.hosts.clockOf(host) }, repoId),
    );
  }
}
