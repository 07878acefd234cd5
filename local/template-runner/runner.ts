import type { Server } from 'node:http';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { SOCKET_PATH } from '#core/contracts/realtime/realtime.ts';
import { createHttpFront } from '../../core/adapters/http-server/http-front.ts';
import { findFreePort } from '../../core/adapters/system/free-port.ts';
import { routeUpgrades } from '../../core/adapters/websocket/route-upgrades.ts';
import type { SocketHub } from '../../core/adapters/websocket/socket-hub.ts';
import { isObject, type Json, type LogSink } from '../../core/ports/invocable.ts';
import { startEcs } from '../emulators/ecs.ts';
import { startLambda } from '../emulators/lambda.ts';
import { Container } from './container.ts';
import { FunctionPool, functionOf } from './function-pool.ts';
import { createQueues } from './queues.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION, Resolver } from './resolver.ts';
import { Schedule } from './schedules.ts';
import { createSecrets } from './secret-store.ts';
import { readSocketRoutes } from './socket-routes.ts';
import { startSources } from './sources.ts';
import type { Assembly } from './synthesize.ts';
import { createTables } from './tables.ts';
import { asList, asNumber, asObject, asText, fail } from './template.ts';

export interface TemplateRunOptions {
  readonly assembly: Assembly;
  readonly dynamo: DynamoDBClient;
  /** Begins the names of the tables. */
  readonly tablePrefix: string;
  readonly streams: DynamoDBStreamsClient;
  readonly sqs: SQSClient;
  /** Holds the clients of the template's WebSocket API; its management API runs already. */
  readonly sockets: SocketHub;
  /** UUID of the emulated key by logical id. */
  readonly keyIds: Readonly<Record<string, string>>;
  /** Kept by the caller; new secrets are added. */
  readonly secretValues: Record<string, string>;
  /** Environment of every process: credentials, region and endpoints. Wins over the template's environment. */
  readonly machineEnvironment: (secrets: ReadonlyMap<string, string>) => Promise<Record<string, string>>;
  /** `manual`: no timer; `fire` only. */
  readonly schedules: 'timed' | 'manual';
  /** Marks child processes of this run. */
  readonly tag: string;
  readonly log: LogSink;
}

/** A template that runs: call its API through `front`, look names up by logical id. */
export interface TemplateRun {
  readonly front: Server;
  readonly resolver: Resolver;
  readonly functions: ReadonlyMap<string, FunctionPool>;
  readonly schedules: ReadonlyMap<string, Schedule>;
  readonly containers: readonly Container[];
  stop(): Promise<void>;
}

/** Parts of a template that mean something here or nothing here; anything else is refused by `Ref`. */
export async function runTemplate(options: TemplateRunOptions): Promise<TemplateRun> {
  const { template } = options.assembly;
  const resolver = new Resolver(template);
  await createTables(template, resolver, options.dynamo, options.tablePrefix);
  await createQueues(template, resolver, options.sqs);
  defineKeys(options, resolver);
  for (const { id } of template.ofType('AWS::ApiGatewayV2::Api')) {
    resolver.define(id, { ref: id, attributes: { ApiEndpoint: 'http://127.0.0.1' } });
  }
  const secrets = createSecrets(template, resolver, options.secretValues);
  const machine = await options.machineEnvironment(secrets);
  const containers = await createContainers(options, resolver, secrets, machine);
  const ecs = await startEcs(containers);
  const lambda = await startLambda((name) => {
    const found = functions.get(name);
    if (found === undefined) return undefined;
    return { name, invoke: async (payload) => JSON.stringify(await found.invoke(JSON.parse(payload))) };
  });
  const functions = createFunctions(options, resolver, {
    ...machine,
    AWS_ENDPOINT_URL_ECS: ecs.endpoint,
    AWS_ENDPOINT_URL_LAMBDA: lambda.endpoint,
  });
  const schedules = createSchedules(options, resolver, functions);
  const front = createHttpFront(readRoutes(options, functions), options.log);
  const routes = readSocketRoutes(template, functions);
  if (routes !== null) options.sockets.serve(routes);
  routeUpgrades(front, SOCKET_PATH, options.sockets);
  const sources = await startSources(options, resolver, functions);
  for (const container of containers) container.start();
  if (options.schedules === 'timed') for (const schedule of schedules.values()) schedule.start();
  return {
    front,
    resolver,
    functions,
    schedules,
    containers,
    stop: async () => {
      for (const schedule of schedules.values()) schedule.stop();
      await Promise.all(sources.map((source) => source.stop()));
      await Promise.all([...functions.values()].map((each) => each.stop()));
      await Promise.all(containers.map((container) => container.stop()));
      await ecs.stop();
      await lambda.stop();
    },
  };
}

function defineKeys(options: TemplateRunOptions, resolver: Resolver): void {
  for (const key of options.assembly.template.ofType('AWS::KMS::Key')) {
    const keyId = options.keyIds[key.id] ?? fail(key.id, 'there is no emulated key for it');
    const arn = `arn:aws:kms:${LOCAL_REGION}:${LOCAL_ACCOUNT}:key/${keyId}`;
    resolver.define(key.id, { ref: keyId, attributes: { Arn: arn, KeyId: keyId } });
  }
}

function createFunctions(
  options: TemplateRunOptions,
  resolver: Resolver,
  machine: Readonly<Record<string, string>>,
): ReadonlyMap<string, FunctionPool> {
  const functions = new Map<string, FunctionPool>();
  const found = options.assembly.template.ofType('AWS::Lambda::Function');
  const arnOf = (id: string): string => `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:${id}`;
  // Before any environment is read: one function may name another.
  for (const { id } of found) resolver.define(id, { ref: id, attributes: { Arn: arnOf(id) } });
  for (const { id, properties } of found) {
    const code = asText(asObject(properties.Code, id).S3Key, id).replace(/\.zip$/, '');
    const environment = asObject(asObject(properties.Environment ?? { Variables: {} }, id).Variables, id);
    functions.set(
      id,
      new FunctionPool(
        {
          name: id.replace(/Function[0-9A-F]{8}$/, ''),
          arn: arnOf(id),
          file: `${options.assembly.assetFolder(code)}/index.mjs`,
          environment: { ...resolver.environment(environment, id), ...machine },
          timeoutMs: asNumber(properties.Timeout ?? 3, id) * 1000,
          memoryMb: asNumber(properties.MemorySize ?? 128, id),
        },
        options.log,
      ),
    );
  }
  return functions;
}

function createSchedules(
  options: TemplateRunOptions,
  resolver: Resolver,
  functions: ReadonlyMap<string, FunctionPool>,
): ReadonlyMap<string, Schedule> {
  const rules = options.assembly.template
    .ofType('AWS::Events::Rule')
    .filter(
      ({ properties }) => properties.ScheduleExpression !== undefined && properties.State !== 'DISABLED',
    );
  const entries = rules.map(({ id, properties }) => {
    const targets = asList(properties.Targets, id).map((value) => {
      const target = asObject(value, id);
      const retry = isObject(target.RetryPolicy) ? target.RetryPolicy.MaximumRetryAttempts : undefined;
      const dead = isObject(target.DeadLetterConfig) ? target.DeadLetterConfig.Arn : undefined;
      return {
        target: functionOf(options.assembly.template, functions, target.Arn, id),
        attemptsMax: 1 + asNumber(retry ?? 0, id),
        deadLetterQueueUrl:
          dead === undefined
            ? null
            : resolver.text({ Ref: options.assembly.template.target(dead, id).id }, id),
      };
    });
    const expression = asText(properties.ScheduleExpression, id);
    return [id, new Schedule({ id, expression, targets }, options.sqs, options.log)] as const;
  });
  return new Map(entries);
}

function readRoutes(options: TemplateRunOptions, functions: ReadonlyMap<string, FunctionPool>) {
  const { template } = options.assembly;
  const http = template
    .ofType('AWS::ApiGatewayV2::Route')
    .filter(({ id, properties }) => template.target(properties.ApiId, id).properties.ProtocolType === 'HTTP');
  return http.map(({ id, properties }) => {
    const parts = asList(asList(asObject(properties.Target, id)['Fn::Join'], id)[1], id);
    const integration = template.target(parts[1], id);
    return {
      key: asText(properties.RouteKey, id),
      target: functionOf(
        options.assembly.template,
        functions,
        integration.properties.IntegrationUri,
        integration.id,
      ),
    };
  });
}

/** Each service with its first container, whose port on loopback is known before any function is made. */
async function createContainers(
  options: TemplateRunOptions,
  resolver: Resolver,
  secrets: ReadonlyMap<string, string>,
  machine: Readonly<Record<string, string>>,
): Promise<readonly Container[]> {
  const { template } = options.assembly;
  const containers: Container[] = [];
  for (const { id } of template.ofType('AWS::ECS::Cluster')) resolver.define(id, { ref: id, attributes: {} });
  for (const service of template.ofType('AWS::ECS::Service')) {
    const task = template.target(service.properties.TaskDefinition, service.id);
    const definition = asObject(asList(task.properties.ContainerDefinitions, task.id)[0], task.id);
    const containerPort = asNumber(
      asObject(asList(definition.PortMappings, task.id)[0], task.id).ContainerPort,
      task.id,
    );
    const port = await findFreePort();
    const arn = `arn:aws:ecs:${LOCAL_REGION}:${LOCAL_ACCOUNT}:service/${service.id}`;
    resolver.define(service.id, { ref: arn, attributes: { Name: service.id, ServiceArn: arn } });
    resolver.definePort(containerPort, port);
    const pairs = asList(definition.Environment ?? [], task.id).map((value) => {
      const entry = asObject(value, task.id);
      return [asText(entry.Name, task.id), entry.Value ?? ''] as const;
    });
    const injected = asList(definition.Secrets ?? [], task.id).map((value) => {
      const entry = asObject(value, task.id);
      const arn = resolver.text(entry.ValueFrom, task.id);
      return [asText(entry.Name, task.id), secrets.get(arn) ?? fail(task.id, 'an unknown secret')] as const;
    });
    containers.push(
      new Container(
        {
          name: asText(definition.Name, task.id),
          serviceNames: [arn, service.id],
          folder: imageFolder(options, definition.Image, task.id),
          environment: {
            ...resolver.environment(Object.fromEntries(pairs), task.id),
            ...Object.fromEntries(injected),
            ...machine,
            // The port mapping and the network of this machine, which no task definition knows.
            PORT: String(port),
            LISTEN_HOST: '127.0.0.1',
          },
          port,
          tag: options.tag,
        },
        options.log,
      ),
    );
  }
  return containers;
}

/** The image's tag is the hash of its build context, and the context is the bundle itself. */
function imageFolder(options: TemplateRunOptions, image: Json | undefined, where: string): string {
  const text = isObject(image) ? asText(image['Fn::Sub'], where) : asText(image, where);
  const tag = /:([0-9a-f]{64})$/.exec(text)?.[1] ?? fail(where, 'a prebuilt image cannot run here');
  return options.assembly.assetFolder(tag);
}
