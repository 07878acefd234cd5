import type { PlannedPullRequest as PullRequest } from '../../workload.ts';
import { isOut, type ModelQueue, type ModelRun, type ModelWorld } from '../world.ts';

interface Item {
  readonly pr: PullRequest;
  run: ModelRun | null;
  /** What the run was started on. */
  ahead: readonly PullRequest[];
  unmergeable: boolean;
}

const WINDOW = 20;
const WINDOW_MIN = 3;

/**
 * A build for each pull request on the nearest one ahead that does not fail; verdicts count at the head only; the window
 * grows by one for each landing and halves for each failure.
 * Source: openstack-infra/zuul, `zuul/manager/__init__.py`, and its user documentation for the window.
 */
export class OptimisticPipeline implements ModelQueue {
  readonly name = 'optimistic pipeline';
  #items: Item[] = [];
  #window = WINDOW;

  step(world: ModelWorld): void {
    for (const pr of world.line)
      if (!this.#items.some((item) => item.pr === pr))
        this.#items.push({ pr, run: null, ahead: [], unmergeable: false });
    do {
      while (this.#report(world)) {
        // The next one may have its verdict too.
      }
      this.#build(world);
    } while (this.#items[0]?.unmergeable === true);
  }

  #isFailing(item: Item): boolean {
    return item.unmergeable || item.run?.state === 'failed';
  }

  /** Lands or bounces the head once it has its verdict. */
  #report(world: ModelWorld): boolean {
    this.#reparent(world);
    const [head] = this.#items;
    if (head === undefined || (!head.unmergeable && (head.run === null || isOut(head.run)))) return false;
    this.#items.shift();
    if (head.unmergeable) world.refuse(head.pr);
    else if (head.run?.state === 'failed') world.bounce(head.pr, head.run);
    else {
      world.land([head.pr]);
      this.#window += 1;
      for (const item of this.#items) item.ahead = item.ahead.filter((pr) => pr !== head.pr);
      return true;
    }
    this.#window = Math.max(WINDOW_MIN, Math.floor(this.#window / 2));
    return true;
  }

  /** What was built on one that fails now is built again without it. */
  #reparent(world: ModelWorld): void {
    const passing: PullRequest[] = [];
    for (const item of this.#items) {
      const isStale = item.ahead.length !== passing.length || item.ahead.some((pr, at) => pr !== passing[at]);
      if ((item.run !== null || item.unmergeable) && isStale) {
        if (item.run !== null) world.cancel(item.run);
        item.run = null;
        item.unmergeable = false;
      }
      item.ahead = [...passing];
      if (!this.#isFailing(item)) passing.push(item.pr);
    }
  }

  #build(world: ModelWorld): void {
    const passing: PullRequest[] = [];
    for (const [index, item] of this.#items.entries()) {
      if (index >= this.#window) return;
      item.ahead = [...passing];
      if (item.run === null && !item.unmergeable) {
        item.unmergeable = world.conflictsWithBase(item.pr) || world.conflictsWith(item.pr, passing);
        if (!item.unmergeable) item.run = world.start([...passing, item.pr]);
      }
      if (!this.#isFailing(item)) passing.push(item.pr);
    }
  }
}
