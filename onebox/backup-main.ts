import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { backUp } from './backup.ts';
import { ConfigError, readConfig } from './config.ts';

const USAGE = `npm run backup -- --config mergeyard.yml --to <new folder>

Copies table and keys of an installation, which may serve meanwhile, into a new folder. That folder is a data_dir: keep it as safe as the tokens.`;

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { config: { type: 'string' }, to: { type: 'string' } } });
  if (values.config === undefined || values.to === undefined) {
    console.error(USAGE);
    return 2;
  }
  await backUp(readConfig(values.config), resolve(values.to), process.env);
  console.log(`${values.to} is written: table and keys. It is a data_dir; its keys open the stored tokens.`);
  return 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof ConfigError ? error.message : error);
    process.exitCode = 1;
  },
);
