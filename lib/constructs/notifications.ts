import { Aws, CfnOutput, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { NOTICE_NOT_DELIVERED } from '../../core/contracts/realtime.ts';
import { NotifyEnv } from '../../lambdas/notify/env.ts';
import type { MailConfig } from '../stage-config.ts';
import type { DataTable } from './data-table.ts';
import type { Monitoring } from './monitoring.ts';
import { type FunctionDefaults, ServiceFunction } from './service-function.ts';

export interface NotificationsProps {
  readonly defaults: FunctionDefaults;
  readonly table: DataTable;
  readonly monitoring: Monitoring;
  readonly mail: MailConfig;
  readonly publicUrl: string;
}

/** Several bounces at once, each with three seconds for its ways. */
const NOTIFY_TIMEOUT = Duration.seconds(30);
/** A notice of an hour ago is no news: the author has seen the pull request since. */
const NOTICE_AGE_MAX = Duration.hours(1);

/** Announces bounces and failed invoices, from the table's changes, beside the queue and never in its way (A83). */
export class Notifications extends Construct {
  constructor(scope: Construct, id: string, props: NotificationsProps) {
    super(scope, id);
    const { defaults, table, monitoring, mail } = props;
    const notify = new ServiceFunction(this, 'Notify', {
      ...{ defaults, bundle: 'notify', env: NotifyEnv, memoryMb: 256, timeout: NOTIFY_TIMEOUT },
    });
    table.grantRows(notify, ['GetItem', 'BatchGetItem', 'Query'], ['tenant', 'batches', 'events', 'repo']);
    table.grantRows(notify, ['PutItem', 'ConditionCheckItem'], ['repo']);
    table.grantRows(notify, ['DeleteItem'], ['notices']);
    const deadNotices = new Queue(this, 'DeadNotices', {
      enforceSSL: true,
      encryption: QueueEncryption.SQS_MANAGED,
      retentionPeriod: Duration.days(14),
    });
    notify.allow(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [deadNotices.queueArn] }));
    table.deliverChanges(notify, {
      partitions: ['events', 'notices'],
      kinds: ['INSERT'],
      ...{ batchSize: 10, window: Duration.seconds(0), retries: 5, maxAge: NOTICE_AGE_MAX },
      ...{ reportsFailures: true, deadLetters: deadNotices },
    });
    notify.setEnv('PUBLIC_URL', props.publicUrl);
    this.#allowMail(notify, mail);
    monitoring.addLogAlarm(notify, 'NoticesFailedAlarm', {
      logGroup: notify.logGroup,
      where: { message: NOTICE_NOT_DELIVERED },
      threshold: 10,
      severity: 'ticket',
      meaning: 'Notifications do not reach their mailbox or chat.',
    });
    monitoring.addDeadLetterAlarm(
      notify,
      'DeadNoticesAlarm',
      deadNotices,
      'Changes were given up before a notice of them was sent.',
    );
  }

  #allowMail(notify: ServiceFunction, { from, apiUrl }: MailConfig): void {
    notify.setEnv('NOTIFICATION_FROM', from ?? '');
    notify.setEnv('EMAIL_API_URL', apiUrl ?? '');
    const key = from === undefined || apiUrl === undefined ? null : this.#makeKey();
    notify.setEnv('EMAIL_API_KEY_SECRET_ID', key?.secretArn ?? '');
    if (key !== null) {
      notify.allow(
        new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [key.secretArn] }),
      );
    } else if (from !== undefined) this.#allowSes(notify, from);
  }

  /** Made with random text in it, which the provider refuses until an operator stores the real key. */
  #makeKey(): Secret {
    const description = 'EMAIL_API_KEY: key of the mail provider';
    const secret = new Secret(this, 'EmailApiKey', {
      description,
      generateSecretString: { passwordLength: 32, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new CfnOutput(this, 'EmailApiKeyArn', { value: secret.secretArn, description }).overrideLogicalId(
      'EmailApiKeyArn',
    );
    return secret;
  }

  /** The identity may be the address or its domain; the condition leaves only our one sender. */
  #allowSes(notify: ServiceFunction, from: string): void {
    const domain = from.slice(from.lastIndexOf('@') + 1);
    const arn = (identity: string): string =>
      `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:identity/${identity}`;
    notify.allow(
      new PolicyStatement({
        actions: ['ses:SendEmail'],
        resources: [arn(from), arn(domain)],
        conditions: { StringEquals: { 'ses:FromAddress': from } },
      }),
    );
  }
}
