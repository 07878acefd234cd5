import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { LATE_EFFECT_MS } from '../fakes/abstract-forge/exchange.ts';
import { mergeAsGit } from '../fakes/abstract-forge/tree-merge.ts';
import { NO_LAGS } from '../fakes/abstract-forge/world.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Odds } from './odds.ts';

/** A forge's moods besides failing: readings that lag, calls that are early or late, other merges. As far as the odds ask for them. */
export function setMood(forge: AbstractForge, odds: Readonly<Odds>, random: SeededRandom): void {
  if (odds.lagMs > 0) setLags(forge, odds.lagMs, random);
  if (odds.clockAheadMs !== 0) forge.clockAheadMs = Math.round(odds.clockAheadMs);
  if (odds.timelineRows > 0) forge.timelineRowsMax = odds.timelineRows;
  if (odds.otherMerges > 0) forge.mergeContents = refuseSome;
  if (odds.otherCi > 0) setCiHabits(forge, odds.otherCi, random);
  if (odds.otherTrees > 0) forge.mergeContents = mergeOtherwise;
}

const CI_LATE_MS_MAX = 120_000;

function setCiHabits(forge: AbstractForge, share: number, random: SeededRandom): void {
  forge.ciHabits = {
    lateMs: random.chance(share) ? random.int(CI_LATE_MS_MAX) : 0,
    repeats: random.chance(share),
    strangers: random.chance(share),
    restarts: random.chance(share),
  };
}

/** The forge heals; the clock of a machine and the algorithm of a merge are no faults that pass. */
export function healMood(forge: AbstractForge): void {
  forge.lags = NO_LAGS;
}

function setLags(forge: AbstractForge, most: number, random: SeededRandom): void {
  // Most are in step, some a little behind, one or two as far as it goes.
  const draw = (): number => random.pick([0, 0, 0.1, 0.3, 1]) * random.int(Math.round(most) + 1);
  forge.lags = {
    list: Math.round(draw()),
    listRefs: Math.round(draw()),
    pull: Math.round(draw()),
    pullRefs: Math.round(draw()),
    branch: Math.round(draw()),
    status: Math.round(draw()),
  };
}

/** How much later this call is carried out. */
export function drawLateness(odds: Readonly<Odds>, random: SeededRandom): number {
  return odds.lateMs === 0 ? LATE_EFFECT_MS : LATE_EFFECT_MS + random.int(Math.round(odds.lateMs));
}

/**
 * The forge's merge is git's, with more conflicts: some contents that git merges it does not. By the contents alone, as
 * a real one does (a mode changed on one side and the content on the other, on Gitea).
 */
function refuseSome(base: string, ours: string, theirs: string): string | null {
  const merged = mergeAsGit(base, ours, theirs);
  if (merged === null || merged === ours || merged === theirs) return merged;
  return sumOf(merged) % 2 === 0 ? merged : null;
}

/** The forge's merge is not git's: no proof of ours can hold for it. */
function mergeOtherwise(base: string, ours: string, theirs: string): string | null {
  const merged = mergeAsGit(base, ours, theirs);
  if (merged === null || merged === ours || merged === theirs || sumOf(merged) % 2 === 0) return merged;
  const [first, ...others] = merged.split('\n');
  return [...others.slice(0, -1), first, ''].join('\n');
}

function sumOf(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) >>> 0;
  return sum;
}
