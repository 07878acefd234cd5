import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Deployed,
  deployedFile,
  describeDeployment,
  findLosses,
  parseOutputs,
  readDeployed,
} from '../../lib/deployed.ts';
import { parseStageConfig } from '../../lib/stage-config.ts';
import { withStageFile } from '../../lib/stage-file.ts';
import { FULL, readTemplate } from '../support/template.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergeyard-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, value: unknown): void =>
  writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));
const describeContext = (context: Readonly<Record<string, string>>): Deployed =>
  describeDeployment(parseStageConfig(context));

describe('one file per stage', () => {
  test('says what a deployment is, and -c says otherwise', () => {
    write('prod.json', { keyVersion: 2, waf: true, serviceName: 'gate' });
    const config = parseStageConfig(withStageFile({ stage: 'prod', serviceName: 'mq' }, folder));
    expect(config).toMatchObject({ stage: 'prod', keyVersion: 2, waf: true, serviceName: 'mq' });
  });

  test('is checked like -c: a key that is not known and a wrong value are refused with words', () => {
    write('dev.json', { colour: 'red', keyVersion: 12 });
    expect(() => parseStageConfig(withStageFile({ stage: 'dev' }, folder))).toThrow(
      /-c colour: is not known.*-c keyVersion=12: must be 1 to 9/s,
    );
  });

  test.each([
    ['no JSON', '{', /dev\.json: is not JSON/],
    ['a list', [], /dev\.json: must be one object/],
    ['a value that is no text', { waf: null }, /dev\.json: must be one object/],
    ['another stage', { stage: 'prod' }, /dev\.json: says that it is the stage prod/],
  ])('%s is refused', (_case, value, words) => {
    write('dev.json', value);
    expect(() => withStageFile({ stage: 'dev' }, folder)).toThrow(words);
  });

  test('without a file there is only -c', () => {
    expect(withStageFile({ stage: 'dev', waf: 'true' }, folder)).toEqual({ stage: 'dev', waf: 'true' });
  });
});

describe('a forgotten key loses nothing that is deployed', () => {
  const deployed = describeContext({
    ...FULL,
    keyVersion: '3',
    oldestKeyVersion: '2',
    emailApiUrl: 'https://mail.example.org',
    legacyCredentials: 'true',
    evidenceKey: 'true',
  });

  test('the same again loses nothing, and neither does more', () => {
    expect(findLosses(deployed, deployed)).toEqual([]);
    expect(findLosses(deployed, { ...deployed, keyVersion: 4, oldestKeyVersion: 3 })).toEqual([]);
    expect(findLosses(describeContext({}), { ...deployed, serviceName: 'mq' })).toEqual([]);
  });

  test.each<[string, Partial<Deployed>, RegExp]>([
    ['a lower keyVersion', { keyVersion: 2 }, /keyVersion is 2, and 3 is deployed.+Keep keyVersion=3/],
    ['a lower oldestKeyVersion', { oldestKeyVersion: 1 }, /Keep oldestKeyVersion=2/],
    ['a payment secret that is dropped', { sells: false }, /paymentsPrices is missing/],
    [
      'the key of earlier credentials that is dropped',
      { legacyCredentials: false },
      /legacyCredentials is missing.+Keep legacyCredentials/,
    ],
    ['a signing key that is dropped', { evidenceKey: false }, /evidenceKey is missing.+Keep evidenceKey/],
    ['a mail key that is dropped', { mailsByProvider: false }, /emailApiUrl is missing/],
    ['an administrator who vanishes', { adminEmail: null }, /adminEmail is missing, and ada@example.org/],
    ['another administrator', { adminEmail: 'bob@example.org' }, /npm run admin/],
    ['a service with another name', { serviceName: 'gate' }, /serviceName is gate, and mq is deployed/],
    ['a user pool that is given up', { ownUserPool: false }, /identityUrl is given/],
  ])('%s is refused with its cure', (_case, change, words) => {
    expect(findLosses(deployed, { ...deployed, ...change })).toEqual([expect.stringMatching(words)]);
  });

  test('the record is made of the outputs of a deployment, and read back for its stage', () => {
    const { Deployed } = readTemplate(FULL).outputs;
    const outputs = join(folder, 'outputs.json');
    writeFileSync(outputs, JSON.stringify({ 'Mergeyard-prod': { Deployed: Deployed?.Value, BaseUrl: 'x' } }));
    expect([...parseOutputs(JSON.parse(readFileSync(outputs, 'utf8')))]).toEqual([
      ['prod', describeContext(FULL)],
    ]);
    execFileSync(process.execPath, ['--import', 'tsx', 'bin/record-deployment.ts', outputs, folder]);
    expect(readDeployed(folder, 'prod')).toEqual(describeContext(FULL));
    expect(readDeployed(folder, 'dev')).toBeNull();
  });

  test('a record that cannot be read stops the synthesis: then nothing is certain', () => {
    writeFileSync(deployedFile(folder, 'prod'), '{"keyVersion":1}');
    expect(() => readDeployed(folder, 'prod')).toThrow(/is not a record of a deployment/);
  });
});

/**
 * RetainExceptOnCreate keeps a resource on every update and deletion, and deletes it when the stack operation that made it is
 * rolled back (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html).
 */
describe('resources that must not be lost', () => {
  const KEPT = [
    'AWS::DynamoDB::GlobalTable',
    'AWS::KMS::Key',
    'AWS::Cognito::UserPool',
    'AWS::Cognito::UserPoolUser',
    'AWS::Cognito::UserPoolUserToGroupAttachment',
  ];
  const template = readTemplate({ ...FULL, emailApiUrl: 'https://mail.example.org' });

  test('survives every update and the deletion of the stack, and goes with a first deployment that fails', () => {
    const secrets = template
      .ofType('Custom::Secret')
      .filter(([, { Properties }]) => !JSON.stringify(Properties.Parameter).includes('engine-secret'));
    expect(secrets.map(([, { Properties }]) => Properties.Parameter['Fn::Join'][1][2]).sort()).toEqual([
      '/admin-key',
      '/email-api-key',
      '/payments-key',
      '/payments-read-key',
      '/payments-webhook-secret',
    ]);
    const kept = [...secrets, ...KEPT.flatMap((type) => template.ofType(type))];
    // Two keys: one seals, one signs.
    expect(kept.length).toBe(secrets.length + KEPT.length + 1);
    for (const [id, { DeletionPolicy, UpdateReplacePolicy }] of kept) {
      expect([id, DeletionPolicy, UpdateReplacePolicy]).toEqual([id, 'RetainExceptOnCreate', 'Retain']);
    }
  });

  test('in dev all of it goes with the stack', () => {
    const kept = readTemplate()
      .ofType('Custom::Secret')
      .filter(([, { DeletionPolicy }]) => DeletionPolicy !== 'Delete');
    expect(kept).toEqual([]);
  });
});

test('the user pool of a record of before tells capitals apart, one that is made now does not', () => {
  const old = JSON.stringify({ ...describeContext(FULL), tellsCapitalsApart: undefined });
  writeFileSync(deployedFile(folder, 'prod'), old);
  expect(readDeployed(folder, 'prod')?.tellsCapitalsApart).toBe(true);
  expect(describeContext(FULL).tellsCapitalsApart).toBe(false);
});

/** A secret in Secrets Manager has a price each month; a secure parameter of the standard tier has none. */
describe('secrets that leave Secrets Manager', () => {
  const context = { ...FULL, emailApiUrl: 'https://mail.example.org', legacyCredentials: 'true' };
  const old = JSON.stringify({ ...describeContext(context), secretsIn: undefined });

  test('a record of before says that they are there, one of now that they are parameters', () => {
    writeFileSync(deployedFile(folder, 'prod'), old);
    expect(readDeployed(folder, 'prod')?.secretsIn).toBe('secrets-manager');
    expect(describeContext(context).secretsIn).toBe('parameters');
  });

  test('are copied by the first deployment, which still holds each as it was made', () => {
    const moving = readTemplate(context, { movesSecrets: true });
    // Logical ids of the release before: another id would be another secret, and the old one would be gone.
    const held = moving.ofType('AWS::SecretsManager::Secret').map(([id]) => id);
    expect(held.sort()).toEqual([
      'AdminKeySecretCA126E48',
      'CredentialsLegacyKey93473689',
      'EngineContainerSecret1A575FDC',
      'NotificationsEmailApiKey0BAA677B',
      'PaymentsKeyB60DCB49',
      'PaymentsReadKey5DCDFA20',
      'PaymentsWebhookSecret5B904FE8',
    ]);
    const copied = moving.ofType('Custom::Secret').map(([, { Properties }]) => Properties.CopyFrom.Ref);
    expect(copied.sort()).toEqual(held);
    for (const id of held) {
      const readers = moving.allowed().filter(({ Resource }) => JSON.stringify(Resource).includes(id));
      expect([id, ...readers.map(({ holder }) => holder)]).toEqual([id, 'SecretsMakerRole']);
    }
  });

  test('leave the stack with the second', () => {
    const after = readTemplate(context);
    expect(after.ofType('AWS::SecretsManager::Secret')).toEqual([]);
    expect(after.ofType('Custom::Secret').map(([, { Properties }]) => Properties.CopyFrom)).toEqual(
      Array(7).fill(''),
    );
  });

  /** AWS, "AWS::SSM::Parameter": CloudFormation makes no parameter of type SecureString. */
  test('are made by a function that may write them and can read none', () => {
    const template = readTemplate(context);
    const rights = template.allowed().filter(({ holder }) => holder === 'SecretsMakerRole');
    expect([...new Set(rights.flatMap(({ Action }) => Action))].sort()).toEqual([
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      'ssm:DeleteParameter',
      'ssm:PutParameter',
    ]);
    for (const [, { Properties }] of template.ofType('Custom::Secret')) {
      expect(Properties.ServiceToken['Fn::GetAtt'][0]).toMatch(/^SecretsMakerFunction/);
      expect(Properties.ServiceTimeout).toBe('180');
    }
  });
});
