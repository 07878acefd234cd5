/** Raised where an answer would take more steps than it may: it is not known then, and never a no. */
export class EffortSpent extends Error {
  override readonly name = 'EffortSpent';
  constructor() {
    super('what a stranger wrote would take too long to work through');
  }
}

/**
 * Steps that one piece of work may take. One thread serves all tenants, so that what a stranger wrote must not hold it up, in
 * whatever many or long pieces it comes. Counted, since a time would give another answer on each machine.
 */
export class Effort {
  readonly #within: Effort | null;
  #left: number;

  /** `within`: the larger work that this one is a part of. */
  constructor(steps: number, within: Effort | null = null) {
    this.#left = steps;
    this.#within = within;
  }

  get left(): number {
    return this.#left;
  }

  /** Throws `EffortSpent` when too much was spent. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new EffortSpent();
    this.#within?.spend(steps);
  }
}

/** Steps between two turns of all others in the engine: some milliseconds. */
const TURN_STEPS_MAX = 1_000_000;

/** Says when so many steps were taken that all others in the engine have to have a turn. */
export class Turns {
  readonly #stepsLeft: () => number;
  #dueAt: number;

  constructor(stepsLeft: () => number) {
    this.#stepsLeft = stepsLeft;
    this.#dueAt = stepsLeft() - TURN_STEPS_MAX;
  }

  isDue(): boolean {
    const left = this.#stepsLeft();
    if (left > this.#dueAt) return false;
    this.#dueAt = left - TURN_STEPS_MAX;
    return true;
  }
}

/** Counts the steps of what has a limit of its own, for the turns of all others alone. */
export class Pace {
  #walked = 0;
  readonly #turns: Turns;

  /** `stepsLeft`: of steps that count as well. */
  constructor(stepsLeft: () => number = () => 0) {
    this.#turns = new Turns(() => stepsLeft() - this.#walked);
  }

  walk(steps: number): void {
    this.#walked += steps;
  }

  isTurnDue(): boolean {
    return this.#turns.isDue();
  }
}

/** Steps of a piece of work that is long enough by itself for others to have turns within it. */
export class PacedEffort extends Effort {
  readonly #pace = new Pace(() => this.left);

  /** Steps that grow with the size of what is read alone, which has a limit of its own: they only bring the next turn nearer. */
  walk(steps: number): void {
    this.#pace.walk(steps);
  }

  isTurnDue(): boolean {
    return this.#pace.isTurnDue();
  }
}
