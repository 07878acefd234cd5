import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Started, startEverything } from '../../../local/start.ts';
import { checkCall } from '../../support/usage.ts';
import { countStoreCalls } from './count-store-calls.ts';
import { type Furnished, furnish } from './furnish.ts';

checkCall({
  script: 'bench:api',
  does: 'Measures reads of the local service under concurrent readers.',
  options: {
    '--readers N': 'readers (50)',
    '--seconds T': 'seconds (20)',
    '--json': 'one JSON object',
  },
});

const { values } = parseArgs({
  options: {
    readers: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});

/** Paths that a dashboard and an operator read; `{id}` is a repo. */
const READS = [
  'GET /api/v1/connections',
  'GET /api/v1/user/repos',
  'GET /api/v1/user/queue/status',
  'GET /api/v1/user/queue/activity',
  'GET /api/v1/user/repos/{id}/ci-gate/template',
  'GET /api/v1/billing/me',
  'GET /api/v1/me',
  'GET /api/v1/auth/session',
  'GET /api/v1/tenant/export',
] as const;

interface Line {
  readonly route: string;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
  readonly storeCalls: number;
}

async function main(): Promise<void> {
  const storeCalls = await countStoreCalls(READS);
  const dataDir = mkdtempSync(join(tmpdir(), 'mergeyard-bench-'));
  const started = await startEverything({ port: 0, fresh: true, dataDir, context: { rateFactor: '1000' } });
  try {
    const furnished = await furnish(started);
    await read(started, furnished, 1, 2_000);
    const times = await read(started, furnished, Number(values.readers), Number(values.seconds) * 1000);
    report(summarize(times, storeCalls), times);
  } finally {
    await started.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Times {
  readonly byRoute: ReadonlyMap<string, { readonly ms: number[]; failed: number }>;
  readonly seconds: number;
}

/** Each reader asks one thing after the other, as a page does. */
async function read(started: Started, furnished: Furnished, readers: number, forMs: number): Promise<Times> {
  const agent = new Agent({ keepAlive: true, maxSockets: readers });
  const byRoute = new Map(READS.map((route) => [route as string, { ms: [] as number[], failed: 0 }]));
  const begunAt = performance.now();
  const run = async (reader: number): Promise<void> => {
    for (let nth = reader; performance.now() - begunAt < forMs; nth += 1) {
      const route = READS[nth % READS.length] ?? READS[0];
      const at = performance.now();
      const status = await ask(started.ready.base_url, agent, route, furnished);
      const entry = byRoute.get(route);
      entry?.ms.push(performance.now() - at);
      if (status !== 200 && entry !== undefined) entry.failed += 1;
    }
  };
  await Promise.all(Array.from({ length: readers }, (_, reader) => run(reader)));
  agent.destroy();
  return { byRoute, seconds: (performance.now() - begunAt) / 1000 };
}

function ask(baseUrl: string, agent: Agent, route: string, furnished: Furnished): Promise<number> {
  const [method = 'GET', path = ''] = route.split(' ');
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${furnished.token}` };
    const sent = httpRequest(`${baseUrl}${path.replace('{id}', furnished.repoId)}`, {
      method,
      agent,
      headers,
    });
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', () => resolve(0));
    sent.end();
  });
}

function summarize({ byRoute }: Times, storeCalls: ReadonlyMap<string, number>): Line[] {
  return [...byRoute].map(([route, { ms, failed }]) => {
    const sorted = [...ms].sort((a, b) => a - b);
    const at = (share: number): number => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
    return {
      route,
      requests: ms.length,
      p50Ms: at(0.5),
      p95Ms: at(0.95),
      p99Ms: at(0.99),
      failed,
      storeCalls: storeCalls.get(route) ?? 0,
    };
  });
}

function report(lines: readonly Line[], times: Times): void {
  const all = [...times.byRoute.values()].flatMap(({ ms }) => ms).sort((a, b) => a - b);
  const p95Ms = Math.round(all[Math.ceil(all.length * 0.95) - 1] ?? 0);
  const perSecond = Math.round(all.length / times.seconds);
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ readers: Number(values.readers), p95Ms, perSecond, lines })}\n`);
    return;
  }
  process.stdout.write(
    'route                                              requests  p50 ms  p95 ms  p99 ms  failed  store calls\n',
  );
  for (const line of lines) {
    const numbers = [line.requests, line.p50Ms, line.p95Ms, line.p99Ms, line.failed, line.storeCalls];
    process.stdout.write(
      `${line.route.padEnd(50)}${numbers.map((each) => String(each).padStart(8)).join('')}\n`,
    );
  }
  process.stdout.write(`${values.readers} readers: p95 ${p95Ms} ms, ${perSecond} requests a second\n`);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
