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
  /** Another account writes under the queue's context. */
  'foreign_status',
  /** Settings, payments and people strike just when a success stands and its merge does not come. */
  'interrupted',
  /** A repository with 200 runs behind it, none of which failed by itself: one failing run is enough for a bounce. */
  'steady',
  /** Readings are behind, each by its own time. */
  'lagging',
  /** One commit is the head of several pull requests, at once or one after the other, on one base or two. */
  'shared_heads',
  /** Gitea: merges right at scheduling, and from folders of its own. */
  'gitea',
  /** Files that both sides changed: of some the forge says that they conflict, and git merges them. */
  'other_merge',
  /** A call that its client has given up is carried out up to two minutes later. */
  'long_late',
  /** One pull request makes the forge fail for ever. */
  'cursed',
  /** The forge's clock is seconds to minutes away from ours. */
  'clocks',
  /** People delete, rename and silence the gate, and title so that no run starts. */
  'gate_edits',
  /** People have branches and tags under the names of the queue. */
  'taken_names',
  /** A store that throttles, an engine that dies with all that it is at work on. */
  'outages',
  /** All of these at once. */
  'storm',
  /** Hundreds to thousands of open pull requests, and a row that takes no more than 400 KB, or less. */
  'crowd',
  /** Files that both sides changed: the forge makes another tree of some than git does. */
  'other_tree',
  /** A repository at rest is looked at without the engine, which is asked when there is something to do. */
  'at_rest',
  /** Another CI is the gate and posts statuses: late, twice, over what it said before, and strangers say the opposite. */
  'other_ci',
  /** Owners pause, drain and resume their queues at any time. */
  'pauses',
  /** The CI runs the gate on every branch, and a pass on a head with the staged tree counts. */
  'own_runs',
  /** People put labels of priorities on pull requests and take them off, some of whom are not named. */
  'priorities',
  /** One tenant has two branches of one repository enrolled: one forge, one hook, two records, shared heads. */
  'two_branches',
  /** Owners set freeze windows and take them away, and labels of named and other people exempt from them. */
  'freezes',
  /**
   * People take the required status of the queue out of the rule of the base, where its owner allowed repairs; gate runs
   * wait for a runner.
   */
  'drifts',
  /** Rules say who may schedule and how much; bots, authors and strangers schedule, again and again, whatever they say. */
  'rules',
  /** One account has more pull requests than all others together. */
  'one_author',
  /** What lands is carried to other branches, by labels that people put on, beside branches of theirs. */
  'backports',
  /** People archive the repository on the forge and take it out again, or rename its base and rename it back. */
  'archives',
] as const;
export type Family = (typeof FAMILIES)[number];

/** In these the queue can promise no more than that an unproven landing is seen. */
export const UNGUARDED: readonly Family[] = ['base_pushed', 'unchecked_head', 'foreign_status', 'other_tree'];

/** In these a gate run may fail by chance: two that do so one after the other look like a culprit. */
export const FLAKY: readonly Family[] = ['flaky', 'everything', 'storm'];

/** In these the forge calls conflicts what git merges. */
export const FORGE_REFUSES: readonly Family[] = ['other_merge'];

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
  /** Pauses, drains and resumptions per hour. */
  pausesPerHour: number;
  /** Changes of freeze windows per hour. */
  freezesPerHour: number;
  /** Edits of the rule of a base per hour. */
  driftsPerHour: number;
  /** Times per hour that the repository is archived, for a while. */
  archivesPerHour: number;
  /** Times per hour that the base has another name, for a while. */
  renamesPerHour: number;
  /** Labels that people put on or take off per hour. */
  labelsPerHour: number;
  /** Share of schedules that come from bots, authors and strangers; the settings have rules about them. */
  otherSchedulers: number;
  /** Share of pull requests of one account. */
  oneAuthor: number;
  /** Share of acts that put a label of a backport on, or get in the way of one. */
  backports: number;
  /** The queue record becomes unreadable, times per hour. */
  recordLostPerHour: number;
  /** Something comes between a success and its merge. */
  interrupt: number;
  flake: number;
  gateTrouble: number;
  gateNever: number;
  gateLate: number;
  /** A gate run waits for a runner. */
  runnerBusy: number;
  /** How many gate runs go on at once; 0: as many as there are. */
  runners: number;
  mergeLost: number;
  mergeSlow: number;
  skewMs: number;
  indexLagMs: number;
  /** Readings of the forge are behind by at most this. */
  lagMs: number;
  /** A given-up call is carried out later than usual by at most this. */
  lateMs: number;
  /** How far the forge's clock is ahead of the queue's; behind, when negative. */
  clockAheadMs: number;
  /** Shares of what people open or do. */
  sharedHeads: number;
  otherMerges: number;
  otherTrees: number;
  gateEdits: number;
  skipTitles: number;
  takenNames: number;
  /** More than 0: one pull request makes the forge fail. */
  curse: number;
  /** Share of what is opened that a rule or a dependency keeps from merging. */
  blocks: number;
  /** That a pull request changes the settings file. */
  settingsFiles: number;
  /** Times per hour: for a while the store refuses most calls; the engine dies with all that it is at work on. */
  throttlesPerHour: number;
  engineDiesPerHour: number;
  /** Times per hour: for a while the bot may not see the repository, which answers as if nothing in it were there. */
  hidesPerHour: number;
  /** Open pull requests beside those of the life. */
  crowd: number;
  /** Bytes that the row of a record takes while the life lasts; 0 = as many as the service's. */
  rowBytes: number;
  /** More than 0: repositories at rest are looked at without the engine. */
  idleLooks: number;
  /** More than 0: another CI posts statuses, and this share of how it may post is met. */
  otherCi: number;
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
  pausesPerHour: 0,
  freezesPerHour: 0,
  driftsPerHour: 0,
  archivesPerHour: 0,
  renamesPerHour: 0,
  labelsPerHour: 0,
  otherSchedulers: 0,
  recordLostPerHour: 0,
  interrupt: 0,
  flake: 0,
  gateTrouble: 0,
  gateNever: 0,
  gateLate: 0,
  runnerBusy: 0,
  runners: 0,
  mergeLost: 0,
  mergeSlow: 0,
  skewMs: 0,
  indexLagMs: 0,
  lagMs: 0,
  lateMs: 0,
  clockAheadMs: 0,
  sharedHeads: 0,
  otherMerges: 0,
  otherTrees: 0,
  gateEdits: 0,
  skipTitles: 0,
  takenNames: 0,
  curse: 0,
  blocks: 0,
  settingsFiles: 0,
  throttlesPerHour: 0,
  hidesPerHour: 0,
  engineDiesPerHour: 0,
  oneAuthor: 0,
  backports: 0,
  crowd: 0,
  rowBytes: 0,
  idleLooks: 0,
  otherCi: 0,
};

/** Most are small, because thousands take seconds to live through; a few are as large as the limits of the record. */
function drawCrowd(random: SeededRandom): Pick<Odds, 'crowd' | 'rowBytes'> {
  const kind = random.next();
  const crowd =
    kind < 0.04 ? 1_000 + random.int(3_000) : kind < 0.2 ? 100 + random.int(900) : 10 + random.int(90);
  return { crowd, rowBytes: random.chance(0.3) ? 2_000 + random.int(400 * crowd) : 0 };
}

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
      return { ...NO_ODDS, ...calls, ...merges, ...hooks, crash, peoplePerHour };
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
