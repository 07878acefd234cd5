import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiGatewayManagementApiClient } from '@aws-sdk/client-apigatewaymanagementapi';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { WebSocket } from 'ws';
import { createDynamoStore, type DynamoStore } from '#core/adapters/dynamo/store.ts';
import { createSocketSender } from '#core/adapters/websocket/socket-sender.ts';
import { formatPong, SOCKET_PATH } from '#core/contracts/realtime/realtime.ts';
import { createLog } from '#core/telemetry.ts';
import { startStreamSource } from '../../core/adapters/dynamo/table/stream-reader.ts';
import { routeUpgrades } from '../../core/adapters/websocket/route-upgrades.ts';
import { SocketHub } from '../../core/adapters/websocket/socket-hub.ts';
import type { Invocable, Json, Stoppable } from '../../core/ports/invocable.ts';
import { createConnect } from '../../lambdas/realtime/admit.ts';
import { createDisconnect } from '../../lambdas/realtime/disconnect.ts';
import { createPush } from '../../lambdas/realtime/push.ts';
import { FakeIdentity } from '../fakes/fake-identity.ts';
import { startTestTable, type TestTable } from './dynamo-table.ts';
import { LOCAL_AWS } from './local-aws.ts';
import { VirtualClock } from './virtual-clock.ts';

export const PUBLIC_URL = 'https://queue.example.org';

/** The outcome of an attempt to open a socket. */
export type Opening = Client | { readonly status: number };

/** The functions of the socket behind the local gateway, over a real table and its stream. Time of the service is virtual. */
export class RealtimeWorld {
  readonly clock = new VirtualClock();
  readonly identity = new FakeIdentity();
  readonly lines: string[] = [];
  readonly log = createLog({ service: 'test', write: (line) => this.lines.push(line), now: () => 0 });
  readonly hub = new SocketHub((source, text) => this.lines.push(`${source} ${text}`));
  readonly #clients: WebSocket[] = [];
  readonly #table: TestTable;
  readonly store: DynamoStore;
  #server: Server | null = null;
  #stream: Stoppable | null = null;
  #streams: DynamoDBStreamsClient | null = null;
  #port = 0;
  /** Answer to plain requests. */
  served = 0;

  private constructor(table: TestTable) {
    this.#table = table;
    this.store = createDynamoStore({ client: table.client, tableName: table.tableName, clock: this.clock });
  }

  static async open(): Promise<RealtimeWorld> {
    const world = new RealtimeWorld(await startTestTable());
    await world.#start();
    return world;
  }

  async #start(): Promise<void> {
    const { store, identity, clock, log, hub } = this;
    const management = await hub.start();
    const sender = createSocketSender(
      new ApiGatewayManagementApiClient({ endpoint: `${management}/ws`, maxAttempts: 1, ...LOCAL_AWS }),
    );
    const connect = createConnect({
      store,
      identity,
      clock,
      log,
      rates: store,
      now: () => clock.now(),
      publicUrl: `${PUBLIC_URL}/`,
    });
    const push = createPush({ store, sender, clock, log });
    hub.serve({
      connect: asFunction((event) => connect(event as never)),
      disconnect: asFunction((event) => createDisconnect({ store, log })(event as never)),
      fallback: asFunction(async () => ({ statusCode: 200, body: formatPong(clock.now()) })),
      answers: true,
      stage: 'ws',
    });
    const server = createServer((_request, response) => {
      this.served += 1;
      response.writeHead(426).end('plain');
    });
    routeUpgrades(server, SOCKET_PATH, hub);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    this.#streams = new DynamoDBStreamsClient({ endpoint: this.#table.endpoint, ...LOCAL_AWS });
    this.#stream = await startStreamSource(
      this.#streams,
      {
        tableName: this.#table.tableName,
        streamArn: 'arn',
        region: 'here',
        target: asFunction(push),
        // As the mapping asks, but without its window: the tests wait in real time.
        filter: (record) => /"S":"T[BE]?#/.test(JSON.stringify(record)),
        batchSize: 100,
        windowMs: 0,
        retries: 2,
        maxAgeMs: 60_000,
        reportsFailures: false,
        bisects: true,
        giveUp: async () => undefined,
      },
      (source, text) => this.lines.push(`${source} ${text}`),
    );
  }

  /** Pushes changes as the mapping would, without the stream. */
  async push(changes: readonly (readonly [kind: string, pk: string, sk?: string])[]): Promise<Sent[]> {
    const sent: Sent[] = [];
    const push = createPush({
      store: this.store,
      clock: this.clock,
      log: this.log,
      sender: {
        post: async (socketId, message) => {
          sent.push({ socketId, message });
          return socketId.startsWith('gone') ? 'gone' : 'sent';
        },
        close: async (socketId) => {
          sent.push({ socketId, message: 'closed' });
        },
      },
    });
    await push({
      Records: changes.map(([eventName, pk, sk = 'A'], index) => ({
        eventName,
        dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } }, SequenceNumber: String(index + 1) },
      })),
    });
    return sent;
  }

  /** Tries to open a socket with this query and these headers. */
  connect(
    query: string,
    headers: Readonly<Record<string, string>> = {},
    path = SOCKET_PATH,
  ): Promise<Opening> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}${path}${query}`, { headers });
    this.#clients.push(socket);
    const client = new Client(socket);
    return new Promise((done, failed) => {
      socket.once('open', () => done(client));
      socket.once('unexpected-response', (_request, response) => {
        response.resume();
        done({ status: response.statusCode ?? 0 });
      });
      socket.once('error', failed);
    });
  }

  async stop(): Promise<void> {
    for (const socket of this.#clients) socket.terminate();
    await this.#stream?.stop();
    this.#streams?.destroy();
    await this.hub.stop();
    await new Promise<void>((done) => {
      this.#server?.close(() => done());
      this.#server?.closeAllConnections();
    });
    await this.#table.stop();
  }
}

export interface Sent {
  readonly socketId: string;
  readonly message: string;
}

export class Client {
  readonly messages: string[] = [];
  readonly socket: WebSocket;
  closed = false;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.messages.push(String(data)));
    socket.on('close', () => {
      this.closed = true;
    });
  }
}

/** In this process what the pool does in a thread: events and answers are JSON. */
function asFunction(run: (event: Json) => Promise<unknown>): Invocable {
  return {
    invoke: async (event) => {
      const answer: unknown = await run(JSON.parse(JSON.stringify(event)));
      return JSON.parse(JSON.stringify(answer ?? null));
    },
  };
}
