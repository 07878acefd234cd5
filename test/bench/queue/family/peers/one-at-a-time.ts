import { isOut, type ModelQueue, type ModelRun, type ModelWorld } from '../world.ts';

/**
 * One pull request under test at a time, oldest first; a failure bounces it.
 * Source: rust-lang/homu, `homu/main.py`, `process_queue`.
 */
export class OneAtATime implements ModelQueue {
  readonly name = 'one at a time';
  #run: ModelRun | null = null;

  step(world: ModelWorld): void {
    if (this.#run !== null && isOut(this.#run)) return;
    const [tested] = this.#run?.list ?? [];
    if (this.#run !== null && tested !== undefined) {
      if (this.#run.state === 'passed') world.land([tested]);
      else world.bounce(tested, this.#run);
    }
    for (const pr of world.line) if (world.conflictsWithBase(pr)) world.refuse(pr);
    const [next] = world.line;
    this.#run = next === undefined ? null : world.start([next]);
  }
}
