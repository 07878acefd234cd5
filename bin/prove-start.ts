import { setTimeout as sleep } from 'node:timers/promises';
import { readBaseUrls } from '../lib/deployed.ts';
import { describeStart, proveStart } from '../lib/prove-start.ts';
import { readJson } from '../lib/stage-file.ts';

const [outputs = 'dist/outputs.json'] = process.argv.slice(2);
const ANSWER_TIMEOUT_MS = 20_000;

async function ask(url: string): Promise<number | null> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) })).status;
  } catch {
    return null;
  }
}

for (const [stack, baseUrl] of readBaseUrls(readJson(outputs))) {
  console.log(`${stack}: waiting for the engine to start`);
  const proof = await proveStart({ ask, now: Date.now, sleep }, baseUrl);
  const says = `${stack}: ${describeStart(proof, baseUrl)}`;
  if (proof.started) console.log(says);
  else {
    console.error(says);
    process.exitCode = 1;
  }
}
