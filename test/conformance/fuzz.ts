import { parseArgs } from 'node:util';
import { checkCall } from '../support/usage.ts';
import { runSession } from './session.ts';

checkCall({
  script: 'fuzz',
  does: 'Sends generated requests through the routers of this process, on a memory store.',
  options: {
    '--requests N': 'requests (100000)',
    '--seed S': 'seed (1)',
  },
});

/** The fast form: the routers of this process, a memory store, as many requests as one wants. */
const { values } = parseArgs({
  options: { requests: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});

const FAULTS_SHOWN_MAX = 20;
const PROGRESS_EVERY = 50_000;

async function main(): Promise<number> {
  const startedAt = performance.now();
  const seed = Number(values.seed);
  const { sent, faults, seen, leaks } = await runSession(seed, Number(values.requests), (done, wrong) => {
    if (done % PROGRESS_EVERY === 0) process.stderr.write(`${done} requests, ${wrong} faults\n`);
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage();
  const succeeded = [...seen].filter(([key]) => / 2\d\d$/.test(key));
  const statuses = new Map<string, number>();
  for (const [key, count] of seen) {
    const status = key.split(' ')[1] ?? '';
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  const told = [...statuses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, count]) => `${status}: ${count}`);
  process.stdout.write(`${told.join(', ')}; ${succeeded.length} routes and statuses of success\n`);
  for (const fault of [...faults.slice(0, FAULTS_SHOWN_MAX), ...leaks]) process.stdout.write(`${fault}\n`);
  process.stdout.write(
    `${sent} requests in ${seconds.toFixed(0)} s (${Math.round(sent / seconds)}/s, ` +
      `${((user + system) / 1e6).toFixed(0)} s of CPU), seed ${seed}: ` +
      `${faults.length} faults, ${leaks.length} secrets found\n`,
  );
  return faults.length + leaks.length === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
