import { probePrefix, stagingBranch, workBranch } from '#core/domain/queue/queue-names.ts';
import {
  concernsBranch,
  findBranchConflict,
  isBranchBelow,
  type ManagedBranch,
} from '#core/domain/repos/managed-branch.ts';

const MAIN: ManagedBranch = { id: 'one', baseBranch: 'main', statusContext: 'mq' };

describe('branches of one repository', () => {
  test.each<[string, ManagedBranch, string | null]>([
    [
      'another branch with a context of its own is free',
      { ...MAIN, id: 'two', baseBranch: 'v15', statusContext: 'mq/v15' },
      null,
    ],
    ['the same branch is taken', { id: 'two', baseBranch: 'main', statusContext: 'other' }, 'branch'],
    ['the same context is taken', { id: 'two', baseBranch: 'v15', statusContext: 'mq' }, 'context'],
    [
      'the same context in other letters is taken',
      { id: 'two', baseBranch: 'v15', statusContext: 'MQ' },
      'context',
    ],
    ['none is in its own way', { ...MAIN, statusContext: 'mq' }, null],
  ])('%s', (_name, wanted, kind) => {
    expect(findBranchConflict([MAIN], wanted)?.kind ?? null).toBe(kind);
  });

  test('a deleted one is waited for by its own branch and by its context, and where it does not say', () => {
    const left = { baseBranch: 'main', statusContext: 'mq' };
    const other = { baseBranch: 'v15', statusContext: 'mq/v15' };
    expect(concernsBranch(left, other)).toBe(false);
    expect(concernsBranch(left, { ...other, baseBranch: 'main' })).toBe(true);
    expect(concernsBranch(left, { ...other, statusContext: 'mq' })).toBe(true);
    expect(concernsBranch({ baseBranch: null, statusContext: null }, other)).toBe(true);
  });
});

test('names of the queue for two branches that git can hold side by side never meet', () => {
  const bases = [
    'main',
    'main-staging',
    'release',
    'release/v15',
    'release/v15-staging',
    'v15',
    'staging',
    'a/b',
    'a/b-1',
  ];
  const namesOf = (base: string) => [
    stagingBranch('mq', base),
    `${stagingBranch('mq', base)}-12345678-n1`,
    `${probePrefix('mq', base)}1`,
    workBranch('mq', base, '12345678'),
  ];
  for (const one of bases) {
    for (const other of bases) {
      if (one === other || isBranchBelow(one, other)) continue;
      for (const name of namesOf(one))
        for (const theirs of namesOf(other)) {
          expect(name).not.toBe(theirs);
          expect(isBranchBelow(name, theirs)).toBe(false);
        }
    }
  }
});
