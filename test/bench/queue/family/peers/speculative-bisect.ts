import type { PlannedPullRequest as PullRequest } from '../../workload.ts';
import { isOut, type ModelQueue, type ModelRun, type ModelWorld } from '../world.ts';
import { Halving } from './halving.ts';

interface Part {
  readonly list: readonly PullRequest[];
  readonly sibling: () => Part | null;
  readonly above: Part | null;
  run: ModelRun | null;
  verdict: 'passes' | 'fails' | null;
  failing: ModelRun | null;
}

/**
 * All that waits in one batch; what fails is halved, both halves at once on the same base; a half whose sibling passes
 * fails by inference. Survivors are staged once more together and halved depth first, and newcomers wait for the end.
 * Source: a literal reading of this project's contract (`docs/contract.md`): halves, held results, evidence reused.
 */
export class SpeculativeBisect implements ModelQueue {
  readonly name: string;
  readonly #width: number;
  #parts: Part[] = [];
  #survivors: Halving | null = null;

  constructor(width: number) {
    this.name = `speculative bisect at ${width}`;
    this.#width = width;
  }

  step(world: ModelWorld): void {
    for (;;) {
      if (this.#survivors !== null) {
        if (!this.#survivors.step(world)) return;
        this.#survivors = null;
      }
      if (this.#parts.length === 0 && !this.#open(world)) return;
      while (this.#judge()) {
        // Each verdict may decide another half.
      }
      if (this.#parts.some((part) => part.verdict === null)) return this.#startRuns(world);
      this.#close(world);
    }
  }

  #open(world: ModelWorld): boolean {
    for (const pr of world.line) if (world.conflictsWithBase(pr)) world.refuse(pr);
    const batch: PullRequest[] = [];
    for (const pr of world.line) {
      if (world.conflictsWith(pr, batch)) break;
      batch.push(pr);
    }
    if (batch.length === 0) return false;
    this.#parts = [partOf(batch, null, () => null)];
    return true;
  }

  #judge(): boolean {
    for (const part of this.#parts) {
      if (part.verdict !== null) continue;
      if (part.run !== null && !isOut(part.run)) {
        part.verdict = part.run.state === 'passed' ? 'passes' : 'fails';
        part.failing = part.run;
      } else if (part.run === null && part.sibling()?.verdict === 'passes') {
        part.verdict = 'fails';
        part.failing = part.above?.failing ?? null;
      } else continue;
      if (part.verdict === 'fails' && part.list.length > 1) this.#halve(part);
      return true;
    }
    return false;
  }

  #halve(part: Part): void {
    const half = part.list.length >> 1;
    const left: Part = partOf(part.list.slice(0, half), part, () => right);
    const right: Part = partOf(part.list.slice(half), part, () => left);
    this.#parts.push(left, right);
  }

  #startRuns(world: ModelWorld): void {
    let out = this.#parts.filter((part) => part.run !== null && isOut(part.run)).length;
    for (const part of this.#parts) {
      if (part.verdict !== null || part.run !== null || out >= this.#width) continue;

      part.run = world.start(part.list);
      out += 1;
    }
  }

  #close(world: ModelWorld): void {
    const [whole] = this.#parts;
    const parts = this.#parts;
    this.#parts = [];
    if (whole?.verdict === 'passes') return world.land(whole.list);
    for (const part of parts) {
      const [only] = part.list;
      if (part.verdict === 'fails' && part.list.length === 1 && only !== undefined && part.failing !== null)
        world.bounce(only, part.failing);
    }
    const passing = parts.filter((part) => part.verdict === 'passes').flatMap((part) => part.list);
    passing.sort((a, b) => a.number - b.number);
    if (passing.length > 0) this.#survivors = new Halving(passing);
  }
}

function partOf(list: readonly PullRequest[], above: Part | null, sibling: () => Part | null): Part {
  return { list, above, sibling, run: null, verdict: null, failing: null };
}
