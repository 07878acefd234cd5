/** Chance of each trouble, per call or per occasion; times in ms. */
export interface Odds {
  callFails: number;
  callLate: number;
  storeFails: number;
  slowCall: number;
  /** Share of patches that outlast the time of a call; the forge makes the commit all the same. */
  slowPatches: number;
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
  /** Entries that the first reading of a timeline comes to; 0: all. */
  timelineRows: number;
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
  slowPatches: 0,
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
  timelineRows: 0,
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

/** A machine whose clock is far off. */
export const SKEW_EXTREME_MS = 60_000;
