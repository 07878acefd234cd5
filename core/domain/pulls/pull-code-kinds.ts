/** The party whose turn it is. `none`: the queue goes on by itself, or it is over. */
export const TURNS = ['author', 'reviewer', 'operator', 'forge', 'ci', 'none'] as const;
export type Turn = (typeof TURNS)[number];

/** `exit`: it is out of the queue, or stays out until a person acts. `wait`: the queue looks again by itself. */
export interface PullCode {
  readonly is: 'exit' | 'wait';
  readonly turn: Turn;
  /** The change itself is the cause. */
  readonly fault: boolean;
  /** The words of the commit status, at most 140 characters, where one is written for it. */
  readonly says: string;
  /** The next step. */
  readonly next: string;
}

export const wait = (turn: Turn, says: string, next: string, fault = false): PullCode => ({
  is: 'wait',
  turn,
  fault,
  says,
  next,
});
export const exit = (turn: Turn, says: string, next: string, fault = false): PullCode => ({
  is: 'exit',
  turn,
  fault,
  says,
  next,
});

export const BY_ITSELF = 'Nothing: the queue goes on by itself.';
export const APPROVE = 'Let a reviewer whose approval the branch rule counts approve exactly this head.';

/** The buttons of a pull request, as both forges show them in English. */
export const AUTO_MERGE = '"Auto merge when all checks succeed"';
export const CANCEL = '"Cancel auto merge"';
export const SCHEDULE = `Press ${AUTO_MERGE} on the forge when it is to land.`;
export const SCHEDULE_AGAIN = `press ${CANCEL} on the forge and then ${AUTO_MERGE}`;
export const RETRY_WORKFLOW = `Push a repair of the workflow, or ${SCHEDULE_AGAIN}.`;
export const scheduleBy = (person: string): string =>
  `Press ${CANCEL} on the forge; then let ${person} press ${AUTO_MERGE}.`;
