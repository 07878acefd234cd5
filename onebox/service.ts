import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { findOccupied } from '#core/adapters/dynamo/move/table.ts';
import { createDynamoStore, type DynamoStore } from '#core/adapters/dynamo/store.ts';
import { startStreamSource } from '#core/adapters/dynamo/stream-reader.ts';
import { createTokenStore } from '#core/adapters/dynamo/token-store.ts';
import { createNotifier } from '#core/adapters/email-chat/notifier.ts';
import { ForgePace } from '#core/adapters/forge-http/forge-pace.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { createHttpFront } from '#core/adapters/http-server/http-front.ts';
import { createForgeOAuth } from '#core/adapters/identity-forge/forge-oauth.ts';
import { createForgeIdentity } from '#core/adapters/identity-forge/identity.ts';
import { createSessions } from '#core/adapters/identity-forge/sessions.ts';
import { createInProcessWakes } from '#core/adapters/in-process/wake-queue.ts';
import { openFileSigner } from '#core/adapters/key-file/signer.ts';
import { readSiteFiles } from '#core/adapters/site-files/site-files.ts';
import { createMailLine } from '#core/adapters/smtp/mail-line.ts';
import { createSmtp } from '#core/adapters/smtp/smtp.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createUuidIds } from '#core/adapters/system/ids.ts';
import { makeUpText } from '#core/adapters/system/made-up-text.ts';
import { routeUpgrades } from '#core/adapters/websocket/route-upgrades.ts';
import { SocketHub } from '#core/adapters/websocket/socket-hub.ts';
import { glanceOf, type WakeMessage } from '#core/contracts/events.ts';
import { MAIL_KEY_CHARS } from '#core/contracts/mailbox.ts';
import { formatPong, SOCKET_PATH } from '#core/contracts/realtime.ts';
import { NO_PLANS } from '#core/domain/billing.ts';
import { workersOfOneTenant } from '#core/domain/fairness.ts';
import type { RepoId } from '#core/domain/ids.ts';
import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import type { Clock, Log, Vault } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { carryLandings, wishBackports } from '#core/services/backport.ts';
import { askRetries } from '#core/services/deliver-webhook.ts';
import { dispatchReconcile } from '#core/services/dispatch-reconcile.ts';
import { answerGlance } from '#core/services/glance.ts';
import { createLookingEngine } from '#core/services/idle-look.ts';
import { repairSetup, wishRepairs } from '#core/services/repair-setup.ts';
import { forwardDelayedWake, resumeWaits, wakeDueRepos } from '#core/services/wake.ts';
import { watchQueues } from '#core/services/watch-queues.ts';
import { createNotify } from '../lambdas/notify/notify.ts';
import { createConnect } from '../lambdas/realtime/admit.ts';
import { createDisconnect } from '../lambdas/realtime/disconnect.ts';
import { createPush } from '../lambdas/realtime/push.ts';
import { createSignInRoutes } from '../lambdas/sign-in/routes.ts';
import { createSite } from '../lambdas/site/serve.ts';
import { createAdmission } from './admission.ts';
import { callerBehindProxy } from './caller.ts';
import type { OneboxConfig } from './config.ts';
import { startDatabase } from './database.ts';
import { createMailCheck, examine, mailLoginOf } from './doctor.ts';
import { createEngine } from './engine.ts';
import { createFirstStart } from './first-start.ts';
import { lockFolder } from './folder-lock.ts';
import { createHealth } from './health.ts';
import { openKeys } from './keys.ts';
import { createLooker } from './looker.ts';
import { Metrics } from './metrics.ts';
import { refuseStandingStill } from './move/standing-still.ts';
import { asInvocable, listRoutes, pageConfig } from './routes.ts';
import { type Shared, setUpParts } from './surfaces.ts';
import { openTable, TABLE_NAME } from './table.ts';

/** A running installation. */
export interface Onebox {
  readonly url: string;
  readonly store: DynamoStore;
  /** Seals as the API does. */
  readonly vault: Vault;
  /** Wakes what is due, as the timer does. */
  tick(): Promise<void>;
  /** Answers a wake of this repository, as a worker does. */
  answer(repoId: RepoId): Promise<void>;
  /** Ends what is under way, then everything. */
  stop(): Promise<void>;
}

export interface OneboxOptions {
  readonly config: OneboxConfig;
  /** Folder of the built page. */
  readonly siteDir: string;
  readonly log: Log;
  /** Names a database that runs already, and the PATH. */
  readonly env: NodeJS.ProcessEnv;
  /** @default every five minutes */
  readonly tickMs?: number;
  /** @default that of the machine */
  readonly clock?: Clock;
  /** Keeps wakes and has them answered. @default the memory of this process */
  readonly createWakes?: typeof createInProcessWakes;
  /** Wraps every call that leaves. @default none is wrapped */
  readonly aroundSend?: (send: HttpSend) => HttpSend;
}

const STREAM_WINDOW_MS = 500;
const NOTICE_AGE_MAX_MS = 10 * 60_000;
const SOCKET_STAGE = 'live';

type Stop = () => Promise<void> | void;

/** Everything in one process: the services of the cloud edition, composed once more. */
export async function startOnebox(options: OneboxOptions): Promise<Onebox> {
  const stops: Stop[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    return await start(options, stops, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(options: OneboxOptions, stops: Stop[], stop: () => Promise<void>): Promise<Onebox> {
  const { config, siteDir, log, env, tickMs = TICK_INTERVAL_MS } = options;
  const { clock = createSystemClock(), createWakes = createInProcessWakes } = options;
  const ids = createUuidIds();
  const metrics = new Metrics();
  mkdirSync(config.data_dir, { recursive: true, mode: 0o700 });
  stops.push(await lockFolder(config.data_dir));
  const database = await startDatabase({ dataFile: join(config.data_dir, 'table.sqlite'), env });
  stops.push(() => database.stop());
  const clients = await openTable(database.endpoint);
  stops.push(() => clients.close());
  const table = { client: clients.documents, tableName: TABLE_NAME, clock };
  await refuseStandingStill({ client: clients.documents, name: TABLE_NAME, clock });
  const [store, tokens] = [createDynamoStore(table), createTokenStore(table)];

  const publicUrl = config.public_url.replace(/\/+$/, '');
  const policy = {
    allowHosts: [new URL(config.forge.url).host],
    // The service may share the forge's name, behind another port; else its own name is no forge.
    denyHosts: hostNameOf(publicUrl) === hostNameOf(config.forge.url) ? [] : [new URL(publicUrl).host],
    ...(config.caPem === null ? {} : { caPem: config.caPem }),
  };
  const http = createGuardedHttp(policy);
  stops.push(() => http.close());
  const send = options.aroundSend?.(http.send) ?? http.send;
  const keys = openKeys(config.data_dir);
  const signer = openFileSigner(join(config.data_dir, 'evidence-key.pem'));
  const sessions = createSessions({
    file: join(config.data_dir, 'sessions.json'),
    clock,
    seal: keys.sessionSeal,
  });
  const forge = createForgeOAuth({
    forgeUrl: config.forge.url,
    clientId: config.sign_in.client_id,
    send,
    clientSecret: new Secret(config.clientSecret),
    readsTeams: config.tenants === 'organizations',
  });
  const admit = createAdmission(config);
  // One pace for all that reads a forge.
  const paced = new ForgePace(clock).pace(send);
  const engine = createEngine({ store, send: paced, clock, log, metrics, publicUrl });
  const queue = createWakes({
    answer: (wake) => answerWake(wake),
    forward: async (wake) => {
      const glance = glanceOf(wake);
      if (glance === null) await forwardDelayedWake({ store, queue, clock }, wake);
      else await queue.sendGlance(glance);
    },
    workersMax: config.workers,
    log,
  });
  stops.push(() => queue.stop());
  const shared: Shared = {
    store,
    tokens,
    queue,
    policy,
    clock,
    ids,
    log,
    publicUrl,
    ...keys,
    signer,
    send,
    identity: createForgeIdentity({ instanceUrl: config.forge.url, sessions, forge, admit, clock }),
    queueName: config.service_name,
  };
  const looker = createLooker(paced, clock);
  const setUp = setUpParts(shared);
  const repairs = { ask: async (repoId: RepoId) => void (await repairSetup(setUp, repoId)) };
  const backports = { ask: async (repoId: RepoId) => void (await carryLandings(setUp, repoId)) };
  const answerWake = async (wake: WakeMessage): Promise<void> => {
    const { repoId } = wake;
    const glance = glanceOf(wake);
    if (glance !== null) {
      const result = await answerGlance({ store, vault: keys.vault, looker, queue, clock, log }, glance);
      metrics.count('mergeyard_glances_total', { result });
      return;
    }
    const looking = createLookingEngine({ store, looker, clock, log }, engine, repoId);
    const result = await dispatchReconcile(
      {
        store,
        leases: store,
        vault: keys.vault,
        engine: looking,
        queue,
        clock,
        ids,
        log,
        queueName: config.service_name,
        workersMax: workersOfOneTenant(config.workers),
        planLimits: NO_PLANS,
      },
      repoId,
    );
    if (result.kind === 'reconciled') {
      await wishRepairs({ store, repairs, clock, log }, result.repo);
      await wishBackports({ store, backports, clock, log }, result.repo);
    }
    metrics.count('mergeyard_wakes_total', { result: result.kind });
  };

  const sockets = new SocketHub((source, text) => log.warn('socket', { source, text }));
  stops.push(() => sockets.stop());
  const connect = createConnect({ ...shared, rates: store, publicUrl });
  const disconnect = createDisconnect({ store, log });
  sockets.serve({
    connect: asInvocable(connect),
    disconnect: asInvocable(disconnect),
    fallback: { invoke: async () => ({ statusCode: 200, body: formatPong(clock.now()) }) },
    answers: true,
    stage: SOCKET_STAGE,
  });
  const push = createPush({ store, sender: sockets.sender(), log, clock });
  const mails =
    config.mail === null
      ? null
      : createMailLine({
          smtp: createSmtp(config.mail),
          log,
          count: (result) => metrics.count('mergeyard_mails_total', { result }),
        });
  stops.push(() => mails?.stop());
  const notify = createNotify({
    store,
    secrets: keys.secrets,
    clock,
    log,
    serviceUrl: publicUrl,
    makeMailKey: () => makeUpText(MAIL_KEY_CHARS),
    notifier: createNotifier({
      email: mails === null ? { way: 'none' } : { way: 'smtp', sendMail: mails.send },
      send,
    }),
  });
  for (const target of [asInvocable(push), asInvocable(notify)]) {
    const source = await startStreamSource(
      clients.streams,
      {
        tableName: TABLE_NAME,
        streamArn: TABLE_NAME,
        region: 'onebox',
        target,
        filter: () => true,
        batchSize: 100,
        windowMs: STREAM_WINDOW_MS,
        retries: 5,
        maxAgeMs: NOTICE_AGE_MAX_MS,
        reportsFailures: true,
        bisects: true,
        giveUp: async () => log.error('changes were given up'),
      },
      (name, text) => log.warn('change stream', { name, text }),
    );
    stops.push(() => source.stop());
  }

  const signIn = createSignInRoutes({ forge, sessions, publicUrl, clock, log, admit });
  const mailLogin = mailLoginOf(config);
  const askMail = mailLogin === null ? null : createMailCheck({ tryLogin: mailLogin, now: clock.now });
  const front = createHttpFront(
    listRoutes(shared, signIn, {
      site: createSite(readSiteFiles(new URL(`file://${siteDir}/`)), pageConfig(config)),
      firstStart: createFirstStart({
        examine: () => examine(config, send, clock.now, askMail),
        // A copy that was restored has repositories, and no session of before.
        isSetUp: async () =>
          sessions.wereUsed() ||
          (await findOccupied({ client: clients.documents, name: TABLE_NAME, clock })) !== null,
        now: clock.now,
      }),
      health: createHealth({ store, clock }),
      metrics: async () =>
        metrics.format({
          mergeyard_sockets_open: sockets.size,
          mergeyard_wakes_waiting: queue.size,
          mergeyard_mails_waiting: mails?.size ?? 0,
        }),
    }),
    (source, text) => log.error('http', { source, text }),
    config.behind_proxy ? callerBehindProxy : undefined,
  );
  routeUpgrades(front, SOCKET_PATH, sockets);
  await new Promise<void>((done, failed) => {
    front.once('error', failed).listen(config.listen.port, config.listen.host, done);
  });
  stops.push(
    () =>
      new Promise((done) => {
        front.close(() => done());
        front.closeIdleConnections();
        sockets.cutAll();
      }),
  );

  const tick = async (): Promise<void> => {
    try {
      log.info('tick', { ...(await wakeDueRepos({ store, queue, clock, log, planLimits: NO_PLANS })) });
      await watchQueues({ store, clock, log, planLimits: NO_PLANS });
      await askRetries({ store, clock, log });
    } catch (error) {
      log.error('the tick failed', { error });
    }
  };
  const timer = setInterval(() => void tick(), tickMs);
  stops.push(() => clearInterval(timer));
  // Wakes that waited in memory when the process ended are found by their due marks: first those that are to come.
  await resumeWaits({ store, queue, clock, log }).catch((error: unknown) =>
    log.error('looks could not be planned again', { error }),
  );
  await tick();
  const { port } = front.address() as AddressInfo;
  const answer = (repoId: RepoId): Promise<void> => answerWake({ repoId, wakeSeq: 0 });
  return { url: `http://${config.listen.host}:${port}`, store, vault: keys.vault, tick, answer, stop };
}

function hostNameOf(url: string): string {
  return new URL(url).hostname;
}
