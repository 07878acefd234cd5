import { QUEUE_METRICS, type QueueMetric } from '../../domain/queue/queue-metrics.ts';
import type { Meter } from '../../ports/system.ts';

export interface EmfMeterOptions {
  /** Name of the deployment, a dimension of every metric, so that two deployments of one account share none. */
  readonly deployment: string;
  /** Writes a finished line. @default stdout */
  readonly write?: (line: string) => void;
  /** Wall clock in epoch ms. @default Date.now */
  readonly now?: () => number;
}

const NAMESPACE = 'Mergeyard';
/** Values that one line may have of one metric. */
const VALUES_MAX = 100;

/**
 * Writes figures in the embedded metric format, of which CloudWatch Logs makes metrics: one JSON object is the whole line, each
 * dimension and metric that `_aws` names is a member of its root, and a metric has a number or up to 100 of them
 * (AWS, "Specification: Embedded metric format"). The log driver hands lines on as they are, and no header is needed
 * (AWS, "Using the PutLogEvents API to send manually-created embedded metric format logs").
 */
export function createEmfMeter(options: EmfMeterOptions): Meter {
  const write = options.write ?? ((line: string) => process.stdout.write(`${line}\n`));
  const now = options.now ?? Date.now;
  return {
    measure(size, figures) {
      const given = (Object.entries(figures) as [QueueMetric, readonly number[]][]).filter(
        ([, values]) => values.length > 0,
      );
      if (given.length === 0) return;
      const Metrics = given.map(([Name]) => ({ Name, Unit: QUEUE_METRICS[Name] }));
      const directive = { Namespace: NAMESPACE, Dimensions: [['Deployment', 'RepoSize']], Metrics };
      write(
        JSON.stringify({
          _aws: { Timestamp: now(), CloudWatchMetrics: [directive] },
          message: 'figures',
          Deployment: options.deployment,
          RepoSize: size,
          ...Object.fromEntries(given.map(([name, values]) => [name, values.slice(0, VALUES_MAX)])),
        }),
      );
    },
  };
}
