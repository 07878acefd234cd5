import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import type { createInProcessWakes } from '#core/adapters/in-process/wake-queue.ts';
import { LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS } from '#core/domain/limits.ts';
import type { EngineReport } from '#core/ports/store.ts';
import type { Log } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import { wakeNow } from '#core/services/wakes/send-wakes.ts';
import { parseRecord } from '../../engine-container/src/stored-record/record-codec.ts';
import { BOT, createFakeForge } from '../../local/forge/fake-forge.ts';
import { OAUTH_CLIENT } from '../../local/forge/http/oauth.ts';
import { readConfig } from '../../onebox/config.ts';
import { startOnebox } from '../../onebox/service.ts';
import { tenantOf } from '../../onebox/tenant.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { drainBy, type LogLine, type World, type WorldOptions } from './world.ts';

/** Wakes are answered when the world says so: time is virtual, and real timers would answer some in between. */
const createNoWakes: typeof createInProcessWakes = () => ({
  size: 0,
  sendWake: async () => {},
  sendIdleWake: async () => {},
  sendDelayedWake: async () => {},
  stop: async () => {},
  sendGlance: async () => {},
  sendDelayedGlance: async () => {},
});

/** Worlds whose queue is a whole one box: its worker, its engine, its table and its keys, beside a forge on real git. */
export function oneboxWorlds(): {
  readonly create: (options?: WorldOptions) => Promise<World>;
  readonly closeAll: () => Promise<void>;
} {
  const closers: (() => Promise<void>)[] = [];
  return {
    create: async (options = {}) => {
      const { world, close } = await open(options);
      closers.push(close);
      return world;
    },
    async closeAll() {
      for (const close of closers.splice(0)) await close();
    },
  };
}

async function open(options: WorldOptions): Promise<{ readonly world: World; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'onebox-scenario-'));
  // Rows that end by time must not have ended for the database, which has a clock of its own.
  const clock = new VirtualClock(Date.now());
  const failures: unknown[] = [];
  const fake = createFakeForge({
    dataDir: join(folder, 'forge'),
    profile: 'fj15',
    timers: clock,
    knobs: { gateDurationMs: 30_000, actionsDelayMs: 500 },
    onError: (error) => failures.push(error),
  });
  const address = await fake.start();
  const file = join(folder, 'mergeyard.yml');
  writeFileSync(
    file,
    [
      'listen: 127.0.0.1:0',
      'public_url: http://127.0.0.1:8480',
      `forge: { url: "${address.httpsUrl}", ca_file: "${address.caFile}" }`,
      `sign_in: { client_id: ${OAUTH_CLIENT.id}, client_secret: ${OAUTH_CLIENT.secret}, administrators: {} }`,
    ].join('\n'),
  );
  const log: LogLine[] = [];
  const write =
    (level: string): Log['info'] =>
    (message, fields = {}) => {
      log.push({ level, message, fields });
    };
  let freezesNextPost = false;
  /** A process that stands still right before a status leaves it, while another worker goes on. */
  const freezing =
    (send: HttpSend): HttpSend =>
    async (request) => {
      if (freezesNextPost && request.method === 'POST' && /\/statuses\/[^/]+$/.test(request.url)) {
        freezesNextPost = false;
        await clock.advance(LEASE_TTL_MS + LEASE_TAKEOVER_GRACE_MS + 1_000);
        await reconcile();
      }
      return send(request);
    };
  const onebox = await startOnebox({
    config: readConfig(file),
    siteDir: folder,
    env: process.env,
    clock,
    createWakes: createNoWakes,
    log: { info: write('info'), warn: write('warn'), error: write('error') },
    aroundSend: freezing,
  });
  const { store } = onebox;
  const place = { tenantId: tenantOf(address.httpsUrl), instanceUrl: address.httpsUrl };
  const repo = givenRepo({ ...place, slug: fake.control.slug, dueAt: clock.now(), ...options.repo });
  const owner = { ...place, connectionId: repo.connectionId };
  const credential = await onebox.vault.seal(owner, new Secret(fake.addToken(BOT)));
  await store.createTenant(repo.tenantId, clock.now());
  await store.createConnection(givenConnection({ ...place, botUsername: BOT, credential }));
  await store.createRepo(repo, null);
  let nextId = 0;
  const ids = {
    uuid: () => {
      nextId += 1;
      return `${nextId.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
    },
  };

  async function reconcile(): Promise<EngineReport | null> {
    const before = await store.loadReport(repo.id);
    await wakeNow({ store, queue: createNoWakes({} as never), clock }, repo.id);
    await onebox.answer(repo.id);
    const report = await store.loadReport(repo.id);
    // One under an earlier fence tells of an earlier reconcile.
    return report === null || report.fence === before?.fence ? null : report;
  }

  const world: World = {
    forge: fake.control,
    clock,
    log,
    reconcile,
    // The store in memory has knobs for tests besides, and no story of these tables turns one.
    store: store as unknown as World['store'],
    drain: drainBy({ clock, reconcile, settle: () => fake.settle() }),
    async settings(changes) {
      const current = await store.getRepo(repo.id);
      if (current === null) throw new Error('repo is gone');
      await store.updateRepo({ ...current, ...changes });
    },
    restartEngine() {
      throw new Error('the restart of one box has tests of its own');
    },
    switchEngine() {
      throw new Error('one box has one engine');
    },
    async loseRecord() {
      await withLease({ leases: store, clock, ids }, repo.id, 'test', LEASE_TTL_MS, (held) =>
        store.quarantineQueueRecord(held),
      );
    },
    async loseLease() {
      freezesNextPost = true;
    },
    rows: () => store.listBatches(repo.tenantId, 500),
    events: () => store.listEvents(repo.tenantId, 5_000),
    async record() {
      const stored = await store.loadQueueRecord(repo.id);
      const parsed = stored === null ? null : parseRecord(stored.document);
      if (parsed === null) throw new Error('no queue record yet');
      return parsed.record;
    },
  };
  return {
    world,
    async close() {
      await onebox.stop();
      await fake.stop();
      rmSync(folder, { recursive: true, force: true });
      if (failures.length > 0) throw failures[0];
    },
  };
}
