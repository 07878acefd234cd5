import { known, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { readOwnRun } from '../../../../engine-container/src/reading/read-own-run.ts';
import {
  BASE,
  givenEntry,
  givenEvidence,
  givenNode,
  givenRecord,
  givenStagedBatch,
  stagedAt,
} from '../../../builders/queue-record.ts';
import { givenPull } from '../../../builders/snapshot.ts';

/** #1 is proven by the run of its own head, which has passed on its own branch and on no other one. */
async function ask(numbers: readonly number[]) {
  const done = givenNode({ state: 'done', verdict: 'success', ...stagedAt(1) });
  const record = givenRecord({
    entries: [givenEntry(1)],
    batches: [givenStagedBatch(1, { nodes: [done] })],
    tip: BASE.sha,
    evidence: [givenEvidence(1, 'success', { ofHead: true, sha: 'head-1' })],
  });
  const readGate: EngineForge['readGate'] = async (_sha, branch) =>
    branch === 'branch-1'
      ? { kind: 'finished', verdict: 'success', runId: 'run', url: null }
      : { kind: 'none' };
  const forge = { readGate } as EngineForge;
  const open = numbers.map((number) => givenPull(number, { headSha: 'head-1' }));
  return readOwnRun({ forge, tryRead: async (read) => known(await read()) }, record, 1, open);
}

test('the run of a head is asked of its own branch, also where another pull request has that head on another one', async () => {
  expect(await ask([2, 1])).toEqual({ hasOwnPass: known(true) });
});

test('without its pull request in the list nothing is known of its run', async () => {
  expect(await ask([2])).toEqual({ hasOwnPass: UNKNOWN });
});
