import type { PlannedPullRequest as PullRequest } from '../../workload.ts';
import { isOut, type ModelRun, type ModelWorld } from '../world.ts';

interface Part {
  readonly list: readonly PullRequest[];
  /** The failing run of both halves, as long as the left one has neither failed nor landed in parts. */
  inherits: ModelRun | null;
  run: ModelRun | null;
}

/** One batch, depth first: the left half lands before the right one is looked at, which then fails by inference. */
export class Halving {
  readonly #parts: Part[];

  constructor(list: readonly PullRequest[]) {
    this.#parts = [{ list, inherits: null, run: null }];
  }

  /** Goes on as far as it can; true when nothing is left. */
  step(world: ModelWorld): boolean {
    for (let part = this.#parts.at(-1); part !== undefined; part = this.#parts.at(-1)) {
      part.run ??= world.start(part.list);
      if (isOut(part.run)) return false;
      this.#parts.pop();
      if (part.run.state === 'failed') this.#fail(world, part.list, part.run);
      else {
        world.land(part.list);
        const right = this.#parts.at(-1);
        if (right !== undefined) right.run = right.inherits;
      }
    }
    return true;
  }

  #fail(world: ModelWorld, list: readonly PullRequest[], failing: ModelRun): void {
    for (const part of this.#parts) part.inherits = null;
    const [only] = list;
    if (list.length === 1 && only !== undefined) return world.bounce(only, failing);
    const half = list.length >> 1;
    this.#parts.push(
      { list: list.slice(half), inherits: failing, run: null },
      { list: list.slice(0, half), inherits: null, run: null },
    );
  }
}
