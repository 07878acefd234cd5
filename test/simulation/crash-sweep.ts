import { contextForBase, DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { StoreError } from '#core/ports/store.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { runStory, type SweepStory } from '../scenario/crash-sweep-stories.ts';
import { createWorld, type World } from '../scenario/world.ts';
import { Crash, FORGE_WRITE_LABELS, type Machine } from '../support/machine.ts';
import { Judge } from './judge.ts';

/** The faults that one call can have. `late effect`: the answer never comes, and the forge carries the call out afterwards. */
export const CRASH_MODES = [
  'crash before',
  'crash after',
  'error before',
  'error after',
  'late effect',
] as const;
export type CrashMode = (typeof CRASH_MODES)[number];

export interface Blow {
  /** Position of the call in the run, from 0. */
  readonly at: number;
  readonly mode: CrashMode;
}

export interface SweepResult {
  readonly labels: readonly string[];
  readonly problems: readonly string[];
}

/** Positions of the calls of a run that are to be struck. */
export function struckCalls(story: SweepStory, labels: readonly string[]): readonly number[] {
  const { struck } = story;
  return [...labels.keys()].filter((at) => struck === undefined || struck.includes(labels[at] ?? ''));
}

/** Modes that make sense for a call: only what writes to the forge can be carried out late. */
export function modesOf(label: string): readonly CrashMode[] {
  return CRASH_MODES.filter((mode) => mode !== 'late effect' || FORGE_WRITE_LABELS.includes(label));
}

/** Plays one story with these blows and compares its end with the one the story names. */
export async function playStory(story: SweepStory, blows: readonly Blow[]): Promise<SweepResult> {
  const hit = new Map(blows.map((blow) => [blow.at, blow.mode]));
  const labels: string[] = [];
  let late: ((on: boolean) => void) | null = null;
  const world = await createWorld({
    ...(story.repo === undefined ? {} : { repo: story.repo }),
    newMachine: () => new Struck(labels, hit, (on) => late?.(on)),
  });
  late = (on) => {
    world.forge.isLate = () => on;
  };
  const judge = new Judge(world.forge, {
    bot: 'mq-bot',
    contexts: [DEFAULT_SERVICE_NAME, contextForBase(DEFAULT_SERVICE_NAME, 'next')],
    baseIsProtected: story.mayHalt === undefined,
  });
  const problems: string[] = [];
  try {
    const ending = await runStory(world, story);
    judge.read();
    problems.push(...(await compare(world, story, ending, judge, blows.length > 0)));
  } catch (error) {
    problems.push(error instanceof Error ? error.message : 'not an error');
  }
  return { labels, problems };
}

async function compare(
  world: World<AbstractForge>,
  story: SweepStory,
  ending: Awaited<ReturnType<typeof runStory>>,
  judge: Judge,
  isStruck: boolean,
): Promise<string[]> {
  if (story.mayHalt !== undefined && (await isDetected(world, judge))) return judge.violations;
  const problems: string[] = [];
  const anyOrder = story.landed === 'any order';
  const landed = anyOrder ? [...ending.landed].sort((a, b) => a - b) : ending.landed;
  const expected = anyOrder ? (story.landedSet ?? []) : story.landed;
  const others = isStruck ? (story.landedStruck ?? []) : [];
  if (![expected, ...others].some((order) => String(landed) === String(order)))
    problems.push(`landed ${landed} instead of ${expected}`);
  if (String(ending.bounced) !== String(story.bounced)) {
    problems.push(`bounced ${ending.bounced} instead of ${story.bounced}`);
  }
  for (const pr of judge.unproven) problems.push(`unproven landing of #${pr}`);
  if (story.stops !== true) {
    judge.readRest(false);
    for (const row of await world.rows()) {
      const resolved = row.resolvedAt !== null && !row.outcome.startsWith('held');
      if (!resolved) problems.push(`row ${row.nodeId} ends as ${row.outcome}`);
      else if (String(row.actions.map((action) => action.pr)) !== String(row.prs)) {
        problems.push(`row ${row.nodeId} has not one action per member`);
      }
    }
    problems.push(...(await findDoubleEvents(world)), ...(await findUntold(world, story)));
  }
  return [...problems, ...judge.violations];
}

/** The base was pushed to and the forge merged onto it: seen, alarmed, and nothing landed after it. */
async function isDetected(world: World<AbstractForge>, judge: Judge): Promise<boolean> {
  if (judge.unproven.size !== 1) return false;
  const { halted } = await world.record();
  const alarmed = world.log.some((line) => line.fields.alarm === 'tree_mismatch');
  return alarmed && halted !== null && world.forge.merges().at(-1)?.pr === halted.pr;
}

/** Each landing and each bounce is told once, whatever was done twice (A42, A84). */
async function findDoubleEvents(world: World): Promise<string[]> {
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const { event, pr, head } of await world.events()) {
    if (event !== 'pr_landed' && event !== 'pr_bounced') continue;
    const key = `${event} #${pr} ${head}`;
    if (seen.has(key)) problems.push(`told twice: ${key.slice(0, 24)}`);
    seen.add(key);
  }
  return problems;
}

async function findUntold(world: World, story: SweepStory): Promise<string[]> {
  const events = await world.events();
  return Object.entries(story.toldOnce ?? {}).flatMap(([name, expected]) => {
    const told = events.filter(({ event }) => event === name).map(({ pr }) => pr);
    const different = new Set(told).size;
    return told.length === expected && different === expected
      ? []
      : [`${told.length} of ${name}, of ${different} pull requests`];
  });
}

/** One machine of the story. All of them count their calls together, so that a position means one call of one run. */
class Struck implements Machine {
  #dead = false;

  constructor(
    readonly labels: string[],
    readonly hit: ReadonlyMap<number, CrashMode>,
    readonly setLate: (on: boolean) => void,
  ) {}

  async io<Result>(label: string, call: () => Promise<Result>): Promise<Result> {
    if (this.#dead) throw new Crash();
    const mode = this.hit.get(this.labels.length);
    this.labels.push(label);
    if (mode === 'crash before') throw this.#die();
    if (mode === 'error before') throw failureOf(label, false);
    if (mode === 'late effect') return this.#carryOutLate(call);
    const result = await call();
    if (mode === 'crash after') throw this.#die();
    if (mode === 'error after') throw failureOf(label, true);
    return result;
  }

  #die(): Crash {
    this.#dead = true;
    return new Crash();
  }

  async #carryOutLate<Result>(call: () => Promise<Result>): Promise<Result> {
    this.setLate(true);
    try {
      return await call();
    } finally {
      this.setLate(false);
    }
  }
}

function failureOf(label: string, effectUnknown: boolean): Error {
  const [port = '', name = ''] = label.split(' ');
  if (port === 'store') return new StoreError('unavailable', name);
  return new ForgeError('unreachable', name, effectUnknown ? null : 502, null, effectUnknown);
}
