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
import { Construct } from 'constructs';

export const ENGINE_PORT = 8080;

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
      gatewayEndpoints: { Table: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
    });
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
}
