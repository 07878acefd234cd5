import { carryLanding } from '#core/services/pulls/carry-landing.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';

/** The remark on a landed pull request whose label names a branch that is not there. */
async function remarkOf(label: string): Promise<string> {
  const remarks: string[] = [];
  const landed = { title: 'Fix', author: 'ann', labels: [label], mergeCommit: 'merge', mergeBase: 'base' };
  const deps = {
    store: { claimDelivery: async () => true },
    forge: {
      readLanded: async () => landed,
      readBranchTip: async () => null,
      remark: async (_: number, body: string) => void remarks.push(body),
    },
    log: { info: () => {}, warn: () => {}, error: () => {} },
    planner: {},
    queueName: 'mq',
  } as unknown as Parameters<typeof carryLanding>[0];
  const ended = await carryLanding(deps, givenRepo(), { pr: 7, head: 'head' }, 'one');
  expect(ended).toMatchObject([{ result: 'no_branch' }]);
  return remarks.join();
}

test('a label mentions no person and links nowhere in the remark that its branch is not there', async () => {
  expect(await remarkOf('backport v15')).toContain('no branch "v15" to carry');
  expect(await remarkOf('backport release/1_x')).toContain('no branch "release/1_x" to carry');
  expect(await remarkOf('backport #12')).toContain('no branch ` #12 ` to carry');
  expect(await remarkOf('backport acme/app#3')).toContain('no branch ` acme/app#3 ` to carry');
  expect(await remarkOf('backport @acme/team')).toContain('no branch ` @acme/team ` to carry');
  expect(await remarkOf('backport [x](https://e.example)')).toContain(
    'no branch ` [x](https://e.example) ` to',
  );
  expect(await remarkOf('backport `@ann`$&')).toContain('no branch ``` `@ann`$& ``` to carry');
});
