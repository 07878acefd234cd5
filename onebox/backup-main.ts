import { resolve } from 'node:path';
import { readCommandLine, refuseCall } from '#core/adapters/system/command-line.ts';
import { backUp } from './backup.ts';
import { ConfigError, readConfig } from './config.ts';
import { runMain } from './run-main.ts';

const USAGE = `npm run backup -- --config config/mergeyard.yml --to <new folder>

Copies table and keys of an installation, which may serve meanwhile, into a new folder. That folder is a data_dir: keep it as safe as the tokens.`;

async function main(): Promise<number> {
  const { values } = readCommandLine({ config: { type: 'string' }, to: { type: 'string' } }, USAGE);
  if (values.config === undefined || values.to === undefined) refuseCall(USAGE);
  // The database makes its snapshot with the rights that this process leaves to others: none.
  process.umask(0o077);
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => ending.abort(new ConfigError(`Ended by ${signal}: nothing was copied.`)));
  await backUp(readConfig(values.config), resolve(values.to), process.env, ending.signal);
  console.log(`${values.to} is written: table and keys. It is a data_dir; its keys open the stored tokens.`);
  return 0;
}

runMain(main);
