import { Aws } from 'aws-cdk-lib';
import {
  GatewayVpcEndpointAwsService,
  IpProtocol,
  type IVpc,
  Port,
  SecurityGroup,
  type SubnetSelection,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct, type IDependable } from 'constructs';
import type { ServiceFunction } from './service-function.ts';

export const ENGINE_PORT = 8080;

/**
 * Names of AWS that answer over IPv6, the only way out of the worker's subnets: AWS lists each as dual-stack in its general
 * reference (KMS, ECS, Lambda, SQS and Systems Manager under `api.aws`).
 * DynamoDB must keep its ordinary name, because the gateway endpoint serves that over IPv4.
 */
const DUAL_STACK_NAMES = { KMS: 'kms', SQS: 'sqs', ECS: 'ecs', LAMBDA: 'lambda', SSM: 'ssm' } as const;

/**
 * Two zones, dual stack, no NAT gateway: the engine has public addresses but one open door, for the worker; the worker
 * has none and reaches AWS over IPv6. The table is reached through its gateway endpoint, which costs nothing.
 */
export class EngineNetwork extends Construct {
  readonly vpc: IVpc;
  readonly workerSecurityGroup: SecurityGroup;
  readonly engineSecurityGroup: SecurityGroup;
  readonly workerSubnets: SubnetSelection = { subnetType: SubnetType.PRIVATE_WITH_EGRESS };
  readonly engineSubnets: SubnetSelection = { subnetType: SubnetType.PUBLIC };
  readonly #tableEndpoint: IDependable;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const vpc = new Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: 0,
      ipProtocol: IpProtocol.DUAL_STACK,
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        // Addresses come from the task's own setting; nothing else is ever placed here.
        { name: 'engine', subnetType: SubnetType.PUBLIC, mapPublicIpOnLaunch: false },
        { name: 'worker', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      ],
    });
    this.#tableEndpoint = vpc.addGatewayEndpoint('Table', { service: GatewayVpcEndpointAwsService.DYNAMODB });
    // The library's own class misses its interface only under exactOptionalPropertyTypes; likewise in engine-service.ts.
    this.vpc = vpc as IVpc;
    this.workerSecurityGroup = new SecurityGroup(this, 'WorkerGroup', {
      vpc: this.vpc,
      description: 'Worker functions: no ingress',
      allowAllIpv6Outbound: true,
    });
    this.engineSecurityGroup = new SecurityGroup(this, 'EngineGroup', {
      vpc: this.vpc,
      description: 'Engine tasks: ingress from the worker only',
      allowAllIpv6Outbound: true,
    });
    this.engineSecurityGroup.addIngressRule(
      this.workerSecurityGroup,
      Port.tcp(ENGINE_PORT),
      'POST /internal/reconcile from the worker',
    );
  }

  /** Ways out of the engine's subnets: a task that starts before them finds neither its image nor the table. */
  get waysOutOfEngine(): readonly IDependable[] {
    return [this.vpc.selectSubnets(this.engineSubnets).internetConnectivityEstablished, this.#tableEndpoint];
  }

  /** Where a function must be to reach the engine. */
  get forWorkers(): Pick<EngineNetwork, 'vpc'> & {
    readonly waysOut: readonly IDependable[];
    readonly subnets: SubnetSelection;
    readonly securityGroup: SecurityGroup;
  } {
    return {
      ...{ vpc: this.vpc, subnets: this.workerSubnets, securityGroup: this.workerSecurityGroup },
      waysOut: [this.#tableEndpoint],
    };
  }

  /** Names under which a function in this network finds the services that it calls. */
  nameServices(fn: ServiceFunction, ...services: readonly (keyof typeof DUAL_STACK_NAMES)[]): void {
    for (const service of services) {
      fn.setEnv(`AWS_ENDPOINT_URL_${service}`, `https://${DUAL_STACK_NAMES[service]}.${Aws.REGION}.api.aws`);
    }
  }
}
