/** One operating point of the reference; published with its figures as presets by number of slots. */
export interface ReferenceSettings {
  readonly slots: number;
  readonly depth: number;
  /** A batch of the pipeline passes at least this often. */
  readonly passChance: number;
  /** Nothing is built on what passes less often. */
  readonly aheadChance: number;
  readonly cuts: number;
  /** A batch beside the pipeline passes at least this often. */
  readonly trialChance: number;
  /** Below this chance strangers do not join those that passed already. */
  readonly mixChance: number;
  /** A failure is more likely than this a flake: the same again. */
  readonly rerunChance: number;
  /** Those that passed already start at once. */
  readonly rushes: boolean;
  /** Gate durations that a batch beside the pipeline waits to be full. */
  readonly trialWait: number;
}

export const REFERENCES: Readonly<Record<number, ReferenceSettings>> = {
  1: {
    slots: 1,
    depth: 1,
    passChance: 0.5,
    aheadChance: 0.5,
    cuts: 1,
    trialChance: 0.6,
    mixChance: 0.9,
    rerunChance: 0.4,
    rushes: true,
    trialWait: 0.25,
  },
  4: {
    slots: 4,
    depth: 1,
    passChance: 0.6,
    aheadChance: 0.5,
    cuts: 1,
    trialChance: 0.4,
    mixChance: 0,
    rerunChance: 0.4,
    rushes: false,
    trialWait: 0.1,
  },
  8: {
    slots: 8,
    depth: 3,
    passChance: 0.8,
    aheadChance: 0.35,
    cuts: 4,
    trialChance: 0.7,
    mixChance: 0,
    rerunChance: 0.6,
    rushes: false,
    trialWait: 1,
  },
  16: {
    slots: 16,
    depth: 16,
    passChance: 0.9,
    aheadChance: 0.5,
    cuts: 6,
    trialChance: 0.8,
    mixChance: 0.97,
    rerunChance: 0.8,
    rushes: true,
    trialWait: 0,
  },
};
