import type { GateReading } from '#core/domain/forge/forge.ts';
import { judgeGateStatuses, type StatusGate } from '#core/domain/forge/status-gate.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { HeadRun } from '../queue/actions.ts';
import { type GateFile, judgeGateChange } from './gate-file.ts';
import type { RepoObjects } from './repo-objects.ts';

/** The head whose own run may answer for a staged tree, and the gate that it has to be a run of. */
export interface HeadQuestion {
  readonly head: CommitSha;
  /** Branch of the repository itself that was pushed with it; null: its own run is no evidence. */
  readonly ownBranch: string | null;
  readonly tree: TreeHash;
  readonly gate: GateFile;
  readonly baseGate: GateFile | null;
  /** Null: a workflow is the gate. */
  readonly statusGate: StatusGate | null;
}

/** The gate on a head: a run of the workflow by a push to its branch, or statuses. */
interface HeadGate extends Pick<HeadQuestion, 'head' | 'statusGate'> {
  readonly branch: string;
  readonly file: string;
}

/**
 * A success that the gate has on a head with exactly the staged tree; null: none, and the gate is run. Only a success counts: a
 * failure there may be of another moment. What cannot be read is no evidence.
 */
export async function findHeadRun(
  forge: EngineForge,
  objects: RepoObjects,
  question: HeadQuestion,
): Promise<HeadRun | null> {
  const { head, ownBranch, tree, gate, baseGate, statusGate } = question;
  // A gate that its own pull request changed has judged itself (D-18).
  if (ownBranch === null || baseGate === null || judgeGateChange(baseGate, gate) !== null) return null;
  try {
    if ((await objects.treeOf(head)) !== tree) return null;
    return await readHeadPass(forge, { head, branch: ownBranch, file: gate.file, statusGate });
  } catch (error) {
    if (error instanceof ForgeError) return null;
    throw error;
  }
}

/** The run of the gate on a head, where its newest word is a success; null: it is not. Throws `ForgeError`. */
export async function readHeadPass(forge: EngineForge, run: HeadGate): Promise<HeadRun | null> {
  const reading = await readHeadGate(forge, run);
  if (reading.kind !== 'finished' || reading.verdict !== 'success') return null;
  return { sha: run.head, runKey: reading.runId, runUrl: reading.url };
}

async function readHeadGate(
  forge: EngineForge,
  { head, branch, file, statusGate }: HeadGate,
): Promise<GateReading> {
  if (statusGate === null) return forge.readGate(head, branch, file);
  const judged = judgeGateStatuses(await forge.listStatusHistory(head), statusGate);
  // A pattern does not say how many contexts there are, and no moment says that all have come.
  return judged.isOpenEnded ? { kind: 'none' } : judged.gate;
}
