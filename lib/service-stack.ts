import { CfnOutput, Duration, Stack, type StackProps, Tags } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { IdleLookEnv } from '../core/contracts/internal/env.ts';
import { LOOK_TIMEOUT_MS } from '../core/domain/limits.ts';
import { TickEnv } from '../lambdas/tick/env.ts';
import { WakeForwardEnv } from '../lambdas/wake/env.ts';
import { WorkerEnv } from '../lambdas/worker/env.ts';
import { AdminKey } from './constructs/admin-key.ts';
import { ApiSurface } from './constructs/api-surface.ts';
import { CredentialKey } from './constructs/credential-key.ts';
import { DashboardSite } from './constructs/dashboard-site.ts';
import { DataTable } from './constructs/data-table.ts';
import { EngineNetwork } from './constructs/engine-network.ts';
import { EngineService } from './constructs/engine-service.ts';
import { EvidenceKey } from './constructs/evidence-key.ts';
import { ForgeAuthority } from './constructs/forge-authority.ts';
import { IdentityProvider } from './constructs/identity-provider.ts';
import { Monitoring } from './constructs/monitoring.ts';
import { Notifications } from './constructs/notifications.ts';
import { watchPlatform } from './constructs/platform-alarms.ts';
import { PublicEdge } from './constructs/public-edge.ts';
import { RealtimeSurface } from './constructs/realtime-surface.ts';
import { watchReconciles } from './constructs/reconcile-alarms.ts';
import { type FunctionDefaults, ServiceFunction } from './constructs/service-function.ts';
import { SpendingLimit } from './constructs/spending-limit.ts';
import { StoredSecrets } from './constructs/stored-secrets.ts';
import { TickSchedule } from './constructs/tick-schedule.ts';
import { WakeQueue } from './constructs/wake-queue.ts';
import { WebAcl } from './constructs/web-acl.ts';
import { DEPLOYED_OUTPUT, describeDeployment } from './deployed.ts';
import { createHttpFunctions, mayReachForges, watchHttpFunctions, wayToForges } from './http-functions.ts';
import { addOutputs } from './outputs.ts';
import type { StageConfig } from './stage-config.ts';

export interface ServiceStackProps extends StackProps {
  readonly config: StageConfig;
  /** Folder with one folder per bundle, made by `buildBundles`. */
  readonly bundlesDir: string;
  /**
   * Whether no resource of the stack is deployed yet. Resources that refuse to be deleted would keep a failed first
   * deployment from being rolled back and run again, so the refusals come with the second.
   * @default false
   */
  readonly isFirst?: boolean;
  /** Whether the secrets are still in Secrets Manager and move to parameters with this deployment. @default false */
  readonly movesSecrets?: boolean;
  /** Whether the deployed user pool takes `Ada@…` and `ada@…` for two people. @default false */
  readonly tellsCapitalsApart?: boolean;
}

/**
 * Time-out of the worker: longer than a look, the engine's budget and its last forge call, shorter than a lease
 * (limits.ts).
 */
const WORKER_TIMEOUT = Duration.seconds(60);
const FORWARD_TIMEOUT = Duration.seconds(10);

/** The whole service. Every resource, grant and environment key belongs to a construct; here they only meet. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props: ServiceStackProps) {
    const { config, bundlesDir, isFirst = false, movesSecrets = false, ...others } = props;
    const { tellsCapitalsApart = false, ...stackProps } = others;
    const refusesDeletion = config.retainData && !isFirst;
    super(scope, id, {
      description: 'Mergeyard: a batch merge queue for Forgejo and Gitea',
      terminationProtection: refusesDeletion,
      ...stackProps,
    });
    const monitoring = new Monitoring(this, 'Monitoring', {
      email: config.alarmEmail,
      runbook: config.runbookUrl,
    });
    const table = new DataTable(this, 'Data', { retain: config.retainData, refusesDeletion });
    const defaults: FunctionDefaults = {
      bundlesDir,
      logLevel: config.logLevel,
      logRetentionDays: config.logRetentionDays,
      planLimits: config.planLimits,
    };
    const secrets = new StoredSecrets(this, 'Secrets', { defaults, moves: movesSecrets });
    const credentialKey = new CredentialKey(this, 'Credentials', {
      retain: config.retainData,
      version: config.keyVersion,
      oldestVersion: config.oldestKeyVersion,
      legacy: config.legacyCredentials,
      secrets,
    });
    const network = new EngineNetwork(this, 'Network', config.network);
    const authority = new ForgeAuthority(this, 'ForgeAuthority', { pem: config.forgeCaPem });
    const engine = new EngineService(this, 'Engine', {
      network,
      table,
      monitoring,
      secrets,
      bundlesDir,
      image: config.engineImage,
      size: config.engineSize,
      forgeAllowHosts: config.forgeAllowHosts,
      ownHosts: config.ownHosts,
      authority,
      confirmBounce: config.confirmBounce,
      queueMetrics: config.queueMetrics,
      logLevel: config.logLevel,
      logRetentionDays: config.logRetentionDays,
    });
    const queue = new WakeQueue(this, 'Queue', {
      monitoring,
      forwardTimeout: FORWARD_TIMEOUT,
      workersMax: config.workersMax,
    });
    const worker = this.#addWorker(defaults, {
      config,
      table,
      credentialKey,
      network,
      engine,
      queue,
      monitoring,
      authority,
    });
    const tick = this.#addTick(defaults, { config, table, queue, engine, monitoring });
    watchReconciles(monitoring, worker);
    const api = new ApiSurface(this, 'Http', { monitoring, logRetentionDays: config.logRetentionDays });
    const edge = new PublicEdge(this, 'Edge', {
      apiHost: api.host,
      domain: config.domain,
      webAclArn: config.waf ? new WebAcl(this, 'Waf').arn : config.webAclArn,
    });
    const publicUrl = config.publicUrl ?? edge.url;
    engine.setEnv('PUBLIC_URL', publicUrl);
    const identity = new IdentityProvider(this, 'Identity', {
      url: config.identityUrl,
      apiKey: config.identityApiKey,
      sharedSecret: config.identitySharedSecret,
      signUp: config.signUp,
      retain: config.retainData,
      refusesDeletion,
      tellsCapitalsApart,
      adminEmail: config.adminEmail,
      publicUrl,
    });
    const adminKey = new AdminKey(this, 'AdminKey', { secrets, retain: config.retainData });
    const edgeStamp = config.publicUrl === undefined ? edge.stamp : '';
    // Rules at the edge are worth what it is worth to go past them.
    const requiredStamp = config.waf || config.webAclArn !== undefined ? edgeStamp : '';
    const evidenceKey = config.evidenceKey
      ? new EvidenceKey(this, 'EvidenceKey', { retain: config.retainData })
      : null;
    const surfaces = createHttpFunctions(this, defaults, {
      config,
      table,
      identity,
      credentialKey,
      network,
      engine,
      queue,
      publicUrl,
      adminKey,
      evidenceKey,
      secrets,
      authority,
      edgeStamp,
      requiredStamp,
    });
    const site = new DashboardSite(this, 'Dashboard', {
      defaults,
      identity,
      requiredStamp,
      sendsMail: config.mail.from !== undefined,
    });
    api.addRoutes(surfaces, site.fn);
    mayInvoke(worker, 'SET_UP_FUNCTION', surfaces['forge-ops']);
    const realtime = new RealtimeSurface(this, 'Realtime', {
      defaults,
      table,
      identity,
      monitoring,
      publicUrl,
      edgeStamp,
      requiredStamp,
      rateFactor: config.rateFactor,
      logRetentionDays: config.logRetentionDays,
    });
    new Notifications(this, 'Notifications', {
      defaults,
      table,
      monitoring,
      credentialKey,
      publicUrl,
      mail: config.mail,
      secrets,
      retain: config.retainData,
      deadLetters: queue.deadLetters,
    });
    edge.addApi(realtime);
    if (config.monthlyBudgetUsd !== undefined && config.alarmEmail !== undefined) {
      new SpendingLimit(this, 'Spending', {
        monthlyUsd: config.monthlyBudgetUsd,
        email: config.alarmEmail,
      });
    }
    watchHttpFunctions(monitoring, surfaces);
    watchPlatform(monitoring, {
      tableName: table.table.tableName,
      distributionId: edge.distribution.distributionId,
      workersMax: config.workersMax,
    });
    monitoring.watchLines();
    monitoring.drawDashboard({ queue, worker: worker.fn, tick: tick.fn, api: api.api });
    addOutputs(this, {
      publicUrl,
      api,
      edge,
      realtime,
      table,
      queue,
      engine,
      identity,
      credentialKey,
      adminKey,
      monitoring,
    });
    new CfnOutput(this, DEPLOYED_OUTPUT, {
      value: JSON.stringify(describeDeployment(config, tellsCapitalsApart)),
      description: 'What the next deployment must not lose; npm run deploy keeps it in config/',
    });
    Tags.of(this).add('service', 'mergeyard');
    Tags.of(this).add('stage', config.stage);
    Tags.of(this).add('deployment', this.stackName);
    if (config.owner !== undefined) Tags.of(this).add('owner', config.owner);
  }

  #addWorker(
    defaults: FunctionDefaults,
    parts: {
      config: StageConfig;
      table: DataTable;
      credentialKey: CredentialKey;
      network: EngineNetwork;
      authority: ForgeAuthority;
      engine: EngineService;
      queue: WakeQueue;
      monitoring: Monitoring;
    },
  ): ServiceFunction {
    const { table, queue, engine, network } = parts;
    const worker = new ServiceFunction(this, 'Worker', {
      defaults,
      bundle: 'worker',
      env: WorkerEnv,
      memoryMb: 256,
      timeout: WORKER_TIMEOUT,
      network: network.forWorkers,
      leadsToItself: true,
    });
    worker.setEnv('QUEUE_NAME', parts.config.serviceName);
    this.#addIdleLook(defaults, parts, worker);
    table.grant(worker, 'worker');
    parts.credentialKey.grantOpen(worker);
    engine.grantCall(worker);
    engine.grantPower(worker);
    network.nameServices(worker, 'KMS', 'SQS', 'ECS', 'LAMBDA', 'SSM');
    queue.grantSend(worker);
    queue.grantSendDelayed(worker);
    queue.deliverWakesTo(worker);
    const forward = new ServiceFunction(this, 'WakeForward', {
      defaults,
      bundle: 'wake-forward',
      env: WakeForwardEnv,
      memoryMb: 256,
      timeout: FORWARD_TIMEOUT,
      leadsToItself: true,
    });
    table.grant(forward, 'wake-forward');
    queue.grantSend(forward);
    queue.deliverDelayedTo(forward);
    return worker;
  }

  /**
   * Adds the function of idle looks. It is outside the network of the stack, because only there is IPv4, and many
   * forges have nothing else. It has no right to anything but certificates.
   */
  #addIdleLook(
    defaults: FunctionDefaults,
    {
      config,
      network,
      authority,
    }: { config: StageConfig; network: EngineNetwork; authority: ForgeAuthority },
    caller: ServiceFunction,
  ): void {
    const look = new ServiceFunction(this, 'IdleLook', {
      defaults,
      bundle: 'idle-look',
      env: IdleLookEnv,
      memoryMb: 256,
      timeout: Duration.millis(LOOK_TIMEOUT_MS),
      network: wayToForges(network, config),
    });
    mayReachForges(look, config, authority);
    mayInvoke(caller, 'IDLE_LOOK_FUNCTION', look);
  }

  #addTick(
    defaults: FunctionDefaults,
    parts: {
      config: StageConfig;
      table: DataTable;
      queue: WakeQueue;
      engine: EngineService;
      monitoring: Monitoring;
    },
  ): ServiceFunction {
    const tick = new ServiceFunction(this, 'Tick', {
      defaults,
      bundle: 'tick',
      env: TickEnv,
      memoryMb: parts.config.tickMemoryMb,
      // Longer than TICK_SENDS_MS and what comes before and after the sends.
      timeout: Duration.seconds(120),
    });
    parts.table.grant(tick, 'tick');
    parts.queue.grantSend(tick);
    parts.engine.grantPower(tick);
    parts.queue.grantTakeDead(tick);
    const { monitoring, queue } = parts;
    new TickSchedule(this, 'Schedule', { tick, monitoring, deadLetters: queue.deadLetters });
    return tick;
  }
}

function mayInvoke(caller: ServiceFunction, key: string, { fn }: ServiceFunction): void {
  caller.setEnv(key, fn.functionName);
  caller.allow(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [fn.functionArn] }));
}
