import type { SeededRandom } from '../support/seeded-random.ts';
import type { Family } from './families.ts';
import { NO_ODDS, type Odds, SKEW_EXTREME_MS } from './odds.ts';

/** Most are small, because thousands take seconds to live through; a few are as large as the limits of the record. */
function drawCrowd(random: SeededRandom): Pick<Odds, 'crowd' | 'rowBytes'> {
  const kind = random.next();
  const crowd =
    kind < 0.04 ? 1_000 + random.int(3_000) : kind < 0.2 ? 100 + random.int(900) : 10 + random.int(90);
  return { crowd, rowBytes: random.chance(0.3) ? 2_000 + random.int(400 * crowd) : 0 };
}

const SKEW_NORMAL_MS = 2_000;

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
        blocks: random.chance(0.3) ? share(0.4) : 0,
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
    case 'lagging':
      return { ...NO_ODDS, ...hooks, ...merges, ...drawLag(random), peoplePerHour };
    case 'shared_heads':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        sharedHeads: 0.15 + share(0.5),
        callFails: calls.callFails / 2,
        peoplePerHour: 6 + peoplePerHour,
      };
    case 'gitea':
      return {
        ...NO_ODDS,
        ...calls,
        ...merges,
        ...hooks,
        crash,
        timelineRows: 3,
        peoplePerHour,
        // Drawn last, so that the others stay as they are.
        slowPatches: random.chance(0.3) ? 0.5 + share(0.5) : 0,
      };
    case 'other_merge':
      return {
        ...NO_ODDS,
        ...hooks,
        otherMerges: 0.3 + share(0.5),
        mergeSlow: merges.mergeSlow,
        peoplePerHour,
      };
    case 'other_tree':
      return {
        ...NO_ODDS,
        ...hooks,
        otherTrees: 0.2 + share(0.4),
        mergeSlow: merges.mergeSlow,
        peoplePerHour,
      };
    case 'long_late':
      return {
        ...NO_ODDS,
        ...merges,
        ...hooks,
        callLate: 0.01 + share(0.05),
        lateMs: 100_000,
        peoplePerHour,
      };
    case 'cursed':
      return { ...NO_ODDS, curse: 1, mergeSlow: merges.mergeSlow, peoplePerHour: peoplePerHour / 3 };
    case 'clocks':
      return { ...NO_ODDS, ...hooks, ...merges, clockAheadMs: drawClock(random), peoplePerHour };
    case 'gate_edits':
      return {
        ...NO_ODDS,
        ...hooks,
        gateEdits: random.chance(0.8) ? 0.1 + share(0.3) : 0,
        skipTitles: random.chance(0.6) ? 0.1 + share(0.3) : 0,
        peoplePerHour: peoplePerHour / 2,
      };
    case 'taken_names':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        takenNames: 0.2 + share(0.5),
        peoplePerHour: 4 + peoplePerHour,
      };
    case 'outages':
      return {
        ...NO_ODDS,
        ...merges,
        hookLost: hooks.hookLost,
        throttlesPerHour: share(12),
        engineDiesPerHour: share(12),
        crash,
        engineLost: workers.engineLost,
        peoplePerHour: peoplePerHour / 2,
        hidesPerHour: share(6),
      };
    case 'crowd':
      return {
        ...NO_ODDS,
        ...hooks,
        mergeLost: merges.mergeLost,
        peoplePerHour: peoplePerHour / 2,
        // Each call takes a little, so that looks at thousands take their time.
        slowCall: 0.02 + share(0.1),
        ...drawCrowd(random),
      };
    case 'storm':
      return {
        ...NO_ODDS,
        ...calls,
        ...merges,
        ...hooks,
        ...gate,
        ...workers,
        ...drawLag(random),
        crash,
        flake: flake / 2,
        peoplePerHour: 4 + peoplePerHour,
        settingsPerHour: share(2),
        recordLostPerHour,
        clockAheadMs: random.chance(0.5) ? drawClock(random) : 0,
        sharedHeads: share(0.3),
        gateEdits: share(0.1),
        skipTitles: share(0.1),
        takenNames: share(0.2),
        throttlesPerHour: share(4),
        engineDiesPerHour: share(4),
      };
    case 'at_rest':
      return {
        ...NO_ODDS,
        ...hooks,
        callFails: calls.callFails / 4,
        storeFails: calls.storeFails,
        idleLooks: 1,
        mergeLost: merges.mergeLost,
        slowCall: workers.slowCall,
        engineLost: workers.engineLost,
        crash,
        peoplePerHour: 4 + peoplePerHour,
        settingsPerHour: random.chance(0.3) ? share(2) : 0,
        recordLostPerHour: random.chance(0.2) ? 1 : 0,
      };
    case 'other_ci':
      return {
        ...NO_ODDS,
        ...hooks,
        ...gate,
        callFails: calls.callFails / 2,
        mergeLost: merges.mergeLost,
        otherCi: 0.3 + share(0.6),
        crash: random.chance(0.3) ? crash : 0,
        settingsPerHour: random.chance(0.3) ? share(2) : 0,
        peoplePerHour,
      };
    case 'pauses':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        pausesPerHour: 2 + share(10),
        callFails: calls.callFails / 2,
        crash: random.chance(0.5) ? crash : 0,
        settingsPerHour: random.chance(0.3) ? share(2) : 0,
        recordLostPerHour: random.chance(0.2) ? 1 : 0,
        peoplePerHour,
        // Drawn last, so that half of these lives stay as they are.
        settingsFiles: random.chance(0.5) ? 0.3 : 0,
      };
    case 'own_runs':
      return {
        ...NO_ODDS,
        ...hooks,
        ...gate,
        callFails: calls.callFails / 2,
        mergeLost: merges.mergeLost,
        crash: random.chance(0.3) ? crash : 0,
        settingsPerHour: random.chance(0.3) ? share(2) : 0,
        peoplePerHour,
      };
    case 'priorities':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        labelsPerHour: 4 + share(20),
        callFails: calls.callFails / 2,
        crash: random.chance(0.5) ? crash : 0,
        recordLostPerHour: random.chance(0.2) ? 1 : 0,
        peoplePerHour: 4 + peoplePerHour,
      };
    case 'rules':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        otherSchedulers: 0.6,
        callFails: calls.callFails / 2,
        crash: random.chance(0.5) ? crash : 0,
        recordLostPerHour: random.chance(0.2) ? 1 : 0,
        peoplePerHour: 10 + peoplePerHour,
      };
    case 'one_author':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        otherSchedulers: 0.3,
        oneAuthor: 0.5 + share(0.4),
        callFails: calls.callFails / 2,
        crash: random.chance(0.5) ? crash : 0,
        recordLostPerHour: random.chance(0.2) ? 1 : 0,
        peoplePerHour: 10 + peoplePerHour,
      };
    case 'backports':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        backports: 0.4 + share(0.4),
        callFails: calls.callFails,
        crash: random.chance(0.5) ? crash : 0,
        engineLost: random.chance(0.3) ? workers.engineLost : 0,
        recordLostPerHour: random.chance(0.2) ? 1 : 0,
        peoplePerHour: 10 + peoplePerHour,
      };
    case 'two_branches':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        gateTrouble: gate.gateTrouble,
        sharedHeads: 0.2 + share(0.5),
        callFails: calls.callFails / 2,
        crash: random.chance(0.5) ? crash : 0,
        engineLost: random.chance(0.3) ? workers.engineLost : 0,
        settingsPerHour: random.chance(0.4) ? share(3) : 0,
        recordLostPerHour: random.chance(0.2) ? 2 : 0,
        peoplePerHour: 6 + 2 * peoplePerHour,
      };
    case 'drifts':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        driftsPerHour: 1 + share(4),
        runnerBusy: share(0.6),
        idleLooks: random.chance(0.5) ? 1 : 0,
        callFails: calls.callFails / 2,
        crash: random.chance(0.5) ? crash : 0,
        settingsPerHour: random.chance(0.3) ? share(2) : 0,
        recordLostPerHour: random.chance(0.2) ? 1 : 0,
        peoplePerHour,
        runners: random.pick([0, 0, 1, 2, 4]),
      };
    case 'archives':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        archivesPerHour: 1 + share(6),
        renamesPerHour: random.chance(0.4) ? share(4) : 0,
        callFails: random.chance(0.5) ? calls.callFails / 2 : 0,
        callLate: random.chance(0.3) ? calls.callLate : 0,
        crash: random.chance(0.3) ? crash : 0,
        idleLooks: random.chance(0.5) ? 1 : 0,
        pausesPerHour: random.chance(0.3) ? share(4) : 0,
        settingsPerHour: random.chance(0.3) ? share(2) : 0,
        recordLostPerHour: random.chance(0.2) ? 1 : 0,
        peoplePerHour: 4 + peoplePerHour,
      };
    case 'freezes':
      return {
        ...NO_ODDS,
        ...hooks,
        ...merges,
        freezesPerHour: 2 + share(6),
        labelsPerHour: 4 + share(10),
        pausesPerHour: random.chance(0.3) ? share(4) : 0,
        callFails: calls.callFails / 2,
        crash: random.chance(0.5) ? crash : 0,
        recordLostPerHour: random.chance(0.2) ? 1 : 0,
        peoplePerHour,
        // Drawn last, so that half of these lives stay as they are.
        settingsFiles: random.chance(0.5) ? 0.3 : 0,
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

const LAG_USUAL_MS = 3_000;
const LAG_LONG_MS = 15_000;

function drawLag(random: SeededRandom): Pick<Odds, 'lagMs'> {
  return { lagMs: 100 + random.next() * (random.chance(0.3) ? LAG_LONG_MS : LAG_USUAL_MS) };
}

const CLOCK_NEAR_MS = 10_000;
const CLOCK_FAR_MS = 600_000;

function drawClock(random: SeededRandom): number {
  const most = random.chance(0.6) ? CLOCK_NEAR_MS : CLOCK_FAR_MS;
  return (random.next() * 2 - 1) * most;
}
