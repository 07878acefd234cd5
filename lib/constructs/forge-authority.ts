import { Aws } from 'aws-cdk-lib';
import { Secret as EcsSecret } from 'aws-cdk-lib/aws-ecs';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { ParameterTier, StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import type { Grantee } from './data-table.ts';

/** Largest value of a standard parameter. A larger one is an advanced parameter, of at most 8 KB, at 0.05 USD a month. */
const STANDARD_BYTES_MAX = 4_096;

/** Certificates of private authorities, in a parameter: all keys of a function's environment together have 4 KB. */
export class ForgeAuthority extends Construct {
  readonly #parameter: StringParameter | null;

  /** `pem`: empty for public authorities alone. */
  constructor(scope: Construct, id: string, { pem }: { readonly pem: string }) {
    super(scope, id);
    const isLarge = Buffer.byteLength(pem) > STANDARD_BYTES_MAX;
    // An advanced parameter cannot become a standard one again, so each kind has a name of its own
    // (https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html).
    const suffix = isLarge ? '-advanced' : '';
    this.#parameter =
      pem === ''
        ? null
        : new StringParameter(this, isLarge ? 'Advanced' : 'Parameter', {
            parameterName: `/${Aws.STACK_NAME}/forge-authority${suffix}`,
            simpleName: false,
            description: 'Who signs for private forges',
            stringValue: pem,
            tier: isLarge ? ParameterTier.ADVANCED : ParameterTier.STANDARD,
          });
  }

  /** Lets a function read the certificates, and names their parameter in its environment. */
  grantRead(fn: Grantee): void {
    fn.setEnv('FORGE_CA_PARAMETER', this.#parameter?.parameterName ?? '');
    if (this.#parameter === null) return;
    fn.allow(
      new PolicyStatement({ actions: ['ssm:GetParameter'], resources: [this.#parameter.parameterArn] }),
    );
  }

  /** Secrets of a container: the certificates are put into its environment when its task starts. */
  get forContainer(): Readonly<Record<string, EcsSecret>> {
    return this.#parameter === null ? {} : { FORGE_CA_PEM: EcsSecret.fromSsmParameter(this.#parameter) };
  }
}
