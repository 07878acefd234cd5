import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { readCommandLine, refuseCall } from '#core/adapters/system/command-line.ts';
import { readConfig } from './config.ts';
import { examine } from './doctor.ts';
import { runMain } from './run-main.ts';
import { lookAtTable } from './table-look.ts';

const USAGE =
  'npm run doctor -- --config config/mergeyard.yml\n\nLooks at what an installation needs, changes nothing, and says how to repair what is wrong.';

async function main(): Promise<number> {
  const { values } = readCommandLine({ config: { type: 'string' } }, USAGE);
  if (values.config === undefined) refuseCall(USAGE);
  const config = readConfig(values.config);
  const http = createGuardedHttp({
    allowHosts: [new URL(config.forge.url).host],
    ...(config.caPem === null ? {} : { caPem: config.caPem }),
  });
  const look = () => lookAtTable(config.data_dir, process.env);
  const findings = await examine(config, http.send, Date.now, undefined, look);
  http.close();
  for (const { what, note, fix, link } of findings) {
    const seen = note === undefined ? what : `${what} (${note})`;
    const where = link === undefined ? '' : ` ${link}`;
    console.log(fix === undefined ? `ok      ${seen}` : `repair  ${seen}: ${fix}${where}`);
  }
  console.log(`data folder: ${config.data_dir}`);
  return findings.some(({ fix }) => fix !== undefined) ? 1 : 0;
}

runMain(main);
