import { known, UNKNOWN } from '#core/domain/result.ts';
import type { Action } from '../../../../../engine-container/src/queue/actions.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import { fold } from '../../../../../engine-container/src/queue/fold.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import { givenRecord } from '../../../../builders/queue-record.ts';
import { givenSnapshot } from '../../../../builders/snapshot.ts';

const { provisioning } = givenRepo();
const repo = givenRepo({ provisioning: { ...provisioning, lastProvisionedAt: 2_000 } });
const { context } = givenRecord();
const told = { at: 1_000, context, reasons: ['rule_missing'] } as const;
const look = { repo, pulls: known([]) };

test('reasons of a rule that was not read now keep their time: what was set up since may have put them right', () => {
  const { record } = decide(givenSnapshot({ ...look, protection: UNKNOWN }), givenRecord({ rule: told }));
  expect(record.rule).toEqual(told);
});

test('reasons of a rule that was read now are as new as the look', () => {
  const read = givenSnapshot({ ...look, protection: known(null) });
  expect(decide(read, givenRecord({ rule: told })).record.rule).toEqual({ ...told, at: read.now });
});

test('reasons that were found for another status context are looked for anew', () => {
  const settled = { ...repo, provisioning };
  const read = givenSnapshot({ repo: settled, pulls: known([]), protection: known(null) });
  const earlier = { ...told, context: 'earlier' };
  expect(decide(read, givenRecord({ rule: earlier })).record.rule).toEqual({ ...told, at: read.now });
});

test('a rule over the branches of the queue is told since the look that met it', () => {
  const action = { kind: 'stage_batch', nodeRow: 'none' } as unknown as Action;
  const failed = { kind: 'failed', forgeAnswers: true, ruledBranch: 'mq/main/staging' } as const;
  const reasons = ['rule_missing', 'staging_protected'];
  for (const [protection, at] of [
    [known(null), null],
    [UNKNOWN, told.at],
  ] as const) {
    const read = givenSnapshot({ ...look, protection });
    const { record } = fold(read, givenRecord({ rule: told }), action, failed, read.now);
    expect(record.rule).toEqual({ at: at ?? read.now, context, reasons });
  }
});

test('a branch that is left and that a rule keeps from being deleted stops no staging', () => {
  const action: Action = { kind: 'delete_branch', branch: 'mq/main/staging-old' };
  const failed = { kind: 'failed', forgeAnswers: true, ruledBranch: 'mq/main/staging-old' } as const;
  const read = givenSnapshot(look);
  const { record } = fold(read, givenRecord({ rule: told }), action, failed, read.now);
  expect([record.ruledBranch, record.rule]).toEqual([undefined, told]);
});
