import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBundles } from '../../lib/bundle.ts';

const BUILT_WITHIN_MS = 180_000;
const LOOK_EVERY_MS = 50;

/**
 * Bundles of all functions and of the engine, made once per run of the tests: the file that asks first builds them, the
 * others wait. They are read only. Rejects when the build failed, for every one that asks.
 */
export async function sharedBundles(): Promise<string> {
  const run = process.env.TEST_RUN_DIR;
  if (run === undefined) throw new Error('TEST_RUN_DIR names no folder: the global setup did not run');
  const folder = join(run, 'bundles');
  const outcomeFile = join(run, 'bundles.outcome');
  if (isFirst(`${folder}.begun`)) writeFileSync(outcomeFile, await build(folder));
  else await waitFor(outcomeFile);
  const complaint = readFileSync(outcomeFile, 'utf8');
  if (complaint !== '') throw new Error(complaint);
  return folder;
}

/** Empty when all went well. */
function build(outDir: string): Promise<string> {
  return buildBundles({ outDir }).then(
    () => '',
    (error: unknown) => `the bundles could not be built: ${String(error)}`,
  );
}

/** A folder is made by one process only, however many try at the same time. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

async function waitFor(file: string): Promise<void> {
  const deadline = performance.now() + BUILT_WITHIN_MS;
  while (!existsSync(file)) {
    if (performance.now() > deadline) throw new Error('the bundles took too long to build');
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
