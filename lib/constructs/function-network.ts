import type { IVpc, SecurityGroup, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { IDependable } from 'constructs';

/** Network, subnets and security group of a function that calls the engine. */
export interface FunctionNetwork {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly securityGroup: SecurityGroup;
  /** Whether IPv6 is the only way out. */
  readonly isDualStack: boolean;
  /** Ways out beside the routes of the subnets; the function is made after them. */
  readonly waysOut: readonly IDependable[];
}
