import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Aws, Duration, Fn, RemovalPolicy } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import {
  Cluster,
  type ContainerDefinition,
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  Secret as EcsSecret,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  LogDriver,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { DnsRecordType, PrivateDnsNamespace } from 'aws-cdk-lib/aws-servicediscovery';
import { Construct } from 'constructs';
import type { DataTable, Grantee } from './data-table.ts';
import { ENGINE_PORT, type EngineNetwork } from './engine-network.ts';
import type { Monitoring } from './monitoring.ts';

export interface EngineServiceProps {
  readonly network: EngineNetwork;
  readonly table: DataTable;
  readonly monitoring: Monitoring;
  readonly bundlesDir: string;
  /** @default built from the engine's bundle at deploy time */
  readonly image: string | undefined;
  readonly forgeAllowHosts: string;
  readonly forgeCaPem: string;
  readonly logLevel: string;
  readonly logRetentionDays: number;
}

/** `node` of the image: not root. */
const NODE_USER = '1000:1000';
/** A reconcile in progress may end before its task is stopped; Fargate allows at most 120 s. */
const STOP_TIMEOUT = Duration.seconds(60);
const SERVICE_NAME = 'engine';
const NAMESPACE = 'mergeyard.internal';

const HEALTH_SCRIPT =
  "fetch('http://127.0.0.1:'+process.env.PORT+'/healthz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))";

/** The engine container on Fargate behind a private name, its secret, and the right to call it. */
export class EngineService extends Construct implements Grantee {
  readonly secret: Secret;
  readonly service: FargateService;
  readonly #task: FargateTaskDefinition;
  readonly #container: ContainerDefinition;

  constructor(scope: Construct, id: string, props: EngineServiceProps) {
    super(scope, id);
    this.secret = new Secret(this, 'ContainerSecret', {
      description: 'Signs X-Container-Auth between worker and engine',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.#task = new FargateTaskDefinition(this, 'Task', {
      cpu: 256,
      memoryLimitMiB: 512,
      runtimePlatform: {
        cpuArchitecture: CpuArchitecture.ARM64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
    });
    this.#container = this.#addContainer(props);
    props.table.grantReadWrite(this);
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
    caller.setEnv('CONTAINER_SECRET_ID', this.secret.secretArn);
    // As with KMS: inside the VPC only a name with an IPv6 address can be reached.
    caller.setEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', `https://secretsmanager.${Aws.REGION}.api.aws`);
    caller.allow(
      new PolicyStatement({
        actions: ['secretsmanager:GetSecretValue'],
        resources: [this.secret.secretArn],
      }),
    );
  }

  /** Tells where the engine is: enough for its health check, which needs no stamp. */
  grantProbe(caller: Grantee): void {
    const cloudMap = this.service.cloudMapService;
    if (cloudMap === undefined) throw new Error('the engine service has no private name');
    caller.setEnv(
      'ENGINE_URL',
      Fn.join('', [
        'http://',
        cloudMap.serviceName,
        '.',
        cloudMap.namespace.namespaceName,
        `:${ENGINE_PORT}`,
      ]),
    );
  }

  #addContainer(props: EngineServiceProps): ContainerDefinition {
    return this.#task.addContainer('Engine', {
      image: this.#chooseImage(props),
      user: NODE_USER,
      readonlyRootFilesystem: true,
      stopTimeout: STOP_TIMEOUT,
      portMappings: [{ containerPort: ENGINE_PORT }],
      environment: {
        PORT: String(ENGINE_PORT),
        LISTEN_HOST: '0.0.0.0',
        LOG_LEVEL: props.logLevel,
        FORGE_ALLOW_HOSTS: props.forgeAllowHosts,
        FORGE_CA_PEM: props.forgeCaPem,
        AWS_REGION: Aws.REGION,
      },
      secrets: { CONTAINER_SECRET: EcsSecret.fromSecretsManager(this.secret as ISecret) },
      healthCheck: {
        command: ['CMD', 'node', '-e', HEALTH_SCRIPT],
        interval: Duration.seconds(15),
        timeout: Duration.seconds(5),
        startPeriod: Duration.seconds(10),
        retries: 3,
      },
      logging: LogDriver.awsLogs({
        streamPrefix: 'engine',
        logGroup: new LogGroup(this, 'Logs', {
          retention: props.logRetentionDays,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      }),
    });
  }

  #chooseImage(props: EngineServiceProps): ContainerImage {
    if (props.image !== undefined) return ContainerImage.fromRegistry(props.image);
    const directory = join(props.bundlesDir, 'engine');
    if (!existsSync(join(directory, 'index.mjs'))) {
      throw new Error(`${directory}/index.mjs does not exist: run \`npm run build\` first`);
    }
    return ContainerImage.fromAsset(directory, { platform: Platform.LINUX_ARM64 });
  }

  #addService(network: EngineNetwork): FargateService {
    const cluster = new Cluster(this, 'Cluster', {
      vpc: network.vpc,
      containerInsightsV2: ContainerInsights.DISABLED,
    });
    const namespace = new PrivateDnsNamespace(this, 'Namespace', { name: NAMESPACE, vpc: network.vpc });
    return new FargateService(this, 'Service', {
      cluster: cluster as ICluster,
      taskDefinition: this.#task,
      desiredCount: 1,
      // Two tasks may overlap during a deployment: leases and fences decide who acts, not the number of tasks.
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      assignPublicIp: true,
      vpcSubnets: network.engineSubnets,
      securityGroups: [network.engineSecurityGroup],
      enableExecuteCommand: false,
      cloudMapOptions: {
        name: SERVICE_NAME,
        cloudMapNamespace: namespace,
        dnsRecordType: DnsRecordType.A,
        dnsTtl: Duration.seconds(5),
      },
    });
  }

  #addAlarms(monitoring: Monitoring): void {
    monitoring.addAlarm(this, 'EngineDownAlarm', {
      metric: new Metric({
        namespace: 'AWS/ECS',
        metricName: 'CPUUtilization',
        statistic: 'SampleCount',
        period: Duration.minutes(5),
        dimensionsMap: {
          ClusterName: this.service.cluster.clusterName,
          ServiceName: this.service.serviceName,
        },
      }),
      severity: 'page',
      meaning: 'No engine task runs: nothing is staged or landed.',
      isHeartbeat: true,
    });
  }
}
