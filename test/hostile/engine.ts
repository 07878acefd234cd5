import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import { ForgePace } from '#core/adapters/forge-http/wire/forge-pace.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { LEASE_TTL_MS } from '#core/domain/limits.ts';
import { Secret } from '#core/secret.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import { createReconciler } from '../../engine-container/src/reconcile/reconciler.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';

/** One tenant's forge: `host` as the allow-list has it. */
export interface Party {
  readonly origin: string;
  readonly host: string;
  readonly caPem: string;
  readonly slug: string;
  readonly token: string;
}

export interface Orders {
  readonly honest: Party;
  /** Absent: the honest tenant is alone. */
  readonly hostile: Party | null;
  readonly honestReconciles: number;
}

export interface Measured {
  /** One reconcile of the honest tenant each. */
  readonly honestMs: readonly number[];
  readonly honestFailures: number;
  /** Time on a core that the process took meanwhile: what an attack costs whatever else the machine does. */
  readonly cpuMs: number;
  readonly elapsedMs: number;
  /** Ended reconciles of the hostile tenant. */
  readonly hostileReconciles: number;
  readonly peakRssMiB: number;
  /** Longest time for which the process did nothing else. */
  readonly longestStallMs: number;
}

/** Repositories of the hostile tenant, each reconciled again this soon: a failed one waits for 30 s in truth. */
const HOSTILE_REPOS = 4;
const HOSTILE_PAUSE_MS = 1_000;
/** How far away the honest forge is. Loopback alone would make any other work look like an outage. */
const HONEST_CALL_MS = 15;

/** The engine as a process of its own: a real client, reconciles of two tenants side by side. */
async function run(orders: Orders): Promise<Measured> {
  const clock = createSystemClock();
  const store = createMemoryStore({ clock });
  const parties = orders.hostile === null ? [orders.honest] : [orders.honest, orders.hostile];
  const http = createGuardedHttp({
    allowHosts: parties.map(({ host }) => host),
    caPem: parties.map(({ caPem }) => caPem).join('\n'),
  });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const pace = new ForgePace(clock);
  const reconcile = createReconciler({
    store,
    clock,
    log,
    ids: { uuid: randomUUID },
    forgeFor: ({ instanceUrl, repoSlug, token }, held, mayRead) =>
      createEngineForge(held, {
        instanceUrl,
        slug: repoSlug,
        token,
        clock,
        mayRead,
        send: pace.pace(async (request) => {
          if (instanceUrl === orders.honest.origin) await sleep(HONEST_CALL_MS);
          return http.send(request);
        }),
      }),
  });
  const stalls = monitorEventLoopDelay({ resolution: 5 });
  stalls.enable();
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);

  async function enroll(id: string, party: Party, settingsFile = false): Promise<() => Promise<string>> {
    const ids = { tenantId: `tenant-${id}`, connectionId: `connection-${id}` };
    await store.createTenant(ids.tenantId, clock.now());
    await store.createConnection(
      givenConnection({
        id: ids.connectionId,
        tenantId: ids.tenantId,
        instanceUrl: party.origin,
        botUsername: `bot-${id}`,
      }),
    );
    const repo = givenRepo({
      id,
      ...ids,
      instanceUrl: party.origin,
      slug: party.slug,
      dueAt: clock.now(),
      settingsFile,
    });
    const created = await store.createRepo(repo, null);
    if (created !== 'created') throw new Error(`${id}: ${created}`);
    return () =>
      withLease({ leases: store, clock, ids: { uuid: randomUUID } }, id, 'reconcile', LEASE_TTL_MS, (held) =>
        reconcile(
          {
            tenantId: ids.tenantId,
            repoSlug: party.slug,
            baseBranch: repo.baseBranch,
            queueName: 'mq',
            instanceUrl: party.origin,
            token: new Secret(party.token),
          },
          { fence: held.fence, command: 'reconcile' },
        ),
      ).then((result) => (result.kind === 'skipped' ? 'skipped' : result.value));
  }

  const honest = await enroll('honest', orders.honest);
  let hostileReconciles = 0;
  let ended = false;
  if (orders.hostile !== null) {
    for (let index = 0; index < HOSTILE_REPOS; index += 1) {
      const hostile = await enroll(
        `hostile-${index}`,
        { ...orders.hostile, slug: `acme/app-${index}` },
        true,
      );
      void (async () => {
        while (!ended) {
          await hostile().catch(() => 'failed');
          hostileReconciles += 1;
          await sleep(HOSTILE_PAUSE_MS);
        }
      })();
    }
  }
  await honest();
  const honestMs: number[] = [];
  let honestFailures = 0;
  const cpu = process.cpuUsage();
  const begun = performance.now();
  for (let nth = 0; nth < orders.honestReconciles; nth += 1) {
    const started = performance.now();
    if ((await honest()) !== 'ok') honestFailures += 1;
    honestMs.push(performance.now() - started);
    await sleep(100);
  }
  ended = true;
  clearInterval(watch);
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = (user + system) / 1e3;
  const elapsedMs = performance.now() - begun;
  const peakRssMiB = Math.round(peak / 1024 / 1024);
  return {
    honestMs,
    honestFailures,
    cpuMs,
    elapsedMs,
    hostileReconciles,
    peakRssMiB,
    longestStallMs: stalls.max / 1e6,
  };
}

process.once('message', (orders: Orders) => {
  void run(orders).then((measured) => process.send?.(measured, () => process.exit(0)));
});
