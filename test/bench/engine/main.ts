import { randomUUID } from 'node:crypto';
import { encodeDocument } from '#core/adapters/dynamo/rows/queue-document.ts';
import { BATCH_PULL_REQUESTS_MAX, LEASE_TTL_MS } from '#core/domain/limits.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import { decide } from '../../../engine-container/src/queue/decide.ts';
import { NO_HISTORY } from '../../../engine-container/src/queue/policy/rate.ts';
import { toDocument } from '../../../engine-container/src/stored-record/record-codec.ts';
import { givenRepo } from '../../builders/managed-repo.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { createWorld, type World } from '../../scenario/world.ts';
import { checkCall } from '../../support/usage.ts';
import { busyRecord } from './busy-record.ts';

checkCall({
  script: 'bench:engine',
  does: 'Measures calls and time of a reconcile.',
  options: {
    '--json': 'one JSON object for each line',
  },
});

/**
 * `npm run bench:engine [-- --json]`: what a reconcile costs in forge calls, store reads and writes, and time (fakes
 * included), and what a decision costs on a large repository.
 */
const READS = /^(find|load|get|list|read)/;
const DECISIONS = 30;
const MEBIBYTE = 1024 * 1024;

interface Counts {
  forge: number;
  reads: number;
  writes: number;
}
interface Line {
  readonly name: string;
  readonly forge_calls: number;
  readonly store_reads: number;
  readonly store_writes: number;
  readonly ms: number;
}

async function openWorld(bisectFanout: number): Promise<{ readonly world: World; readonly counts: Counts }> {
  const counts: Counts = { forge: 0, reads: 0, writes: 0 };
  const count = (forge: EngineForge): EngineForge =>
    new Proxy(forge, {
      get(target, name) {
        const call = Reflect.get(target, name) as (...values: unknown[]) => unknown;
        return (...values: unknown[]) => {
          counts.forge += 1;
          return call.apply(target, values);
        };
      },
    });
  const world = await createWorld({
    repo: { bisectFanout },
    wrapForge: count,
    aroundStore: {
      before: (label) => {
        if (READS.test(label)) counts.reads += 1;
        else counts.writes += 1;
      },
      after: () => undefined,
    },
  });
  await givenProject(world.forge);
  return { world, counts };
}

async function timed(name: string, counts: Counts, work: () => Promise<unknown>): Promise<Line> {
  counts.forge = 0;
  counts.reads = 0;
  counts.writes = 0;
  const started = performance.now();
  await work();
  const ms = Math.round((performance.now() - started) * 10) / 10;
  return { name, forge_calls: counts.forge, store_reads: counts.reads, store_writes: counts.writes, ms };
}

async function benchIdle(): Promise<Line> {
  const { world, counts } = await openWorld(8);
  await givenScheduled(world.forge, 'first');
  await world.drain();
  await world.clock.advance(600_000);
  await world.reconcile();
  await world.clock.advance(600_000);
  return timed('idle', counts, () => world.reconcile());
}

async function benchScheduled(): Promise<readonly Line[]> {
  const { world, counts } = await openWorld(8);
  world.forge.judge = () => 'hold';
  for (let index = 1; index <= 100; index += 1) await givenScheduled(world.forge, `p${index}`);
  await world.clock.advance(60_000);
  const first = await timed('100 scheduled, first look and staging', counts, () => world.reconcile());
  for (let look = 0; look < 4; look += 1) {
    await world.clock.advance(60_000);
    await world.reconcile();
  }
  await world.clock.advance(60_000);
  return [first, await timed('100 scheduled, runs are out', counts, () => world.reconcile())];
}

/** A repo whose history is so good that it stages the largest batch there is. */
async function benchWholeBatch(): Promise<Line> {
  const { world, counts } = await openWorld(16);
  await givenScheduled(world.forge, 'first');
  await world.drain();
  const { id, tenantId } = givenRepo();
  const repo = await world.store.getRepo(id);
  if (repo === null) throw new Error(`no repository of ${tenantId}`);
  const record = { ...(await world.record()), rate: { ...NO_HISTORY, landed: 1e6 } };
  await withLease(
    { leases: world.store, clock: world.clock, ids: { uuid: randomUUID } },
    id,
    'bench',
    LEASE_TTL_MS,
    async (held) => {
      const stored = await world.store.loadQueueRecord(id);
      const expectedVersion = stored?.version ?? null;
      await world.store.saveQueue(held, repo, {
        document: toDocument(record),
        expectedVersion,
        batches: [],
        events: [],
      });
    },
  );
  for (let index = 1; index <= BATCH_PULL_REQUESTS_MAX; index += 1)
    await givenScheduled(world.forge, `p${index}`);
  await world.clock.advance(120_000);
  return timed(`a batch of ${BATCH_PULL_REQUESTS_MAX} at fan-out 16, from the line to the base`, counts, () =>
    world.drain(),
  );
}

function benchDecide(): {
  readonly ms_p50: number;
  readonly ms_max: number;
  readonly nodes: number;
  readonly record_kb: number;
} {
  const { snapshot, record } = busyRecord({ pulls: 1_000, nodes: 200 });
  const times: number[] = [];
  // The first ones are compiled on the way.
  for (let turn = 0; turn < DECISIONS; turn += 1) decide(snapshot, record);
  for (let turn = 0; turn < DECISIONS; turn += 1) {
    const started = performance.now();
    decide(snapshot, record);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  const round = (ms: number | undefined) => Math.round((ms ?? 0) * 10) / 10;
  return {
    ms_p50: round(times[DECISIONS / 2]),
    ms_max: round(times.at(-1)),
    nodes: record.batches.reduce((sum, batch) => sum + batch.nodes.length, 0),
    record_kb: Math.round(Buffer.byteLength(encodeDocument(record, 'bench').stored) / 1024),
  };
}

const lines = [await benchIdle(), ...(await benchScheduled()), await benchWholeBatch()];
const decision = benchDecide();
const memory = Math.round(process.memoryUsage().rss / MEBIBYTE);
if (process.argv.includes('--json')) {
  for (const line of lines) console.log(JSON.stringify(line));
  console.log(
    JSON.stringify({ name: 'decide, 1000 pull requests and 200 nodes', ...decision, rss_mib: memory }),
  );
} else {
  console.log(`${'reconcile'.padEnd(58)}forge calls  store reads  store writes       ms`);
  for (const line of lines) {
    const cells = [line.forge_calls, line.store_reads, line.store_writes, line.ms];
    console.log(
      `${line.name.padEnd(58)}${cells.map((cell, at) => String(cell).padStart([11, 13, 14, 9][at] ?? 9)).join('')}`,
    );
  }
  console.log(
    `decide, 1000 pull requests and ${decision.nodes} nodes: ${decision.ms_p50} ms (at most ${decision.ms_max}), record ${decision.record_kb} KB; process ${memory} MiB`,
  );
}
