import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Aws, Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import {
  AwsLogDriverMode,
  Capability,
  Cluster,
  type ContainerDefinition,
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  LinuxParameters,
  LogDriver,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { DataTable, Grantee } from './data-table.ts';
import { ENGINE_PORT, type EngineNetwork } from './engine-network.ts';
import type { ForgeAuthority } from './forge-authority.ts';
import type { Monitoring } from './monitoring.ts';
import type { StoredSecret, StoredSecrets } from './stored-secrets.ts';

export interface EngineSize {
  /** CPU of a task, in 1,024ths of a virtual CPU. */
  readonly cpu: number;
  readonly memoryMb: number;
  readonly tasks: number;
}

export interface EngineServiceProps {
  readonly network: EngineNetwork;
  readonly table: DataTable;
  readonly monitoring: Monitoring;
  readonly secrets: StoredSecrets;
  readonly bundlesDir: string;
  /** @default built from the engine's bundle at deploy time */
  readonly image: string | undefined;
  /** Size of one task, and the number of tasks while the engine is up. */
  readonly size: EngineSize;
  readonly forgeAllowHosts: string;
  readonly ownHosts: string;
  readonly authority: ForgeAuthority;
  readonly confirmBounce: 'always' | 'adaptive';
  readonly queueMetrics: boolean;
  readonly logLevel: string;
  readonly logRetentionDays: number;
}

/** User and group `node` of the image, which is not root. */
const NODE_USER = '1000:1000';
/** AWS, "Private registry authentication in Amazon ECR": address of an image, by digest or tag. */
const PRIVATE_IMAGE =
  /^(?<account>\d{12})\.dkr\.ecr\.(?<region>[a-z0-9-]+)\.amazonaws\.com\/(?<name>[a-z0-9._/-]+)(?:@(?=sha256:)|:)(?<version>[\w.:-]+)$/;
/** How long a reconcile in progress may go on before its task is stopped; Fargate allows at most 120 s. */
const STOP_TIMEOUT = Duration.seconds(60);

/** Alarms that the queue raises by name (engine-container/src/queue). */
const QUEUE_ALARMS = [
  ['TreeMismatch', 'tree_mismatch', 'unproven'],
  ['UnverifiedLanding', 'unverified_landing', 'unproven'],
  ['ForeignStatusWriter', 'foreign_status_writer', 'page'],
  ['SuccessStands', 'success_stands', 'page'],
  ['RecordTooLarge', 'record_too_large', 'page'],
  // Troubles of one tenant, who is told in the dashboard.
  ['BaseRed', 'base_red', 'ticket'],
  ['GatePhaseAge', 'gate_phase_age', 'ticket'],
] as const;
/** Size of the buffer of log lines. What does not fit is lost, because the engine does not wait for its log. */
const LOG_BUFFER = Size.mebibytes(25);
/** Percent of CPU or memory beyond which the engine answers late; a larger size is set in the file of the stage. */
const USED_UP_PERCENT = 90;

const HEALTH_SCRIPT =
  "fetch('http://127.0.0.1:'+process.env.PORT+'/healthz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))";

/** The engine container on Fargate, its secret, and the rights to find and to call it. */
export class EngineService extends Construct implements Grantee {
  readonly secret: StoredSecret;
  readonly service: FargateService;
  readonly #task: FargateTaskDefinition;
  readonly #container: ContainerDefinition;
  readonly #logGroup: LogGroup;
  readonly #tasks: number;

  constructor(scope: Construct, id: string, props: EngineServiceProps) {
    super(scope, id);
    this.secret = props.secrets.make(this, 'Stamp', {
      name: 'engine-secret',
      description: 'Signs X-Container-Auth between worker and engine',
      length: 64,
      retain: false,
      oldId: 'ContainerSecret',
    });
    this.#task = new FargateTaskDefinition(this, 'Task', {
      cpu: props.size.cpu,
      memoryLimitMiB: props.size.memoryMb,
      runtimePlatform: {
        cpuArchitecture: CpuArchitecture.ARM64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
    });
    this.#logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.#container = this.#addContainer(props);
    props.table.grant(this, 'engine');
    this.#tasks = props.size.tasks;
    this.service = this.#addService(props.network);
    this.#addAlarms(props.monitoring);
  }

  setEnv(key: string, value: string): void {
    this.#container.addEnvironment(key, value);
  }

  allow(statement: PolicyStatement): void {
    this.#task.addToTaskRolePolicy(statement);
  }

  /** Lets a function sign calls and tells it where the engine is. The network decides whether they arrive. */
  grantCall(caller: Grantee): void {
    this.grantProbe(caller);
    this.grantStamp(caller);
  }

  /** Lets a function sign and verify stamps, without telling it where the engine is. */
  grantStamp(grantee: Grantee): void {
    this.secret.grantRead(grantee, 'CONTAINER_SECRET_ID');
  }

  /** Lets a function see whether the engine sleeps, and wake it or put it to sleep: two calls, on this one service. */
  grantPower(grantee: Grantee): void {
    grantee.setEnv('ENGINE_CLUSTER', this.service.cluster.clusterName);
    grantee.setEnv('ENGINE_SERVICE', this.service.serviceName);
    grantee.setEnv('ENGINE_TASKS', String(this.#tasks));
    grantee.allow(
      new PolicyStatement({
        actions: ['ecs:DescribeServices', 'ecs:UpdateService'],
        resources: [this.service.serviceArn],
      }),
    );
  }

  /** Lets a function find the tasks of the engine: enough for its health check, which needs no stamp. */
  grantProbe(caller: Grantee): void {
    const { clusterArn, clusterName } = this.service.cluster;
    caller.setEnv('ENGINE_PORT', String(ENGINE_PORT));
    // AWS, "Identity-based policy examples for Amazon ECS", list tasks: any resource, under the condition of the cluster.
    caller.allow(
      new PolicyStatement({
        actions: ['ecs:ListTasks'],
        resources: ['*'],
        conditions: { ArnEquals: { 'ecs:cluster': clusterArn } },
      }),
    );
    caller.allow(
      new PolicyStatement({
        actions: ['ecs:DescribeTasks'],
        resources: [`arn:${Aws.PARTITION}:ecs:${Aws.REGION}:${Aws.ACCOUNT_ID}:task/${clusterName}/*`],
      }),
    );
  }

  #addContainer(props: EngineServiceProps): ContainerDefinition {
    const linuxParameters = new LinuxParameters(this, 'Linux', {});
    linuxParameters.dropCapabilities(Capability.ALL);
    return this.#task.addContainer('Engine', {
      image: this.#chooseImage(props),
      user: NODE_USER,
      readonlyRootFilesystem: true,
      linuxParameters,
      stopTimeout: STOP_TIMEOUT,
      portMappings: [{ containerPort: ENGINE_PORT }],
      environment: {
        PORT: String(ENGINE_PORT),
        LISTEN_HOST: '0.0.0.0',
        LOG_LEVEL: props.logLevel,
        FORGE_ALLOW_HOSTS: props.forgeAllowHosts,
        FORGE_DENY_HOSTS: props.ownHosts,
        ...('FORGE_CA_PEM' in props.authority.forContainer ? {} : { FORGE_CA_PEM: '' }),
        CONFIRM_BOUNCE: props.confirmBounce,
        METRICS_DEPLOYMENT: props.queueMetrics ? Stack.of(this).stackName : '',
        AWS_REGION: Aws.REGION,
      },
      secrets: { CONTAINER_SECRET: this.secret.forContainer, ...props.authority.forContainer },
      healthCheck: {
        command: ['CMD', 'node', '-e', HEALTH_SCRIPT],
        interval: Duration.seconds(15),
        timeout: Duration.seconds(5),
        startPeriod: Duration.seconds(10),
        retries: 3,
      },
      logging: LogDriver.awsLogs({
        streamPrefix: 'engine',
        logGroup: this.#logGroup,
        // A log that cannot be sent must not hold up a reconcile; the default is one of the account.
        mode: AwsLogDriverMode.NON_BLOCKING,
        maxBufferSize: LOG_BUFFER,
      }),
    });
  }

  #chooseImage(props: EngineServiceProps): ContainerImage {
    if (props.image !== undefined) return this.#nameImage(props.image);
    const directory = join(props.bundlesDir, 'engine');
    if (!existsSync(join(directory, 'index.mjs'))) {
      throw new Error(`${directory}/index.mjs does not exist: run \`npm run build\` first`);
    }
    return ContainerImage.fromAsset(directory, { platform: Platform.LINUX_ARM64 });
  }

  /** The container image. One in ECR is private, so the task gets the right to pull from that one repository. */
  #nameImage(image: string): ContainerImage {
    const found = PRIVATE_IMAGE.exec(image)?.groups;
    if (found === undefined) return ContainerImage.fromRegistry(image);
    const { account, region, name = '', version = '' } = found;
    const repositoryArn = `arn:${Aws.PARTITION}:ecr:${region}:${account}:repository/${name}`;
    const attributes = { repositoryArn, repositoryName: name };
    const repository = Repository.fromRepositoryAttributes(this, 'Images', attributes);
    return ContainerImage.fromEcrRepository(repository, version);
  }

  #addService(network: EngineNetwork): FargateService {
    const cluster = new Cluster(this, 'Cluster', {
      vpc: network.vpc,
      containerInsightsV2: ContainerInsights.DISABLED,
    });
    const service = new FargateService(this, 'Service', {
      cluster: cluster as ICluster,
      taskDefinition: this.#task,
      // No desired count: it is made with one task, and from then on the tick and the worker decide (grantPower).
      // Two tasks may overlap during a deployment: leases and fences decide who acts, not the number of tasks.
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      assignPublicIp: network.givesAddresses,
      vpcSubnets: network.engineSubnets,
      securityGroups: [network.engineSecurityGroup],
      enableExecuteCommand: false,
    });
    // A first task without them fails; and a gateway is not detached while a task has an address.
    service.node.addDependency(...network.waysOutOfEngine, this.#task.obtainExecutionRole());
    return service;
  }

  /** Events that only the engine sees, told by fixed words in its log (A120). */
  #addAlarms(monitoring: Monitoring): void {
    for (const [name, word, alarm] of QUEUE_ALARMS) {
      const where = { message: 'queue alarm', alarm: word };
      monitoring.addLine(this, name, { logGroup: this.#logGroup, where, alarm, threshold: 1 });
    }
    monitoring.addLine(this, 'RecordLost', {
      logGroup: this.#logGroup,
      where: { message: 'queue record unreadable, set aside' },
      alarm: 'ticket',
      threshold: 1,
    });
    const period = Duration.minutes(5);
    monitoring.addAlarm(this, 'EngineCpuAlarm', {
      metric: this.service.metricCpuUtilization({ period, statistic: 'Average' }),
      threshold: USED_UP_PERCENT,
      periods: 3,
      severity: 'ticket',
      meaning: 'The engine has no CPU left: reconciles take longer than they should.',
    });
    monitoring.addAlarm(this, 'EngineMemoryAlarm', {
      metric: this.service.metricMemoryUtilization({ period, statistic: 'Maximum' }),
      threshold: USED_UP_PERCENT,
      periods: 3,
      severity: 'ticket',
      meaning: 'The engine is about to run out of memory, and would be stopped.',
    });
  }
}
