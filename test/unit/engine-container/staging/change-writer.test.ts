import type { Commit } from '#core/domain/forge/forge.ts';
import { type EngineForge, ForgeError, type ForgeErrorKind } from '#core/ports/forge.ts';
import { RepoDirectories } from '../../../../engine-container/src/reconcile/engine-memory.ts';
import { BranchMoved, ChangeWriter } from '../../../../engine-container/src/staging/change-writer.ts';
import { hashBlob } from '../../../../engine-container/src/staging/objects.ts';
import type { PathChange } from '../../../../engine-container/src/staging/path-change.ts';
import { ReadingUnfinished, RepoObjects } from '../../../../engine-container/src/staging/repo-objects.ts';
import { MemoryObjects } from '../../../merges/trees.ts';

const NEW = Buffer.from('new');
const made: Commit = { sha: 'c'.repeat(40), tree: 't'.repeat(40), parents: [], message: '' };
const to = { mode: '100644', id: hashBlob(NEW, 'sha1') };
const PLAIN = [{ path: 'a.txt', from: null, to }];
/** Files cannot say it. */
const EXECUTABLE = [{ path: 'a.sh', from: null, to: { ...to, mode: '100755' } }];

/** A writer on a forge whose answers are told, and what the forge was sent, in order. */
function givenWriter() {
  const sent: string[] = [];
  const told: {
    patchMs: number;
    patchFails: ForgeError | null;
    filesFail: ForgeError | null;
    filesMs: number;
    tip: string | null;
  } = {
    tip: made.sha,
    patchMs: 0,
    patchFails: null,
    filesFail: null,
    filesMs: 0,
  };
  let now = 0;
  const forge = {
    applyPatch: async () => {
      sent.push('patch');
      now += told.patchMs;
      if (told.patchFails !== null) throw told.patchFails;
      return made;
    },
    writeFiles: async () => {
      sent.push('files');
      now += told.filesMs;
      if (told.filesFail !== null) throw told.filesFail;
      return made;
    },
    readBlob: async () => NEW,
    readTree: async (id: string) => ({ tree: id, entries: [] }),
    readBranchTip: async () => told.tip,
  } as unknown as EngineForge;
  const memory = new RepoDirectories();
  const tree = new MemoryObjects();
  const before = tree.putTree(new Map([['b.txt', { mode: '100644', content: 'b' }]]));
  memory.put(before, tree.directory(before) ?? []);
  /** One look: contents are read anew, the memory of the repository stays. */
  const write = async (changes: readonly PathChange[] = PLAIN) => {
    const objects = new RepoObjects(forge, memory, () => false);
    const writer = new ChangeWriter({ forge, objects, clock: { monotonic: () => now, now: () => now } });
    const files = await writer.readFiles(before, changes);
    return writer
      .write({ branch: 'main', parent: made.sha, changes, files, message: 'm' })
      .catch((error: unknown) => error);
  };
  const isPatchGivenUp = () => {
    const objects = new RepoObjects(forge, memory, () => false);
    return new ChangeWriter({ forge, objects, clock: { monotonic: () => now, now: () => now } })
      .isPatchGivenUp;
  };
  /** A look whose time is up with the read before. */
  const readLate = async () => {
    const objects = new RepoObjects(forge, memory, () => true);
    now += 1;
    await objects.treeOf(`${now}`.padStart(40, 'd'));
    const writer = new ChangeWriter({ forge, objects, clock: { monotonic: () => now, now: () => now } });
    return writer.readFiles(before, PLAIN);
  };
  return { told, sent, write, readLate, isPatchGivenUp, wait: (ms: number) => (now += ms) };
}

const failure = (kind: ForgeErrorKind, status: number | null) => new ForgeError(kind, 'POST x', status);

test('a patch comes first, and stays while it is quick', async () => {
  const { told, sent, write } = givenWriter();
  told.patchMs = 2_999;
  await write();
  await write();
  expect(sent).toEqual(['patch', 'patch']);
});

test.each([
  ['was slow', 3_000, null],
  ['was given up', 10_000, failure('unreachable', null)],
])('after a patch that %s the next change is sent as files', async (_name, patchMs, patchFails) => {
  const { told, sent, write } = givenWriter();
  Object.assign(told, { patchMs, patchFails });
  await write();
  await write();
  await write();
  expect(sent).toEqual(['patch', 'files', 'files']);
});

test('a refusal that comes at once does not make patches slow', async () => {
  const { told, sent, write } = givenWriter();
  told.patchFails = failure('unreachable', 500);
  await write();
  await write();
  expect(sent).toEqual(['patch', 'patch']);
});

test('files that are refused twice are sent as a patch, and tried again after a slow one', async () => {
  const { told, sent, write } = givenWriter();
  Object.assign(told, { patchMs: 10_000, patchFails: failure('unreachable', null) });
  await write();
  told.filesFail = failure('rejected', 422);
  for (let nth = 0; nth < 5; nth += 1) await write();
  expect(sent).toEqual(['patch', 'files', 'files', 'patch', 'files', 'files']);
});

test('a patch that is quick again is used again', async () => {
  const { told, sent, write } = givenWriter();
  told.patchMs = 5_000;
  await write();
  await write();
  told.patchMs = 100;
  await write(EXECUTABLE);
  await write();
  expect(sent).toEqual(['patch', 'files', 'patch', 'patch']);
});

const HOUR_MS = 60 * 60_000;

test.each([
  ['was slow', 3_000, null, HOUR_MS],
  ['was given up', 10_000, failure('unreachable', null), 24 * HOUR_MS],
])('a patch that %s is tried again in time', async (_name, patchMs, patchFails, keptMs) => {
  const { told, sent, write, wait } = givenWriter();
  Object.assign(told, { patchMs, patchFails });
  await write();
  wait(keptMs - 1);
  await write();
  wait(1);
  await write();
  expect(sent).toEqual(['patch', 'files', 'patch']);
});

test('files that a forge does not answer to are no refusal', async () => {
  const { told, sent, write } = givenWriter();
  told.patchMs = 5_000;
  await write();
  told.filesFail = failure('unreachable', null);
  for (let nth = 0; nth < 4; nth += 1) await write();
  expect(sent).toEqual(['patch', 'files', 'files', 'files', 'files']);
});

test('a file that is gone is a refusal of that change, a branch that is gone is not', async () => {
  const { told, write } = givenWriter();
  told.patchMs = 5_000;
  await write();
  told.filesFail = failure('missing', 404);
  expect(await write()).toMatchObject({ kind: 'rejected', status: 404 });
  told.tip = null;
  expect(await write()).toMatchObject({ kind: 'missing', status: 404 });
});

test.each([
  ['is too long for a proxy', failure('unreachable', 413), 0],
  ['a proxy suspects', failure('unreachable', 403), 0],
  ['gets no answer for as long as a slow patch', failure('unreachable', null), 10_000],
])('a request with files that %s is sent as a patch in the end', async (_name, filesFail, filesMs) => {
  const { told, sent, write } = givenWriter();
  told.patchMs = 5_000;
  await write();
  Object.assign(told, { filesFail, filesMs });
  for (let nth = 0; nth < 3; nth += 1) await write();
  expect(sent).toEqual(['patch', 'files', 'files', 'patch']);
});

test('files that are refused on a branch that has moved are held against nothing', async () => {
  const { told, sent, write } = givenWriter();
  told.patchMs = 5_000;
  await write();
  Object.assign(told, { filesFail: failure('rejected', 422), tip: 'e'.repeat(40) });
  for (let nth = 0; nth < 3; nth += 1) expect(await write()).toBeInstanceOf(BranchMoved);
  told.filesFail = failure('missing', 404);
  expect(await write()).toBeInstanceOf(BranchMoved);
  expect(sent).toEqual(['patch', 'files', 'files', 'files', 'files']);
});

test('contents that no reconcile has the time to read are left to a patch', async () => {
  const { told, sent, write, readLate } = givenWriter();
  told.patchMs = 5_000;
  await write();
  await expect(readLate()).rejects.toThrow(ReadingUnfinished);
  await expect(readLate()).rejects.toThrow(ReadingUnfinished);
  await write();
  expect(sent).toEqual(['patch', 'patch']);
});

test.each([
  ['was slow', null, false],
  ['was refused after a while', failure('unreachable', 500), false],
  ['was given up', failure('unreachable', null), true],
  ['a proxy has given up', failure('unreachable', 504), true],
])('a patch that %s is told apart from the others', async (_name, patchFails, isGivenUp) => {
  const { told, write, isPatchGivenUp, wait } = givenWriter();
  expect(isPatchGivenUp()).toBe(false);
  Object.assign(told, { patchMs: 5_000, patchFails });
  await write();
  expect(isPatchGivenUp()).toBe(isGivenUp);
  wait(24 * HOUR_MS);
  expect(isPatchGivenUp()).toBe(false);
});
