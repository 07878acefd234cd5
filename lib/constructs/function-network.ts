import type { IVpc, SecurityGroup, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { IDependable } from 'constructs';

/** Where a function must be to reach the engine. */
export interface FunctionNetwork {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly securityGroup: SecurityGroup;
  /** IPv6 is the only way out. */
  readonly isDualStack: boolean;
  /** Beside the routes of the subnets. */
  readonly waysOut: readonly IDependable[];
}
