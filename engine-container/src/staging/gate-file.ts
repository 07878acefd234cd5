import { createHash } from 'node:crypto';
import { describeGate, isComplete, type StatusGate } from '#core/domain/forge/status-gate.ts';
import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import { gateFileNames } from '#core/domain/queue/queue-names.ts';
import { type Computation, type DirectoryEntry, findEntry, isDirectory, type ObjectView } from './objects.ts';
import { SUBMODULE_MODE } from './path-change.ts';

export interface GateFile {
  /** Name without its folder, as run listings show it; empty for a gate by statuses. */
  readonly file: string;
  readonly id: BlobId;
  /**
   * The folder that it stands in, and all that is below: a job of the gate may call a workflow there. Gitea from 1.27 on reads that one
   * before it begins a run, and begins none where it cannot (forge facts, 8). Empty for a gate by statuses.
   */
  readonly folder: string;
}

/**
 * The gate workflow of a tree, in the first of the forge's folders that the tree has; null when absent there. A submodule in
 * the place of such a folder ends the search: the forge reads the commit of a submodule as a folder where its own
 * repository has that commit, which a later push can bring (decision 0340).
 */
function* findInFolders(
  view: ObjectView,
  tree: TreeHash,
  queueName: string,
  folders: readonly string[],
): Computation<GateFile | null> {
  for (const folder of folders) {
    const found = yield* findFolder(view, tree, folder);
    if (found === 'submodule') return null;
    if (found === 'none') continue;
    for (const file of gateFileNames(queueName)) {
      const entry = yield* findEntry(view, tree, `${folder}/${file}`);
      if (entry !== null && !isDirectory(entry)) return { file, id: entry.id, folder: found.id };
    }
    return null;
  }
  return null;
}

/** Folders of the forge, and those that it may be reading instead where its kind is not known. */
interface GatePlaces {
  readonly queueName: string;
  readonly folders: readonly string[];
  readonly otherFolders: readonly string[] | null;
}

/**
 * The gate workflow of a tree. Where the forge may be reading either of two files, both are the gate: a change of one of them is
 * a change of the gate (decision 0348).
 */
export function* findGateFile(
  view: ObjectView,
  tree: TreeHash,
  { queueName, folders, otherFolders }: GatePlaces,
): Computation<GateFile | null> {
  const gate = yield* findInFolders(view, tree, queueName, folders);
  if (gate === null || otherFolders === null) return gate;
  const other = yield* findInFolders(view, tree, queueName, otherFolders);
  if (other === null) return gate;
  const folder = `${gate.folder} ${other.folder}`;
  if (other.id === gate.id && other.file === gate.file) return { ...gate, folder };
  const both = `${gate.id} ${other.file} ${other.id}`;
  return { file: gate.file, id: createHash('sha1').update(both).digest('hex'), folder };
}

function* findFolder(
  view: ObjectView,
  tree: TreeHash,
  folder: string,
): Computation<DirectoryEntry | 'submodule' | 'none'> {
  const names = folder.split('/');
  let found: DirectoryEntry | 'none' = 'none';
  for (const at of names.keys()) {
    const entry = yield* findEntry(view, tree, names.slice(0, at + 1).join('/'));
    if (entry?.mode === SUBMODULE_MODE) return 'submodule';
    if (entry === null || !isDirectory(entry)) return 'none';
    found = entry;
  }
  return found;
}

/** Where the CIs that post statuses read what they are to run. */
const CI_CONFIG_NAMES = [
  '.woodpecker',
  '.woodpecker.yaml',
  '.woodpecker.yml',
  '.agola',
  '.buildkite',
  '.crow',
  '.crow.yaml',
  '.crow.yml',
  '.gitlab-ci.yml',
  '.teamcity',
  '.tekton',
  '.drone.jsonnet',
  '.drone.star',
  '.drone.yaml',
  '.drone.yml',
  'Jenkinsfile',
];

/**
 * A gate by statuses, as these files make it: who changes what the CI is told to run is judged alone, like who changes the
 * gate workflow (D-18). Null where it names no context or no author.
 */
export function* findStatusGate(
  view: ObjectView,
  tree: TreeHash,
  gate: StatusGate,
): Computation<GateFile | null> {
  if (!isComplete(gate)) return null;
  const hash = createHash('sha1').update(describeGate(gate));
  for (const name of CI_CONFIG_NAMES) {
    const entry = yield* findEntry(view, tree, name);
    if (entry !== null) hash.update(`\n${name} ${entry.id}`);
  }
  return { file: '', id: hash.digest('hex') as BlobId, folder: '' };
}

/**
 * The effect of a member on the gate that judges it: a changed file judges itself (D-18), and so does one whose neighbour changed, which
 * it may call; a removed one judges no member.
 */
export function judgeGateChange(
  before: GateFile | null,
  after: GateFile | null,
): 'removes_gate' | 'edits_gate' | null {
  if (before !== null && after === null) return 'removes_gate';
  // Runs are looked up by the file's name: a batch has one.
  const isSame = before?.id === after?.id && before?.file === after?.file && before?.folder === after?.folder;
  return isSame ? null : 'edits_gate';
}
