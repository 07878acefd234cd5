import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { findOccupied } from '#core/adapters/dynamo/move/moved-table.ts';
import { proveWritable } from '#core/adapters/dynamo/table/prove-writable.ts';
import { closeFront } from '#core/adapters/http-server/close-front.ts';
import { createHttpFront } from '#core/adapters/http-server/http-front.ts';
import { readSiteFiles } from '#core/adapters/site-files/site-files.ts';
import { routeUpgrades } from '#core/adapters/websocket/route-upgrades.ts';
import type { SocketHub } from '#core/adapters/websocket/socket-hub.ts';
import { SOCKET_PATH } from '#core/contracts/realtime/realtime.ts';
import { createSignInRoutes } from '../lambdas/sign-in/routes.ts';
import { createSite } from '../lambdas/site/serve.ts';
import { callerReader } from './caller.ts';
import { ConfigError, type OneboxConfig, reasonOf } from './config.ts';
import { createMailCheck, examine, mailLoginOf } from './doctor.ts';
import { createFirstStart } from './first-start.ts';
import { createHealth } from './health.ts';
import { listRoutes, type OwnPages, pageConfig } from './routes.ts';
import type { composeSignIn } from './sign-in.ts';
import type { Stops } from './stops.ts';
import type { Storage } from './storage.ts';
import type { Shared } from './surfaces.ts';

export interface FrontParts {
  readonly config: OneboxConfig;
  readonly siteDir: string;
  readonly shared: Shared;
  readonly storage: Pick<Storage, 'table' | 'isFolderThere'>;
  readonly signIn: ReturnType<typeof composeSignIn>;
  readonly sockets: SocketHub;
  readonly readMetrics: () => Promise<string>;
  /** Time at which the timer last looked at everything that is due, of the monotonic clock, in ms. */
  readonly lookedAt: () => number;
}

/** Serves every address of the installation. Returns the port. */
export async function listen(parts: FrontParts, stops: Stops): Promise<number> {
  const { config, shared, signIn, sockets } = parts;
  const { log } = shared;
  const front = createHttpFront(
    listRoutes(shared, createSignInRoutes({ ...signIn, ...shared }), composePages(parts)),
    (source, text) => log.error('http', { source, text }),
    callerReader(config),
  );
  routeUpgrades(front, SOCKET_PATH, sockets);
  const { host, port } = config.listen;
  await new Promise<void>((done, failed) => {
    front.once('error', failed).listen(port, host, done);
  }).catch((error: unknown) => {
    throw new ConfigError(
      `listen: ${host}:${port} cannot be listened on: ${reasonOf(error)}. Stop what uses it, or name another address.`,
    );
  });
  stops.push(() => closeFront(front, () => sockets.cutAll()));
  return (front.address() as AddressInfo).port;
}

function composePages(parts: FrontParts): OwnPages {
  const { config, siteDir, shared, storage, signIn, readMetrics } = parts;
  const { store, send, clock } = shared;
  const mailLogin = mailLoginOf(config);
  const askMail = mailLogin === null ? null : createMailCheck({ tryLogin: mailLogin, now: clock.now });
  return {
    site: createSite(readSiteFiles(pathToFileURL(`${siteDir}/`)), pageConfig(config)),
    firstStart: createFirstStart({
      examine: () => examine(config, send, clock.now, askMail),
      // A copy that was restored has repositories, and no session of before.
      isSetUp: async () => signIn.sessions.wereUsed() || (await findOccupied(storage.table)) !== null,
      now: clock.now,
    }),
    health: createHealth({
      store,
      proveWritable: () => proveWritable(storage.table),
      isFolderThere: storage.isFolderThere,
      lookedAt: parts.lookedAt,
      clock,
    }),
    metrics: readMetrics,
  };
}
