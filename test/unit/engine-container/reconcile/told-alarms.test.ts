import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/domain/api-limits.ts';
import { type RaisedAlarm, ToldAlarms } from '../../../../engine-container/src/reconcile/told-alarms.ts';

/** Whether each of these, by its time, was written. */
function raiseAll(raised: readonly (readonly [at: number, repo: string, alarm: RaisedAlarm])[]): boolean[] {
  const alarms = new ToldAlarms();
  const lines: unknown[] = [];
  const log = { info: () => {}, warn: () => {}, error: (...line: unknown[]) => void lines.push(line) };
  return raised.map(([at, repo, alarm]) => {
    const before = lines.length;
    alarms.raise(log, at, repo, alarm);
    return lines.length > before;
  });
}

const AGE: RaisedAlarm = { name: 'gate_phase_age', pr: null };

test.each<RaisedAlarm>([
  AGE,
  { name: 'base_red', pr: null },
  { name: 'foreign_status_writer', pr: 7 },
  { name: 'record_too_large', pr: null, ok: true },
])('$name is written when it begins and once a day while it lasts', (alarm) => {
  const everyFiveMinutes = Array.from({ length: 2 * 24 * 12 }, (_, look) => look * 5 * MINUTE_MS);
  const written = raiseAll(everyFiveMinutes.map((at) => [at, 'repo-1', alarm]));
  expect(written.flatMap((isWritten, look) => (isWritten ? [everyFiveMinutes[look]] : []))).toEqual([
    0,
    DAY_MS,
  ]);
});

test('one that was over and begins again is written again', () => {
  const over = HOUR_MS + 1;
  expect(
    raiseAll([
      [0, 'repo-1', AGE],
      [HOUR_MS, 'repo-1', AGE],
      [HOUR_MS + over, 'repo-1', AGE],
    ]),
  ).toEqual([true, false, true]);
});

test('those of other repositories, of other pull requests and of another outcome are others', () => {
  const foreign = (pr: number): RaisedAlarm => ({ name: 'foreign_status_writer', pr });
  const large = (ok: boolean): RaisedAlarm => ({ name: 'record_too_large', pr: null, ok });
  expect(
    raiseAll([
      [0, 'repo-1', AGE],
      [1, 'repo-2', AGE],
      [2, 'repo-1', foreign(1)],
      [3, 'repo-1', foreign(2)],
      [4, 'repo-1', large(true)],
      [5, 'repo-1', large(false)],
    ]),
  ).not.toContain(false);
});

test('what happens once is always written: two landings that are not proven have the same words', () => {
  const landed: RaisedAlarm = { name: 'unverified_landing', pr: null };
  expect(
    raiseAll([
      [0, 'repo-1', landed],
      [1, 'repo-1', landed],
    ]),
  ).toEqual([true, true]);
});
