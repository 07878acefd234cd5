import { IO_LABELS } from '../support/machine.ts';
import { FAMILIES, type Family } from './families.ts';
import type { Verdict } from './simulate.ts';
import { OFTEN, SOMETIMES } from './sometimes.ts';

/** A run of fewer seeds cannot be expected to have met what is rare. */
export const RARE_SEEDS_MIN = 20_000;

export interface Failure {
  readonly seed: number;
  readonly family: Family;
  readonly violations: readonly string[];
}

/** Sums up many lives. */
export class Tally {
  seeds = 0;
  steps = 0;
  readonly failed: Failure[] = [];
  /** How many lives each thing happened in. */
  readonly sometimes = new Map<string, number>();
  readonly labels = new Set<string>();
  readonly labelsFaulted = new Set<string>();
  readonly labelsCrashed = new Set<string>();

  add(verdict: Verdict): void {
    this.seeds += 1;
    this.steps += verdict.steps;
    for (const what of verdict.sometimes) this.sometimes.set(what, (this.sometimes.get(what) ?? 0) + 1);
    for (const label of verdict.labels) this.labels.add(label);
    for (const label of verdict.labelsFaulted) this.labelsFaulted.add(label);
    for (const label of verdict.labelsCrashed) this.labelsCrashed.add(label);
    const { seed, family, violations } = verdict;
    if (violations.length > 0) this.failed.push({ seed, family, violations });
  }

  /** Sightings that should have happened in some life and did not. */
  get missing(): readonly string[] {
    if (this.seeds < RARE_SEEDS_MIN) return OFTEN.filter((what) => !this.sometimes.has(what));
    const spared = IO_LABELS.filter((label) => !this.labelsCrashed.has(label));
    return [
      ...SOMETIMES.filter((what) => !this.sometimes.has(what)),
      ...spared.map((label) => `crash at ${label}`),
    ];
  }

  /** The one line that every run ends with. */
  summary(seconds: number): Readonly<Record<string, unknown>> {
    return {
      seeds: this.seeds,
      steps: this.steps,
      violations: this.failed.length,
      steps_per_second: Math.round(this.steps / seconds),
      sometimes_missing: this.missing,
      io_labels: IO_LABELS.length,
      io_labels_crashed: this.labelsCrashed.size,
    };
  }
}

/** Seeds that failed once, `family seed # why`: they run first, for ever. */
export function parseSeeds(text: string): { readonly family: Family; readonly seed: number }[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', seed = ''] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (name === '') return [];
    const family = FAMILIES.find((known) => known === name);
    if (family === undefined || !/^\d+$/.test(seed)) throw new Error(`not a seed: ${line}`);
    return [{ family, seed: Number(seed) }];
  });
}
