import { Aws, Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { NOTICE_NOT_DELIVERED } from '../../core/contracts/realtime/realtime.ts';
import { NotifyEnv } from '../../lambdas/notify/env.ts';
import type { MailConfig } from '../stage-config.ts';
import type { CredentialKey } from './credential-key.ts';
import type { DataTable } from './data-table.ts';
import type { Monitoring } from './monitoring.ts';
import { type FunctionDefaults, ServiceFunction } from './service-function.ts';
import type { StoredSecrets } from './stored-secrets.ts';

export interface NotificationsProps {
  readonly defaults: FunctionDefaults;
  readonly table: DataTable;
  readonly credentialKey: CredentialKey;
  readonly monitoring: Monitoring;
  readonly mail: MailConfig;
  /** Whether the key of the mail provider survives every update and `cdk destroy`: an operator has stored it. */
  readonly retain: boolean;
  readonly secrets: StoredSecrets;
  readonly publicUrl: string;
  readonly deadLetters: IQueue;
}

/** Time-out of the function: several bounces, each with three seconds for its ways. */
const NOTIFY_TIMEOUT = Duration.seconds(30);
/** Deliveries at the same time, at most 10 for Lambda: a tenant whose receivers hang holds each delivery for seconds. */
const DELIVERIES_AT_ONCE = 10;
/** Age of the stream that raises the alarm: longer than a burst takes, and a tenth of `NOTICE_AGE_MAX`. */
const STREAM_AGE_MAX = Duration.minutes(6);
/** Age beyond which a change is not announced: by then the author has seen the pull request. */
const NOTICE_AGE_MAX = Duration.hours(1);

/** Announces bounces and failed invoices, from the table's changes, beside the queue and never in its way (A83). */
export class Notifications extends Construct {
  constructor(scope: Construct, id: string, props: NotificationsProps) {
    super(scope, id);
    const { defaults, table, monitoring } = props;
    const notify = new ServiceFunction(this, 'Notify', {
      defaults,
      bundle: 'notify',
      env: NotifyEnv,
      memoryMb: 256,
      timeout: NOTIFY_TIMEOUT,
    });
    table.grant(notify, 'notify');
    props.credentialKey.grantOpenText(notify, ['chat-url']);
    notify.allow(
      new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [props.deadLetters.queueArn] }),
    );
    table.deliverChanges(notify, {
      partitions: ['events', 'notices'],
      kinds: ['INSERT'],
      batchSize: 10,
      atOnce: DELIVERIES_AT_ONCE,
      window: Duration.seconds(0),
      retries: 5,
      maxAge: NOTICE_AGE_MAX,
      reportsFailures: true,
      deadLetters: props.deadLetters,
    });
    notify.setEnv('PUBLIC_URL', props.publicUrl);
    this.#allowMail(notify, props);
    monitoring.addLine(notify, 'NoticesFailed', {
      logGroup: notify.logGroup,
      where: { message: NOTICE_NOT_DELIVERED },
      threshold: 10,
      alarm: 'ticket',
    });
    monitoring.addAlarm(notify, 'StreamAgeAlarm', {
      metric: notify.fn.metric('IteratorAge', { period: Duration.minutes(5), statistic: 'Maximum' }),
      threshold: STREAM_AGE_MAX.toMilliseconds(),
      periods: 2,
      severity: 'ticket',
      meaning: 'Notices are told late: the changes of the table wait for the function that reads them.',
    });
  }

  #allowMail(notify: ServiceFunction, props: NotificationsProps): void {
    const { from, apiUrl } = props.mail;
    notify.setEnv('NOTIFICATION_FROM', from ?? '');
    notify.setEnv('EMAIL_API_URL', apiUrl ?? '');
    if (from !== undefined && apiUrl !== undefined) this.#allowProvider(notify, props);
    else {
      notify.setEnv('EMAIL_API_KEY_SECRET_ID', '');
      if (from !== undefined) this.#allowSes(notify, from);
    }
  }

  /**
   * Lets the function send through the mail provider. The secret holds random text, which the provider refuses, until
   * an operator stores the real key.
   */
  #allowProvider(notify: ServiceFunction, { secrets, retain }: NotificationsProps): void {
    const description = 'EMAIL_API_KEY: key of the mail provider';
    const key = secrets.make(this, 'MailKey', {
      name: 'email-api-key',
      description,
      length: 32,
      retain,
      oldId: 'EmailApiKey',
    });
    key.grantRead(notify, 'EMAIL_API_KEY_SECRET_ID');
    key.output('EmailApiKeyArn', description);
  }

  /**
   * Lets the function send from one address. The identity in SES may be that address or its domain, so a condition
   * leaves only the address. A configuration set that the operator has given the identity is used by each mail and
   * needs a right as well (https://docs.aws.amazon.com/ses/latest/dg/managing-configuration-sets.html).
   */
  #allowSes(notify: ServiceFunction, from: string): void {
    const domain = from.slice(from.lastIndexOf('@') + 1);
    const arn = (path: string): string => `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:${path}`;
    notify.allow(
      new PolicyStatement({
        actions: ['ses:SendEmail'],
        resources: [arn(`identity/${from}`), arn(`identity/${domain}`), arn('configuration-set/*')],
        conditions: { StringEquals: { 'ses:FromAddress': from } },
      }),
    );
  }
}
