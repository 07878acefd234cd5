import { Aws, CfnCondition, Duration, Fn } from 'aws-cdk-lib';
import { type CfnAlarm, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { accountThrottles, type Monitoring } from './monitoring.ts';

const PERIOD = Duration.minutes(5);

interface Platform {
  readonly tableName: string;
  readonly distributionId: string;
}

/** Alarms on what the service stands on: concurrency of functions, the table, the edge. */
export function watchPlatform(monitoring: Monitoring, { tableName, distributionId }: Platform): void {
  monitoring.addAlarm(monitoring, 'ThrottledAlarm', {
    metric: accountThrottles(),
    threshold: 10,
    periods: 2,
    severity: 'ticket',
    meaning: 'Functions are throttled: the account has too little concurrency.',
  });
  watchTable(monitoring, tableName);
  watchEdge(monitoring, distributionId);
}

/**
 * The service throttles a table beyond its highest units, or a partition beyond what one takes. Alarms on metrics of
 * AWS/DynamoDB ignore missing data whatever they are told, so the expression has to give the quiet periods a value.
 */
function watchTable(monitoring: Monitoring, tableName: string): void {
  const count = (metricName: string): Metric =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      statistic: 'Sum',
      period: PERIOD,
      dimensionsMap: { TableName: tableName },
    });
  monitoring.addAlarm(monitoring, 'TableThrottledAlarm', {
    metric: new MathExpression({
      expression: 'FILL(reads, 0) + FILL(writes, 0)',
      usingMetrics: { reads: count('ReadThrottleEvents'), writes: count('WriteThrottleEvents') },
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
    meaning: 'More than 5 percent of the requests at the edge end in a 5xx.',
  });
  const isHere = new CfnCondition(monitoring, 'SeesTheEdge', {
    expression: Fn.conditionEquals(Aws.REGION, 'us-east-1'),
  });
  (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = isHere;
}
