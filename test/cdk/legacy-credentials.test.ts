import { createCipheriv, randomBytes } from 'node:crypto';
import { EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { createKmsVault } from '#core/adapters/kms-vault/vault.ts';
import type { SealedCredential } from '#core/domain/repos/repo.ts';
import { VaultError } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { startKms } from '../../local/emulators/kms.ts';
import { LOCAL_AWS } from '../support/local-aws.ts';
import { listOf, readTemplate, type StackTemplate, type Statement } from '../support/template.ts';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const KEY_ID = '11111111-1111-4111-8111-111111111111';
const OWNER = { tenantId: 'tenant-1', connectionId: 'connection-1', instanceUrl: 'https://forge.example' };
const TOKEN = 'a-token-of-a-forge';
const V1_KEY = randomBytes(32);
const OPENERS = ['Worker', 'Connections', 'ForgeOps'] as const;

let emulator: Awaited<ReturnType<typeof startKms>>;
let operator: KMSClient;

function connect(): KMSClient {
  return new KMSClient({
    endpoint: emulator.endpoint,
    ...LOCAL_AWS,
    maxAttempts: 1,
  });
}

beforeAll(async () => {
  emulator = await startKms({ keyIds: [KEY_ID] });
  operator = connect();
});

afterAll(async () => {
  operator.destroy();
  await emulator.stop();
});

type Context = Readonly<Record<string, string>> | undefined;

/** As IAM judges the conditions that the stack writes; one that it never writes is refused by this judge too. */
function meets(condition: unknown, context: Context): boolean {
  const keys = Object.keys(context ?? {});
  const isAbsent = (name: string): boolean =>
    name === 'kms:EncryptionContextKeys'
      ? keys.length === 0
      : context?.[name.replace('kms:EncryptionContext:', '')] === undefined;
  return Object.entries((condition ?? {}) as Record<string, Record<string, unknown>>).every(([kind, tests]) =>
    Object.entries(tests).every(([name, wanted]) => {
      if (kind === 'Null') return String(isAbsent(name)) === wanted;
      if (kind === 'ForAllValues:StringEquals' && name === 'kms:EncryptionContextKeys')
        return keys.every((key) => listOf(wanted as string[]).includes(key));
      return false;
    }),
  );
}

function statementsOf(template: StackTemplate, name: string): Statement[] {
  return template.allowed().filter(({ holder }) => holder === `${name}Role`);
}

const mayOpen = (template: StackTemplate, name: string, context: Context): boolean =>
  statementsOf(template, name).some(
    ({ Action, Condition }) => listOf(Action).includes('kms:Decrypt') && meets(Condition, context),
  );

const secretOf = (template: StackTemplate, name: string): unknown =>
  template.functionNamed(name).Properties.Environment.Variables.LEGACY_KEY_SECRET_ID;

/** The vault as that function of the stack has it: what its role does not allow is refused. */
function vaultOf(template: StackTemplate, name: string) {
  const client = connect();
  client.middlewareStack.add(
    (next) => async (args) => {
      const { EncryptionContext } = args.input as { readonly EncryptionContext?: Context };
      if (!mayOpen(template, name, EncryptionContext))
        throw Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
      return next(args);
    },
    { step: 'initialize' },
  );
  const secret = secretOf(template, name);
  const mayRead = statementsOf(template, name).some(
    ({ Action, Resource }) =>
      listOf(Action).includes('ssm:GetParameter') &&
      listOf(Resource).some((each) => JSON.stringify(each) === JSON.stringify(secret)),
  );
  const legacy = {
    readV1Key: async () => {
      if (!mayRead) throw new Error('not authorized');
      return new Secret(V1_KEY.toString('base64'));
    },
  };
  return createKmsVault({ client, keyId: KEY_ID, keyVersion: 1, ...(secret === '' ? {} : { legacy }) });
}

function encrypt(key: Uint8Array): Pick<SealedCredential, 'encryptedToken' | 'tokenNonce'> {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const encrypted = Buffer.concat([cipher.update(TOKEN), cipher.final(), cipher.getAuthTag()]);
  return { encryptedToken: encrypted.toString('base64'), tokenNonce: nonce.toString('base64') };
}

async function givenOld(format: 'v1' | 'v2'): Promise<SealedCredential> {
  if (format === 'v1') return { format, keyVersion: 0, encryptedDek: null, ...encrypt(V1_KEY) };
  const dataKey = randomBytes(32);
  const wrapped = await operator.send(new EncryptCommand({ KeyId: KEY_ID, Plaintext: dataKey }));
  const encryptedDek = Buffer.from(wrapped.CiphertextBlob ?? []).toString('base64');
  return { format, keyVersion: 1, encryptedDek, ...encrypt(dataKey) };
}

async function openWith(template: StackTemplate, name: string, sealed: SealedCredential): Promise<string> {
  try {
    return (await vaultOf(template, name).open(OWNER, sealed)).reveal();
  } catch (error) {
    if (error instanceof VaultError) return error.kind;
    throw error;
  }
}

describe('credentials of earlier formats', () => {
  const legacy = readTemplate({ legacyCredentials: 'true' });
  const usual = readTemplate();

  test.each(OPENERS)(
    '%s opens v1 and v2 with its own grants where the deployment says so (A97)',
    async (name) => {
      for (const format of ['v1', 'v2'] as const)
        expect(await openWith(legacy, name, await givenOld(format))).toBe(TOKEN);
    },
  );

  test.each(OPENERS)('%s fails closed on v1 and v2 in every other deployment (A97)', async (name) => {
    for (const format of ['v1', 'v2'] as const)
      expect(await openWith(usual, name, await givenOld(format))).toBe('undecryptable');
  });

  test.each(OPENERS)('%s opens what names no row only then, and never what names something else', (name) => {
    expect([mayOpen(usual, name, undefined), mayOpen(legacy, name, undefined)]).toEqual([false, true]);
    for (const context of [{ tenant_id: 'a' }, { purpose: 'forge-token' }, { other: 'x' }])
      expect([mayOpen(usual, name, context), mayOpen(legacy, name, context)]).toEqual([false, false]);
    const row = { tenant_id: 'a', connection_id: 'b', purpose: 'forge-token', v: '3' };
    expect([mayOpen(usual, name, row), mayOpen(legacy, name, row)]).toEqual([true, true]);
  });

  test('the key of v1 is a secret of its own, made only then, and read by what opens credentials alone', () => {
    expect(Object.keys(usual.resources).filter((id) => /CredentialsLegacy/.test(id))).toEqual([]);
    expect(OPENERS.map((name) => secretOf(usual, name))).toEqual(['', '', '']);
    const [id, ...more] = legacy
      .ofType('Custom::Secret')
      .flatMap(([each]) => (/CredentialsLegacy/.test(each) ? [each] : []));
    expect(more).toEqual([]);
    const arn = { 'Fn::GetAtt': [id, 'Arn'] };
    const readers = legacy
      .allowed()
      .filter(({ Resource }) => listOf(Resource).some((each) => JSON.stringify(each) === JSON.stringify(arn)))
      .map(({ holder }) => holder);
    expect(readers.sort()).toEqual(['ConnectionsRole', 'ForgeOpsRole', 'WorkerRole']);
    // By name, and not through the resource, whose answer of earlier releases is masked.
    expect(legacy.outputs.LegacyCredentialKeyArn?.Value).toEqual(
      legacy.get(String(id)).Properties.ParameterArn,
    );
  });
});
