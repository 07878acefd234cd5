import { openFakeTreeForge, openRealTreeForge } from '../../scenario/trees/tree-forge.ts';
import { countOption, hasOption, option } from '../../simulation/options.ts';
import { checkCall } from '../../support/usage.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import type { SeenCall } from './counted-send.ts';
import { type Landing, type Load, landBatch, mergeByHand } from './land-batch.ts';

checkCall({
  script: 'bench:forge',
  does: 'Measures what a batch costs on the forge: on the one at FORGE_URL in real time, else on the fake forge, where only calls and bytes mean something.',
  options: {
    '--batches 1,8,50': 'sizes of the batches',
    '--files N': 'files of the large repository; 0 leaves it out (10000)',
    '--open N': 'pull requests open beside; 0 leaves them out (1000)',
    '--json': 'one JSON object for each batch',
    '--timeline': 'each call with its time, on standard error',
  },
});

/**
 * `npm run bench:forge`: what a batch costs on the forge, and what the forge itself needs for its merges. On the forge at `FORGE_URL` (`FORGE_TOKEN`, `FORGE_PERSON_TOKEN`, `FORGE_CA_FILE` as for `npm run test:forge`), in
 * real time; without it on the fake forge, where time is that of its model and only calls and bytes mean something.
 */
const SMALL_FILES = 20;
const MANY_FILES = 10_000;
const MANY_OPEN = 1_000;
const DEFAULT_BATCHES = '1,8,50';
/** Beside other rows: a batch of so many. */
const BESIDE_BATCH = 8;

/** Time that passes. */
class RealClock extends VirtualClock {
  override now(): number {
    return Date.now();
  }
  override monotonic(): number {
    return performance.now();
  }
  override sleep(ms: number): Promise<void> {
    return new Promise((done) => setTimeout(done, ms));
  }
  override advance(ms: number): Promise<void> {
    return this.sleep(ms);
  }
}

const isReal = process.env.FORGE_URL !== undefined;
const batches = (option('batches') ?? DEFAULT_BATCHES).split(',').map(Number);
const loads: Load[] = batches.map((batch) => ({ batch, files: SMALL_FILES, open: 0 }));
const files = countOption('files', MANY_FILES);
const open = countOption('open', MANY_OPEN);
if (files > 0) loads.push({ batch: BESIDE_BATCH, files, open: 0 });
if (open > 0) loads.push({ batch: BESIDE_BATCH, files: SMALL_FILES, open });

const tell = hasOption('timeline') ? tellCall : undefined;

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
const kilobytes = (bytes: number): string => (bytes / 1_024).toFixed(0);

function describe(
  { batch, files, open }: Load,
  { staging, landing, whole }: Landing,
  byHandMs: number | null,
) {
  return [
    String(batch),
    String(files),
    String(open),
    String(staging.calls),
    isReal ? seconds(staging.ms) : '-',
    String(landing.calls),
    isReal ? seconds(landing.ms) : '-',
    byHandMs === null ? '-' : `${seconds(byHandMs)} (${(landing.ms / byHandMs).toFixed(2)})`,
    (whole.calls / batch).toFixed(1),
    kilobytes(whole.bytes / batch),
  ];
}

const HEAD = [
  'batch',
  'files',
  'open beside',
  'calls to stage',
  's to stage',
  'calls to land',
  's to land',
  's of the forge’s own merges (ratio)',
  'calls, each landed',
  'KB, each landed',
];

/** Milliseconds, how long it took, and what a pull request says of itself: mergeable, merged, tip of its base. */
function tellCall({ at, took, status, call, pull }: SeenCall): void {
  const said = pull && `${pull.mergeable ? 'm' : '-'}${pull.merged ? 'M' : '-'} ${pull.baseTip.slice(0, 8)}`;
  const times = `${at.toFixed(0).padStart(8)} ${took.toFixed(0).padStart(6)}`;
  console.error(`${times} ${status} ${call}${said === undefined ? '' : ` ${said}`}`);
}

const forge = isReal ? await openRealTreeForge(process.env) : await openFakeTreeForge('gt126');
try {
  if (!hasOption('json')) console.log(`| ${HEAD.join(' | ')} |\n|${HEAD.map(() => ' --: |').join('')}`);
  for (const [row, load] of loads.entries()) {
    const clock = isReal ? new RealClock() : forge.startClock().clock;
    const byHandMs = isReal ? await mergeByHand(forge, clock, `by-hand-${row}`, load) : null;
    const landing = await landBatch(forge, clock, `queue-${row}`, load, tell);
    console.log(
      hasOption('json')
        ? JSON.stringify({ ...load, ...landing, by_hand_ms: byHandMs })
        : `| ${describe(load, landing, byHandMs).join(' | ')} |`,
    );
  }
} finally {
  await forge.stop();
}
