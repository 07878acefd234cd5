import type { SimClock } from '../support/sim-clock.ts';

/** The notes of one life: what went wrong, what came about, and each step where a trace is kept. */
export class LifeLog {
  readonly violations: string[] = [];
  readonly trace: string[] = [];
  readonly sometimesSeen = new Set<string>();
  readonly labels = new Set<string>();
  readonly labelsFaulted = new Set<string>();
  readonly labelsCrashed = new Set<string>();
  protected readonly keepsTrace: boolean;
  readonly #now: () => number;
  readonly #startedAt: number;

  constructor(clock: SimClock, keepsTrace: boolean) {
    this.keepsTrace = keepsTrace;
    this.#now = () => clock.now();
    this.#startedAt = clock.now();
  }

  note(line: string): void {
    if (!this.keepsTrace) return;
    const seconds = Math.round((this.#now() - this.#startedAt) / 100) / 10;
    this.trace.push(`${seconds} ${line}`);
  }

  violate(what: string): void {
    this.violations.push(what);
    this.note(`VIOLATION ${what}`);
  }

  /** Something that should happen in some life. */
  sometimes(what: string): void {
    this.sometimesSeen.add(what);
  }

  seen(label: string, struck: 'no' | 'fault' | 'crash'): void {
    if (struck === 'no') this.labels.add(label);
    else if (struck === 'fault') this.labelsFaulted.add(label);
    else this.labelsCrashed.add(label);
  }
}
