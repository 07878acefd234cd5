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
