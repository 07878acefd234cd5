import { sayGateTime, usualGateSeconds } from '../../../../dashboard/view/gate-time.ts';
import { givenNode } from '../rows.ts';

const FROM = '2026-11-21T10:00:00.000Z';
const at = (seconds: number): string => new Date(Date.parse(FROM) + seconds * 1_000).toISOString();
const judged = (seconds: number) =>
  givenNode({ gate_verdict: 'success', outcome: 'success', created_at: FROM, resolved_at: at(seconds) });

test('the usual time of a gate is the middle one of those that are known, from five on', () => {
  const rows = [720, 60, 3_000, 700, 740].map(judged);
  expect(usualGateSeconds(rows)).toBe(720);
  expect(usualGateSeconds(rows.slice(1))).toBeNull();
});

test('a verdict that was at hand and one that never came teach nothing', () => {
  const rows = [720, 60, 3_000, 700].map(judged);
  expect(usualGateSeconds([...rows, { ...judged(1), gate_source: 'cached' }])).toBeNull();
  expect(usualGateSeconds([...rows, { ...judged(1), gate_verdict: 'none' }])).toBeNull();
  expect(usualGateSeconds([...rows, { ...judged(1), resolved_at: null }])).toBeNull();
});

test('a run tells how long it takes usually, and so far', () => {
  expect(sayGateTime(720, FROM, Date.parse(at(240)))).toBe('usually 12 min, 4 min so far');
  expect(sayGateTime(null, FROM, Date.parse(at(240)))).toBe('4 min so far');
});
