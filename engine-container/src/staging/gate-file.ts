import type { TreeEntry } from '#core/domain/forge.ts';
import type { BlobId } from '#core/domain/ids.ts';

/** A forge runs workflows only from the first of these folders that exists (forge facts, 8). Gitea does not know the first. */
const WORKFLOW_FOLDERS = ['.forgejo/workflows/', '.gitea/workflows/', '.github/workflows/'];

export interface GateFile {
  /** Name without its folder, as run listings show it. */
  readonly file: string;
  readonly id: BlobId;
}

/** The gate workflow of a tree: `<name>-gate.yaml` or `.yml` in the folder that the forge reads; null when absent. */
export function findGateFile(entries: readonly TreeEntry[], queueName: string): GateFile | null {
  const folder = WORKFLOW_FOLDERS.find((candidate) =>
    entries.some((entry) => entry.path.startsWith(candidate)),
  );
  if (folder === undefined) return null;
  for (const extension of ['yaml', 'yml']) {
    const file = `${queueName}-gate.${extension}`;
    const entry = entries.find((candidate) => candidate.path === `${folder}${file}`);
    if (entry !== undefined) return { file, id: entry.id };
  }
  return null;
}

/** What a member does to the gate that judges it: a changed file judges itself (D-18), a removed one judges nobody. */
export function judgeGateChange(
  before: GateFile | null,
  after: GateFile | null,
): 'removes_gate' | 'edits_gate' | null {
  if (before !== null && after === null) return 'removes_gate';
  // Runs are looked up by the file's name: a batch has one.
  return before?.id === after?.id && before?.file === after?.file ? null : 'edits_gate';
}
