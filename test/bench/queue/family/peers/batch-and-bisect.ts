import type { PlannedPullRequest as PullRequest } from '../../workload.ts';
import { isOut, type ModelQueue, type ModelRun, type ModelWorld } from '../world.ts';

/**
 * One running batch; what fails is halved, both halves wait behind the others, newcomers join the newest waiting batch,
 * and a half is tested whatever the other said.
 * Source: bors-ng/bors-ng, `lib/worker/batcher.ex` and `lib/worker/batcher/divider.ex`.
 */
export class BatchAndBisect implements ModelQueue {
  readonly name = 'batch and bisect';
  readonly #held = new Set<PullRequest>();
  #waiting: PullRequest[][] = [];
  #run: ModelRun | null = null;

  step(world: ModelWorld): void {
    for (const pr of world.line) {
      if (this.#held.has(pr)) continue;
      this.#held.add(pr);
      const newest = this.#waiting.at(-1);
      if (newest === undefined) this.#waiting.push([pr]);
      else newest.push(pr);
    }
    if (this.#run !== null && !isOut(this.#run)) this.#finish(world, this.#run);
    while (this.#run === null) {
      const batch = this.#waiting.shift();
      if (batch === undefined) return;
      batch.sort((a, b) => a.number - b.number);
      const clean = batch.filter((pr) => !world.conflictsWithBase(pr));
      for (const pr of batch.filter((each) => !clean.includes(each))) {
        this.#held.delete(pr);
        world.refuse(pr);
      }
      const cut = clean.findIndex((pr, index) => world.conflictsWith(pr, clean.slice(0, index)));
      if (cut >= 0) this.#halve(clean);
      else if (clean.length > 0) this.#run = world.start(clean);
    }
  }

  #finish(world: ModelWorld, run: ModelRun): void {
    this.#run = null;
    const [only] = run.list;
    if (run.state === 'passed') {
      for (const pr of run.list) this.#held.delete(pr);
      world.land(run.list);
    } else if (run.list.length === 1 && only !== undefined) {
      this.#held.delete(only);
      world.bounce(only, run);
    } else this.#halve(run.list);
  }

  #halve(batch: readonly PullRequest[]): void {
    const half = batch.length >> 1;
    this.#waiting.push(batch.slice(0, half), batch.slice(half));
  }
}
