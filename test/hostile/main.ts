import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOT, createFakeForge } from '../../local/forge/fake-forge.ts';
import { percentile } from '../load/row.ts';
import { option } from '../simulation/options.ts';
import { checkCall, endWithUsage, type Usage } from '../support/usage.ts';
import { ATTACKS } from './attacks.ts';
import type { Measured, Orders, Party } from './engine.ts';
import type { HostileForge } from './forge.ts';
import { WRITINGS } from './patterns.ts';

const USAGE: Usage = {
  script: 'hostile',
  does: 'Measures what a forge that answers with everything bad costs another tenant of the same engine.',
  options: {
    '--only TEXT': 'attacks whose name has this text',
  },
};
checkCall(USAGE);

/**
 * One tenant's forge answers with everything bad, while another tenant is reconciled by
 * the same engine. Prints what that costs the other tenant: its usual time alone, and beside each attack; memory of the
 * engine's process, whose container has 512 MiB.
 */
const HONEST_RECONCILES = 40;
const HONEST_PULL_REQUESTS = 3;
/** Longer than the whole run. */
const GATE_MS = 3_600_000;
const CONTAINER_MIB = 512;
/** Beside an attack the honest tenant may take this many times as long as alone. */
const SLOWER_MAX = 2;
/** No attack may hold the engine up for longer in one go; far more than a busy machine does by itself. */
const STALL_MS_MAX = 3_000;
/** Half of the container, as node sets it there by itself. */
const HEAP_MIB = CONTAINER_MIB / 2;

/** Starts a file of this folder, tells it what to do and waits for its first word. */
async function askChild<Answer>(
  file: string,
  orders: unknown,
  nodeArgs: readonly string[] = [],
): Promise<{ readonly answer: Answer | 'died'; readonly child: ChildProcess }> {
  const child = fork(new URL(file, import.meta.url), {
    execArgv: ['--import', 'tsx', ...nodeArgs],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.send(orders as Serializable);
  const answer = await new Promise<Answer | 'died'>((resolve) => {
    child.once('message', (message) => resolve(message as Answer));
    child.once('exit', () => resolve('died'));
  });
  return { answer, child };
}

async function measure(orders: Orders): Promise<Measured | 'died'> {
  return (await askChild<Measured>('./engine.ts', orders, [`--max-old-space-size=${HEAP_MIB}`])).answer;
}

async function attackWith(attack: string, honest: Party): Promise<Measured | 'died'> {
  const { answer, child } = await askChild<HostileForge>('./forge.ts', attack);
  if (answer === 'died') throw new Error('the hostile forge did not start');
  const hostile = { ...answer, slug: 'acme/app' };
  const measured = await measure({ honest, hostile, honestReconciles: HONEST_RECONCILES });
  child.kill();
  return measured;
}

/** A batch whose gate runs on and on: each reconcile asks for all that a queue at work asks for. */
async function giveQueue(control: ReturnType<typeof createFakeForge>['control']): Promise<void> {
  control.gateDurationMs = GATE_MS;
  for (let nth = 1; nth <= HONEST_PULL_REQUESTS; nth += 1) {
    const branch = `change-${nth}`;
    await control.schedule(await control.openPullRequest({ branch, files: { [`${branch}.txt`]: branch } }));
  }
}

async function main(): Promise<void> {
  const only = option('only') ?? '';
  const attacks = [...ATTACKS, ...WRITINGS].map(({ name }) => name).filter((name) => name.includes(only));
  if (attacks.length === 0) endWithUsage(USAGE, `No attack has the text "${only}".`);
  const root = mkdtempSync(join(tmpdir(), 'mergeyard-hostile-'));
  const forge = createFakeForge({ dataDir: root, knobs: { gate: 'judge' } });
  const { httpsUrl, caFile } = await forge.start();
  await giveQueue(forge.control);
  const honest: Party = {
    origin: httpsUrl,
    host: new URL(httpsUrl).host,
    slug: forge.control.slug,
    token: forge.addToken(BOT),
    caPem: readFileSync(caFile, 'utf8'),
  };
  const print = (name: string, measured: Measured, usual: number): void => {
    const [p50, p95] = [percentile(measured.honestMs, 0.5), percentile(measured.honestMs, 0.95)];
    const cells = [
      name.padEnd(50),
      `p50 ${p50.toFixed(0)} ms (${(p50 / usual).toFixed(2)}x)`,
      `p95 ${p95.toFixed(0)} ms`,
      `${measured.honestFailures} failed`,
      `${measured.hostileReconciles} hostile reconciles`,
      `${((measured.cpuMs / measured.elapsedMs) * 100).toFixed(0)} % of a core`,
      `stalls up to ${measured.longestStallMs.toFixed(0)} ms`,
      `${measured.peakRssMiB} MiB`,
    ];
    console.log(cells.join(' | '));
  };
  const measureAlone = async (): Promise<Measured> => {
    const measured = await measure({ honest, hostile: null, honestReconciles: HONEST_RECONCILES });
    if (measured === 'died') throw new Error('the engine ended without any attack');
    print('alone', measured, percentile(measured.honestMs, 0.5));
    return measured;
  };
  const isHeld = async (attack: string, alone: Measured): Promise<boolean> => {
    const measured = await attackWith(attack, honest);
    if (measured === 'died') {
      console.log(`${attack.padEnd(50)} | the engine's process ended`);
      return false;
    }
    const usual = percentile(alone.honestMs, 0.5);
    print(attack, measured, usual);
    return (
      measured.honestFailures === alone.honestFailures &&
      measured.peakRssMiB < CONTAINER_MIB &&
      measured.longestStallMs <= STALL_MS_MAX &&
      percentile(measured.honestMs, 0.5) <= usual * SLOWER_MAX
    );
  };
  const alone = await measureAlone();
  let held = 0;
  for (const attack of attacks) {
    // A machine that has become busier since slows the honest tenant as well: both are measured anew, once.
    if ((await isHeld(attack, alone)) || (await isHeld(attack, await measureAlone()))) held += 1;
  }
  await forge.stop();
  rmSync(root, { recursive: true, force: true });
  console.log(
    `${held} of ${attacks.length} attacks held: at most ${SLOWER_MAX}x the usual time, no stall over ${STALL_MS_MAX} ms, under ${CONTAINER_MIB} MiB`,
  );
  process.exitCode = held === attacks.length ? 0 : 1;
}

await main();
