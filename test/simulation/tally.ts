import type { Verdict } from './simulate.ts';

/** What must happen in some life of a large run: a trouble that never comes proves nothing about its guard. */
export const SOMETIMES: readonly string[] = [];

/** Sums up many lives. */
export class Tally {
  seeds = 0;
  steps = 0;
  readonly failed: {
    readonly seed: number;
    readonly family: string;
    readonly violations: readonly string[];
  }[] = [];
  readonly sometimes = new Set<string>();
  readonly labels = new Set<string>();
  readonly labelsFaulted = new Set<string>();
  readonly labelsCrashed = new Set<string>();

  add(verdict: Verdict): void {
    this.seeds += 1;
    this.steps += verdict.steps;
    for (const what of verdict.sometimes) this.sometimes.add(what);
    for (const label of verdict.labels) this.labels.add(label);
    for (const label of verdict.labelsFaulted) this.labelsFaulted.add(label);
    for (const label of verdict.labelsCrashed) this.labelsCrashed.add(label);
    const { seed, family, violations } = verdict;
    if (violations.length > 0) this.failed.push({ seed, family, violations });
  }

  get missing(): readonly string[] {
    return SOMETIMES.filter((what) => !this.sometimes.has(what));
  }
}

/** Seeds that failed once, `family seed # why`: they run first, for ever. */
export function parseSeeds(text: string): { readonly family: string; readonly seed: number }[] {
  return text.split('\n').flatMap((line) => {
    const [family = '', seed = ''] = line.replace(/#.*/, '').trim().split(/\s+/);
    return seed === '' ? [] : [{ family, seed: Number(seed) }];
  });
}
