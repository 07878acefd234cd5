import { readCommandLine, refuseCall } from '#core/adapters/system/command-line.ts';
import { runMain } from '../run-main.ts';
import { explain } from './explain.ts';
import { exportInstallation, takeBack } from './export.ts';
import { MOVE_FLAGS, openPlace, readPassphrase, WHERE } from './options.ts';

const USAGE = `npm run export -- <where> --file mergeyard.export --passphrase-file passphrase [--keep-running]
npm run export -- <where> --take-back

The first stops an installation for good and writes everything of it into a sealed file. --keep-running does not stop it: such a file is to look at. The second lets an installation that was exported run again; never do that while the other one runs.
${WHERE}`;

async function main(): Promise<number> {
  const flag = { type: 'boolean' } as const;
  const { values } = readCommandLine({ ...MOVE_FLAGS, 'keep-running': flag, 'take-back': flag }, USAGE);
  const { file, 'passphrase-file': passphraseFile, 'take-back': back = false } = values;
  const isWhole = back || (file !== undefined && passphraseFile !== undefined);
  const place = isWhole ? await openPlace(values, process.env) : null;
  if (place === null) refuseCall(USAGE);
  try {
    if (back) {
      await takeBack(place);
      console.log('It may run again here. Do not start the other one.');
      return 0;
    }
    const passphrase = readPassphrase(passphraseFile ?? '');
    const keepRunning = values['keep-running'] === true;
    const to = file ?? '';
    const counts = await exportInstallation({ place, file: to, passphrase, keepRunning, say: console.log });
    console.log(JSON.stringify(counts));
    console.log(
      keepRunning
        ? `${to} is written. This installation may run on.`
        : `${to} is written. This installation does not run any more; --take-back undoes that.`,
    );
    return 0;
  } finally {
    await place.close();
  }
}

runMain(main, explain);
