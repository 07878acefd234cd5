import { startTicks } from '../../../onebox/ticks.ts';

const START = Date.parse('2026-11-29T08:13:14.000Z');
const MINUTE_MS = 60_000;

/** A machine whose clock may be wrong by `offBy`, and whose one timer ends `earlyMs` before its time. */
function openMachine({ earlyMs = 0 } = {}) {
  let at = START;
  let offBy = 0;
  let planned: { readonly at: number; readonly run: () => void } | null = null;
  const seen: string[] = [];
  const stop = startTicks(
    { now: () => at + offBy },
    async () => {
      seen.push(new Date(at + offBy).toISOString().slice(11, 19));
    },
    (ms, run) => {
      const mine = { at: at + ms - earlyMs, run };
      planned = mine;
      return () => {
        if (planned === mine) planned = null;
      };
    },
  );
  const pass = (ms: number): void => {
    const end = at + ms;
    for (let next = planned; next !== null && next.at <= end; next = planned) {
      at = next.at;
      planned = null;
      next.run();
    }
    at = end;
  };
  const setBy = (ms: number): void => {
    offBy = ms;
  };
  return { seen, stop, pass, setBy };
}

test('ticks come at each full interval of the clock, from whenever they were started, until they are stopped', () => {
  const { seen, pass, stop } = openMachine();
  pass(13 * MINUTE_MS);
  stop();
  pass(60 * MINUTE_MS);
  expect(seen).toEqual(['08:15:00', '08:20:00', '08:25:00']);
});

test('after the clock was set, ticks come at its full intervals again', () => {
  const { seen, pass, setBy } = openMachine();
  setBy(-7_000);
  pass(13 * MINUTE_MS);
  expect(seen).toEqual(['08:14:53', '08:15:00', '08:20:00', '08:25:00']);
});

test('a timer that ends before its time makes no tick come twice', () => {
  const { seen, pass } = openMachine({ earlyMs: 3 });
  pass(8 * MINUTE_MS);
  expect(seen).toEqual(['08:14:59', '08:19:59']);
});
