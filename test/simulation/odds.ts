import type { SeededRandom } from '../support/seeded-random.ts';

/** Families of trouble. Each seed of a family draws how strong each of its troubles is. */
export const FAMILIES = [
  'calm',
  'faults',
  'crashes',
  'workers',
  'people',
  'reviews',
  'flaky',
  'settings',
  'fleet',
  'everything',
  /** People push straight to the base: detected, not prevented (execution model 8). */
  'base_pushed',
  /** The forge merges a newer head than it checked. */
  'unchecked_head',
  /** Somebody else writes under the queue's context. */
  'foreign_status',
  /** Settings, payments and people strike just when a success stands and its merge does not come. */
  'interrupted',
  /** A repository with 200 runs behind it, none of which failed by itself: one failing run is enough for a bounce. */
  'steady',
] as const;
export type Family = (typeof FAMILIES)[number];

/** In these nobody can promise more than that an unproven landing is seen. */
export const UNGUARDED: readonly Family[] = ['base_pushed', 'unchecked_head', 'foreign_status'];

/** In these no machine dies or freezes: what takes longer than it should has no excuse. */
export const PROMPT: readonly Family[] = [
  'calm',
  'faults',
  'people',
  'flaky',
  'base_pushed',
  'unchecked_head',
  'foreign_status',
];

/** Chance of each trouble, per call or per occasion; times in ms. */
export interface Odds {
  callFails: number;
  callLate: number;
  storeFails: number;
  slowCall: number;
  crash: number;
  pause: number;
  engineLost: number;
  wakeTwice: number;
  hookLost: number;
  hookTwice: number;
  hookLate: number;
  /** Acts of people per hour. */
  peoplePerHour: number;
  settingsPerHour: number;
  /** The queue record becomes unreadable, times per hour. */
  recordLostPerHour: number;
  /** Something comes between a success and its merge. */
  interrupt: number;
  flake: number;
  gateTrouble: number;
  gateNever: number;
  gateLate: number;
  mergeLost: number;
  mergeSlow: number;
  skewMs: number;
  indexLagMs: number;
}
export type Trouble = keyof Odds;

export const NO_ODDS: Readonly<Odds> = {
  callFails: 0,
  callLate: 0,
  storeFails: 0,
  slowCall: 0,
  crash: 0,
  pause: 0,
  engineLost: 0,
  wakeTwice: 0,
  hookLost: 0,
  hookTwice: 0,
  hookLate: 0,
  peoplePerHour: 0,
  settingsPerHour: 0,
  recordLostPerHour: 0,
  interrupt: 0,
  flake: 0,
  gateTrouble: 0,
  gateNever: 0,
  gateLate: 0,
  mergeLost: 0,
  mergeSlow: 0,
  skewMs: 0,
  indexLagMs: 0,
};

const SKEW_NORMAL_MS = 2_000;
export const SKEW_EXTREME_MS = 60_000;

export function drawOdds(family: Family, random: SeededRandom): Odds {
  const share = (most: number): number => most * random.next();
  const calls = { callFails: share(0.06), callLate: share(0.01), storeFails: share(0.01) };
  // Now and then a forge that hardly ever completes a merge: only then does one time out twice.
  const merges = { mergeLost: random.chance(0.1) ? 0.9 : share(0.3), mergeSlow: share(0.3) };
  const hooks = { hookLost: share(0.4), hookTwice: share(0.4), hookLate: share(0.2) };
  // Now and then runners that hardly ever finish a run.
  const gate = {
    gateTrouble: random.chance(0.1) ? 0.8 : share(0.1),
    gateNever: share(0.06),
    gateLate: share(0.1),
  };
  const workers = {
    slowCall: share(0.2),
    pause: share(0.01),
    engineLost: share(0.05),
    wakeTwice: share(0.2),
    skewMs: random.chance(0.1) ? SKEW_EXTREME_MS : share(SKEW_NORMAL_MS),
    indexLagMs: share(300_000),
  };
  const crash = share(0.01);
  const peoplePerHour = share(12);
  const flake = share(0.1);
  const recordLostPerHour = random.chance(0.2) ? 4 : 0;
  switch (family) {
    case 'calm':
      return { ...NO_ODDS };
    case 'faults':
      return { ...NO_ODDS, ...calls, ...merges, ...gate };
    case 'crashes':
      return { ...NO_ODDS, ...merges, storeFails: calls.storeFails, crash: crash * 2, recordLostPerHour };
    case 'workers':
      return { ...NO_ODDS, ...workers, ...merges, callLate: calls.callLate, crash };
    case 'people':
      return { ...NO_ODDS, ...hooks, ...merges, peoplePerHour, slowCall: share(0.1) };
    case 'reviews':
      return {
        ...NO_ODDS,
        ...hooks,
        peoplePerHour: peoplePerHour * 1.5,
        callFails: calls.callFails / 2,
        crash: crash / 2,
      };
    case 'flaky':
      return { ...NO_ODDS, flake, gateTrouble: gate.gateTrouble };
    case 'settings':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        settingsPerHour: share(6),
        peoplePerHour: peoplePerHour / 3,
        crash,
      };
    case 'fleet':
      return { ...NO_ODDS, ...calls, ...hooks, ...workers, crash, peoplePerHour: peoplePerHour / 2 };
    case 'everything':
      return {
        ...NO_ODDS,
        ...calls,
        ...merges,
        ...hooks,
        ...gate,
        ...workers,
        crash,
        flake: flake / 2,
        peoplePerHour,
        settingsPerHour: share(2),
        recordLostPerHour,
      };
    case 'steady':
      return { ...NO_ODDS, ...hooks, ...merges, crash, callFails: calls.callFails, peoplePerHour };
    case 'interrupted':
      return {
        ...NO_ODDS,
        ...hooks,
        interrupt: 0.2 + share(0.5),
        mergeLost: 0.3 + share(0.6),
        mergeSlow: share(0.5),
        crash: random.chance(0.5) ? crash : 0,
        peoplePerHour: peoplePerHour / 3,
      };
    case 'base_pushed':
    case 'unchecked_head':
    case 'foreign_status':
      return {
        ...NO_ODDS,
        ...hooks,
        mergeLost: merges.mergeLost,
        mergeSlow: 0.5 * random.next(),
        peoplePerHour: 6 + peoplePerHour,
      };
  }
}
