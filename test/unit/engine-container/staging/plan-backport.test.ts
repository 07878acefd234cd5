import { hashBlob } from '../../../../engine-container/src/staging/objects.ts';
import { openBackportPlanner } from '../../../../engine-container/src/staging/plan-backport.ts';
import { createAbstractForge } from '../../../fakes/abstract-forge/index.ts';
import type { FileChanges } from '../../../support/forge-control.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const DIRECTORIES = 300;

const filesIn = (count: number, content: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`d${at}/deep/file.txt`, content]));

/** A base of more files than one answer of the forge holds, and a branch where all but the first differ. */
async function givenFarBranch(isOutOfTime = (_reads: number): boolean => false) {
  const forge = createAbstractForge({
    clock: new VirtualClock(),
    files: {
      ...filesIn(DIRECTORIES, 'base\n'),
      ...Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`f${at}`, '\n'])),
    },
  });
  await forge.pushBranch('v15', await forge.tip('main'));
  const other = { ...filesIn(DIRECTORIES, 'otherwise\n'), 'd0/deep/file.txt': 'base\n' };
  const on = await forge.pushToBase(other, 'v15');
  const before = await forge.tip('main');
  let reads = 0;
  const { readTree, readBlob } = forge.backports;
  const counted = {
    readBlob,
    readTree: (id: string, depth: 'all' | 'one') => {
      reads += 1;
      return readTree(id, depth);
    },
  };
  const planner = openBackportPlanner(counted, () => isOutOfTime(reads));
  return { forge, planner, on, before, reads: () => reads };
}

test('a branch that differs in every directory costs no more than the change', async () => {
  const { forge, planner, on, before, reads } = await givenFarBranch();
  const after = await forge.pushToBase({ 'd0/deep/file.txt': 'changed  \n' });
  const plan = await planner.plan(on, before, after);
  if (plan.kind !== 'plan') throw new Error(plan.kind);
  expect(plan.patch).toContain(`..${hashBlob(Buffer.from('changed  \n'), 'sha1')} 100644\nBinary files`);
  expect(reads()).toBeLessThan(16);
  expect(forge.readTreeFiles(forge.commit(on).tree).get('d1/deep/file.txt')).toBe('otherwise\n');
});

test('a change of what the branch has otherwise is a conflict', async () => {
  const { forge, planner, on, before } = await givenFarBranch();
  const after = await forge.pushToBase({ 'd1/deep/file.txt': 'changed\n' });
  expect(await planner.plan(on, before, after)).toEqual({ kind: 'refused', result: 'conflict' });
});

test('a change that the branch has already needs no patch', async () => {
  const { forge, planner, on, before } = await givenFarBranch();
  const after = await forge.pushToBase({ 'd1/deep/file.txt': 'otherwise\n' });
  expect(await planner.plan(on, before, after)).toEqual({
    kind: 'plan',
    patch: '',
    tree: forge.commit(on).tree,
  });
});

test('a change of more directories than one function can read is too large', async () => {
  const { forge, planner, on, before } = await givenFarBranch();
  const after = await forge.pushToBase(filesIn(DIRECTORIES, 'changed\n'));
  expect(await planner.plan(on, before, after)).toEqual({ kind: 'refused', result: 'too_large' });
});

test('a plan for which the time is up is unfinished, which says nothing of the change', async () => {
  const { planner, on, before, forge } = await givenFarBranch((reads) => reads > 1);
  const after = await forge.pushToBase({ 'd0/deep/file.txt': 'changed\n' });
  expect(await planner.plan(on, before, after)).toEqual({ kind: 'unfinished' });
});

describe('a change that takes a file away which the branch does not have', () => {
  const OLD = `${Array.from({ length: 12 }, (_, at) => `line ${at}`).join('\n')}\n`;

  async function givenBranchWithout(moved: FileChanges) {
    const forge = createAbstractForge({
      clock: new VirtualClock(),
      files: { 'src/old.txt': OLD, 'README.md': 'hello\n' },
    });
    await forge.pushBranch('v15', await forge.tip('main'));
    const on = await forge.pushToBase({ 'src/old.txt': null, ...moved }, 'v15');
    const before = await forge.tip('main');
    const planner = openBackportPlanner(forge.backports, () => false);
    return async (files: FileChanges) => planner.plan(on, before, await forge.pushToBase(files));
  }

  test.each<[string, FileChanges]>([
    ['deletes it', { 'src/old.txt': null }],
    ['moves it', { 'src/old.txt': null, 'src/new.txt': OLD }],
    ['moves and edits it', { 'src/old.txt': null, 'src/new.txt': OLD.replace('line 3', 'LINE 3') }],
    ['changes another file as well', { 'src/old.txt': null, 'README.md': 'hello again\n' }],
  ])('and %s is a conflict where the branch has moved the file', async (_what, files) => {
    const plan = await givenBranchWithout({ 'legacy/old.txt': OLD });
    expect(await plan(files)).toEqual({ kind: 'refused', result: 'conflict' });
  });

  test('is planned where the branch has deleted the file', async () => {
    const plan = await givenBranchWithout({});
    expect(await plan({ 'src/old.txt': null })).toMatchObject({ kind: 'plan', patch: '' });
  });
});
