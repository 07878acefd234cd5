import type { Mutant } from '../mutants.ts';

const ADOPT = 'engine-container/src/queue/record/adopt-snapshot.ts';
const ARCHIVES = ['archives'] as const;

/** Guards of an archived repository (decision 0287). */
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
    file: 'engine-container/src/queue/batches/batch.ts',
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
];
