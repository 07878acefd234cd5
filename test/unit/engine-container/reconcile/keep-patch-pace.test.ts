import { emptyRecord } from '../../../../engine-container/src/queue/record/record.ts';
import { RepoDirectories } from '../../../../engine-container/src/reconcile/engine-memory.ts';
import { keepPatchPace } from '../../../../engine-container/src/reconcile/keep-patch-pace.ts';

const NOW = 1_000_000;
const DAY_MS = 24 * 60 * 60_000;
const record = emptyRecord('mq');
const slow = { until: NOW + 60_000, isGivenUp: true };

test('an engine that has just begun goes by the pace of the record', () => {
  const { patchPace } = new RepoDirectories();
  const kept = keepPatchPace({ ...record, slowPatches: slow }, patchPace, NOW);
  expect(patchPace).toMatchObject({ slowUntil: slow.until, isGivenUp: true });
  expect(kept.slowPatches).toEqual(slow);
});

test('later what the engine measured holds, be it slow or quick', () => {
  const { patchPace } = new RepoDirectories();
  expect(keepPatchPace(record, patchPace, NOW)).toEqual(record);
  Object.assign(patchPace, { slowUntil: NOW + 5_000, isGivenUp: false });
  const kept = keepPatchPace({ ...record, slowPatches: slow }, patchPace, NOW);
  expect(kept.slowPatches).toEqual({ until: NOW + 5_000, isGivenUp: false });
  patchPace.slowUntil = 0;
  expect(keepPatchPace(kept, patchPace, NOW).slowPatches).toBeUndefined();
});

test('a pace that is over leaves the record, and one of a clock that was ahead is kept for a day at most', () => {
  const over = keepPatchPace({ ...record, slowPatches: slow }, new RepoDirectories().patchPace, slow.until);
  expect(over).toEqual(record);
  const ahead = { ...slow, until: NOW + 400 * DAY_MS };
  const kept = keepPatchPace({ ...record, slowPatches: ahead }, new RepoDirectories().patchPace, NOW);
  expect(kept.slowPatches?.until).toBe(NOW + DAY_MS);
});

test('a pace that was measured while the clock was ahead is kept for a day at most once it is set back', () => {
  const { patchPace } = new RepoDirectories();
  keepPatchPace(record, patchPace, NOW + 400 * DAY_MS);
  Object.assign(patchPace, { slowUntil: NOW + 401 * DAY_MS, isGivenUp: true });
  expect(keepPatchPace(record, patchPace, NOW).slowPatches?.until).toBe(NOW + DAY_MS);
});
