import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Ready, type Started, startEverything } from '../../local/start.ts';
import keepScratchInMemory from '../support/scratch-in-memory.cjs';
import { checkCall } from '../support/usage.ts';
import { type HttpRunResult, runOverHttp } from './over-http.ts';
import { runSession } from './session.ts';

checkCall({
  script: 'conformance',
  does: 'Sends generated requests over HTTP to the whole local service, and the others through the routers of this process.',
  options: {
    '--requests N': 'requests (100000)',
    '--seed S': 'seed (1)',
    '--over-http N': 'how many of them go over HTTP (5000)',
    '--concurrency N': 'requests over HTTP at once (4)',
    '--ready-file FILE': 'of a service that runs already, started with --rate-factor 1000',
  },
});

/**
 * The long form. The first requests go over HTTP to the whole local service. The others go through the routers of this
 * process on the memory store, which the contract suite of the store holds equal to the table: a request over HTTP costs
 * fifty times as much.
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    /** How many of them go over HTTP. */
    'over-http': { type: 'string', default: '5000' },
    /** Each request under way may begin one more thread of each function, and a new thread is slow for its first hundreds. */
    concurrency: { type: 'string', default: '4' },
    /** Of a service that runs already, started with `--rate-factor 1000`. */
    'ready-file': { type: 'string' },
  },
});

const FAULTS_SHOWN_MAX = 20;
const PROGRESS_EVERY = 10_000;

async function main(): Promise<number> {
  const requests = Number(values.requests);
  const seed = Number(values.seed);
  const share = Math.min(requests, Number(values['over-http']));
  const faults: string[] = [];
  if (share > 0) {
    const run = await overHttp(seed, share);
    tell('over HTTP', run.sent, run.seconds, run);
    process.stdout.write(`${showCounts(run.statuses)}; ${run.repeated} sent again\n`);
    faults.push(...run.faults, ...run.leaks);
  }
  if (requests > share) {
    const startedAt = performance.now();
    const run = await runSession(seed, requests - share, (done, wrong) => {
      if (done % PROGRESS_EVERY === 0) process.stderr.write(`${done} requests, ${wrong} faults\n`);
    });
    tell('through the routers', run.sent, (performance.now() - startedAt) / 1000, run);
    const statuses = new Map<number, number>();
    for (const [key, count] of run.seen) {
      const status = Number(key.split(' ')[1]);
      statuses.set(status, (statuses.get(status) ?? 0) + count);
    }
    process.stdout.write(`${showCounts(statuses)}\n`);
    faults.push(...run.faults, ...run.leaks);
  }
  for (const fault of faults.slice(0, FAULTS_SHOWN_MAX)) process.stdout.write(`${fault}\n`);
  process.stdout.write(`${requests} requests, seed ${seed}: ${faults.length} faults\n`);
  return faults.length === 0 ? 0 : 1;
}

function tell(
  how: string,
  sent: number,
  seconds: number,
  { faults, leaks }: { readonly faults: readonly string[]; readonly leaks: readonly string[] },
): void {
  process.stdout.write(
    `${sent} ${how} in ${seconds.toFixed(0)} s (${Math.round(sent / seconds)}/s): ` +
      `${faults.length} faults, ${leaks.length} secrets in answers, log and table\n`,
  );
}

function showCounts(statuses: ReadonlyMap<number, number>): string {
  return [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ');
}

async function overHttp(seed: number, requests: number): Promise<HttpRunResult> {
  await keepScratchInMemory();
  const dataDir = mkdtempSync(join(tmpdir(), 'mergeyard-conformance-'));
  const readyFile = values['ready-file'];
  const started: Started | null =
    readyFile === undefined
      ? await startEverything({ port: 0, fresh: true, dataDir, context: { rateFactor: '1000' } })
      : null;
  try {
    const ready: Ready = started?.ready ?? JSON.parse(readFileSync(readyFile ?? '', 'utf8'));
    return await runOverHttp({
      seed,
      requests,
      ready,
      concurrency: Number(values.concurrency),
      files: ['service.log', 'table.sqlite', 'table.sqlite-wal'].map((name) =>
        join(dataDir, 'service', name),
      ),
      containerSecret: (await started?.service.readSecret('engine-secret')) ?? null,
    });
  } finally {
    await started?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
