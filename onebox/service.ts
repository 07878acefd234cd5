import { join } from 'node:path';
import { findOccupied } from '#core/adapters/dynamo/move/moved-table.ts';
import type { DynamoStore } from '#core/adapters/dynamo/store.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { createInProcessWakes } from '#core/adapters/in-process/wake-queue.ts';
import { openFileSigner } from '#core/adapters/key-file/signer.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createUuidIds } from '#core/adapters/system/ids.ts';
import type { RepoId } from '#core/domain/ids.ts';
import type { Clock, Log, Vault } from '#core/ports/system.ts';
import { resumeWaits } from '#core/services/wakes/send-wakes.ts';
import type { OneboxConfig } from './config.ts';
import { listen } from './front.ts';
import { openKeys } from './keys.ts';
import { Metrics } from './metrics.ts';
import { composeMails, composeNotices, composeSockets } from './notices.ts';
import { openOutbound } from './outbound.ts';
import { EVIDENCE_FILE, openOwn, refuseWithoutKeys } from './own-files.ts';
import { CONNECTIONS_READ_MAX, refuseLost } from './own-rows.ts';
import { composeSignIn } from './sign-in.ts';
import { type Stops, stopAll } from './stops.ts';
import { openStorage } from './storage.ts';
import type { Shared } from './surfaces.ts';
import { startTicks } from './ticks.ts';
import { composeWorker } from './worker.ts';

/** A running installation. */
export interface Onebox {
  readonly url: string;
  readonly store: DynamoStore;
  /** Vault with which the API seals. */
  readonly vault: Vault;
  /** Wakes every repository that is due, as the timer does. */
  tick(): Promise<void>;
  /** Answers a wake of this repository, as a worker does. */
  answer(repoId: RepoId): Promise<void>;
  /** Resolves with the reason where this process cannot serve any more. */
  readonly whenBroken: Promise<string>;
  /** Waits for what is under way, then stops all parts. */
  stop(): Promise<void>;
}

export interface OneboxOptions {
  readonly config: OneboxConfig;
  /** Folder of the built page. */
  readonly siteDir: string;
  readonly log: Log;
  /** Environment, for PATH and for the endpoint of a database that runs already. */
  readonly env: NodeJS.ProcessEnv;
  /** Clock of the service. @default that of the machine */
  readonly clock?: Clock;
  /** Makes the queue of wakes. @default in the memory of this process */
  readonly createWakes?: typeof createInProcessWakes;
  /** Wraps every call that leaves. @default none is wrapped */
  readonly aroundSend?: (send: HttpSend) => HttpSend;
}

/**
 * Starts the whole service in this process: the services of the cloud edition, composed once more. Throws
 * `ConfigError`.
 */
export async function startOnebox(options: OneboxOptions): Promise<Onebox> {
  const stops: Stops = [];
  try {
    return await start(options, stops);
  } catch (error) {
    await stopAll(stops);
    throw error;
  }
}

async function start(options: OneboxOptions, stops: Stops): Promise<Onebox> {
  const { config, log, env } = options;
  const { clock = createSystemClock(), createWakes = createInProcessWakes } = options;
  const metrics = new Metrics();
  const storage = await openStorage({ config, env, log }, clock, stops);
  const { store, tokens } = storage;
  const publicUrl = config.public_url.replace(/\/+$/, '');
  const outbound = openOutbound(config, publicUrl, stops, options.aroundSend);
  refuseWithoutKeys(config.data_dir, (await findOccupied(storage.table)) !== null);
  refuseLost(config, await store.listAllConnections(CONNECTIONS_READ_MAX), log);
  const keys = openKeys(config.data_dir);
  const signIn = composeSignIn(config, outbound.send, keys, clock);
  const common = { store, ...outbound, ...keys, clock, ids: createUuidIds(), log, publicUrl };
  const parts = { ...common, queueName: config.service_name };
  const worker = composeWorker({ shared: parts, metrics, workers: config.workers, createWakes });
  const { queue, answerWake, tick } = worker;
  stops.push(() => queue.stop());
  const signer = openOwn(EVIDENCE_FILE, () => openFileSigner(join(config.data_dir, EVIDENCE_FILE)));
  const shared: Shared = { ...parts, tokens, queue, signer, identity: signIn.identity };
  const sockets = composeSockets(shared, config, stops);
  const mails = composeMails(config, log, metrics, stops);
  composeNotices(shared, storage, sockets, mails, stops);
  const readMetrics = async (): Promise<string> =>
    metrics.format({
      mergeyard_sockets_open: sockets.size,
      mergeyard_wakes_waiting: queue.size,
      mergeyard_mails_waiting: mails?.size ?? 0,
    });
  const { siteDir } = options;
  const { lookedAt } = worker;
  const port = await listen(
    { config, siteDir, shared, storage, signIn, sockets, readMetrics, lookedAt },
    stops,
  );
  const stopTicks = startTicks(clock, tick);
  stops.push(() => {
    stopTicks();
    // No look begins from the first moment of the stop. Those under way are waited for in their turn.
    void queue.stop();
  });
  // Wakes that waited in memory when the process ended are found by their due marks: first those that are to come.
  await resumeWaits({ store, queue, clock, log }).catch((error: unknown) =>
    log.error('looks could not be planned again', { error }),
  );
  await tick();
  return {
    url: `http://${spellHost(config.listen.host)}:${port}`,
    store,
    vault: keys.vault,
    tick,
    answer: (repoId) => answerWake({ repoId, wakeSeq: 0 }),
    whenBroken: storage.whenGone,
    stop: () => stopAll(stops),
  };
}

/** A host for an address with a port: an IPv6 address in brackets. */
const spellHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);
