import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { findFreePort } from '#core/adapters/system/free-port.ts';
import { createDynamoStore, type DynamoStore } from '../core/adapters/dynamo/store.ts';
import { createKmsVault } from '../core/adapters/kms-vault/vault.ts';
import { createSystemClock } from '../core/adapters/system/clock.ts';
import { SocketHub } from '../core/adapters/websocket/socket-hub.ts';
import type { LogSink } from '../core/ports/invocable.ts';
import type { Vault } from '../core/ports/system.ts';
import { buildBundles } from '../lib/bundle.ts';
import { createClients, machineEnvironment } from './aws-clients.ts';
import { startDynamo } from './emulators/dynamo.ts';
import { type EmailEmulator, startEmail } from './emulators/email.ts';
import { startKms } from './emulators/kms.ts';
import { startSqs } from './emulators/sqs.ts';
import { endOrphans } from './orphans.ts';
import { runTemplate, type TemplateRun } from './template-runner/runner.ts';
import { SECRET_TYPE, secretName, startSecretStore } from './template-runner/secret-store.ts';
import type { Assembly } from './template-runner/synthesize.ts';

export interface LocalServiceOptions {
  /** Everything that outlives the process. @default `.mergeyard` in the working directory */
  readonly dataDir?: string;
  /** Port of the API. @default a free one */
  readonly port?: number;
  /** Starts without the data of earlier runs. */
  readonly fresh?: boolean;
  /** As for `cdk deploy -c key=value`; `forgeAllowHosts` and `forgeCaFile` let a forge on loopback be reached. */
  readonly context?: Readonly<Record<string, string>>;
  /** Values of secrets that an operator would store, by the last part of their names. @default made up */
  readonly secrets?: Readonly<Record<string, string>>;
  /** `manual`: schedules fire only by `fireTick`, for tests whose steps a real tick would disturb. @default timed */
  readonly schedules?: 'timed' | 'manual';
  /** Bundles that exist already. @default built into the data folder */
  readonly bundlesDir?: string;
  /** Gets what functions and the engine print. @default appended to `service.log` in the data folder */
  readonly log?: LogSink;
}

/** The whole service on loopback. */
export interface LocalService {
  readonly baseUrl: string;
  readonly dataDir: string;
  /** The same table that the functions use. */
  readonly store: DynamoStore;
  /** Seals as the API does, with the emulated key. */
  readonly vault: Vault;
  readonly run: TemplateRun;
  /** Mails that would have gone out; also one JSON object per line in `outbox.jsonl` of the data folder. */
  readonly email: EmailEmulator;
  /** The open realtime sockets. */
  readonly sockets: SocketHub;
  /** Value of one of the template's secrets, by the last part of its name. */
  readSecret(name: string): Promise<string>;
  /** Fires the schedule now; resolves when the tick function has ended. */
  fireTick(): Promise<void>;
  /** `kill -9` of the engine; it is started again. Resolves when it is healthy. */
  killEngine(): Promise<void>;
  /** Kills all instances of one function (`Worker`, `Tick` …) in the middle of what they do; returns how many. */
  killFunction(name: string): Promise<number>;
  stop(): Promise<void>;
}

interface State {
  /** UUID of the emulated key by logical id. */
  readonly keyIds: Record<string, string>;
  readonly secretValues: Record<string, string>;
  /** Its own for every data folder: an endpoint that the environment names serves others and outlives the folder. */
  readonly tablePrefix: string;
}

type StopStep = () => Promise<void>;

/** The discard port: no service answers there, so without a provider of the caller's every session is unverifiable. */
const NO_IDENTITY = 'http://127.0.0.1:9';

/** Starts the synthesized template on loopback. Started again on the same data folder, it goes on where it was. */
export async function startLocalService(options: LocalServiceOptions = {}): Promise<LocalService> {
  const dataDir = resolve(options.dataDir ?? '.mergeyard');
  const tag = `--data=${dataDir}`;
  const dataFile = join(dataDir, 'table.sqlite');
  const unlock = await takeFolder(dataDir, options.fresh === true, [tag, dataFile]);
  const stops: StopStep[] = [async () => unlock()];
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const log = options.log ?? fileLog(join(dataDir, 'service.log'));
    const kept = <T extends { stop(): Promise<void> }>(started: T): T => {
      stops.push(() => started.stop());
      return started;
    };
    // Chosen before the synthesis: forges are told this address.
    const port = options.port ?? (await findFreePort());
    const starting = [
      makeAssembly(options, dataDir, port),
      startDynamo({ dataFile }).then(kept),
      startSqs().then(kept),
      startEmail({ file: join(dataDir, 'outbox.jsonl') }).then(kept),
    ] as const;
    // All of them have ended before anything is thrown, so that nothing starts after `stopAll`.
    await Promise.allSettled(starting);
    const [assembly, dynamo, sqs, email] = await Promise.all(starting);
    const state = readState(dataDir);
    for (const key of assembly.template.ofType('AWS::KMS::Key')) state.keyIds[key.id] ??= randomUUID();
    storeSecrets(state, assembly, options.secrets ?? {});
    writeState(dataDir, state);
    const [signing, sealing] = [signingKeysOf(assembly), Object.entries(state.keyIds)];
    const kms = kept(
      await startKms({
        file: join(dataDir, 'keys.json'),
        keyIds: sealing.flatMap(([id, keyId]) => (signing.includes(id) ? [] : [keyId])),
        signingKeyIds: sealing.flatMap(([id, keyId]) => (signing.includes(id) ? [keyId] : [])),
      }),
    );
    const sockets = kept(new SocketHub(log));
    const endpoints = {
      dynamo: dynamo.endpoint,
      sqs: sqs.endpoint,
      kms: kms.endpoint,
      email: email.endpoint,
      sockets: await sockets.start(),
    };
    const clients = createClients(endpoints);
    stops.push(async () => {
      for (const client of Object.values(clients)) client.destroy();
    });
    const run = await runTemplate({
      assembly,
      tag,
      log,
      sockets,
      schedules: options.schedules ?? 'timed',
      dynamo: clients.dynamo,
      sqs: clients.sqs,
      streams: clients.streams,
      keyIds: state.keyIds,
      tablePrefix: state.tablePrefix,
      secretValues: state.secretValues,
      machineEnvironment: async (secrets) => {
        writeState(dataDir, state);
        const secretStore = await startSecretStore(secrets);
        stops.push(secretStore.stop);
        return machineEnvironment({ ...endpoints, secrets: secretStore.endpoint });
      },
    });
    stops.push(run.stop);
    const baseUrl = await listen(run, port);
    stops.push(() => closeFront(run));
    // First of all: a server does not close while a socket is open.
    stops.push(async () => sockets.cutAll());
    await Promise.all(run.containers.map((container) => container.waitUntilHealthy()));
    return { ...describeService(run, clients, state), baseUrl, dataDir, email, sockets, stop: stopAll };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

function describeService(
  run: TemplateRun,
  clients: ReturnType<typeof createClients>,
  state: State,
): Pick<LocalService, 'store' | 'vault' | 'run' | 'readSecret' | 'fireTick' | 'killEngine' | 'killFunction'> {
  const outputOf = (logicalType: 'TABLE_NAME' | 'CREDENTIAL_KEY_ID'): string => {
    const value = [...run.functions.values()]
      .map((each) => each.spec.environment[logicalType])
      .find((each) => each !== undefined);
    if (value === undefined) throw new Error(`no function has ${logicalType}`);
    return value;
  };
  return {
    run,
    store: createDynamoStore({
      client: DynamoDBDocumentClient.from(clients.dynamo),
      tableName: outputOf('TABLE_NAME'),
      clock: createSystemClock(),
    }),
    vault: createKmsVault({ client: clients.kms, keyId: outputOf('CREDENTIAL_KEY_ID'), keyVersion: 1 }),
    readSecret: async (name) => {
      const found = state.secretValues[name];
      if (found === undefined) throw new Error(`the template has no secret ${name}`);
      return found;
    },
    fireTick: async () => {
      await Promise.all([...run.schedules.values()].map((schedule) => schedule.fire()));
    },
    killEngine: async () => {
      await Promise.all(
        run.containers.map(async (container) => {
          const { starts } = container;
          container.kill();
          while (container.starts === starts) await new Promise((tick) => setTimeout(tick, 20));
          await container.waitUntilHealthy();
        }),
      );
    },
    killFunction: async (name) => {
      const pool = [...run.functions.values()].find((each) => each.spec.name === name);
      if (pool === undefined) throw new Error(`no function ${name}`);
      return pool.kill();
    },
  };
}

async function makeAssembly(options: LocalServiceOptions, dataDir: string, port: number): Promise<Assembly> {
  const bundlesDir = options.bundlesDir ?? join(dataDir, 'bundles');
  // The bundler is a process of its own, so loading the construct library, the other slow part, goes on beside it.
  const [{ synthesizeAssembly }] = await Promise.all([
    import('./template-runner/synthesize.ts'),
    options.bundlesDir === undefined ? buildBundles({ outDir: bundlesDir }) : null,
  ]);
  const assemblies = join(dataDir, 'assembly');
  rmSync(assemblies, { recursive: true, force: true });
  // The construct library remembers per process which assets it has copied to which folder, even when that is gone.
  const outDir = join(assemblies, randomUUID());
  const context = {
    identityUrl: NO_IDENTITY,
    publicUrl: `http://127.0.0.1:${port}`,
    notificationFrom: 'mergeyard@example.test',
    evidenceKey: 'true',
    ...options.context,
  };
  return synthesizeAssembly({ bundlesDir, outDir, context });
}

/** One service per data folder. What an earlier, killed one left running is ended first. */
async function takeFolder(dataDir: string, fresh: boolean, marks: readonly string[]): Promise<() => void> {
  const lockFile = `${dataDir}.lock`;
  mkdirSync(resolve(dataDir, '..'), { recursive: true });
  const holder = existsSync(lockFile) ? Number(readFileSync(lockFile, 'utf8')) : 0;
  if (holder > 0 && holder !== process.pid && isAlive(holder)) {
    throw new Error(`${dataDir} is in use by process ${holder}; stop it or choose another data folder`);
  }
  rmSync(lockFile, { force: true });
  const file = openSync(lockFile, 'wx');
  writeFileSync(file, String(process.pid));
  closeSync(file);
  await endOrphans(marks);
  if (fresh) rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  return () => rmSync(lockFile, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Logical ids of keys that sign. */
const signingKeysOf = ({ template }: Assembly): readonly string[] =>
  template
    .ofType('AWS::KMS::Key')
    .filter(({ properties }) => properties.KeyUsage === 'SIGN_VERIFY')
    .map(({ id }) => id);

/** As an operator does after the deployment. A value for a secret that the template does not have is a mistake here. */
function storeSecrets(state: State, assembly: Assembly, given: Readonly<Record<string, string>>): void {
  const names = assembly.template.ofType(SECRET_TYPE).map(secretName);
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name)) throw new Error(`the template has no secret ${name}`);
    state.secretValues[name] = value;
  }
}

function readState(dataDir: string): State {
  const file = join(dataDir, 'state.json');
  const stored: Partial<State> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return {
    keyIds: { ...stored.keyIds },
    secretValues: { ...stored.secretValues },
    tablePrefix: stored.tablePrefix ?? `local-${randomUUID().slice(0, 8)}`,
  };
}

/** Whole or not at all: a kill in the middle must not cost the key ids. */
function writeState(dataDir: string, state: State): void {
  const file = join(dataDir, 'state.json');
  writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function fileLog(file: string): LogSink {
  return (source, text) => appendFileSync(file, text.replace(/^(?=.)/gm, `[${source}] `));
}

async function listen(run: TemplateRun, port: number): Promise<string> {
  await new Promise<void>((done, failed) => {
    run.front.once('error', failed).listen(port, '127.0.0.1', done);
  });
  return `http://127.0.0.1:${(run.front.address() as AddressInfo).port}`;
}

function closeFront(run: TemplateRun): Promise<void> {
  return new Promise((done) => {
    run.front.close(() => done());
    run.front.closeAllConnections();
  });
}
