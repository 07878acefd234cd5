import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  GetQueueAttributesCommand,
  ListQueuesCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { BUNDLE_ENTRIES } from '../../../lib/functions.ts';
import { type LocalService, startLocalService } from '../../../local/service.ts';
import { eventually } from '../../support/eventually.ts';
import { LOCAL_AWS } from '../../support/local-aws.ts';
import { type Resource, readTemplate } from '../../support/template.ts';

/** The template of `cdk deploy`. The running service is made from another one, with the addresses of this machine. */
const template = readTemplate();
const names = template.functionNames();

interface Call {
  readonly target: string;
  readonly event: string;
}

let root: string;
let service: LocalService;
/** Every invocation of any function, in order. The functions themselves are replaced: this is about who is asked. */
const calls: Call[] = [];

/** Of the bundles only the engine's health check runs here. */
function writeBundles(folder: string): void {
  for (const name of Object.keys(BUNDLE_ENTRIES)) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'index.mjs'), name === 'engine' ? ENGINE : '');
  }
  writeFileSync(join(folder, 'engine', 'Dockerfile'), '');
}
const ENGINE = `
import { createServer } from 'node:http';
createServer((_request, response) => response.end('{}')).listen(Number(process.env.PORT), process.env.LISTEN_HOST);
process.on('SIGTERM', () => process.exit(0));
`;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'mergeyard-parity-'));
  writeBundles(join(root, 'bundles'));
  service = await startLocalService({
    dataDir: join(root, 'data'),
    bundlesDir: join(root, 'bundles'),
    schedules: 'manual',
  });
  for (const [id, pool] of service.run.functions) {
    const target = names.get(id) ?? id;
    pool.invoke = async (event) => {
      calls.push({ target, event: JSON.stringify(event) });
      return { statusCode: 204, headers: {}, body: '', batchItemFailures: [] };
    };
  }
});
afterAll(async () => {
  await service?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Functions that were asked for something that holds the mark. */
const askedFor = (mark: string): string[] =>
  calls.filter(({ event }) => event.includes(mark)).map(({ target }) => target);

function machine(fn: string): Readonly<Record<string, string>> {
  const pool = [...service.run.functions.values()].find(({ spec }) => spec.name === fn);
  if (pool === undefined) throw new Error(`no function ${fn}`);
  return pool.spec.environment;
}

const targetOf = ({ Properties }: Resource): string => names.get(Properties.FunctionName.Ref) ?? '';

describe('the running service is the one that would be deployed', () => {
  test('functions, one by one: name, time-out, memory, environment', () => {
    const deployed = [...names.keys()].map((id) => {
      const { Timeout, MemorySize, Environment } = template.get(id).Properties;
      return [id, Timeout * 1000, MemorySize, Object.keys(Environment.Variables).sort()];
    });
    const running = [...service.run.functions].map(([id, { spec }]) => {
      const asked = Object.keys(template.get(id).Properties.Environment.Variables);
      const extra = Object.keys(spec.environment).filter((key) => !asked.includes(key));
      // Region, credentials and endpoints, as the platform would give them.
      for (const key of extra) expect(key).toMatch(/^AWS_/);
      return [id, spec.timeoutMs, spec.memoryMb, asked.filter((key) => key in spec.environment).sort()];
    });
    expect(running.sort()).toEqual(deployed.sort());
  });

  const [httpApi] =
    template.ofType('AWS::ApiGatewayV2::Api').find(([, api]) => api.Properties.ProtocolType === 'HTTP') ?? [];
  const routes = template
    .ofType('AWS::ApiGatewayV2::Route')
    .filter(([, { Properties }]) => Properties.ApiId.Ref === httpApi)
    .map(([, { Properties }]) => {
      const integration = template.get(Properties.Target['Fn::Join'][1][1].Ref);
      return [
        Properties.RouteKey,
        names.get(integration.Properties.IntegrationUri['Fn::GetAtt'][0]),
      ] as const;
    });

  test.each(routes)('route %s asks %s', async (key, target) => {
    const [method, path] = key === '$default' ? ['PUT', '/no/such/address'] : key.split(' ');
    const mark = `mark-${calls.length}`;
    await fetch(
      `${service.baseUrl}${path?.replace('{id}', 'some-id').replace('{page+}', 'some/page')}?${mark}`,
      {
        method: method ?? 'GET',
      },
    );
    expect(askedFor(mark)).toEqual([target]);
  });

  test('queues, one by one: kind, times, dead letters', async () => {
    const endpoint = machine('Worker').AWS_ENDPOINT_URL_SQS ?? '';
    const sqs = new SQSClient({
      endpoint,
      ...LOCAL_AWS,
    });
    const { QueueUrls } = await sqs.send(new ListQueuesCommand({}));
    const running = await Promise.all(
      (QueueUrls ?? []).map(async (QueueUrl) => {
        const { Attributes } = await sqs.send(
          new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
        );
        return [
          QueueUrl.split('/').at(-1)?.replace('.fifo', ''),
          Attributes?.FifoQueue === 'true',
          Attributes?.VisibilityTimeout,
          Attributes?.MessageRetentionPeriod,
          JSON.parse(Attributes?.RedrivePolicy ?? '{}').maxReceiveCount,
        ];
      }),
    );
    const deployed = template
      .ofType('AWS::SQS::Queue')
      .map(([id, { Properties }]) => [
        id,
        Properties.FifoQueue === true,
        String(Properties.VisibilityTimeout ?? 30),
        String(Properties.MessageRetentionPeriod),
        Properties.RedrivePolicy?.maxReceiveCount,
      ]);
    expect(running.sort()).toEqual(deployed.sort());
    sqs.destroy();
  });

  const mappings = template.ofType('AWS::Lambda::EventSourceMapping');
  const fromQueues = mappings.filter(([, { Properties }]) => Properties.StartingPosition === undefined);
  const fromStream = mappings.filter(([, { Properties }]) => Properties.StartingPosition !== undefined);

  test.each(fromQueues)(
    '%s: a message reaches the function that the template names',
    async (_id, mapping) => {
      const endpoint = machine('Worker').AWS_ENDPOINT_URL_SQS ?? '';
      const sqs = new SQSClient({
        endpoint,
        ...LOCAL_AWS,
      });
      const queue: string = mapping.Properties.EventSourceArn['Fn::GetAtt'][0];
      const { QueueUrls } = await sqs.send(new ListQueuesCommand({}));
      const mark = `mark-${queue}`;
      const QueueUrl = QueueUrls?.find((url) => url.split('/').at(-1)?.replace('.fifo', '') === queue);
      await sqs.send(
        new SendMessageCommand({
          QueueUrl,
          MessageBody: mark,
          ...(QueueUrl?.endsWith('.fifo') ? { MessageGroupId: 'g', MessageDeduplicationId: mark } : {}),
        }),
      );
      await eventually(`${queue} is delivered`, 10_000, async () => askedFor(mark).length > 0);
      expect(askedFor(mark)).toEqual([targetOf(mapping)]);
      sqs.destroy();
    },
  );

  test('changes of the table reach the functions that the template’s filters name, and no others', async () => {
    const dynamo = new DynamoDBClient({
      endpoint: machine('Worker').AWS_ENDPOINT_URL_DYNAMODB ?? '',
      ...LOCAL_AWS,
    });
    const prefixesOf = ({ Properties }: Resource): string[] =>
      JSON.parse(Properties.FilterCriteria.Filters[0].Pattern).dynamodb.Keys.pk.S.map(
        ({ prefix }: { prefix: string }) => prefix,
      );
    const all = new Set([...fromStream.flatMap(([, mapping]) => prefixesOf(mapping)), 'NOBODY#']);
    for (const prefix of all) {
      const Item = { pk: { S: `${prefix}mark` }, sk: { S: `mark-${prefix}` } };
      await dynamo.send(new PutItemCommand({ TableName: machine('Worker').TABLE_NAME, Item }));
    }
    const expected = [...all].flatMap((prefix) =>
      fromStream
        .filter(([, mapping]) => prefixesOf(mapping).some((each) => `${prefix}mark`.startsWith(each)))
        .map(([, mapping]) => `${prefix} ${targetOf(mapping)}`),
    );
    const reached = (): string[] =>
      [...all].flatMap((prefix) => askedFor(`"mark-${prefix}"`).map((fn) => `${prefix} ${fn}`));
    await eventually('every change is delivered', 20_000, async () => reached().length >= expected.length);
    expect(reached().sort()).toEqual(expected.sort());
    dynamo.destroy();
  });

  test('schedules, one by one: expression and target', async () => {
    const deployed = template
      .ofType('AWS::Events::Rule')
      .map(([id, { Properties }]) => [
        id,
        Properties.ScheduleExpression,
        Properties.Targets.map((target: { Arn: { 'Fn::GetAtt': string[] } }) => target.Arn['Fn::GetAtt'][0]),
      ]);
    const ids = new Map([...service.run.functions].map(([id, pool]) => [pool, id]));
    const running = [...service.run.schedules].map(([id, { spec }]) => [
      id,
      spec.expression,
      spec.targets.map(({ target }) => ids.get(target)),
    ]);
    expect(running).toEqual(deployed);
    await service.fireTick();
    expect(askedFor('Scheduled Event')).toEqual(['Tick']);
  });

  test('the engine runs as its task says', () => {
    const [definition] = template.only('AWS::ECS::TaskDefinition').Properties.ContainerDefinitions;
    const given = [...definition.Environment, ...definition.Secrets].map(
      ({ Name }: { Name: string }) => Name,
    );
    expect(service.run.containers).toHaveLength(template.ofType('AWS::ECS::Service').length);
    const [container] = service.run.containers;
    expect(Object.keys(container?.spec.environment ?? {})).toEqual(expect.arrayContaining(given));
  });
});
