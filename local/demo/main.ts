import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { ForgeOptionError, type ForgeTokens, readForgeTokens } from '../forge-account.ts';
import { type DemoOptions, parseOptions, readWoodpeckerAccess, UsageError } from './options.ts';
import { type Stage, setStage } from './stage.ts';
import { play, type StoryResult } from './story.ts';
import { alarm, bold, dim, good, table } from './view.ts';

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  const tokens = options.forge === null ? null : await readForgeTokens(process.env, process.stdin);
  const woodpeckerAccess = readWoodpeckerAccess(options.woodpecker, process.env);
  const authority = options.forge?.caFile ?? null;
  if (authority !== null && tokens !== null && process.env.NODE_EXTRA_CA_CERTS !== resolve(authority))
    return startTrusting(authority, tokens);
  const startedAt = Date.now();
  const print = (line: string) => (options.json ? process.stderr : process.stdout).write(`${line}\n`);
  const seconds = () => (Date.now() - startedAt) / 1000;
  const say = (line: string) => print(`${dim(`${seconds().toFixed(1).padStart(5)}s`)}  ${line}`);
  print(bold('Mergeyard: twelve pull requests, one queue'));
  const stage = await setStage({ ...options, tokens, woodpeckerAccess }, say);
  try {
    if (stage.resumed)
      say('going on with the story that was interrupted; the lease of a killed worker runs out within 75 s');
    say(`forge pages: ${stage.pagesUrl}/${stage.state.slug}`);
    const result = await play(stage, say);
    const deviations = report(result, stage, print);
    const passed = deviations.length === 0;
    stage.save({ finished: true });
    print('');
    print(
      passed
        ? good(`Every pull request ended as it must, in ${seconds().toFixed(1)} s.`)
        : alarm('Deviations:'),
    );
    for (const deviation of deviations) print(alarm(`  ${deviation}`));
    if (options.keep) await keepRunning(stage, options, print);
    else await cleanUp(stage, say);
    if (options.json) process.stdout.write(`${JSON.stringify(summary(result, seconds()))}\n`);
    return passed ? 0 : 1;
  } finally {
    await stage.stop();
  }
}

/** A repository that cannot be deleted is named: the story's verdict stands without it. */
async function cleanUp(stage: Stage, say: (line: string) => void): Promise<void> {
  try {
    await stage.cleanUp?.();
  } catch {
    say(`${stage.forgeUrl}/${stage.state.slug} could not be deleted: delete it there`);
  }
}

/**
 * The acts of people go through `fetch`, which trusts another authority only from the start of the process. The tokens go
 * by the environment: the first process may have read them from its standard input.
 */
function startTrusting(caFile: string, tokens: ForgeTokens): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, FORGE_TOKEN: tokens.bot, NODE_EXTRA_CA_CERTS: resolve(caFile) },
  });
  return new Promise((done) => child.once('exit', (code) => done(code ?? 1)));
}

function report(result: StoryResult, stage: Stage, print: (line: string) => void): string[] {
  const symbol = { lands: good('landed'), bounced: alarm('bounced'), skipped: 'skipped', open: 'open' };
  print('');
  print(
    table(
      ['#', 'pull request', 'ended', 'what was special'],
      result.endings.map((ending) => [String(ending.pr), ending.title, symbol[ending.actual], ending.note]),
      [4, 32, 10 + (symbol.lands.length - 'landed'.length), 52],
    ),
  );
  for (const { pr, told } of result.endings) if (told !== null) print(`#${pr} did not land: ${told}`);
  print('');
  print(
    table(
      ['#', 'landed tree = proven tree', 'the gate ran on', 'merge commit', 'gate run'],
      result.receipts.map((receipt) => [
        String(receipt.pr),
        receipt.tree.slice(0, 16),
        receipt.gatedTree === receipt.tree ? 'this state' : 'a batch from it',
        receipt.mergeCommit.slice(0, 12),
        receipt.runUrl === null ? '' : new URL(receipt.runUrl, stage.pagesUrl).pathname,
      ]),
      [4, 26, 16, 14, 40],
    ),
  );
  print('');
  print(
    `${result.receipts.length} receipts, ${result.gateRuns ?? 'unknown'} gate runs, ${result.batches} batches, ${result.unproven.length} unproven landings`,
  );
  const deviations = result.endings
    .filter((ending) => ending.actual !== ending.expected)
    .map(
      (ending) =>
        `#${ending.pr} ${ending.title}: expected ${ending.expected}, found ${ending.actual} (${ending.said})`,
    );
  for (const sha of result.unproven) deviations.push(`${sha} is on the base without a receipt`);
  return deviations;
}

function summary(result: StoryResult, seconds: number) {
  const numbers = (fate: string) =>
    result.endings.filter((ending) => ending.actual === fate).map((ending) => ending.pr);
  return {
    landed: numbers('lands'),
    bounced: numbers('bounced'),
    skipped: numbers('skipped'),
    gate_runs: result.gateRuns,
    batches: result.batches,
    receipts: result.receipts.map((receipt) => ({
      pr: receipt.pr,
      base_before: receipt.baseBefore,
      head: receipt.head,
      staged_sha: receipt.stagedSha,
      gated_tree: receipt.gatedTree ?? null,
      tree: receipt.tree,
      run_url: receipt.runUrl,
      merge_commit: receipt.mergeCommit,
    })),
    unproven_landings: result.unproven.length,
    seconds: Math.round(seconds * 10) / 10,
  };
}

async function keepRunning(stage: Stage, options: DemoOptions, print: (line: string) => void): Promise<void> {
  if (options.json) return;
  print('');
  print(`Still running. Pages: ${stage.pagesUrl}/${stage.state.slug}   API: ${stage.service.baseUrl}`);
  print('Stop with Ctrl-C.');
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (error instanceof UsageError && error.exitCode === 0) {
      console.log(error.message);
      process.exit(0);
    }
    const isUsage = error instanceof UsageError || error instanceof ForgeOptionError;
    console.error(isUsage ? error.message : error);
    process.exit(isUsage ? 2 : 1);
  },
);
