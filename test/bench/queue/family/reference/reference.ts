import type { PlannedPullRequest as PullRequest, Scenario } from '../../workload.ts';
import { isOut, type ModelQueue, type ModelRun, type ModelWorld } from '../world.ts';
import { Belief } from './belief.ts';
import type { ReferenceSettings } from './settings.ts';
import { chooseCuts, firstBad, type Suspects } from './suspects.ts';

interface Batch {
  readonly list: readonly PullRequest[];
  run: ModelRun;
  failures: number;
  counted: ModelRun | null;
}

const BATCH_MAX = 64;
const GUILTY = 0.95;
const FAILURES_CONCLUSIVE = 4;
const RERUNS_MAX = 3;
/** Above this share of flakes a longer prefix may still pass where a shorter one failed. */
const FLAKY = 0.2;

/**
 * Adaptive group testing on a queue: a pipeline of stacked batches, suspects searched beside it, trials where building
 * on is too risky. Told what ours has to learn: the runners.
 * Source: the algorithm and presets published with the anchors of the eleven workloads (`anchors.json`).
 */
export class Reference implements ModelQueue {
  readonly name: string;
  readonly #set: ReferenceSettings;
  readonly #belief: Belief;
  #pipeline: Batch[] = [];
  #groups: Suspects[] = [];
  #lastStart = Number.NEGATIVE_INFINITY;

  constructor(settings: ReferenceSettings, scenario: Scenario) {
    this.name = `reference of ${settings.slots}`;
    this.#set = settings;
    this.#belief = new Belief(scenario);
  }

  step(world: ModelWorld): void {
    for (const run of world.ended) if (run.state === 'passed') this.#belief.noteSteady();
    while (this.#readPipeline(world) || this.#groups.some((group) => this.#readGroup(world, group))) {
      // Each verdict may settle another.
    }
    this.#schedule(world);
  }

  #land(world: ModelWorld, list: readonly PullRequest[]): void {
    world.land(list);
    for (const pr of list) this.#belief.noteLanded(pr);
  }

  /** Any passing batch lands all below it; a failing one at the bottom leaves to be searched. */
  #readPipeline(world: ModelWorld): boolean {
    const passed = this.#pipeline.findLastIndex((batch) => batch.run.state === 'passed');
    if (passed >= 0) {
      const landing = this.#pipeline.splice(0, passed + 1);
      for (const below of landing.slice(0, -1)) {
        world.cancel(below.run);
        if (below.run.state === 'failed') this.#belief.noteFlaked(1);
      }
      for (const batch of landing)
        if (batch.failures > 0 && batch.run.state !== 'failed') this.#belief.noteFlaked(batch.failures);
      this.#land(
        world,
        landing.flatMap((batch) => batch.list),
      );
      return true;
    }
    for (const [index, batch] of this.#pipeline.entries()) {
      if (batch.run.state !== 'failed') continue;
      if (batch.counted !== batch.run) {
        batch.counted = batch.run;
        batch.failures += 1;
      }
      const below = this.#pipeline.slice(0, index + 1).flatMap((each) => each.list);
      const good = this.#belief.passChance(below);
      const flake = this.#belief.flake ** batch.failures;
      const isFlake = (good * flake) / (good * flake + 1 - good) >= this.#set.rerunChance;
      if (index === 0 && isFlake && batch.failures < RERUNS_MAX) {
        batch.run = world.start(batch.list);
        return true;
      }
      if (index === 0) {
        this.#cut(world, 0);
        const failures = new Map([[batch.list.length, { runs: batch.failures, last: batch.run }]]);
        this.#groups.push({ list: [...batch.list], failures, cuts: [] });
        return true;
      }
      if (!isFlake && this.#pipeline.length > index + 1) {
        this.#cut(world, index + 1);
        return true;
      }
    }
    return false;
  }

  #cut(world: ModelWorld, from: number): void {
    for (const batch of this.#pipeline.splice(from)) world.cancel(batch.run);
  }

  #readGroup(world: ModelWorld, group: Suspects): boolean {
    const cut = [...group.cuts].sort((a, b) => b.length - a.length).find(({ run }) => !isOut(run));
    if (cut !== undefined) {
      group.cuts = group.cuts.filter((each) => each !== cut);
      if (cut.run.state === 'passed') this.#passPrefix(world, group, cut.length, cut.run);
      else this.#failPrefix(world, group, cut.length, cut.run);
      return true;
    }
    const [first] = group.list;
    const failed = group.failures.get(1);
    if (first === undefined || failed === undefined) return false;
    if ((firstBad(this.#belief, group)[0] ?? 0) <= GUILTY && failed.runs < FAILURES_CONCLUSIVE) return false;
    world.bounce(first, failed.last);
    this.#belief.noteBounced(first);
    this.#dissolve(world, group);
    return true;
  }

  /** It lands where nothing else counts on the base, and goes on with the next batch otherwise. */
  #passPrefix(world: ModelWorld, group: Suspects, length: number, run: ModelRun): void {
    for (const shorter of group.cuts.filter((each) => each.length <= length)) {
      world.cancel(shorter.run);
      if (shorter.run.state === 'failed') this.#belief.noteFlaked(1);
    }
    group.cuts = group.cuts.filter((each) => each.length > length);
    for (const each of group.cuts) each.length -= length;
    const failures = new Map<number, { runs: number; last: ModelRun }>();
    for (const [failed, evidence] of group.failures) {
      if (failed > length) failures.set(failed - length, evidence);
      else this.#belief.noteFlaked(evidence.runs);
    }
    group.failures = failures;
    const proven = group.list.splice(0, length);
    if (this.#pipeline.length === 0 && world.treeOf(proven) === run.tree) this.#land(world, proven);
    else for (const pr of proven) this.#belief.cleared.add(pr);
    if (group.list.length === 0) this.#dissolve(world, group);
  }

  #failPrefix(world: ModelWorld, group: Suspects, length: number, run: ModelRun): void {
    group.failures.set(length, { runs: (group.failures.get(length)?.runs ?? 0) + 1, last: run });
    if (this.#belief.flake >= FLAKY) return;
    const shortest = Math.min(...group.failures.keys());
    for (const longer of group.cuts.filter((each) => each.length > shortest)) world.cancel(longer.run);
    group.cuts = group.cuts.filter((each) => each.length <= shortest);
  }

  #dissolve(world: ModelWorld, group: Suspects): void {
    for (const cut of group.cuts) world.cancel(cut.run);
    this.#groups = this.#groups.filter((each) => each !== group);
  }

  #schedule(world: ModelWorld): void {
    const busy = new Set([...this.#pipeline, ...this.#groups].flatMap((each) => each.list));
    const waiting = world.line.filter((pr) => !busy.has(pr));
    for (const pr of waiting.filter((each) => world.conflictsWithBase(each))) {
      world.refuse(pr);
      this.#belief.cleared.delete(pr);
    }
    const open = waiting.filter((pr) => world.line.includes(pr));
    const ready = open.filter((pr) => this.#belief.cleared.has(pr));
    const fresh = open.filter((pr) => !this.#belief.cleared.has(pr));
    const slots = Math.min(this.#set.slots, world.runners);
    const used =
      this.#pipeline.filter((batch) => isOut(batch.run)).length +
      this.#groups.reduce((sum, group) => sum + group.cuts.length, 0);
    const free = this.#search(world, slots - used, slots > 1 && open.length > 0);
    if (slots === 1 && this.#groups.length > 0) return;
    const left = this.#extend(world, { ready, fresh, free });
    if (left.limit !== null) this.#tryBeside(world, left);
  }

  /** Suspects first, with one slot kept for a pipeline that stands empty. */
  #search(world: ModelWorld, slots: number, isWanted: boolean): number {
    let free = slots;
    const kept = isWanted && this.#pipeline.length === 0 ? 1 : 0;
    const idle = this.#groups.filter((group) => group.cuts.length === 0);
    for (const [index, group] of idle.entries()) {
      const share = Math.floor((free - kept) / (idle.length - index));
      if (free - kept < 1) continue;
      for (const length of chooseCuts(this.#belief, group, Math.max(1, Math.min(this.#set.cuts, share)))) {
        group.cuts.push({ length, run: world.start(group.list.slice(0, length)) });
        free -= 1;
      }
    }
    return free;
  }

  /** Batches shrink to the preferred chance of passing, and grow toward one half under a backlog. */
  #grown(chance: number, fresh: number, free: number): number {
    if (free <= 0) return chance;
    return Math.min(chance, Math.max(0.5, (1 - this.#belief.bad) ** Math.ceil(fresh / free)));
  }

  #sizeOf(list: readonly PullRequest[], chance: number): number {
    let pass = 1;
    let size = 0;
    for (const pr of list.slice(0, BATCH_MAX)) {
      pass *= this.#belief.goodChance(pr);
      if (size > 0 && pass < chance - 1e-9) break;
      size += 1;
    }
    return size;
  }

  #extend(world: ModelWorld, options: Waiting): Left {
    const passChance = this.#grown(this.#set.passChance, options.fresh.length, options.free);
    const trialChance = this.#grown(this.#set.trialChance, options.fresh.length, options.free);
    let { ready, fresh, free } = options;
    const isBroken = this.#pipeline.some((batch) => batch.run.state === 'failed');
    let limit: Left['limit'] = isBroken ? 'risk' : null;
    while (!isBroken && free > 0 && ready.length + fresh.length > 0) {
      if (this.#pipeline.length >= this.#set.depth) {
        limit = 'depth';
        break;
      }
      const isFull = this.#sizeOf(fresh, passChance) < fresh.length;
      const due = this.#lastStart + world.gateMs / this.#set.depth;
      const isRushed = ready.length > 0 && this.#set.rushes;
      if (this.#pipeline.length > 0 && !isFull && !isRushed && world.now < due) {
        world.wakeAt(due);
        break;
      }
      const ahead = this.#pipeline.flatMap((batch) => batch.list);
      const next = this.#compose(world, { ready, fresh, free, ahead, passChance });
      if (next.length === 0) {
        limit = fresh.some((pr) => !world.conflictsWith(pr, ahead)) ? 'risk' : limit;
        break;
      }
      ready = ready.filter((pr) => !next.includes(pr));
      fresh = fresh.filter((pr) => !next.includes(pr));
      if (ahead.length === 0 && world.passedTrees.has(world.treeOf(next))) {
        this.#land(world, next);
        continue;
      }
      const run = world.start([...ahead, ...next]);
      this.#pipeline.push({ list: next, run, failures: 0, counted: null });
      this.#lastStart = world.now;
      free -= 1;
    }
    return { fresh, free, limit, trialChance };
  }

  /** Those that passed already, then strangers while the batch and all ahead of it are likely enough to pass. */
  #compose(
    world: ModelWorld,
    { ready, fresh, free, ahead, passChance }: Waiting & { ahead: PullRequest[]; passChance: number },
  ): PullRequest[] {
    const next: PullRequest[] = [];
    const fits = (pr: PullRequest): boolean =>
      !world.conflictsWith(pr, ahead) && !world.conflictsWith(pr, next);
    for (const pr of ready) if (next.length < BATCH_MAX && fits(pr)) next.push(pr);
    const proven = next.length;
    const before = this.#belief.passChance(ahead);
    let chance = this.#belief.passChance(next);
    for (const pr of fresh) {
      if (next.length >= BATCH_MAX) break;
      if (!fits(pr)) continue;
      const with_ = chance * this.#belief.goodChance(pr);
      const isRisky = before * with_ < this.#set.aheadChance - 1e-9;
      if (next.length > 0 && with_ < passChance - 1e-9) break;
      if (isRisky && (ahead.length > 0 || next.length > 0)) break;
      next.push(pr);
      chance = with_;
    }
    const isMixed = proven > 0 && next.length > proven;
    const hasRoom = free > 1 && this.#pipeline.length + 1 < this.#set.depth;
    if (isMixed && chance < this.#set.mixChance && hasRoom) next.length = proven;
    return next;
  }

  #tryBeside(world: ModelWorld, { fresh, free, limit, trialChance }: Left): void {
    let left = [...fresh];
    for (let slots = free; slots > 0 && left.length > 0; slots -= 1) {
      const size = this.#sizeOf(left, trialChance);
      const since = world.scheduledAt.get(left[0]?.number ?? 0) ?? world.now;
      const due = since + this.#set.trialWait * world.gateMs;
      if (size >= left.length && size < BATCH_MAX && (limit === 'depth' || world.now < due)) {
        if (limit !== 'depth') world.wakeAt(due);
        return;
      }
      const list: PullRequest[] = [];
      for (const pr of left) if (list.length < size && !world.conflictsWith(pr, list)) list.push(pr);
      left = left.filter((pr) => !list.includes(pr));
      this.#groups.push({
        list,
        failures: new Map(),
        cuts: [{ length: list.length, run: world.start(list) }],
      });
    }
  }
}

interface Waiting {
  readonly ready: readonly PullRequest[];
  readonly fresh: readonly PullRequest[];
  readonly free: number;
}

interface Left {
  readonly fresh: readonly PullRequest[];
  readonly free: number;
  /** Why the pipeline takes no more, where it does not. */
  readonly limit: 'depth' | 'risk' | null;
  readonly trialChance: number;
}
