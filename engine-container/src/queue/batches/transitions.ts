import type { BatchOutcome } from '#core/domain/queue/batch.ts';

/**
 * Legal moves of a batch outcome (contract, Queue batch outcomes). A full table: a new outcome does not compile until
 * its row exists. `held_*` are resolved on paper (A43) and still move when what stands left of them is decided.
 */
export const OUTCOME_MOVES: Readonly<Record<BatchOutcome, readonly BatchOutcome[]>> = {
  running: [
    'success',
    'bounced',
    'bisected',
    'error',
    'held_success',
    'held_failure',
    'superseded',
    'invalidated',
    'operational_error',
  ],
  // A held success returns to `running` when its own landing begins; a held failure when it is confirmed.
  held_success: ['running', 'success', 'invalidated', 'superseded', 'error', 'operational_error'],
  held_failure: [
    'running',
    'bisected',
    'bounced',
    'success',
    'superseded',
    'invalidated',
    'error',
    'operational_error',
  ],
  success: [],
  bounced: [],
  bisected: [],
  error: [],
  superseded: [],
  invalidated: [],
  operational_error: [],
};

export function canMove(from: BatchOutcome, to: BatchOutcome): boolean {
  return from === to || OUTCOME_MOVES[from].includes(to);
}

export function isTerminal(outcome: BatchOutcome): boolean {
  return OUTCOME_MOVES[outcome].length === 0;
}
