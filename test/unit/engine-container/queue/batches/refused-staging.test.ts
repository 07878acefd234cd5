import type { Action, ActionOutcome } from '../../../../../engine-container/src/queue/actions.ts';
import { noteRefusedStaging } from '../../../../../engine-container/src/queue/batches/refused-staging.ts';
import { givenRecord } from '../../../../builders/queue-record.ts';
import { givenSnapshot } from '../../../../builders/snapshot.ts';

const ACTION = { kind: 'stage_batch' } as unknown as Action;
const REFUSED: ActionOutcome = { kind: 'failed', forgeAnswers: true, isRefused: true };

/** Outcomes of tries to stage, a minute apart. */
function tellAfter(outcomes: readonly ActionOutcome[]) {
  const record = givenRecord();
  for (const [minute, outcome] of outcomes.entries())
    noteRefusedStaging({ record, s: givenSnapshot({ now: minute * 60_000 }) }, ACTION, outcome);
  return record.stagingRefused;
}

test('staging is refused since the first refusal', () => {
  expect(tellAfter([REFUSED, REFUSED])).toEqual({ since: 0, at: 60_000 });
});

test('a look that ran out of time before it tried says nothing of the refusal before it', () => {
  expect(tellAfter([REFUSED, { kind: 'unfinished' }, REFUSED])).toEqual({ since: 0, at: 120_000 });
});

test('a try that comes to anything else ends it', () => {
  expect(tellAfter([REFUSED, { kind: 'base_moved' }])).toBeUndefined();
});
