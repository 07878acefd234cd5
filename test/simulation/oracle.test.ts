import type { NodeRow } from '#core/domain/queue/batch.ts';
import { givenNodeRow } from '../builders/store-rows.ts';
import { checkRows } from './oracle.ts';

const landed = (pr: number) => ({
  pr,
  action: 'landed' as const,
  stagingSha: 'a'.repeat(40),
  gateVerdict: 'success' as const,
  cursor: 0,
});
const row = (id: string, parentId: string | null, changes: Partial<NodeRow> = {}): NodeRow =>
  givenNodeRow({
    id,
    nodeId: id,
    parentId,
    prs: [1],
    outcome: 'success',
    phase: null,
    resolvedAt: 1,
    actions: [landed(1)],
    ...changes,
  });

describe('what the judge of the rows at rest tells', () => {
  test('of a tree: nothing', () => {
    expect(checkRows({ rows: [row('r', null), row('a', 'r'), row('b', 'a')] })).toEqual([]);
  });

  test('of a parent that is not in the run of its row (A54)', () => {
    const elsewhere = row('a', 'r', { batchId: 'run-2' });
    expect(checkRows({ rows: [row('r', null), elsewhere] })).toEqual(['row a has no parent in its run']);
    expect(checkRows({ rows: [row('a', 'gone')] })).toEqual(['row a has no parent in its run']);
  });

  test('of a ring of parents, and of a row that is its own (A54)', () => {
    expect(checkRows({ rows: [row('a', 'b'), row('b', 'a'), row('c', null)] })).toEqual([
      'row a is below itself',
      'row b is below itself',
    ]);
    expect(checkRows({ rows: [row('a', 'a')] })).toEqual(['row a is below itself']);
  });

  test('of a member without an action, with two, and of a row that did not resolve (A42)', () => {
    const told = (changes: Partial<NodeRow>) => checkRows({ rows: [row('r', null, changes)] });
    expect(told({ actions: [] })).toEqual(['row r (success) has not one action per member']);
    expect(told({ actions: [landed(1), landed(1)] })).toEqual([
      'row r (success) has not one action per member',
    ]);
    expect(told({ resolvedAt: null })).toEqual(['row r rests as success']);
  });

  test.each(['held_success', 'held_failure'] as const)(
    'of a row that is held although its batch has ended: %s (A25)',
    (outcome) => {
      expect(checkRows({ rows: [row('r', null, { outcome })] })).toEqual([`row r rests as ${outcome}`]);
    },
  );
});
