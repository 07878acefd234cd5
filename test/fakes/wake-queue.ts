import type { RepoId } from '#core/domain/ids.ts';
import type { Clock, DueGlance, WakeQueue } from '#core/ports/system.ts';

/** Both wake queues as lists: what was sent, when, and when it becomes visible. */
export class FakeWakeQueue implements WakeQueue {
  readonly wakes: { readonly repoId: RepoId; readonly wakeSeq: number; readonly at: number }[] = [];
  readonly delayed: { readonly repoId: RepoId; readonly wakeSeq: number; readonly visibleAt: number }[] = [];
  readonly glances: DueGlance[] = [];
  readonly delayedGlances: (DueGlance & { readonly visibleAt: number })[] = [];
  failing = false;
  failFor: RepoId | null = null;

  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  async sendWake(repoId: RepoId, wakeSeq: number): Promise<void> {
    this.#refuse(repoId);
    this.wakes.push({ repoId, wakeSeq, at: this.#clock.now() });
  }

  async sendDelayedWake(repoId: RepoId, wakeSeq: number, delayMs: number): Promise<void> {
    this.#refuse(repoId);
    this.delayed.push({ repoId, wakeSeq, visibleAt: this.#clock.now() + Math.ceil(delayMs / 1000) * 1000 });
  }

  async sendGlance(glance: DueGlance): Promise<void> {
    this.#refuse(glance.repoId);
    this.glances.push(glance);
  }

  async sendDelayedGlance(glance: DueGlance, delayMs: number): Promise<void> {
    this.#refuse(glance.repoId);
    const visibleAt = this.#clock.now() + Math.ceil(delayMs / 1000) * 1000;
    this.delayedGlances.push({ ...glance, visibleAt });
  }

  #refuse(repoId: RepoId): void {
    if (this.failing || this.failFor === repoId) throw new Error('the queue does not answer');
  }
}
