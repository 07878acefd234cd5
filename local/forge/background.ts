import type { Timers } from './timers.ts';

interface Task {
  readonly at: number;
  readonly seq: number;
  readonly key: string | null;
  readonly detached: boolean;
  readonly run: () => Promise<void>;
}

export interface TaskOptions {
  /** A second task with the key of one that still waits is dropped, like the forge's unique queues. */
  readonly key?: string;
  /** Runs beside the others and outside the lock: deliveries and workflow executions, which take their time. */
  readonly detached?: boolean;
}

/**
 * Everything the forge does after it has answered. Tasks run one after the other in order of due time, under the one
 * lock that API writes take too, so that a run with virtual time is deterministic.
 */
export class Background {
  readonly #timers: Timers;
  readonly #onError: (error: unknown) => void;
  readonly #active = new Set<Promise<void>>();
  #tasks: Task[] = [];
  #seq = 0;
  #stopped = false;
  #lock: Promise<unknown> = Promise.resolve();

  constructor(timers: Timers, onError: (error: unknown) => void) {
    this.#timers = timers;
    this.#onError = onError;
  }

  /** Not re-entrant: code that runs under the lock must not ask for it again. */
  exclusive<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#lock.then(run);
    this.#lock = result.catch(() => undefined);
    return result;
  }

  enqueue(delayMs: number, run: () => Promise<void>, options: TaskOptions = {}): void {
    if (this.#stopped) return;
    const key = options.key ?? null;
    if (key !== null && this.#tasks.some((task) => task.key === key)) return;
    const at = this.#timers.now() + Math.max(0, delayMs);
    this.#tasks.push({ at, seq: this.#seq++, key, detached: options.detached ?? false, run });
    this.#wakeAt(at);
  }

  /** A timer of the machine may fire a moment before the wall clock says so; the task would then wait for the next one, or for ever. */
  #wakeAt(at: number): void {
    this.#timers.after(Math.max(0, at - this.#timers.now()), () => {
      if (this.#timers.now() < at) return this.#wakeAt(at);
      return this.#runDue();
    });
  }

  /** Runs what is due at the present instant and waits for it and for all that it starts. */
  async settle(): Promise<void> {
    for (;;) {
      await this.#runDue();
      if (this.#active.size > 0) {
        await Promise.all(this.#active);
        continue;
      }
      await this.#lock;
      if (this.#active.size === 0 && this.#nextDue() === undefined) return;
    }
  }

  /** Drops what has not begun and waits for what has. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#tasks = [];
    await Promise.all(this.#active);
    await this.#lock;
  }

  #nextDue(): Task | undefined {
    const now = this.#timers.now();
    let next: Task | undefined;
    for (const task of this.#tasks) {
      if (task.at > now) continue;
      if (next === undefined || task.at < next.at || (task.at === next.at && task.seq < next.seq))
        next = task;
    }
    return next;
  }

  async #runDue(): Promise<void> {
    const started: Promise<void>[] = [];
    for (let task = this.#nextDue(); task !== undefined; task = this.#nextDue()) {
      const current = task;
      this.#tasks = this.#tasks.filter((other) => other !== current);
      const done = this.#track(current.detached ? current.run() : this.exclusive(current.run));
      started.push(done);
      if (!current.detached) await done;
    }
    await Promise.all(started);
  }

  #track(run: Promise<void>): Promise<void> {
    const done = run.catch(this.#onError).finally(() => this.#active.delete(done));
    this.#active.add(done);
    return done;
  }
}
