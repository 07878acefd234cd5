import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import type { ServiceStack } from './service-stack.ts';

export interface Acknowledgement {
  /** Construct path below the stack; everything under it is covered. */
  readonly at: string;
  readonly rule: string;
  readonly reason: string;
  /** The construct is not in every deployment. */
  readonly optional?: boolean;
}

/** Every rule of AwsSolutions that is not followed, as close to its resource as it can be said, with the reason. */
const ACKNOWLEDGEMENTS: readonly Acknowledgement[] = [
  {
    at: 'Network/Vpc',
    rule: 'VPC7',
    reason: 'Flow logs cost more than this network; the engine has one open port, to one security group.',
    optional: true,
  },
  {
    at: 'Engine/ContainerSecret',
    rule: 'SMG4',
    reason: 'Leaves the stack with the next deployment: its value has moved to a parameter.',
    optional: true,
  },
  {
    at: 'Engine/Task',
    rule: 'ECS2',
    reason: 'Plain settings only; the one secret is injected from its parameter.',
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
  ...['Worker/Role', 'ContainerHealth/Role'].map((at) => ({
    at,
    rule: 'IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/<EngineCluster71676A77>/*]',
    reason: 'Ids of tasks are not known before; they are those of this one cluster.',
  })),
  {
    at: 'AdminKey/Secret',
    rule: 'SMG4',
    reason: 'Leaves the stack with the next deployment: its value has moved to a parameter.',
    optional: true,
  },
  {
    at: 'Payments',
    rule: 'SMG4',
    reason: 'Leave the stack with the next deployment: their values have moved to parameters.',
  },
  {
    at: 'ContainerHealth/Role',
    rule: 'IAM5[Resource::*]',
    reason: 'As for the worker: it looks at the engine from inside the network.',
  },
  ...['IdleLook/Role', 'Connections/Role', 'ForgeOps/Role'].map((at) => ({
    at,
    rule: 'IAM5[Resource::*]',
    reason: 'As for the worker, in a network of the operator’s, where it reaches private forges.',
  })),
  {
    at: 'Notifications/Notify/Role',
    rule: 'IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:configuration-set/*]',
    reason:
      'Which one the identity of the sender has is known to the operator alone; the sender is one address.',
  },
  {
    at: 'Realtime/LogRole',
    rule: 'IAM5[Resource::*]',
    reason: 'The account-wide role of the gateway: it is refused unless it can write to any log group.',
  },
  ...['POST', 'DELETE'].map((method) => ({
    at: 'Realtime/Push/Role',
    rule: `IAM5[Resource::arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<RealtimeApi3CD9A4BB>/ws/${method}/@connections/*]`,
    reason: 'Ids of sockets are not known before; they are those of this one API and stage.',
  })),
  {
    at: 'Realtime',
    rule: 'APIG4',
    reason: 'The ticket is redeemed by the connect function: a cached authorizer would accept it twice.',
  },
  {
    at: 'Edge/Distribution',
    rule: 'CFR1',
    reason: 'Forges and people may be anywhere.',
  },
  {
    at: 'Edge/Distribution',
    rule: 'CFR2',
    reason: 'Rules cost more than an idle deployment: -c waf=true makes them, -c webAclArn takes others.',
  },
  {
    at: 'Edge/Distribution',
    rule: 'CFR3',
    reason: 'Its log would hold the query string, and with it tickets; both APIs log without it.',
  },
  {
    at: 'Edge/Distribution',
    rule: 'CFR4',
    reason: 'The certificate of *.cloudfront.net allows no other setting; with -c domainName it is TLS 1.2.',
  },
  {
    at: 'Identity/Users',
    rule: 'COG8',
    reason: 'Threat protection is paid per user; sessions are verified with the pool on each use.',
    optional: true,
  },
  {
    at: 'Identity/Users',
    rule: 'COG2',
    reason: 'A second factor is each person’s choice; requiring one is a setting of the pool.',
    optional: true,
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
  acknowledgeRules(stack);
}

/** Says of each rule that is not followed in this deployment why. Throws where the construct of one is not there. */
export function acknowledgeRules(stack: ServiceStack): void {
  for (const { at, rule, reason, optional } of ACKNOWLEDGEMENTS) {
    const construct = at
      .split('/')
      .reduce<IConstruct | undefined>((parent, id) => parent?.node.tryFindChild(id), stack);
    if (construct === undefined && optional === true) continue;
    if (construct === undefined) throw new Error(`nag.ts acknowledges ${at}, which is not in the stack`);
    Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
  }
}
