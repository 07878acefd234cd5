import type { Mutant } from '../mutants.ts';

const ADOPT = 'engine-container/src/queue/record/adopt-snapshot.ts';
const HOLDS = 'engine-container/src/queue/line/holds.ts';
const REFUSED = 'engine-container/src/queue/batches/refused-staging.ts';
const ARCHIVES = ['archives'] as const;

/** Guards of an archived repository (decision 0287), and of a forge that lets nothing be staged (decision 0315). */
export const ARCHIVE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'nothing lands in an archived repository',
    file: ADOPT,
    find: '  noticeArchive(pass);\n',
    replace: '',
    families: ARCHIVES,
    dies: 'a repository is archived while a gate run is out',
  },
  {
    guard: 'a success does not stand in an archived repository',
    file: 'engine-container/src/queue/batches/end-batch.ts',
    find: 'holdAt(record, s.repo, s.now)',
    replace: 'null as ReturnType<typeof holdAt>',
    families: ARCHIVES,
    dies: 'a repository is archived while a success stands',
  },
  {
    guard: 'a repository that is archived no more goes on',
    file: ADOPT,
    find: 'else if (seen.length > 0 || isListed) delete record.archivedSince;',
    replace: '',
    families: ARCHIVES,
    dies: 'a repository is archived while a gate run is out',
  },
  {
    guard: 'a repository without an open pull request is told as archived no more',
    file: ADOPT,
    find: 'seen.length > 0 || isListed',
    replace: 'seen.length > 0',
    families: ARCHIVES,
    dies: 'a repository is taken out of the archive as its last pull request is closed',
  },
  {
    guard: 'a pull request that is read by itself tells of the archive before the list',
    file: ADOPT,
    find: 'focused.length > 0 ? focused : listed',
    replace: 'listed',
    families: ARCHIVES,
    dies: 'a repository is archived as the first of a batch lands',
  },
  {
    guard: 'an archived repository is told as one',
    file: 'engine-container/src/reconcile/refusal-cause.ts',
    find: "return { refusal: 'archived', ...refused };",
    replace: 'return refused;',
    families: ARCHIVES,
    dies: 'a repository is archived before anything is staged',
  },
  {
    guard: 'an archived repository is not asked whether it still has a schedule',
    file: 'engine-container/src/queue/landing/landing.ts',
    find: 'const isArchived = pass.record.archivedSince !== undefined;',
    replace: 'const isArchived = false as boolean;',
    families: ARCHIVES,
    dies: 'a repository is archived after a merge that did not come is given up',
  },
  {
    guard: 'one refusal of the forge to stage is not told as a stop',
    file: HOLDS,
    find: 'refused.at - refused.since >= STAGING_REFUSED_MS',
    replace: 'refused.at >= refused.since',
    families: ARCHIVES,
    dies: 'the forge lets nothing be staged',
  },
  {
    guard: 'a forge that goes on to refuse is told as a stop',
    file: REFUSED,
    find: 'record.stagingRefused?.since ?? s.now',
    replace: 's.now',
    families: ARCHIVES,
    dies: 'the forge lets nothing be staged',
  },
  {
    guard: 'what the forge stages ends the stop',
    file: REFUSED,
    find: 'delete record.stagingRefused',
    replace: 'return',
    families: ARCHIVES,
    dies: 'the forge lets nothing be staged',
  },
  {
    guard: 'a refusal to stage says nothing of the one that comes after the last has left',
    file: ADOPT,
    find: 'if (record.entries.length === 0) delete record.stagingRefused;',
    replace: '',
    families: ARCHIVES,
    dies: 'the last one leaves while the forge lets nothing be staged',
  },
  {
    guard: 'those that a search has left to be staged are told of the stop',
    file: 'engine-container/src/queue/words/say-progress.ts',
    find: 'batch === undefined || waitsForStaging(batch, pr)',
    replace: 'batch === undefined',
    families: ARCHIVES,
    dies: 'the forge lets nothing be staged after a search began',
  },
  {
    guard: 'the page tells of the stop as the heads do',
    file: 'engine-container/src/queue/told/view.ts',
    find: 'own.length > 0 && isAtStaging && isStagingStopped(record)',
    replace: 'own.length > 99 && isAtStaging && isStagingStopped(record)',
    families: ARCHIVES,
    dies: 'the forge lets nothing be staged',
  },
];
