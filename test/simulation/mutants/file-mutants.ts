import type { Mutant } from '../mutants.ts';

const READ = 'engine-container/src/reading/read-settings-file.ts';

/** Guards of decisions 0237 and 0238: which settings file holds, and who is told of a change of it. */
export const FILE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a value of the settings file on the base holds before the stored one (A135)',
    file: 'core/contracts/repos/settings-seen.ts',
    find: 'return repo.settingsFile && seen !== undefined ?',
    replace: 'return repo.settingsFile && seen === null ?',
    families: ['pauses'],
    dies: 'a settings file allows one gate run, and the page sixteen',
  },
  {
    guard: 'a wrong settings file leaves the values from before in force (A136)',
    file: READ,
    find: 'const { values = {}, from = null } = settingsSeen ?? {};',
    replace: 'const [values, from] = [{}, null];',
    families: ['pauses'],
    dies: 'a settings file on the base becomes wrong',
  },
  {
    guard: 'the listing of another tree tells of no settings file (A136)',
    file: READ,
    find: 'listed.entries === null || listed.tree !== tree',
    replace: 'listed.entries === null',
    families: ['pauses'],
    dies: 'the forge lists another tree than that of the base',
  },
  {
    guard: 'the settings file is read at each tip of the base (A135)',
    file: READ,
    find: 'tip !== null && tip !== settingsSeen?.commit',
    replace: 'tip !== null && settingsSeen === undefined',
    families: ['pauses'],
    dies: 'a settings file changes and is taken away',
  },
  {
    guard: 'a settings file that is gone gives the stored values back (A136)',
    file: READ,
    find: 'return { ...at, values: {}, from: null };',
    replace: 'return { ...at, values: settingsSeen?.values ?? {}, from: null };',
    families: ['pauses'],
    dies: 'a settings file changes and is taken away',
  },
  {
    guard: 'a late reading of the base does not take settings back (A135)',
    file: READ,
    find: 'if (isReplacedTip(record, base.value.sha, { now: begunAt })) return {};',
    replace: '',
    families: ['pauses'],
    dies: 'a settings file lands, and the list shows the base of before',
  },
  {
    guard: 'the author of a change of the settings file is told (A138)',
    file: 'engine-container/src/queue/fold-staging.ts',
    find: 'noteSettings(pass, batch, outcome.settingsTold);',
    replace: 'noteSettings(pass, batch);',
    families: ['pauses'],
    dies: 'a change of a settings file is staged twice',
  },
  {
    guard: 'the author of a change of the settings file is told once (A138)',
    file: 'engine-container/src/queue/words/settings-words.ts',
    find: 'if (isSaid || isSpokenFor',
    replace: 'if (isSpokenFor',
    families: ['pauses'],
    dies: 'a change of a settings file is staged twice',
  },
];
