import { spawnSync } from 'node:child_process';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describeDeployment, findLosses } from '../../lib/deployed.ts';
import { parseStageConfig } from '../../lib/stage-config.ts';
import { type Past, synthesize } from '../support/synthesize.ts';
import { type Emulator, startEmulator } from './emulator.ts';
import { type FittedTemplate, fitEmulator, type TemplateDocument } from './fit-emulator.ts';
import { findTool, type OutsideTool } from './outside-tool.ts';

const MOTO: OutsideTool = {
  name: 'moto',
  command: process.env.MOTO_PYTHON ?? 'python3',
  atLeast: '5.2.5',
  hint: 'install it (`pip install "moto[all,server]"`) and name its Python in MOTO_PYTHON',
};
const PORT = 5_099;
const NAME_COLUMNS = 38;
/** As `synthesize` names it. */
const STACK = 'Test';
const ASSETS = 'cdk-hnb659fds-assets-123456789012-us-east-1';
const EMPTY_ZIP = Buffer.from('UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==', 'base64');
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'us-east-1' };

type Context = Readonly<Record<string, string>>;
const FIRST: Context = {
  stage: 'prod',
  alarmEmail: 'ops@example.org',
  adminEmail: 'ada@example.org',
  engineImage: 'registry.example/engine:1',
};
const NEXT: Context = { ...FIRST, engineTasks: '2', queueMetrics: 'true', keyVersion: '2' };
/** What must be the same resource after an update. */
const LASTING = [
  'AWS::DynamoDB::Table',
  'AWS::KMS::Key',
  'AWS::SQS::Queue',
  'AWS::ECS::Service',
  'AWS::EC2::VPC',
];

interface Step {
  readonly name: string;
  readonly run: () => Promise<string>;
}

function askMoto(command: string): string | null {
  const asked = spawnSync(command, ['-c', 'import moto; print(moto.__version__)'], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout : null;
}

/** Plays the life of a deployment in the emulator. Answers with the exit code of the process. */
async function main(): Promise<number> {
  const found = findTool(MOTO, askMoto);
  if ('skipped' in found) {
    console.log(found.skipped);
    return 0;
  }
  const emulator = await startEmulator(MOTO.command, PORT);
  try {
    return await rehearse(new Rehearsal(emulator), found.version);
  } finally {
    emulator.stop();
  }
}

async function rehearse(rehearsal: Rehearsal, version: string): Promise<number> {
  const rows: (readonly [string, string])[] = [];
  let failed = 0;
  for (const { name, run } of rehearsal.steps) {
    try {
      rows.push([name, await run()]);
    } catch (error) {
      failed += 1;
      rows.push([name, `FAILED: ${error instanceof Error ? error.message : String(error)}`]);
    }
  }
  console.log(`moto ${version}, a prod deployment\n`);
  for (const [name, result] of rows) console.log(`${name.padEnd(NAME_COLUMNS)} ${result}`);
  console.log(
    '\nnot judged: the order in which resources are made and deleted, custom resources, code of functions, and these types,',
  );
  console.log('because the emulator does not make them:');
  for (const [type, count] of rehearsal.leftOut) console.log(`${String(count).padStart(4)}  ${type}`);
  console.log(`${rows.length - failed} of ${rows.length} steps passed`);
  return failed === 0 ? 0 : 1;
}

class Rehearsal {
  leftOut: ReadonlyMap<string, number> = new Map();
  readonly #emulator: Emulator;
  readonly #table: DynamoDBDocumentClient;

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
    this.#table = DynamoDBDocumentClient.from(
      new DynamoDBClient({
        endpoint: emulator.endpoint,
        region: CREDENTIALS.AWS_REGION,
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      }),
    );
  }

  get steps(): readonly Step[] {
    return [
      { name: 'first deployment that fails', run: () => this.#failFirst() },
      {
        name: 'the same again, beside what is left',
        run: () => this.#deploy('CreateStack', FIRST, { isFirst: true }),
      },
      { name: 'upgrade, one flag missing', run: async () => this.#forget() },
      { name: 'upgrade', run: () => this.#upgrade() },
      { name: 'and back', run: () => this.#upgrade({ ...FIRST, keyVersion: '2' }) },
      { name: 'restore', run: () => this.#restore() },
    ];
  }

  /** One resource is refused when all others are made. */
  async #failFirst(): Promise<string> {
    const { template } = await this.#fit(FIRST, { isFirst: true });
    const ids = Object.keys(template.Resources);
    const role = ids.find((id) => id.startsWith('WorkerRole'));
    const Statement = [{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: 'no address of a resource' }];
    const Properties = {
      PolicyName: 'refused',
      PolicyDocument: { Version: '2012-10-17', Statement },
      Roles: [{ Ref: role }],
    };
    const refused = { Type: 'AWS::IAM::Policy', DependsOn: ids, Properties };
    const refusal = await this.#call('CreateStack', {
      ...template,
      Resources: { ...template.Resources, Refused: refused },
    }).then(
      () => null,
      (error: Error) => error.message,
    );
    if (refusal === null) throw new Error('it was not refused');
    // It rolls nothing back and stumbles over the network that it deletes in no order: what is left stays for the next step.
    await this.#emulator.callStacks('DeleteStack', { StackName: STACK }).catch(() => '');
    const status = await this.#status();
    if (status !== 'gone') throw new Error(`the stack is ${status}`);
    return `refused (${refusal})`;
  }

  async #deploy(action: 'CreateStack' | 'UpdateStack', context: Context, past: Past = {}): Promise<string> {
    const { template } = await this.#fit(context, past);
    await this.#call(action, template);
    const made = await this.#resources();
    const missing = Object.keys(template.Resources).filter((id) => !made.has(id));
    if (missing.length > 0) throw new Error(`not made: ${missing.join(', ')}`);
    return `${await this.#status()}, ${made.size} resources`;
  }

  #forget(): string {
    const { adminEmail: _, ...forgotten } = NEXT;
    const deployed = describeDeployment(parseStageConfig(FIRST));
    const losses = findLosses(deployed, describeDeployment(parseStageConfig(forgotten)));
    if (losses.length !== 1) throw new Error(`${losses.length} losses were found`);
    return `refused at synthesis: ${losses.join('; ')}`;
  }

  async #upgrade(context: Context = NEXT): Promise<string> {
    const before = await this.#resources();
    const { template } = await this.#fit(context);
    const done = await this.#deploy('UpdateStack', context);
    const after = await this.#resources();
    const lasting = Object.entries(template.Resources).filter(
      ([id, { Type }]) => LASTING.includes(Type) && before.has(id),
    );
    const replaced = lasting.filter(([id]) => before.get(id) !== after.get(id)).map(([id]) => id);
    if (replaced.length > 0) throw new Error(`replaced: ${replaced.join(', ')}`);
    return `${done}; ${lasting.length} lasting ones are the same`;
  }

  async #restore(): Promise<string> {
    const resources = await this.#resources();
    const table = [...resources].find(([id]) => id.startsWith('DataTable'))?.[1];
    if (table === undefined) throw new Error('no table');
    const row = { pk: 'T#1', sk: 'REPO#1', slug: 'acme/app' };
    await this.#table.send(new PutCommand({ TableName: table, Item: row }));
    const names = ['--table', table, '--restored', 'restored'];
    this.#runRestore([...names, '--at', new Date().toISOString()]);
    const Key = { pk: row.pk, sk: row.sk };
    await this.#table.send(new DeleteCommand({ TableName: table, Key }));
    const looked = this.#runRestore(names);
    this.#runRestore([...names, '--put', 'missing']);
    const { Item } = await this.#table.send(new GetCommand({ TableName: table, Key }));
    if (Item?.slug !== row.slug) throw new Error('the row is not back');
    return `${looked.trim().split('\n').at(-1)}; then it is back`;
  }

  #runRestore(args: readonly string[]): string {
    const env = { ...process.env, ...CREDENTIALS, AWS_ENDPOINT_URL: this.#emulator.endpoint };
    const run = spawnSync('npx', ['tsx', 'bin/restore.ts', ...args], { encoding: 'utf8', env });
    if (run.status !== 0) throw new Error(run.stderr.trim().split('\n').at(-1) ?? 'restore failed');
    return run.stdout;
  }

  /** With its assets stored, as the CDK does before it deploys. */
  async #fit(context: Context, past: Past = {}): Promise<FittedTemplate> {
    const document = synthesize(context, past).template.toJSON() as TemplateDocument;
    const fitted = fitEmulator(document, this.#emulator.knownTypes);
    this.leftOut = fitted.leftOut;
    const functions = Object.values(fitted.template.Resources).filter(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    );
    const keys = new Set<string>(functions.map(({ Properties }) => Properties.Code.S3Key));
    for (const key of keys) await this.#emulator.putObject(ASSETS, key, EMPTY_ZIP);
    return fitted;
  }

  async #call(action: string, template: TemplateDocument): Promise<void> {
    await this.#emulator.callStacks(action, { StackName: STACK, TemplateBody: JSON.stringify(template) });
  }

  async #status(): Promise<string> {
    const text = await this.#emulator.callStacks('DescribeStacks', {});
    return /<StackStatus>([^<]*)/.exec(text)?.[1] ?? 'gone';
  }

  /** Physical ids by logical ones. */
  async #resources(): Promise<ReadonlyMap<string, string>> {
    const text = await this.#emulator.callStacks('DescribeStackResources', { StackName: STACK });
    return new Map(
      [...text.matchAll(/<member>(.*?)<\/member>/gs)].map(([, member = '']) => [
        /<LogicalResourceId>([^<]*)/.exec(member)?.[1] ?? '',
        /<PhysicalResourceId>([^<]*)/.exec(member)?.[1] ?? '',
      ]),
    );
  }
}

process.exitCode = await main();
