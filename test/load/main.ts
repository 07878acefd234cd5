import { createHmac } from 'node:crypto';
import { AppError } from '#core/contracts/errors.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { Secret } from '#core/secret.ts';
import { wakeDueRepos } from '#core/services/wakes/send-wakes.ts';
import { acceptForgeWebhook } from '#core/services/webhooks/accept-forge-webhook.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';
import { FakeSecretBox } from '../fakes/secret-box.ts';
import { FakeWakeQueue } from '../fakes/wake-queue.ts';
import { givenProject, givenScheduled } from '../scenario/stories.ts';
import { createWorld } from '../scenario/world.ts';
import { checkCall } from '../support/usage.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { flipBits, sockets } from './edge.ts';
import { deadForges, slowForges } from './fairness.ts';
import { percentile, type Row } from './row.ts';

checkCall({
  script: 'load',
  does: 'Measures the rows of the load table that one machine can hold: one line each, then JSON.',
  options: {},
});

const HOUR_MS = 3_600_000;
const secrets = new FakeSecretBox();
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function givenRepos(count: number) {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  const queue = new FakeWakeQueue(clock);
  const tenants = Math.min(300, count);
  for (let index = 0; index < tenants; index += 1) {
    await store.createTenant(`tenant-${index}`, 0);
    const tenant = { tenantId: `tenant-${index}`, botUsername: `bot-${index}` };
    await store.createConnection(givenConnection({ id: `connection-${index}`, ...tenant }));
  }
  for (let index = 0; index < count; index += 1) {
    const tenant = index % tenants;
    await store.createRepo(
      givenRepo({
        id: `repo-${index}`,
        tenantId: `tenant-${tenant}`,
        connectionId: `connection-${tenant}`,
        slug: `acme/app-${index}`,
        wakeupMode: 'webhook',
        webhookSecret: new Secret(`secret-${index}`),
        dueAt: clock.now(),
      }),
      null,
    );
  }
  return { clock, store, queue };
}

async function stormOnOneRepo(): Promise<Row> {
  const { clock, store, queue } = await givenRepos(2);
  const body = Buffer.from(
    JSON.stringify({
      ref: 'refs/heads/main',
      sender: { login: 'dev' },
      repository: { full_name: 'acme/app-0', html_url: 'https://forge.example/acme/app-0' },
    }),
  );
  const times: number[] = [];
  for (let event = 0; event < 30_000; event += 1) {
    const started = performance.now();
    await acceptForgeWebhook(
      {
        store,
        leases: store,
        secrets,
        queue,
        clock,
        queueName: DEFAULT_SERVICE_NAME,
        planLimits: PLAN_LIMITS,
      },
      {
        body,
        eventType: 'push',
        deliveryId: `delivery-${event}`,
        hookId: undefined,
        signature: `sha256=${createHmac('sha256', 'secret-0').update(body).digest('hex')}`,
      },
    );
    times.push(performance.now() - started);
    await clock.advance(2);
  }
  const looks = queue.wakes.length + queue.delayed.length;
  const last = Math.max(
    ...queue.delayed.map((wake) => wake.visibleAt),
    ...queue.wakes.map((wake) => wake.at),
  );
  const p99 = percentile(times, 0.99);
  return {
    row: 'webhook storm, 500/s for 60 s on one repo',
    goal: 'p99 < 200 ms, one look after the last event, at most one look per 5 s',
    measured: `p99 ${p99.toFixed(2)} ms, ${looks} looks, the last ${last - clock.now()} ms after the storm`,
    ok: p99 < 200 && looks <= 15 && last >= clock.now() - 2,
  };
}

async function forgeries(): Promise<Row> {
  const { clock, store, queue } = await givenRepos(100);
  let refused = 0;
  let accepted = 0;
  for (let event = 0; event < 12_000; event += 1) {
    const body = Buffer.from(
      JSON.stringify({
        ref: 'refs/heads/main',
        repository: {
          full_name: `acme/app-${event % 100}`,
          html_url: `https://forge.example/acme/app-${event % 100}`,
        },
      }),
    );
    const isForged = event % 10 === 0;
    // Forged with the secret of the neighbour.
    const secret = `secret-${(event + (isForged ? 1 : 0)) % 100}`;
    try {
      await acceptForgeWebhook(
        {
          store,
          leases: store,
          secrets,
          queue,
          clock,
          queueName: DEFAULT_SERVICE_NAME,
          planLimits: PLAN_LIMITS,
        },
        {
          body,
          eventType: 'push',
          deliveryId: `delivery-${event}`,
          hookId: undefined,
          signature: `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        },
      );
      if (isForged) accepted += 1;
    } catch (error) {
      if (!(error instanceof AppError) || !isForged) throw error;
      refused += 1;
    }
    await clock.advance(5);
  }
  return {
    row: 'webhooks, 200/s over 100 repos, 10 % forged',
    goal: '0 false accepts',
    measured: `${refused} refused, ${accepted} accepted`,
    ok: accepted === 0 && refused === 1_200,
  };
}

async function thousandDue(): Promise<Row> {
  const { clock, store, queue } = await givenRepos(1_000);
  const started = performance.now();
  const tick = await wakeDueRepos({ store, queue, clock, log: silent, planLimits: PLAN_LIMITS });
  const seconds = (performance.now() - started) / 1000;
  const woken = new Set(queue.wakes.map((wake) => wake.repoId)).size;
  return {
    row: '1,000 repos of 300 tenants, all due',
    goal: 'one tick wakes all in < 30 s, none twice',
    measured: `${woken} woken by ${queue.wakes.length} messages in ${seconds.toFixed(2)} s, ${tick.held} held`,
    ok: seconds < 30 && queue.wakes.length === woken && woken + tick.held === 1_000,
  };
}

async function forgeDownForAnHour(): Promise<Row> {
  let down = false;
  const world = await createWorld({
    wrapForge: (forge) =>
      new Proxy(forge, {
        get(target, name) {
          const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
          return async (...values: unknown[]) => {
            if (down) throw new ForgeError('unreachable', String(name), null);
            return call.apply(target, values);
          };
        },
      }),
  });
  await givenProject(world.forge);
  const prs = [];
  for (let index = 0; index < 12; index += 1) prs.push(await givenScheduled(world.forge, `p${index}`));
  await world.clock.advance(30_000);
  await world.reconcile();
  down = true;
  const upAt = world.clock.now() + HOUR_MS;
  while (world.clock.now() < upAt) {
    const report = await world.reconcile();
    await world.clock.advance(
      Math.max(1_000, (report?.wakeAt ?? world.clock.now() + 300_000) - world.clock.now()),
    );
  }
  down = false;
  await world.drain();
  const landed = world.forge.merges().map((merge) => merge.pr);
  const bounced = (await world.events()).filter((event) => event.event === 'pr_bounced').length;
  return {
    row: 'forge down for one hour, then up',
    goal: 'none bounced, all landed in order',
    measured: `${landed.length} of ${prs.length} landed, ${bounced} bounced`,
    ok: bounced === 0 && String(landed) === String(prs),
  };
}

async function soak(hours: number): Promise<Row> {
  const world = await createWorld();
  await givenProject(world.forge);
  let opened = 0;
  const sizes: number[] = [];
  for (let hour = 0; hour < hours; hour += 1) {
    for (let each = 0; each < 2; each += 1) {
      opened += 1;
      await givenScheduled(world.forge, `p${opened}`, opened % 9 === 0 ? 'BAD\n' : `${opened}\n`);
    }
    const until = world.clock.now() + HOUR_MS;
    while (world.clock.now() < until) {
      const report = await world.reconcile();
      const at = Math.min(report?.wakeAt ?? world.clock.now() + 300_000, world.clock.now() + 300_000);
      await world.clock.advance(Math.max(1_000, at - world.clock.now()));
    }
    sizes.push(JSON.stringify(await world.record()).length);
  }
  const branches = (await world.forge.branches()).filter((branch) =>
    branch.startsWith(DEFAULT_SERVICE_NAME),
  ).length;
  const { entries: line, batches, garbage } = await world.record();
  const early = Math.max(...sizes.slice(0, hours / 3));
  const late = Math.max(...sizes.slice(-hours / 3));
  return {
    row: `soak of ${hours} virtual hours, ${opened} pull requests`,
    goal: 'no branch left, nothing in flight, the record grows no faster than its history',
    measured: `${world.forge.merges().length} landed, ${branches} branches left, record ${early} -> ${late} bytes`,
    ok:
      branches === 0 &&
      batches.length === 0 &&
      garbage.length === 0 &&
      late < early * 4 &&
      line.length <= opened / 9 + 1,
  };
}

const rows: Row[] = [];
const runs = [
  stormOnOneRepo,
  forgeries,
  flipBits,
  sockets,
  thousandDue,
  deadForges,
  slowForges,
  forgeDownForAnHour,
  () => soak(72),
];
for (const run of runs) {
  const row = await run();
  rows.push(row);
  console.log(
    `${row.ok ? 'ok    ' : 'MISSED'} ${row.row}\n       goal: ${row.goal}\n       measured: ${row.measured}`,
  );
}
const missed = rows.filter((row) => !row.ok).length;
console.log(JSON.stringify({ rows: rows.length, missed }));
if (missed > 0) process.exitCode = 1;
