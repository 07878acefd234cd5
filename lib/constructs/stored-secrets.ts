import { Aws, CfnOutput, CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Secret as EcsSecret } from 'aws-cdk-lib/aws-ecs';
import { Grant, type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { SecretsEnv } from '../../lambdas/secrets/env.ts';
import type { Grantee } from './data-table.ts';
import { type FunctionDefaults, ServiceFunction } from './service-function.ts';

/**
 * Time-out of the function that makes secrets: up to a minute until the right to the parameter holds, then two calls
 * and an answer.
 */
const MAKE_TIMEOUT = Duration.seconds(100);
/** How long CloudFormation waits for the answer of that function; by default it waits an hour. */
const REQUEST_TIMEOUT = Duration.minutes(3);

export interface SecretSpec {
  /** Last part of the parameter's name: `/<stack>/<name>`. */
  readonly name: string;
  readonly description: string;
  /** Letters and digits of the value that is made up first. */
  readonly length: number;
  /** Whether the parameter survives every update and `cdk destroy`. */
  readonly retain: boolean;
  /** Id of the construct that held the value in Secrets Manager in earlier releases. */
  readonly oldId: string;
}

/** One secure parameter. Its value is in no template, and each of its readers is named. */
export class StoredSecret extends Construct {
  readonly arn: string;
  readonly #plainArn: string;

  constructor(
    scope: Construct,
    id: string,
    parts: { readonly spec: SecretSpec; readonly maker: ServiceFunction; readonly copyFrom: Secret | null },
  ) {
    super(scope, id);
    const { spec, maker, copyFrom } = parts;
    const parameter = `/${Aws.STACK_NAME}/${spec.name}`;
    const arn = `arn:${Aws.PARTITION}:ssm:${Aws.REGION}:${Aws.ACCOUNT_ID}:parameter${parameter}`;
    maker.allow(
      new PolicyStatement({ actions: ['ssm:PutParameter', 'ssm:DeleteParameter'], resources: [arn] }),
    );
    if (copyFrom !== null) {
      maker.allow(
        new PolicyStatement({
          actions: ['secretsmanager:GetSecretValue'],
          resources: [copyFrom.secretArn],
        }),
      );
    }
    const made = new CustomResource(this, 'Parameter', {
      resourceType: 'Custom::Secret',
      serviceToken: maker.fn.functionArn,
      serviceTimeout: REQUEST_TIMEOUT,
      removalPolicy: spec.retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      properties: {
        Parameter: parameter,
        ParameterArn: arn,
        Description: spec.description,
        Length: String(spec.length),
        CopyFrom: copyFrom?.secretArn ?? '',
      },
    });
    this.#plainArn = arn;
    // Through the resource, so that the parameter is there before anything that reads it.
    this.arn = made.getAttString('Arn');
  }

  /**
   * The key `aws/ssm` needs no grant: it decrypts for every principal of the account that may read the parameter (AWS,
   * "Restricting decryption of SecureString parameter values").
   */
  grantRead(grantee: Grantee, envKey: string): void {
    grantee.setEnv(envKey, this.arn);
    grantee.allow(new PolicyStatement({ actions: ['ssm:GetParameter'], resources: [this.arn] }));
  }

  /**
   * The secret as a container definition takes it: its value is put into the environment when the task starts (AWS,
   * "Pass Systems Manager parameters through environment variables").
   */
  get forContainer(): EcsSecret {
    const arn = this.arn;
    return new (class extends EcsSecret {
      readonly arn = arn;
      readonly hasField = false;
      override grantRead(grantee: IGrantable): Grant {
        return Grant.addToPrincipal({ grantee, actions: ['ssm:GetParameters'], resourceArns: [arn] });
      }
    })();
  }

  output(name: string, description: string): void {
    // Not through the resource: what it answered in earlier releases is masked.
    new CfnOutput(this, 'Output', { value: this.#plainArn, description }).overrideLogicalId(name);
  }
}

/** Makes the secrets of the stack, as secure parameters, which cost nothing. */
export class StoredSecrets extends Construct {
  readonly #maker: ServiceFunction;
  readonly #moves: boolean;

  /** `moves`: the values are still in Secrets Manager, from where they are copied once; what held them stays this one time. */
  constructor(
    scope: Construct,
    id: string,
    { defaults, moves }: { readonly defaults: FunctionDefaults; readonly moves: boolean },
  ) {
    super(scope, id);
    this.#moves = moves;
    this.#maker = new ServiceFunction(this, 'Maker', {
      defaults,
      bundle: 'secrets',
      env: SecretsEnv,
      memoryMb: 256,
      timeout: MAKE_TIMEOUT,
    });
  }

  make(scope: Construct, id: string, spec: SecretSpec): StoredSecret {
    const copyFrom = this.#moves ? holdOld(scope, spec) : null;
    return new StoredSecret(scope, id, { spec, maker: this.#maker, copyFrom });
  }
}

/**
 * The secret of earlier releases, with the very description and rule that they gave it, because a difference would
 * change it.
 */
function holdOld(scope: Construct, { oldId, description, length, retain }: SecretSpec): Secret {
  return new Secret(scope, oldId, {
    description,
    generateSecretString: { passwordLength: length, excludePunctuation: true },
    removalPolicy: retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  });
}
