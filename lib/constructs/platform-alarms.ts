import { Aws, CfnCondition, Duration, Fn } from 'aws-cdk-lib';
import { type CfnAlarm, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { GSI1, GSI2 } from '../../core/contracts/internal/table.ts';
import { WORKERS_MAX } from '../../core/domain/limits.ts';
import { accountThrottles, type Monitoring } from './monitoring.ts';

const PERIOD = Duration.minutes(5);

interface Platform {
  readonly tableName: string;
  readonly distributionId: string;
  readonly workersMax: number;
}

/**
 * Up to so many workers the indexes need no alarm. A partition of an index is throttled beyond 1,000 writes a second
 * (AWS, "DynamoDB burst and adaptive capacity"); the default number of workers writes some hundred, and each metric in
 * an alarm has its price.
 */
const WORKERS_BELOW_INDEX_LIMIT = WORKERS_MAX;

/** Alarms on what the service stands on: concurrency of functions, the table, the edge. */
export function watchPlatform(
  monitoring: Monitoring,
  { tableName, distributionId, workersMax }: Platform,
): void {
  monitoring.addAlarm(monitoring, 'ThrottledAlarm', {
    metric: accountThrottles(),
    threshold: 10,
    periods: 2,
    severity: 'ticket',
    meaning: 'Functions are throttled: the account has too little concurrency.',
  });
  watchTable(monitoring, tableName, workersMax > WORKERS_BELOW_INDEX_LIMIT ? [GSI1.name, GSI2.name] : []);
  watchEdge(monitoring, distributionId);
}

/**
 * The service throttles a table beyond the quota of the account, or a partition beyond what one takes. Alarms on metrics of
 * AWS/DynamoDB ignore missing data whatever they are told, so the expression has to give the quiet periods a value.
 */
function watchTable(monitoring: Monitoring, tableName: string, indexes: readonly string[]): void {
  const count = (metricName: string, index: string | null): Metric =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      statistic: 'Sum',
      period: PERIOD,
      // Without the index it counts what the table refuses, and nothing of its indexes.
      dimensionsMap: { TableName: tableName, ...(index === null ? {} : { GlobalSecondaryIndexName: index }) },
    });
  const counts = Object.fromEntries(
    [null, ...indexes].flatMap((index) => [
      [`reads${index ?? ''}`, count('ReadThrottleEvents', index)],
      [`writes${index ?? ''}`, count('WriteThrottleEvents', index)],
    ]),
  );
  monitoring.addAlarm(monitoring, 'TableThrottledAlarm', {
    metric: new MathExpression({
      expression: Object.keys(counts)
        .map((id) => `FILL(${id}, 0)`)
        .join(' + '),
      usingMetrics: counts,
      period: PERIOD,
    }),
    threshold: 10,
    periods: 2,
    severity: 'ticket',
    meaning: 'The table refuses reads or writes: reconciles and requests are tried again, and slow.',
  });
}

/** The metrics of a distribution are in us-east-1 alone, and an alarm sees its own region only. */
function watchEdge(monitoring: Monitoring, distributionId: string): void {
  const alarm = monitoring.addAlarm(monitoring, 'EdgeErrorsAlarm', {
    metric: new Metric({
      namespace: 'AWS/CloudFront',
      metricName: '5xxErrorRate',
      statistic: 'Average',
      period: PERIOD,
      dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    }),
    threshold: 5,
    periods: 3,
    severity: 'ticket',
    isShown: false,
    meaning: 'At least 5 percent of the requests at the edge end in a 5xx.',
  });
  const isHere = new CfnCondition(monitoring, 'SeesTheEdge', {
    expression: Fn.conditionEquals(Aws.REGION, 'us-east-1'),
  });
  (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = isHere;
}
