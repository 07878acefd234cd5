import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createForgeAdmin } from '#core/adapters/forge-http/admin.ts';
import { createBackportForge } from '#core/adapters/forge-http/backport.ts';
import { createForgeTransport } from '#core/adapters/forge-http/wire/transport.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { StoreError } from '#core/ports/store.ts';
import { Secret } from '#core/secret.ts';
import { createForgeOpener } from '#core/services/connections/open-forge.ts';
import type { BackportDeps } from '#core/services/pulls/backport.ts';
import type { VerifyDeps } from '#core/services/set-up/verify-ci-gate.ts';
import { openBackportPlanner } from '../../engine-container/src/staging/plan-backport.ts';
import { BOT, createFakeForge, type FakeForge } from '../../local/forge/fake-forge.ts';
import type { ProfileName } from '../../local/forge/profiles.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { createMemoryStore, type MemoryStore } from '../fakes/memory-store.ts';
import { FakeSecretBox } from '../fakes/secret-box.ts';
import { VirtualClock } from './virtual-clock.ts';

export const WEBHOOK_URL = 'https://queue.example.org/api/v1/webhooks/forge';
const SLUG = 'acme/app';

type Json = Readonly<Record<string, unknown>>;

/** Services that set a repository up, the real client, a forge on real git over HTTPS, a store in memory. */
export interface SetUpWorld {
  readonly fake: FakeForge;
  readonly clock: VirtualClock;
  readonly deps: VerifyDeps & BackportDeps;
  readonly store: MemoryStore;
  readonly log: { readonly level: string; readonly message: string; readonly fields: unknown }[];
  /** The repo as it is stored now. @default the one that the world begins with */
  repo(id?: string): Promise<ManagedRepo>;
  /** A further branch of it. */
  enroll(repo: ManagedRepo): Promise<void>;
  change(changes: Partial<ManagedRepo>): Promise<ManagedRepo>;
  /** A call by the bot below `/repos/acme/app`, outside the client; it must work. */
  api(method: string, path: string, body?: unknown): Promise<Json & readonly Json[]>;
  /** Labels of the writes that the bot's client has made since the last call of this. */
  takeWrites(): readonly string[];
  /** From now on the store refuses this method, once per entry: it must be called exactly so often. */
  failStore(method: string, times: number): void;
  useToken(scopes: readonly string[] | 'revoked'): void;
  close(): Promise<void>;
}

export async function openSetUpWorld(
  options: {
    readonly profile?: ProfileName;
    readonly files?: Readonly<Record<string, string>>;
    readonly access?: 'admin' | 'write';
  } = {},
): Promise<SetUpWorld> {
  const dataDir = mkdtempSync(join(tmpdir(), 'set-up-'));
  const clock = new VirtualClock();
  const fake = createFakeForge({
    dataDir,
    profile: options.profile ?? 'fj15',
    timers: clock,
    seed: null,
    knobs: { pushDelayMs: 300, actionsDelayMs: 500, gateDurationMs: 60_000 },
  });
  const address = await fake.start();
  await fake.createRepo({
    owner: 'acme',
    name: 'app',
    files: { 'README.md': '# app\n', ...options.files },
    collaborators: { [BOT]: options.access ?? 'admin', dev: 'write' },
  });
  const http = createGuardedHttp({
    allowHosts: [new URL(address.httpsUrl).host],
    caPem: readFileSync(address.caFile, 'utf8'),
  });
  const fails = new Map<string, number>();
  const store = createMemoryStore({
    clock,
    beforeCall: (label) => {
      const left = fails.get(label) ?? 0;
      if (left === 0) return;
      fails.set(label, left - 1);
      throw new StoreError('unavailable', label);
    },
  });
  const seedRepo = givenRepo({ instanceUrl: address.httpsUrl, slug: SLUG });
  await store.createTenant(seedRepo.tenantId, clock.now());
  await store.createConnection(givenConnection({ instanceUrl: address.httpsUrl }));
  await store.createRepo(seedRepo, null);
  let token = fake.addToken(BOT);
  fake.addUser('root', { siteAdmin: true });
  const adminToken = fake.addToken('root', ['write:repository', 'write:issue']);
  const log: { level: string; message: string; fields: unknown }[] = [];
  const write = (level: string) => (message: string, fields?: unknown) => {
    log.push({ level, message, fields });
  };
  const writes: string[] = [];
  const secrets = new FakeSecretBox();
  const vault = {
    seal: async () => {
      throw new Error('nothing is sealed here');
    },
    open: async () => new Secret(token),
  };
  const deps: VerifyDeps & BackportDeps = {
    store,
    secrets,
    openBackports: createForgeOpener({
      store,
      vault,
      connect: ({ instanceUrl, slug }, secret) =>
        createBackportForge(
          createForgeTransport({
            instanceUrl,
            slug,
            token: secret,
            send: http.send,
            clock,
            onCall: (label) => {
              if (!label.startsWith('GET ')) writes.push(label);
            },
          }),
        ),
    }),
    openPlanner: openBackportPlanner,
    openForge: createForgeOpener({
      store,
      vault,
      connect: ({ instanceUrl, slug }, secret) =>
        createForgeAdmin(
          createForgeTransport({
            instanceUrl,
            slug,
            token: secret,
            send: http.send,
            clock,
            onCall: (label) => {
              if (!label.startsWith('GET ')) writes.push(label);
            },
          }),
        ),
    }),
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: async (ms) => {
        await clock.advance(ms);
        await fake.settle();
      },
    },
    ids: { uuid: randomUUID },
    log: { info: write('info'), warn: write('warn'), error: write('error') },
    webhookUrl: WEBHOOK_URL,
    queueName: DEFAULT_SERVICE_NAME,
  };
  return {
    fake,
    clock,
    deps,
    store,
    log,
    async repo(id = seedRepo.id) {
      const repo = await store.getRepo(id);
      if (repo === null) throw new Error('the repo is gone');
      return repo;
    },
    async enroll(repo) {
      const result = await store.createRepo(repo, null);
      if (result !== 'created') throw new Error('not enrolled');
    },
    async change(changes) {
      const current = await store.getRepo(seedRepo.id);
      if (current === null) throw new Error('the repo is gone');
      return store.updateRepo({ ...current, ...changes });
    },
    async api(method, path, body) {
      const response = await http.send({
        method: method as 'GET',
        url: `${address.httpsUrl}/api/v1/repos/${SLUG}${path}`,
        headers: { authorization: `token ${adminToken}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        timeoutMs: 30_000,
        bodyBytesMax: 10_000_000,
      });
      const text = response.body.toString('utf8');
      if (response.status > 299) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === '' ? {} : JSON.parse(text);
    },
    takeWrites: () => writes.splice(0),
    failStore: (method, times) => void fails.set(method, times),
    useToken(scopes) {
      token = scopes === 'revoked' ? 'f'.repeat(40) : fake.addToken(BOT, scopes);
    },
    async close() {
      http.close();
      await fake.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
