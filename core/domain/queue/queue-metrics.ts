/** Sizes of repositories, by the open pull requests that the queue knows of at the end of a reconcile: at most so many. */
const OPEN_PULLS_MAX = { small: 10, medium: 100, large: Number.POSITIVE_INFINITY } as const;
export type RepoSize = keyof typeof OPEN_PULLS_MAX;
export const REPO_SIZES = ['small', 'medium', 'large'] as const satisfies readonly RepoSize[];

/** Everything that is measured of a reconcile. Units are those of CloudWatch. */
export const QUEUE_METRICS = {
  TimeToLand: 'Seconds',
  QueueDepth: 'Count',
  GateRuns: 'Count',
  Bounces: 'Count',
  ForgeCalls: 'Count',
} as const;
export type QueueMetric = keyof typeof QUEUE_METRICS;

/** Figures of one reconcile; a metric without a value is left out. */
export type QueueFigures = Readonly<Partial<Record<QueueMetric, readonly number[]>>>;

export function sizeOfRepo(openPulls: number): RepoSize {
  return REPO_SIZES.find((size) => openPulls <= OPEN_PULLS_MAX[size]) ?? 'large';
}
