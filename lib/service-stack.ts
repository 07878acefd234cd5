import { CfnOutput, Duration, Stack, type StackProps, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { TickEnv } from '../lambdas/tick/env.ts';
import { WakeForwardEnv } from '../lambdas/wake/env.ts';
import { WorkerDlqEnv, WorkerEnv } from '../lambdas/worker/env.ts';
import { ApiSurface } from './constructs/api-surface.ts';
import { CredentialKey } from './constructs/credential-key.ts';
import { DataTable } from './constructs/data-table.ts';
import { EngineNetwork } from './constructs/engine-network.ts';
import { EngineService } from './constructs/engine-service.ts';
import { Monitoring } from './constructs/monitoring.ts';
import { type FunctionDefaults, ServiceFunction } from './constructs/service-function.ts';
import { TickSchedule } from './constructs/tick-schedule.ts';
import { WakeQueue } from './constructs/wake-queue.ts';
import { createHttpFunctions, type HttpFunctionParts } from './http-functions.ts';
import type { StageConfig } from './stage-config.ts';

export interface ServiceStackProps extends StackProps {
  readonly config: StageConfig;
  /** Folder with one folder per bundle, made by `buildBundles`. */
  readonly bundlesDir: string;
}

/** Longer than the engine's budget and its last forge call, shorter than a lease (limits.ts). */
const WORKER_TIMEOUT = Duration.seconds(60);
const FORWARD_TIMEOUT = Duration.seconds(10);

/** The whole service. Every resource, grant and environment key belongs to a construct; here they only meet. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    super(scope, id, {
      description: 'Mergeyard: a batch merge queue for Forgejo and Gitea',
      terminationProtection: props.config.retainData,
      ...props,
    });
    const { config } = props;
    const monitoring = new Monitoring(this, 'Monitoring', { email: config.alarmEmail });
    const table = new DataTable(this, 'Data', { retain: config.retainData });
    const credentialKey = new CredentialKey(this, 'Credentials', { retain: config.retainData });
    const network = new EngineNetwork(this, 'Network');
    const engine = new EngineService(this, 'Engine', {
      network,
      table,
      monitoring,
      bundlesDir: props.bundlesDir,
      image: config.engineImage,
      forgeAllowHosts: config.forgeAllowHosts,
      forgeCaPem: config.forgeCaPem,
      logLevel: config.logLevel,
      logRetentionDays: config.logRetentionDays,
    });
    const queue = new WakeQueue(this, 'Queue', {
      monitoring,
      workerTimeout: WORKER_TIMEOUT,
      forwardTimeout: FORWARD_TIMEOUT,
    });
    const defaults: FunctionDefaults = {
      bundlesDir: props.bundlesDir,
      logLevel: config.logLevel,
      logRetentionDays: config.logRetentionDays,
    };
    this.#addWorker(defaults, { config, table, credentialKey, network, engine, queue, monitoring });
    this.#addTick(defaults, { table, queue, monitoring });
    const api = this.#addApi(defaults, {
      ...{ config, table, credentialKey, network, engine, queue, monitoring },
    });
    this.#addOutputs({ api, table, queue, engine });
    Tags.of(this).add('service', 'mergeyard');
    Tags.of(this).add('stage', config.stage);
  }

  #addWorker(
    defaults: FunctionDefaults,
    parts: {
      config: StageConfig;
      table: DataTable;
      credentialKey: CredentialKey;
      network: EngineNetwork;
      engine: EngineService;
      queue: WakeQueue;
      monitoring: Monitoring;
    },
  ): void {
    const { table, queue, engine, network } = parts;
    const worker = new ServiceFunction(this, 'Worker', {
      defaults,
      bundle: 'worker',
      env: WorkerEnv,
      memoryMb: 256,
      timeout: WORKER_TIMEOUT,
      network: {
        vpc: network.vpc,
        subnets: network.workerSubnets,
        securityGroup: network.workerSecurityGroup,
      },
    });
    worker.setEnv('QUEUE_NAME', parts.config.serviceName);
    table.grantReadWrite(worker);
    parts.credentialKey.grantOpen(worker);
    engine.grantCall(worker);
    queue.grantSend(worker);
    queue.grantSendDelayed(worker);
    queue.deliverWakesTo(worker);
    parts.monitoring.addAlarm(worker, 'WorkerFailedAlarm', {
      metric: worker.fn.metricErrors({ period: Duration.minutes(5), statistic: 'Sum' }),
      periods: 2,
      severity: 'page',
      meaning: 'The worker fails: repositories are not reconciled.',
    });

    const dlq = new ServiceFunction(this, 'WorkerDlq', {
      defaults,
      bundle: 'worker-dlq',
      env: WorkerDlqEnv,
      memoryMb: 256,
      timeout: FORWARD_TIMEOUT,
    });
    table.grantReadWrite(dlq);
    queue.deliverDeadWakesTo(dlq);
    parts.monitoring.addAlarm(dlq, 'DeadWakesSeenAlarm', {
      metric: dlq.fn.metricInvocations({ period: Duration.minutes(5), statistic: 'Sum' }),
      severity: 'ticket',
      meaning: 'A wake failed five times and was written off; the tick wakes the repository again.',
    });

    const forward = new ServiceFunction(this, 'WakeForward', {
      defaults,
      bundle: 'wake-forward',
      env: WakeForwardEnv,
      memoryMb: 256,
      timeout: FORWARD_TIMEOUT,
    });
    table.grantReadWrite(forward);
    queue.grantSend(forward);
    queue.deliverDelayedTo(forward);
  }

  #addTick(
    defaults: FunctionDefaults,
    parts: { table: DataTable; queue: WakeQueue; monitoring: Monitoring },
  ): void {
    const tick = new ServiceFunction(this, 'Tick', {
      defaults,
      bundle: 'tick',
      env: TickEnv,
      memoryMb: 256,
      // A thousand due repos are two thousand small calls.
      timeout: Duration.seconds(120),
    });
    parts.table.grantReadWrite(tick);
    parts.queue.grantSend(tick);
    new TickSchedule(this, 'Schedule', { tick, monitoring: parts.monitoring });
  }

  #addApi(
    defaults: FunctionDefaults,
    parts: HttpFunctionParts & { readonly monitoring: Monitoring },
  ): ApiSurface {
    const surfaces = createHttpFunctions(this, defaults, parts);
    const api = new ApiSurface(this, 'Http', {
      surfaces,
      monitoring: parts.monitoring,
      logRetentionDays: parts.config.logRetentionDays,
    });
    const publicUrl = parts.config.publicUrl ?? api.url;
    surfaces['forge-ops'].setEnv('WEBHOOK_URL', `${publicUrl}/api/v1/webhooks/forge`);
    return api;
  }

  #addOutputs(parts: { api: ApiSurface; table: DataTable; queue: WakeQueue; engine: EngineService }): void {
    const output = (name: string, value: string, description: string): void => {
      new CfnOutput(this, name, { value, description });
    };
    output('ApiUrl', parts.api.url, 'Base address of the API');
    output('ForgeWebhookUrl', `${parts.api.url}/api/v1/webhooks/forge`, 'Where forges send their events');
    output('TableName', parts.table.table.tableName, 'The single table');
    output('WakeQueueUrl', parts.queue.wakes.queueUrl, 'FIFO queue of wakes');
    output('EngineServiceName', parts.engine.service.serviceName, 'Fargate service of the engine');
  }
}
