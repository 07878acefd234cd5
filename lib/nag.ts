import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import type { ServiceStack } from './service-stack.ts';

export interface Acknowledgement {
  /** Construct path below the stack; everything under it is covered. */
  readonly at: string;
  readonly rule: string;
  readonly reason: string;
}

/** Every rule of AwsSolutions that is not followed, as close to its resource as it can be said, with the reason. */
export const ACKNOWLEDGEMENTS: readonly Acknowledgement[] = [
  {
    at: 'Network/Vpc',
    rule: 'VPC7',
    reason: 'Flow logs cost more than this network; the engine has one open port, to one security group.',
  },
  {
    at: 'Engine/ContainerSecret',
    rule: 'SMG4',
    reason: 'Both ends must change together: it is rotated by replacing it and deploying the engine.',
  },
  {
    at: 'Engine/Task',
    rule: 'ECS2',
    reason: 'Plain settings only; the one secret is injected from Secrets Manager.',
  },
  {
    at: 'Engine/Task/ExecutionRole',
    rule: 'IAM5[Resource::*]',
    reason: 'ecr:GetAuthorizationToken knows no resource.',
  },
  {
    at: 'Engine/Cluster',
    rule: 'ECS4',
    reason: 'Container insights cost more than the task that they watch; alarms and logs cover it.',
  },
  {
    at: 'Worker/Role',
    rule: 'IAM5[Resource::*]',
    reason:
      'Network interfaces of a function do not exist before; the function code is denied these actions.',
  },
  {
    at: 'Schedule/MissedTicks',
    rule: 'SQS3',
    reason: 'It is a dead-letter queue, of a rule target, which the check does not see.',
  },
  {
    at: 'Http',
    rule: 'APIG4',
    reason:
      'Signatures, sessions and keys are verified in the handlers: an authorizer cannot answer with the error envelope.',
  },
];

export function addNagChecks(app: App, stack: ServiceStack): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const { at, rule, reason } of ACKNOWLEDGEMENTS) {
    const construct = at.split('/').reduce<IConstruct>((parent, id) => parent.node.findChild(id), stack);
    Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
  }
}
