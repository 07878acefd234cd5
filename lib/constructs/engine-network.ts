import { Aws } from 'aws-cdk-lib';
import {
  GatewayVpcEndpointAwsService,
  IpAddresses,
  IpProtocol,
  type IVpc,
  Port,
  SecurityGroup,
  type SubnetSelection,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct, type IDependable } from 'constructs';
import type { FunctionNetwork } from './function-network.ts';
import type { ServiceFunction } from './service-function.ts';

export const ENGINE_PORT = 8080;

/**
 * Names of AWS that answer over IPv6, the only way out of the worker's subnets: AWS lists each as dual-stack in its general
 * reference (KMS, ECS, Lambda, SQS and Systems Manager under `api.aws`).
 * DynamoDB must keep its ordinary name, because the gateway endpoint serves that over IPv4.
 */
const DUAL_STACK_NAMES = { KMS: 'kms', SQS: 'sqs', ECS: 'ecs', LAMBDA: 'lambda', SSM: 'ssm' } as const;

/** A network that the operator has: private subnets with a way to AWS and to the forges. */
export interface OwnNetwork {
  readonly vpcId: string;
  readonly subnetIds: readonly string[];
}

export interface EngineNetworkProps {
  /** @default the stack makes a network */
  readonly own: OwnNetwork | undefined;
  /** IPv4 block of the network that the stack makes. */
  readonly cidr: string;
  /**
   * The two availability zones of that network, by name.
   * @default the first two in which the account has default subnets
   */
  readonly zones: readonly string[] | undefined;
}

/**
 * Two zones, dual stack, no NAT gateway: the engine has public addresses but one open door, for the worker; the worker
 * has none and reaches AWS over IPv6. The table is reached through its gateway endpoint, which costs nothing. In a network of the
 * operator's nothing is made but security groups: its subnets have their ways out already.
 */
export class EngineNetwork extends Construct {
  readonly vpc: IVpc;
  readonly workerSecurityGroup: SecurityGroup;
  readonly engineSecurityGroup: SecurityGroup;
  readonly engineSubnets: SubnetSelection;
  /** Whether tasks reach forges by a public address of their own. */
  readonly givesAddresses: boolean;
  readonly #workerSubnets: SubnetSelection;
  readonly #tableEndpoints: readonly IDependable[];

  constructor(scope: Construct, id: string, props: EngineNetworkProps) {
    super(scope, id);
    this.givesAddresses = props.own === undefined;
    if (props.own === undefined) {
      const vpc = this.#makeVpc(props);
      // The library's own class misses its interface only under exactOptionalPropertyTypes; likewise in engine-service.ts.
      this.vpc = vpc as IVpc;
      this.engineSubnets = { subnetType: SubnetType.PUBLIC };
      this.#workerSubnets = { subnetType: SubnetType.PRIVATE_WITH_EGRESS };
      const endpoint = vpc.addGatewayEndpoint('Table', { service: GatewayVpcEndpointAwsService.DYNAMODB });
      this.#tableEndpoints = [endpoint];
    } else {
      const { vpcId, subnetIds } = props.own;
      // The library asks for a zone of each subnet, and names it nowhere.
      const availabilityZones = subnetIds.map((id) => `of ${id}`);
      this.vpc = Vpc.fromVpcAttributes(this, 'Own', {
        vpcId,
        availabilityZones,
        privateSubnetIds: [...subnetIds],
      });
      this.engineSubnets = { subnetType: SubnetType.PRIVATE_WITH_EGRESS };
      this.#workerSubnets = this.engineSubnets;
      this.#tableEndpoints = [];
    }
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
    return this.givesAddresses
      ? [this.vpc.selectSubnets(this.engineSubnets).internetConnectivityEstablished, ...this.#tableEndpoints]
      : [];
  }

  get forWorkers(): FunctionNetwork {
    return {
      vpc: this.vpc,
      subnets: this.#workerSubnets,
      securityGroup: this.workerSecurityGroup,
      isDualStack: this.givesAddresses,
      waysOut: this.#tableEndpoints,
    };
  }

  #makeVpc({ cidr, zones }: EngineNetworkProps): Vpc {
    return new Vpc(this, 'Vpc', {
      ...(zones === undefined ? { maxAzs: 2 } : { availabilityZones: [...zones] }),
      natGateways: 0,
      ipAddresses: IpAddresses.cidr(cidr),
      ipProtocol: IpProtocol.DUAL_STACK,
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        // Addresses come from the task's own setting; nothing else is ever placed here.
        { name: 'engine', subnetType: SubnetType.PUBLIC, mapPublicIpOnLaunch: false },
        { name: 'worker', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      ],
    });
  }

  /** Names under which a function in this network finds the services that it calls. */
  nameServices(fn: ServiceFunction, ...services: readonly (keyof typeof DUAL_STACK_NAMES)[]): void {
    // A network of the operator's may answer for the ordinary names itself, by interface endpoints.
    if (!this.givesAddresses) return;
    for (const service of services) {
      fn.setEnv(`AWS_ENDPOINT_URL_${service}`, `https://${DUAL_STACK_NAMES[service]}.${Aws.REGION}.api.aws`);
    }
  }
}
