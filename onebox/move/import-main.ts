import { readCommandLine, refuseCall } from '#core/adapters/system/command-line.ts';
import { runMain } from '../run-main.ts';
import { explain } from './explain.ts';
import { FORCE_WORDS, importInstallation } from './import.ts';
import { MOVE_FLAGS, openPlace, readPassphrase, WHERE } from './options.ts';

const USAGE = `npm run import -- <where> --file mergeyard.export --passphrase-file passphrase [--force "${FORCE_WORDS}"]

Takes the file of an export into an empty installation. Can be stopped and started again.
${WHERE}`;

async function main(): Promise<number> {
  const { values } = readCommandLine({ ...MOVE_FLAGS, force: { type: 'string' } }, USAGE);
  const { file, 'passphrase-file': passphraseFile, force } = values;
  const place =
    file === undefined || passphraseFile === undefined ? null : await openPlace(values, process.env, true);
  if (place === null) refuseCall(USAGE);
  try {
    const { rows, left } = await importInstallation({
      place,
      file: file ?? '',
      passphrase: readPassphrase(passphraseFile ?? ''),
      say: console.log,
      ...(force === undefined ? {} : { force }),
    });
    console.log(`Rows written: ${rows}. This installation may run.`);
    if (left > 0)
      console.log(
        `Rows left in the file, because they name the former tenant (plans, API tokens): ${left}. Make new tokens.`,
      );
    return 0;
  } finally {
    await place.close();
  }
}

runMain(main, explain);
