import { BATCH_OUTCOMES } from '#core/domain/queue/batch.ts';
import {
  canMove,
  isTerminal,
  OUTCOME_MOVES,
} from '../../../../../engine-container/src/queue/batches/transitions.ts';

test('every outcome has its row, and only running and held ones move on', () => {
  expect(Object.keys(OUTCOME_MOVES).sort()).toEqual([...BATCH_OUTCOMES].sort());
  expect(BATCH_OUTCOMES.filter((outcome) => !isTerminal(outcome))).toEqual([
    'running',
    'held_success',
    'held_failure',
  ]);
});

test('a node that has ended stays as it ended', () => {
  for (const from of BATCH_OUTCOMES.filter(isTerminal)) {
    for (const to of BATCH_OUTCOMES) expect(canMove(from, to)).toBe(from === to);
  }
});

test('a held pass is neither bounced nor split', () => {
  expect(canMove('held_success', 'bounced')).toBe(false);
  expect(canMove('held_success', 'bisected')).toBe(false);
});
