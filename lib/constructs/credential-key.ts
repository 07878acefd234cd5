import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { SecretPurpose } from '../../core/domain/sealed-text.ts';
import type { Grantee } from './data-table.ts';
import type { StoredSecret, StoredSecrets } from './stored-secrets.ts';

export interface CredentialKeyProps {
  /** Whether the key survives every update and `cdk destroy`. Losing the key loses every stored token. */
  readonly retain: boolean;
  /**
   * Version of the key that seals, stored with each credential. Above 1, a key of that version is made beside the
   * earlier ones.
   */
  readonly version: number;
  /** The oldest version of which this stack still has a key; nothing is wrapped with an older one any more. */
  readonly oldestVersion: number;
  /** Whether credentials of the formats v1 and v2 are opened (A97). */
  readonly legacy: boolean;
  readonly secrets: StoredSecrets;
}

/** The context that the vault binds to every data key (A96); ids and a hash only, since CloudTrail shows it in plain text. */
const CONTEXT_KEYS = ['tenant_id', 'connection_id', 'purpose', 'v', 'forge'];
/** Context of the data keys of a repository's other secrets. */
const TEXT_CONTEXT_KEYS = ['tenant_id', 'repo_id', 'purpose', 'v'];

/** Wraps the data keys of forge tokens. Sealing and opening are granted apart (A118). */
export class CredentialKey extends Construct {
  /** The key that seals. */
  readonly key: Key;
  /** Keys of all versions, oldest first; each of them opens. */
  readonly #keys: readonly Key[];
  readonly #version: number;
  /** Static key of format v1; null: earlier formats are not opened. */
  readonly #legacyKey: StoredSecret | null;

  constructor(scope: Construct, id: string, props: CredentialKeyProps) {
    super(scope, id);
    const { version, oldestVersion, retain } = props;
    const make = (each: number): Key =>
      new Key(this, each === 1 ? 'Key' : `Key${each}`, {
        enableKeyRotation: true,
        description: `Wraps the data keys of stored forge tokens${each === 1 ? '' : `, version ${each}`}`,
        removalPolicy: retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      });
    const older = Array.from({ length: version - oldestVersion }, (_, index) => make(oldestVersion + index));
    this.key = make(version);
    this.#keys = [...older, this.key];
    this.#version = version;
    this.#legacyKey = props.legacy ? this.#makeLegacyKey(props) : null;
  }

  /** Lets the grantee open tokens. Grant it only to code that uses a stored token in the same operation. */
  grantOpen(grantee: Grantee): void {
    this.#grant(grantee, 'kms:Decrypt', this.#keys);
    if (this.#legacyKey === null) return;
    grantee.allow(
      new PolicyStatement({
        actions: ['kms:Decrypt'],
        resources: this.#keys.map((key) => key.keyArn),
        // Data keys of format v2 were wrapped without any context; what names something else stays shut.
        conditions: { Null: { 'kms:EncryptionContextKeys': 'true' } },
      }),
    );
    this.#legacyKey.grantRead(grantee, 'LEGACY_KEY_SECRET_ID');
  }

  /** Lets the grantee seal tokens, and open none. Grant it only to code that stores a token. */
  grantSeal(grantee: Grantee): void {
    this.#grant(grantee, 'kms:GenerateDataKey', [this.key]);
  }

  /**
   * Lets the grantee open texts that were sealed for these purposes, and no others. Grant it only to code that uses the
   * text in the same operation.
   */
  grantOpenText(grantee: Pick<Grantee, 'allow'>, purposes: readonly SecretPurpose[]): void {
    this.#grantText(grantee, { action: 'kms:Decrypt', keys: this.#keys, purposes });
  }

  /** Lets the grantee seal texts for these purposes. It must have the vault's own rights as well. */
  grantSealText(grantee: Pick<Grantee, 'allow'>, purposes: readonly SecretPurpose[]): void {
    this.#grantText(grantee, { action: 'kms:GenerateDataKey', keys: [this.key], purposes });
  }

  #grantText(
    grantee: Pick<Grantee, 'allow'>,
    { action, keys, purposes }: { action: string; keys: readonly Key[]; purposes: readonly SecretPurpose[] },
  ): void {
    grantee.allow(
      new PolicyStatement({
        actions: [action],
        resources: keys.map((key) => key.keyArn),
        conditions: {
          'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': TEXT_CONTEXT_KEYS },
          StringEquals: { 'kms:EncryptionContext:purpose': [...purposes] },
          Null: { 'kms:EncryptionContext:tenant_id': 'false', 'kms:EncryptionContext:repo_id': 'false' },
        },
      }),
    );
  }

  /**
   * Makes the parameter of the static key, with random text in it, which opens nothing until an operator stores the
   * real key.
   */
  #makeLegacyKey({ secrets, retain }: CredentialKeyProps): StoredSecret {
    const description = 'Static key of credentials of format v1: 32 bytes in Base64';
    const secret = secrets.make(this, 'Legacy', {
      name: 'legacy-credential-key',
      description,
      length: 32,
      retain,
      oldId: 'LegacyKey',
    });
    secret.output('LegacyCredentialKeyArn', description);
    return secret;
  }

  #grant(grantee: Grantee, action: string, keys: readonly Key[]): void {
    grantee.setEnv('CREDENTIAL_KEY_ID', this.key.keyArn);
    grantee.setEnv('CREDENTIAL_KEY_VERSION', String(this.#version));
    grantee.setEnv('LEGACY_KEY_SECRET_ID', this.#legacyKey?.arn ?? '');
    grantee.allow(
      new PolicyStatement({
        actions: [action],
        resources: keys.map((key) => key.keyArn),
        conditions: {
          'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': CONTEXT_KEYS },
          Null: {
            'kms:EncryptionContext:tenant_id': 'false',
            'kms:EncryptionContext:connection_id': 'false',
          },
        },
      }),
    );
  }
}
