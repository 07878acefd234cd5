import { BISECT_FANOUT_MAX } from '../limits.ts';

/** Why the engine chose the number of gate runs at once that is in force. */
export const FANOUT_REASONS = ['learning', 'most', 'budget', 'falls', 'keeps_up', 'fewest'] as const;
export type FanoutReason = (typeof FANOUT_REASONS)[number];

/** The number of gate runs at once that the engine chose by itself. */
export interface ChosenFanout {
  /** 1 to `BISECT_FANOUT_MAX`. */
  readonly inForce: number;
  readonly reason: FanoutReason;
  /** Gate runs for each 100 landed pull requests at this number; null: not known yet. */
  readonly runsPer100Landed: number | null;
  /** The budget that held when it was chosen. */
  readonly budget: number;
}

const WHY: Readonly<Record<FanoutReason, (spent: string, budget: string) => string>> = {
  learning: (_, budget) =>
    `until a few pull requests have landed and show how many gate runs that takes; the budget is ${budget}`,
  most: (spent, budget) => `the most there is: that takes ${spent}, and the budget is ${budget}`,
  budget: (spent, budget) => `that takes ${spent}, and more at once would be above the budget of ${budget}`,
  falls: (spent, budget) =>
    `that takes ${spent}, above the budget of ${budget}, so it goes down step by step`,
  keeps_up: (spent, budget) =>
    `that takes ${spent}, above the budget of ${budget}: with one at a time the queue might not keep up with what arrives`,
  fewest: (spent, budget) => `the fewest there is: that takes ${spent}, and the budget is ${budget}`,
};

/** One sentence: how many gate runs at once, and why. */
export function sayChosenFanout({ inForce, reason, runsPer100Landed, budget }: ChosenFanout): string {
  const spent =
    runsPer100Landed === null
      ? 'a number that is not known'
      : `about ${runsPer100Landed} gate runs for each 100 landed`;
  const count =
    inForce === 1
      ? 'One gate run at a time'
      : `Up to ${Math.min(inForce, BISECT_FANOUT_MAX)} gate runs at once`;
  return `${count}, chosen by the queue: ${WHY[reason](spent, String(budget))}.`;
}
