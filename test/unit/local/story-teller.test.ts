import { StoryTeller } from '../../../local/demo/view.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';

test.each([
  ['mq/main/staging', 'staged as one batch on mq/main/staging; gate running'],
  [null, 'staged as one batch; the gate run of the batch on top of it judges both'],
])('a batch with the staging branch %s is told as: %s', (stagingBranch, told) => {
  const lines: string[] = [];
  const row = givenNodeRow({
    nodeId: 'r',
    attempt: 1,
    outcome: 'running',
    phase: 'waiting_gate',
    stagingBranch,
  });
  new StoryTeller((line) => lines.push(line)).tell([row], []);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(told);
});
