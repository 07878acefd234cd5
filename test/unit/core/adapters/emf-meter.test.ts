import { readFileSync } from 'node:fs';
import { createEmfMeter } from '#core/adapters/cloudwatch/emf-meter.ts';
import { QUEUE_METRICS, type QueueFigures, sizeOfRepo } from '#core/domain/queue/queue-metrics.ts';

function writtenFor(figures: QueueFigures): Record<string, unknown>[] {
  const lines: string[] = [];
  const meter = createEmfMeter({
    deployment: 'Mergeyard-dev',
    write: (line) => lines.push(line),
    now: () => 1_000,
  });
  meter.measure('small', figures);
  return lines.map((line) => JSON.parse(line));
}

/**
 * The rules of "Specification: Embedded metric format"
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
 */
test('a line is what CloudWatch makes metrics of: every name that it declares is a member of its root', () => {
  const [line] = writtenFor({ TimeToLand: [61.5, 70], QueueDepth: [3], Bounces: [] });
  expect(line).toEqual({
    _aws: {
      Timestamp: 1_000,
      CloudWatchMetrics: [
        {
          Namespace: 'Mergeyard',
          Dimensions: [['Deployment', 'RepoSize']],
          Metrics: [
            { Name: 'TimeToLand', Unit: 'Seconds' },
            { Name: 'QueueDepth', Unit: 'Count' },
          ],
        },
      ],
    },
    message: 'figures',
    Deployment: 'Mergeyard-dev',
    RepoSize: 'small',
    TimeToLand: [61.5, 70],
    QueueDepth: [3],
  });
});

test('a metric has at most 100 values in one line, and a line without any is not written', () => {
  const [line] = writtenFor({ TimeToLand: Array.from({ length: 101 }, (_, index) => index) });
  expect(line?.TimeToLand).toHaveLength(100);
  expect(writtenFor({ Bounces: [] })).toEqual([]);
});

test('units are those that CloudWatch knows', () => {
  for (const unit of Object.values(QUEUE_METRICS)) expect(['Seconds', 'Count']).toContain(unit);
});

test('the table of metrics in the operator’s document is that of the code', () => {
  const rows = readFileSync('docs/operate.md', 'utf8').matchAll(/^\| (\w+) +\| (Seconds|Count) +\|/gm);
  expect(Object.fromEntries([...rows].map(([, name, unit]) => [name, unit]))).toEqual(QUEUE_METRICS);
});

test.each([
  [0, 'small'],
  [10, 'small'],
  [11, 'medium'],
  [100, 'medium'],
  [101, 'large'],
])('a repository with %i open pull requests is %s', (openPulls, size) => {
  expect(sizeOfRepo(openPulls)).toBe(size);
});
