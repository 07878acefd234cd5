import { setTimeout as sleep } from 'node:timers/promises';
import { readBaseUrls } from '../lib/deployed.ts';
import { proveStart } from '../lib/prove-start.ts';
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
  const { started, seconds } = await proveStart({ ask, now: Date.now, sleep }, baseUrl);
  if (started) console.log(`${stack}: the engine answered after ${seconds} s`);
  else {
    console.error(
      `${stack}: the engine did not answer within ${seconds} s, so the queues stand still. aws ecs describe-services says why no task starts, its log group what a task says; deploy the release before again, or repair this one (docs/operate.md, Upgrade and roll back)`,
    );
    process.exitCode = 1;
  }
}
