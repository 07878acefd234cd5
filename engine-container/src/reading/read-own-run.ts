import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import { mapKnown, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { headProvenBy } from '../queue/gate/own-run-evidence.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { FocusView } from '../queue/snapshot.ts';
import { readHeadPass } from '../staging/head-evidence.ts';
import type { TryRead } from './look-reads.ts';

/** Right before the `success` on a pull request: what a head whose own run has proven it says now. */
export async function readOwnRun(
  { forge, tryRead }: { readonly forge: EngineForge; readonly tryRead: TryRead },
  record: QueueRecord,
  pr: PullRequestNumber,
  open: readonly PullRequest[],
): Promise<Pick<FocusView, 'hasOwnPass'>> {
  const proof = headProvenBy(record, pr);
  if (proof === null) return {};
  const { batch } = proof;
  const { pr: prover, head } = proof.member;
  // By its number: another one may have the same head on a branch where no gate has run.
  const pull = open.find(({ number }) => number === prover);
  const file = batch.gateFile;
  if (pull?.headSha !== head || file === null) return { hasOwnPass: UNKNOWN };
  const run = { head, branch: pull.headRef, file, statusGate: batch.statusGate ?? null };
  const pass = await tryRead(() => readHeadPass(forge, run));
  return { hasOwnPass: mapKnown(pass, (found) => found !== null) };
}
