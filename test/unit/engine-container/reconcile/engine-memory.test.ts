import type { RepoId, TreeHash } from '#core/domain/ids.ts';
import { DIRECTORY_MEMORY_ENTRIES_MAX } from '#core/domain/limits.ts';
import { EngineMemory } from '../../../../engine-container/src/reconcile/engine-memory.ts';
import type { Directory } from '../../../../engine-container/src/staging/objects.ts';

const LARGE = 'repo-large' as RepoId;
const IDLE = 'repo-idle' as RepoId;
const TREE = 'tree' as TreeHash;

const at = (id: RepoId) => ({ id, instanceUrl: 'https://forge.example' });
const entries = (count: number) => Array.from({ length: count }, () => ({})) as unknown as Directory;

test('trees that fill the memory go, the records that this engine has stored stay known', () => {
  const memory = new EngineMemory();
  memory.recordOf(IDLE).isOwn = true;
  memory.recordOf(LARGE).isOwn = true;
  const idle = memory.open(at(IDLE));
  memory.open(at(LARGE)).put(TREE, entries(DIRECTORY_MEMORY_ENTRIES_MAX + 1));
  expect(memory.open(at(LARGE)).directories.has(TREE)).toBe(false);
  expect(memory.open(at(IDLE))).toBe(idle);
  expect([IDLE, LARGE].map((repo) => memory.recordOf(repo).isOwn)).toEqual([true, true]);
});
