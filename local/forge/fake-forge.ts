import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { BOT_SCOPES } from '#core/domain/forge/token-scopes.ts';
import { stopExecution } from './actions/runner.ts';
import { isOpen, resumeRun } from './actions/runs.ts';
import { Background } from './background.ts';
import type { ForgeCallRecord, ForgeControl } from './control.ts';
import { addToken } from './http/auth.ts';
import { isGitPath, serveGit } from './http/git-http.ts';
import { isOAuthCall, serveOAuth } from './http/oauth.ts';
import { serveApi } from './http/server.ts';
import type { RepoRecord, UserRecord } from './model.ts';
import { servePage } from './pages/serve.ts';
import { BOT } from './people.ts';
import { type Profile, type ProfileName, profileOf } from './profiles.ts';
import { controlFor } from './real-control.ts';
import { defaultSeed } from './seed.ts';
import { createRepo, ensureFork, ensureUser, type NewRepo } from './set-up.ts';
import { createRealTimers, type Timers } from './timers.ts';
import { loadLocalTls } from './tls/local-ca.ts';
import { queueAutoMerge } from './world/automerge.ts';
import { requestCheck } from './world/checks.ts';
import { findRepo, type Knobs, StateStore, type World } from './world.ts';

const IDLE_CONNECTION_MS = 60_000;

/** A token of a person: that of the bot has what the table of its scopes names, and no more. */
export const PERSON_SCOPES = ['write:repository', 'write:issue', 'read:user'] as const;
const SCOPES_OF_BOT = BOT_SCOPES.map(({ scope }) => scope);

export interface FakeForgeOptions {
  /** State and repositories live here and are found again at the next start. */
  readonly dataDir: string;
  readonly profile?: ProfileName;
  /** Single switches of the profile, such as `rowDeletedBeforeMerge`. */
  readonly overrides?: Partial<Profile>;
  readonly timers?: Timers;
  readonly knobs?: Partial<Knobs>;
  /** 0 or absent: any free port. */
  readonly httpPort?: number;
  readonly httpsPort?: number;
  /** Where plain HTTP listens. HTTPS listens on loopback only. */
  readonly httpHost?: string;
  /** Prefix of the URLs the forge hands out; absent: its HTTPS address. */
  readonly rootUrl?: string;
  /** Repository made at the first start; null makes none. Default: `acme/app` with a gate workflow and a rule. */
  readonly seed?: NewRepo | null;
  /** Failures of background work; default: standard error. */
  readonly onError?: (error: unknown) => void;
}

export { BOT } from './people.ts';
export { defaultSeed, gateWorkflow } from './seed.ts';

export interface ForgeAddress {
  readonly httpUrl: string;
  readonly httpsUrl: string;
  readonly caFile: string;
}

export interface FakeForge {
  start(): Promise<ForgeAddress>;
  stop(): Promise<void>;
  /** Acts on the seeded repository, inside the process. Ready after `start`. */
  readonly control: ForgeControl;
  controlFor(slug: string): ForgeControl;
  /** Runs what is due now and waits for it, git and workflow processes included. */
  settle(): Promise<void>;
  addUser(login: string, options?: { readonly siteAdmin?: boolean }): UserRecord;
  /** Returns the token; only its hash is kept. */
  addToken(login: string, scopes?: readonly string[], token?: string): string;
  createRepo(options: NewRepo): Promise<RepoRecord>;
  fork(slug: string, owner: string): Promise<RepoRecord>;
  readonly knobs: Knobs;
  readonly profile: Profile;
}

const LOOPBACK = '127.0.0.1';

const DEFAULT_KNOBS: Omit<Knobs, 'nullPulls'> = {
  gate: 'judge',
  judge: () => 'success',
  gateDurationMs: 1000,
  mergeBehaviour: () => ({ kind: 'now' }),
  checkDelayMs: 0,
  delaysChecks: false,
  listedTip: null,
  pushDelayMs: 0,
  actionsDelayMs: 0,
  fault: () => null,
  dropWebhook: () => false,
  webhookDelayMs: 0,
  ci: 'actions',
  scopedWorkflows: [],
  runnerSlots: 2,
};

export function createFakeForge(options: FakeForgeOptions): FakeForge {
  const calls: ForgeCallRecord[] = [];
  const place: Place = { rootUrl: options.rootUrl ?? '', caFile: null };
  const world = createWorld(options, place);
  const seed = options.seed === undefined ? defaultSeed(world.profile) : options.seed;
  const servers: Server[] = [];
  let control: ForgeControl | null = null;

  const start = async (): Promise<ForgeAddress> => {
    const address = await openServers(options, world, calls, servers);
    if (place.rootUrl === '') place.rootUrl = address.httpsUrl;
    place.caFile = address.caFile;
    if (seed !== null) {
      if (findRepo(world, seed.owner, seed.name) === undefined) await createRepo(world, seed);
      control = controlFor(world, `${seed.owner}/${seed.name}`, calls);
    }
    await resume(world);
    world.store.flush();
    return address;
  };

  return {
    start,
    stop: async () => {
      if (servers.length === 0) return;
      await Promise.all(servers.splice(0).map(close));
      for (const repo of world.state.repos) for (const run of repo.runs) stopExecution(run);
      await world.background.stop();
      world.store.changed();
      world.store.flush();
    },
    get control(): ForgeControl {
      if (control === null) throw new Error('the forge has not been started, or has no seeded repository');
      return control;
    },
    controlFor: (slug) => controlFor(world, slug, calls),
    settle: () => world.background.settle(),
    addUser: (login, user = {}) => ensureUser(world, login, user.siteAdmin),
    addToken: (login, scopes = login === BOT ? SCOPES_OF_BOT : PERSON_SCOPES, token) =>
      addToken(world, login, scopes, token),
    createRepo: (repo) => world.background.exclusive(() => createRepo(world, repo)),
    fork: (slug, owner) =>
      world.background.exclusive(async () => {
        const [of = '', name = ''] = slug.split('/');
        const parent = findRepo(world, of, name);
        if (parent === undefined) throw new Error(`no repository ${slug}`);
        return ensureFork(world, parent, owner);
      }),
    knobs: world.knobs,
    profile: world.profile,
  };
}

/** Known once the forge listens. */
interface Place {
  rootUrl: string;
  caFile: string | null;
}

function createWorld(options: FakeForgeOptions, place: Place): World {
  const timers = options.timers ?? createRealTimers();
  const onError =
    options.onError ?? ((error: unknown) => console.error('forge background work failed', error));
  const store = new StateStore(options.dataDir);
  const world: World = {
    profile: profileOf(options.profile ?? 'fj15', options.overrides),
    timers,
    background: new Background(timers, onError),
    knobs: { ...DEFAULT_KNOBS, nullPulls: new Set(), ...options.knobs },
    store,
    state: store.state,
    rootUrl: () => place.rootUrl,
    caFile: () => place.caFile,
    queueAutoMerge: (repo, pull, sha) => queueAutoMerge(world, repo, pull, sha),
  };
  return world;
}

async function openServers(
  options: FakeForgeOptions,
  world: World,
  calls: ForgeCallRecord[],
  servers: Server[],
): Promise<ForgeAddress> {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    serve(world, calls, request, response).catch(() => response.destroy());
  };
  const tls = loadLocalTls(join(options.dataDir, 'tls'));
  const http = createServer(handle);
  const https = createTlsServer({ key: tls.key, cert: tls.cert }, handle);
  // A client that takes an idle connection in the moment in which the server closes it is told that the connection was reset.
  for (const server of [http, https]) server.keepAliveTimeout = IDLE_CONNECTION_MS;
  servers.push(http, https);
  const host = options.httpHost ?? LOOPBACK;
  const httpUrl = `http://${host}:${await listen(http, options.httpPort ?? 0, host)}`;
  const httpsUrl = `https://${LOOPBACK}:${await listen(https, options.httpsPort ?? 0, LOOPBACK)}`;
  return { httpUrl, httpsUrl, caFile: tls.caFile };
}

/** Work that was under way when the forge stopped begins again. */
async function resume(world: World): Promise<void> {
  for (const repo of world.state.repos) {
    for (const pull of repo.pulls) if (pull.conflict === 'checking') requestCheck(world, repo, pull);
    for (const run of repo.runs) if (isOpen(run)) await resumeRun(world, repo, run);
  }
}

async function serve(
  world: World,
  calls: ForgeCallRecord[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://forge.invalid');
  // Before the API: some of its calls are asked with the token of a sign-in.
  if (isOAuthCall(request, url.pathname)) return serveOAuth(world, request, response, url);
  if (url.pathname.startsWith('/api/')) return serveApi(world, calls, request, response, url);
  if (isGitPath(url.pathname)) return serveGit(world, request, response, url);
  return servePage(world, request, response, url);
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
