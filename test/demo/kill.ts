import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type InstallationOptions, startTemplate } from '../../local/demo/installation.ts';
import { setStage } from '../../local/demo/stage.ts';
import { play } from '../../local/demo/story.ts';
import type { LocalService } from '../../local/service.ts';

/**
 * `npm run test:kill`: the demo with `kill -9` in its middle, three times: the engine, the worker, everything. Each must
 * end in the same table. Not part of `npm test`: a killed holder's lease has to run out, which takes up to 75 s each time.
 */
const SPREAD = {
  json: false,
  keep: false,
  fresh: true,
  onebox: false,
  ...({ fanout: 4, gate: 'workflow', ci: 'woodpecker', woodpecker: null, forge: null } as const),
};

type Victim = 'engine' | 'worker';

async function killInside(victim: Victim, dataDir: string): Promise<boolean> {
  let service: LocalService | undefined;
  const start = async (options: InstallationOptions) => {
    service = await startTemplate(options);
    return service;
  };
  const stage = await setStage({ ...SPREAD, dataDir, start }, () => undefined);
  let killed = false;
  try {
    const result = await play(stage, (line) => {
      if (killed || !line.includes('gate failed; split')) return;
      killed = true;
      if (victim === 'engine') void service?.killEngine();
      else void service?.killFunction('Worker');
    });
    const asPlanned = result.endings.every((ending) => ending.actual === ending.expected);
    return killed && asPlanned && result.unproven.length === 0;
  } finally {
    await stage.stop();
  }
}

function startDemo(dataDir: string): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', 'local/demo/main.ts', '--data', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
}

async function killEverything(dataDir: string): Promise<boolean> {
  const first = startDemo(dataDir);
  await new Promise<void>((resolve) => {
    first.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('gate failed; split')) resolve();
    });
    first.once('exit', () => resolve());
  });
  if (first.exitCode !== null || first.pid === undefined) return false;
  // The whole process group: demo, engine, database.
  process.kill(-first.pid, 'SIGKILL');
  const second = startDemo(dataDir);
  let said = '';
  second.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise((resolve) => second.once('exit', resolve));
  return code === 0 && said.includes('going on with the story');
}

async function main(): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), 'demo-kill-'));
  let passed = 0;
  let failed = 0;
  const cases: readonly (readonly [string, () => Promise<boolean>])[] = [
    ['engine', () => killInside('engine', join(root, 'engine'))],
    ['worker', () => killInside('worker', join(root, 'worker'))],
    ['everything', () => killEverything(join(root, 'everything'))],
  ];
  for (const [name, run] of cases) {
    const startedAt = Date.now();
    const ok = await run();
    if (ok) passed += 1;
    else failed += 1;
    console.log(
      `${ok ? 'passed' : 'FAILED'}: kill -9 of ${name} (${Math.round((Date.now() - startedAt) / 1000)} s)`,
    );
  }
  rmSync(root, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed`);
  return failed;
}

main().then(
  (failed) => process.exit(failed === 0 ? 0 : 1),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
