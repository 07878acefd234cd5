import type { EngineForge } from '#core/ports/forge.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { StoreError } from '#core/ports/store.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { givenProject, givenScheduled, judgeByContent, staleSuccesses } from '../scenario/stories.ts';
import { type World as AnyWorld, createWorld } from '../scenario/world.ts';
import { createSeededRandom, type SeededRandom } from '../support/seeded-random.ts';

type World = AnyWorld<AbstractForge>;

/** Families of trouble; each seed of a family draws how strong each is. */
export const FAMILIES = ['calm', 'faults', 'crashes', 'people', 'flaky', 'everything'] as const;
export type Family = (typeof FAMILIES)[number];

export interface Verdict {
  readonly seed: number;
  readonly family: Family;
  readonly steps: number;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly sometimes: ReadonlySet<string>;
}

interface Odds {
  readonly callFails: number;
  readonly callLate: number;
  readonly crash: number;
  readonly people: number;
  readonly flake: number;
  readonly gateTrouble: number;
  readonly mergeLost: number;
}

const NO_ODDS: Odds = {
  callFails: 0,
  callLate: 0,
  crash: 0,
  people: 0,
  flake: 0,
  gateTrouble: 0,
  mergeLost: 0,
};

function oddsOf(family: Family, random: SeededRandom): Odds {
  const faults = {
    callFails: 0.03 * random.next(),
    callLate: 0.01 * random.next(),
    mergeLost: 0.15 * random.next(),
  };
  const gateTrouble = 0.05 * random.next();
  switch (family) {
    case 'calm':
      return NO_ODDS;
    case 'faults':
      return { ...NO_ODDS, ...faults, gateTrouble };
    case 'crashes':
      return { ...NO_ODDS, ...faults, crash: 0.02 * random.next() };
    case 'people':
      return { ...NO_ODDS, people: 0.3 * random.next(), mergeLost: faults.mergeLost };
    case 'flaky':
      return { ...NO_ODDS, flake: 0.1 * random.next(), gateTrouble };
    case 'everything':
      return {
        ...faults,
        gateTrouble,
        crash: 0.01 * random.next(),
        people: 0.2 * random.next(),
        flake: 0.05 * random.next(),
      };
  }
}

/** The machine the engine runs on has died: nothing of this incarnation acts any more. */
class Crash extends Error {
  constructor() {
    super('crashed here');
  }
}

/** One seeded life of one repository, then everything heals and must come to rest. */
export async function simulate(seed: number, family: Family, keepTrace = false): Promise<Verdict> {
  const life = new Life(seed, family, keepTrace);
  await life.run();
  return {
    seed,
    family,
    steps: life.steps,
    violations: life.violations,
    trace: life.trace,
    sometimes: life.sometimes,
  };
}

const ROUNDS_MAX = 40;

class Life {
  readonly violations: string[] = [];
  readonly trace: string[] = [];
  readonly sometimes = new Set<string>();
  steps = 0;
  readonly #random: SeededRandom;
  readonly #keepTrace: boolean;
  readonly #odds0: Odds;
  #odds: Odds;
  #dead = false;
  #insideEngine = false;
  readonly #commits = new Map<string, { tree: string; parent: string | undefined }>();
  readonly #prs: number[] = [];
  /** Pull requests that no combination can make fail: whoever bounces one for its gate is wrong. */
  readonly #alwaysGood = new Set<number>();

  constructor(seed: number, family: Family, keepTrace: boolean) {
    this.#keepTrace = keepTrace;
    this.#random = createSeededRandom(seed * 7919 + FAMILIES.indexOf(family));
    this.#odds0 = oddsOf(family, this.#random);
    this.#odds = this.#odds0;
  }

  async run(): Promise<void> {
    const random = this.#random;
    const world = await createWorld({
      repo: { bisectFanout: random.pick([1, 1, 2, 4, 16]), mergeStyle: 'squash' },
      wrapForge: (forge) => this.#wrap(forge),
      aroundStore: {
        before: (label) => this.#store(label, 'before'),
        after: (label) => this.#store(label, 'after'),
      },
    });
    await this.#populate(world);
    for (let round = 0; round < ROUNDS_MAX && this.violations.length === 0; round += 1) {
      await this.#people(world);
      await this.#reconcile(world);
      await this.#checkSafety(world);
      const report = await world.store.loadReport('repo-1').catch(() => null);
      const wait = report?.wakeAt == null ? 300_000 : Math.max(1_000, report.wakeAt - world.clock.now());
      await world.clock.advance(this.#random.chance(0.1) ? 300_000 : Math.min(wait, 300_000));
    }
    if (this.violations.length === 0) await this.#heal(world);
  }

  async #populate(world: World): Promise<void> {
    const random = this.#random;
    await givenProject(world.forge, { 'shared.txt': 'base\n' });
    world.forge.gateDurationMs = random.pick([1_000, 20_000, 120_000]);
    world.forge.checkDelayMs = random.pick([0, 0, 1_000, 20_000]);
    world.forge.judge = (files, run) => this.#judge(files, run);
    world.forge.mergeBehaviour = () => {
      if (this.#random.chance(this.#odds.mergeLost)) return { kind: 'lost' };
      if (this.#random.chance(this.#odds.mergeLost)) return { kind: 'slow', ms: this.#random.int(60_000) };
      return { kind: 'now' };
    };
    const count = 1 + random.int(8);
    for (let index = 1; index <= count; index += 1) await this.#open(world, `p${index}`);
  }

  async #open(world: World, name: string): Promise<void> {
    const random = this.#random;
    const kind = random.int(12);
    let content = `${name}\n`;
    let path = `src/${name}.txt`;
    if (kind === 0 || kind === 1) content = 'BAD\n';
    else if (kind === 2 || kind === 3) content = `CLASH ${name}\n`;
    else if (kind === 4) path = 'shared.txt';
    else if (kind === 5) content = 'NEEDS:src/p1.txt\n';
    const pr = await givenScheduled(world.forge, name, content, { path });
    this.#prs.push(pr);
    if (content === `${name}\n`) this.#alwaysGood.add(pr);
    this.#note(`open #${this.#prs.at(-1)} ${path} ${content.trim()}`);
  }

  #judge(files: ReadonlyMap<string, string>, run: { readonly branch: string; readonly sha: string }) {
    const truth = judgeByContent(files);
    if (this.#random.chance(this.#odds.gateTrouble))
      return this.#random.pick(['cancelled', 'error'] as const);
    if (truth === 'success' && this.#random.chance(this.#odds.flake)) {
      this.#note(`flake on ${run.branch}`);
      return 'failure' as const;
    }
    return truth;
  }

  async #people(world: World): Promise<void> {
    const random = this.#random;
    if (!random.chance(this.#odds.people)) return;
    const pr = this.#prs[random.int(this.#prs.length)] ?? 0;
    const pull = await world.forge.pull(pr);
    const act = random.int(8);
    this.#note(`people act ${act} on #${pr}`);
    if (pull.state !== 'open' || (act >= 3 && act !== 5 && act !== 6 && !pull.mergeable)) return;
    if (act === 0)
      await world.forge.pushToPullRequest(pr, { [`src/p${pr}-more.txt`]: `${random.int(100)}\n` });
    else if (act === 1 || act === 2) {
      if (world.forge.isScheduled(pr)) await world.forge.cancelSchedule(pr);
    } else if (act === 3 || act === 4) {
      if (world.forge.isScheduled(pr)) await world.forge.cancelSchedule(pr);
      await world.forge.schedule(pr);
    } else if (act === 5) await world.forge.close(pr);
    else if (act === 6) await this.#open(world, `q${this.#prs.length}`);
    else {
      await world.forge.pushToPullRequest(pr, { [`src/p${pr}-new.txt`]: `${random.int(100)}\n` });
      await world.clock.advance(30_000);
      if (world.forge.isScheduled(pr)) await world.forge.cancelSchedule(pr);
      await world.forge.schedule(pr);
    }
  }

  async #reconcile(world: World): Promise<void> {
    this.#dead = false;
    this.#insideEngine = true;
    try {
      await world.reconcile();
    } catch (error) {
      // A store that does not answer before the engine began: the worker's call fails, the next wake comes.
      if (!(error instanceof Crash) && !(error instanceof StoreError)) throw error;
    } finally {
      this.#insideEngine = false;
    }
    this.steps += 1;
  }

  /** Each call of the engine may fail before or after its effect, come too late, or be its last. */
  #wrap(forge: EngineForge): EngineForge {
    return new Proxy(forge, {
      get: (target, name) => {
        const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
        return async (...values: unknown[]) => {
          this.#mayCrash(`forge ${String(name)}`);
          if (this.#random.chance(this.#odds.callFails)) {
            this.#note(`fault before ${String(name)}`);
            throw new ForgeError('unreachable', String(name), 500);
          }
          const value = await call.apply(target, values);
          this.#note(`${String(name)} ${values.map(brief).join(' ')}`);
          if (name === 'applyPatch') this.#keep(value);
          if (this.#random.chance(this.#odds.callFails)) {
            this.#note(`fault after ${String(name)}`);
            throw new ForgeError('unreachable', String(name), null, null, true);
          }
          this.#mayCrash(`forge ${String(name)} done`);
          return value;
        };
      },
    });
  }

  #store(label: string, when: 'before' | 'after'): void {
    if (!this.#insideEngine) return;
    this.#mayCrash(`store ${label} ${when}`);
    if (when === 'before' && this.#random.chance(this.#odds.callFails / 3)) {
      this.#note(`store fault ${label}`);
      throw new StoreError('unavailable', label);
    }
  }

  #mayCrash(where: string): void {
    if (this.#dead) throw new Crash();
    if (this.#random.chance(this.#odds.crash)) {
      this.#dead = true;
      this.#note(`CRASH at ${where}`);
      throw new Crash();
    }
  }

  #keep(value: unknown): void {
    if (value === 'conflict') return;
    const commit = value as { sha: string; tree: string; parents: readonly string[] };
    this.#commits.set(commit.sha, { tree: commit.tree, parent: commit.parents[0] });
  }

  /** The judge: only the forge's log, and the commits that were staged on it. */
  async #checkSafety(world: World): Promise<void> {
    const proven = new Set<string>();
    const green = new Set<string>();
    for (const run of world.forge.runs()) if (run.state === 'success') green.add(run.tree);
    for (const commit of this.#commits.values()) {
      if (!green.has(commit.tree)) continue;
      let at: { tree: string; parent: string | undefined } | undefined = commit;
      while (at !== undefined) {
        proven.add(at.tree);
        at = at.parent === undefined ? undefined : this.#commits.get(at.parent);
      }
    }
    for (const merge of world.forge.merges()) {
      if (!proven.has(merge.tree)) this.violations.push(`unproven landing of #${merge.pr}`);
    }
    for (const [branch, running] of this.#runningPerBatch(world)) {
      if (running > 16) this.violations.push(`too many runs on ${branch}`);
    }
  }

  #runningPerBatch(world: World): Map<string, number> {
    const counts = new Map<string, number>();
    for (const run of world.forge.runs()) {
      if (run.state === 'running' || run.state === 'waiting') counts.set('all', (counts.get('all') ?? 0) + 1);
    }
    return counts;
  }

  /** Everything heals; within hours of ticks the queue must come to the right rest. */
  async #heal(world: World): Promise<void> {
    this.#odds = NO_ODDS;
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    this.#note('--- heals ---');
    await world.clock.advance(300_000);
    this.#dead = false;
    this.#insideEngine = true;
    await world.drain({ maxMs: 24 * 60 * 60_000 });
    this.#insideEngine = false;
    await this.#checkSafety(world);
    for (const pr of await staleSuccesses(world.forge, this.#prs))
      this.violations.push(`stale success on #${pr}`);
    for (const row of await world.rows()) {
      this.sometimes.add(`outcome ${row.outcome}`);
      if (row.resolvedAt === null || row.outcome.startsWith('held'))
        this.violations.push(`row ${row.nodeId} ends as ${row.outcome}`);
    }
    const leftovers = (await world.forge.branches()).filter((branch) => branch.startsWith('mq'));
    if (leftovers.length > 0) this.violations.push(`branches left: ${leftovers.join(' ')}`);
    await this.#checkEndings(world);
  }

  async #checkEndings(world: World): Promise<void> {
    const events = await world.events();
    const base = await world.forge.readFiles(await world.forge.tip(world.forge.base));
    const baseGreen = judgeByContent(base) === 'success';
    if (!baseGreen) this.violations.push('the base is red');
    for (const pr of this.#prs) {
      const pull = await world.forge.pull(pr);
      const bounces = events.filter(
        (event) => event.event === 'pr_bounced' && event.pr === pr && event.head === pull.headSha,
      );
      const bounced = bounces.length > 0;
      const status = await world.forge.status(pull.headSha, 'mq');
      if (pull.merged || pull.state !== 'open' || !world.forge.isScheduled(pr)) continue;
      const says = `${status?.state ?? 'none'}: ${status?.description ?? ''}`;
      if (status?.description.startsWith('refused: conflicts') === true) continue;
      if (status?.description.startsWith('refused: changes nothing') === true) continue;
      if (status?.description.startsWith('requeued: head changed') === true) continue;
      if (!bounced) this.violations.push(`#${pr} neither landed nor bounced (${says})`);
      const innocent = bounced && this.#alwaysGood.has(pr) && this.#odds0.flake === 0;
      if (innocent && bounces.every((event) => event.reason === 'gate_failed')) {
        this.violations.push(`#${pr} was bounced although nothing it does can fail`);
      }
    }
    for (const event of events) this.sometimes.add(`event ${event.event}`);
  }

  #note(line: string): void {
    if (this.#keepTrace) this.trace.push(line);
  }
}

function brief(value: unknown): string {
  if (typeof value === 'string') return value.length >= 40 ? value.slice(0, 8) : value;
  if (typeof value === 'number') return String(value);
  if (value !== null && typeof value === 'object') {
    return Object.entries(value)
      .filter(([key]) => key !== 'patch')
      .map(([key, inner]) => `${key}=${brief(inner)}`)
      .join(',');
  }
  return '';
}
