import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Aws, type Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  RuntimeFamily,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { ZodObject } from 'zod';
import type { BundleName } from '../functions.ts';
import { DEPLOYED_NODE } from '../node-versions.ts';
import type { FunctionNetwork } from './function-network.ts';

/** Values that every function of one stack shares. */
export interface FunctionDefaults {
  /** Folder that holds one folder per bundle. */
  readonly bundlesDir: string;
  readonly logLevel: string;
  readonly logRetentionDays: number;
  /** Quotas and rights of plans, over the defaults; for the functions that ask for it. */
  readonly planLimits: string;
}

export interface ServiceFunctionProps {
  readonly defaults: FunctionDefaults;
  readonly bundle: BundleName;
  /** The keys that the surface's `env.ts` asks for; synth fails when the keys given differ. */
  readonly env: ZodObject;
  readonly memoryMb: number;
  readonly timeout: Duration;
  /** Network of a function that must reach the engine. @default outside any VPC */
  readonly network?: FunctionNetwork | undefined;
  /** @default unreserved */
  readonly reservedConcurrency?: number;
  /**
   * Whether wakes of this function lead back to it for as long as a repository waits. Without this Lambda stops such a
   * chain after about sixteen invocations (https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html).
   * @default false
   */
  readonly leadsToItself?: boolean;
}

/** Whether Node or the SDK reads this key, and not the surface's `env.ts`. */
function isRuntimeKey(key: string): boolean {
  return key === 'NODE_OPTIONS' || key.startsWith('AWS_');
}

/** One Lambda from one bundle: ARM64, own role without managed policies, own log group, checked environment. */
export class ServiceFunction extends Construct {
  readonly fn: LambdaFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;
  readonly timeout: Duration;
  readonly #envKeys = new Set<string>();

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    this.timeout = props.timeout;
    const directory = join(props.defaults.bundlesDir, props.bundle);
    if (!existsSync(join(directory, 'index.mjs'))) {
      throw new Error(`${directory}/index.mjs does not exist: run \`npm run build\` first`);
    }
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: props.defaults.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(this.role);
    if (props.network !== undefined) this.#allowNetworkInterfaces();
    this.fn = new LambdaFunction(this, 'Function', {
      code: Code.fromAsset(directory),
      handler: 'index.handler',
      runtime: new Runtime(`nodejs${DEPLOYED_NODE}.x`, RuntimeFamily.NODEJS),
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb,
      timeout: props.timeout,
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      ...(props.leadsToItself === true ? { recursiveLoop: RecursiveLoop.ALLOW } : {}),
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
      ...(props.network === undefined
        ? {}
        : {
            vpc: props.network.vpc,
            vpcSubnets: props.network.subnets,
            securityGroups: [props.network.securityGroup],
            ipv6AllowedForDualStack: props.network.isDualStack,
          }),
    });
    this.fn.node.addDependency(...(props.network?.waysOut ?? []));
    // An IPv4 attempt first would stall: a function inside the VPC has no IPv4 route to the internet.
    const resolution = props.network?.isDualStack === true ? ' --dns-result-order=ipv6first' : '';
    this.setEnv('NODE_OPTIONS', `--enable-source-maps${resolution}`);
    this.setEnv('LOG_LEVEL', props.defaults.logLevel);
    if ('PLAN_LIMITS' in props.env.shape) this.setEnv('PLAN_LIMITS', props.defaults.planLimits);
    this.node.addValidation({ validate: () => this.#compareEnv(Object.keys(props.env.shape)) });
  }

  setEnv(key: string, value: string): void {
    this.#envKeys.add(key);
    this.fn.addEnvironment(key, value);
  }

  /** Adds a statement to the function's own inline policy, so that each grant of a construct reads as one statement. */
  allow(statement: PolicyStatement): void {
    this.role.addToPolicy(statement);
  }

  #compareEnv(asked: readonly string[]): string[] {
    const given = [...this.#envKeys].filter((key) => !isRuntimeKey(key));
    const missing = asked.filter((key) => !given.includes(key));
    const unused = given.filter((key) => !asked.includes(key));
    return [
      ...missing.map((key) => `${this.node.path}: env.ts asks for ${key}, the stack does not give it`),
      ...unused.map((key) => `${this.node.path}: the stack gives ${key}, env.ts does not ask for it`),
    ];
  }

  #allowNetworkInterfaces(): void {
    const actions = [
      'ec2:CreateNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:DeleteNetworkInterface',
      'ec2:AssignPrivateIpAddresses',
      'ec2:UnassignPrivateIpAddresses',
    ];
    // AWS documents these for `*` only: the interfaces do not exist yet.
    this.allow(new PolicyStatement({ actions, resources: ['*'] }));
    // The service attaches interfaces before our code runs; the code itself has no business with them.
    this.allow(
      new PolicyStatement({
        effect: Effect.DENY,
        actions,
        resources: ['*'],
        conditions: {
          ArnLike: {
            'lambda:SourceFunctionArn': `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:function:*`,
          },
        },
      }),
    );
  }
}
