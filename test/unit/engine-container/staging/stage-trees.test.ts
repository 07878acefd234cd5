import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { type EngineForge, type FilesRequest, ForgeError } from '#core/ports/forge.ts';
import { RepoDirectories } from '../../../../engine-container/src/reconcile/engine-memory.ts';
import { ChangeWriter } from '../../../../engine-container/src/staging/change-writer.ts';
import { RepoObjects } from '../../../../engine-container/src/staging/repo-objects.ts';
import { publishTree } from '../../../../engine-container/src/staging/stage-trees.ts';
import { MemoryObjects } from '../../../merges/trees.ts';

const GROUND = 'a'.repeat(40);
const MADE = 'c'.repeat(40);

/** A forge on which patches are slow, and what it was sent whole. */
function givenSlowForge(told: { readonly tip: CommitSha; readonly refuses: boolean }) {
  const sent: FilesRequest[] = [];
  const trees = new MemoryObjects();
  const memory = new RepoDirectories();
  const put = (files: Parameters<MemoryObjects['putTree']>[0]): TreeHash => {
    const tree = trees.putTree(files);
    memory.put(tree, trees.directory(tree) ?? []);
    return tree;
  };
  const before = put(new Map([['a.sh', { mode: '100755', content: 'a' }]]));
  const after = put(
    new Map([
      ['a.sh', { mode: '100755', content: 'a' }],
      ['b.txt', { mode: '100644', content: 'b' }],
    ]),
  );
  memory.trees.set(GROUND, before);
  memory.patchPace.slowUntil = 1;
  const forge = {
    writeFiles: async (request: FilesRequest) => {
      sent.push(request);
      if (told.refuses) throw new ForgeError('rejected', 'POST contents', 422);
      const isFirst = sent.length === 1;
      return { sha: isFirst ? MADE : 'd'.repeat(40), tree: before, parents: [isFirst ? GROUND : MADE] };
    },
    readBlob: async () => Buffer.from('b'),
    readBranchTip: async () => told.tip,
    deleteBranch: async () => true,
  } as unknown as EngineForge;
  const objects = new RepoObjects(forge, memory, () => false);
  const writer = new ChangeWriter({ forge, objects, clock: { monotonic: () => 0, now: () => 0 } });
  const publish = (tree: TreeHash) =>
    publishTree(
      { forge, objects, writer },
      {
        queueName: 'mq',
        baseBranch: 'main',
        branch: 'mq/main/staging',
        groundSha: GROUND,
        groundTree: GROUND,
        tree,
        message: 'm',
        workBranch: 'mq-work/main/1',
        isAnchored: false,
      },
    );
  return { before, after, publish, sent };
}

test.each(['after', 'before'] as const)(
  'files that are refused on a base that has moved publish nothing, and are not sent again (%s)',
  async (tree) => {
    const { publish, sent, ...trees } = givenSlowForge({ tip: 'e'.repeat(40), refuses: true });
    expect(await publish(trees[tree])).toMatchObject({ commit: 'base_moved' });
    expect(sent).toHaveLength(1);
  },
);

test('a tree that is the one of the base goes without a patch, also where its first file is an executable', async () => {
  const { before, publish, sent } = givenSlowForge({ tip: GROUND, refuses: false });
  expect(await publish(before)).toMatchObject({ commit: { sha: 'd'.repeat(40) } });
  expect(sent.map(({ branch, newBranch }) => [branch, newBranch])).toEqual([
    ['main', 'mq-work/main/1'],
    ['mq-work/main/1', 'mq/main/staging'],
  ]);
});
