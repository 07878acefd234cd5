import type { PlannedPullRequest as PullRequest } from '../../workload.ts';
import { isOut, type ModelQueue, type ModelRun, type ModelWorld } from '../world.ts';

interface Car {
  readonly pr: PullRequest;
  run: ModelRun | null;
}

/**
 * A build for each pull request on top of all ahead of it; one that fails is evicted wherever it is, and those behind it
 * are built again.
 * Source: GitLab merge trains (`ee/app/services/merge_trains/refresh_service.rb`, 20 at a time); GitHub's documentation
 * of its merge queue (5 at a time by default).
 */
export class Train implements ModelQueue {
  readonly name: string;
  readonly #width: number;
  #cars: Car[] = [];

  constructor(width: number) {
    this.name = `train of ${width}`;
    this.#width = width;
  }

  step(world: ModelWorld): void {
    for (const pr of world.line)
      if (!this.#cars.some((car) => car.pr === pr)) this.#cars.push({ pr, run: null });
    for (const run of world.ended) {
      const car = this.#cars.find((each) => each.run === run);
      if (run.state !== 'failed' || car === undefined) continue;
      world.bounce(car.pr, run);
      this.#evict(world, car);
    }
    const waits = this.#cars.findIndex((car) => car.run?.state !== 'passed');
    const proven = this.#cars.splice(0, waits < 0 ? this.#cars.length : waits);
    if (proven.length > 0) world.land(proven.map((car) => car.pr));
    for (let index = 0; index < Math.min(this.#cars.length, this.#width); index += 1) {
      const car = this.#cars[index];
      if (car === undefined || car.run !== null) continue;
      const ahead = this.#cars.slice(0, index).map((each) => each.pr);
      if (world.conflictsWithBase(car.pr) || world.conflictsWith(car.pr, ahead)) {
        world.refuse(car.pr);
        this.#evict(world, car);
        index -= 1;
      } else car.run = world.start([...ahead, car.pr]);
    }
  }

  #evict(world: ModelWorld, car: Car): void {
    const at = this.#cars.indexOf(car);
    this.#cars.splice(at, 1);
    for (const behind of this.#cars.slice(at)) {
      if (behind.run !== null && isOut(behind.run)) world.cancel(behind.run);
      behind.run = null;
    }
  }
}
