import type { ForgeVersion } from '../../domain/forge/forge-version.ts';
import { tellsGateRuns, workflowFolders } from '../../domain/forge/forge-version.ts';
import { gateTemplate } from '../../domain/forge/gate-workflow.ts';
import type { RefusalCause } from '../../domain/forge/refusal-cause.ts';
import type { TokenScope } from '../../domain/forge/token-scopes.ts';
import { gateFileName, gateFileNames, setupBranch } from '../../domain/queue/queue-names.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { CiGate, GateProbe } from '../../domain/set-up/provisioning.ts';
import type { SetUpCheck } from '../../domain/set-up/set-up-checks.ts';
import { ForgeError, isActionsHidden, isOldName, isOverQuota, isVersionHidden } from '../../ports/forge.ts';
import type { ForgeAdmin, PullLink } from '../../ports/forge-admin.ts';
import { StoreError } from '../../ports/store.ts';
import type { Clock, Ids, Log } from '../../ports/system.ts';
import type { OpenedForge, OpenForge } from '../connections/open-forge.ts';
import { isNotThere } from '../connections/same-repo.ts';
import { type RepoStore, saveRepo } from '../repos/save-repo.ts';

export interface CiGateDeps {
  readonly store: RepoStore;
  readonly openForge: OpenForge;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly queueName: string;
}

/** The reasons for which a gate call fails; the API has a code for each. */
export type CiGateFailure =
  | 'connection_not_found'
  | 'decryption_error'
  | 'ci_gate_exists'
  | 'ci_gate_missing'
  | 'gate_untold'
  | 'queue_branches_ruled'
  | 'branch_name_taken'
  | 'base_missing'
  | 'forge_access_denied'
  | 'forge_unreachable'
  | 'db_error'
  | 'not_found';

/** The gate workflow is not on the base. */
export interface GateFileCheck {
  readonly check: 'gate_file';
  readonly state: 'missing';
  readonly says: string;
  readonly fix: string;
}

export interface Failed {
  readonly kind: 'failed';
  readonly code: CiGateFailure;
  /** Of which the token would need one, where the forge has said so. */
  readonly missingScopes?: readonly TokenScope[];
  /** Why, where the forge has answered and its answer tells. */
  readonly refusal?: RefusalCause;
  /** Of `ci_gate_missing`: the gate file as a check that fails, then the five of a set-up. Of `queue_branches_ruled`: these five. */
  readonly checks?: readonly (SetUpCheck | GateFileCheck)[];
}

export function failed(code: CiGateFailure): Failed {
  return { kind: 'failed', code };
}

/** The repository is not under its name: nothing is begun, and what another one shows says nothing. */
export function unopened(kind: Exclude<OpenedForge['kind'], 'open'>): Failed {
  return isNotThere(kind) ? { ...failed('forge_access_denied'), refusal: kind } : failed(kind);
}

/** The forge's refusal as a code. `missing` is said of the workflow file only, by the call that read it. */
export function refused(error: ForgeError): Failed {
  if (isOverQuota(error)) return { ...failed('forge_unreachable'), refusal: 'over_quota' };
  const code = error.kind === 'denied' ? 'forge_access_denied' : 'forge_unreachable';
  const { missingScopes } = error;
  return {
    ...failed(code),
    ...(missingScopes.length === 0 ? {} : { missingScopes }),
    ...(isActionsHidden(error) ? { refusal: 'actions_hidden' as const } : {}),
    ...(isOldName(error) ? { refusal: 'moved' as const } : {}),
  };
}

export interface FoundGate {
  /** File name without folder. */
  readonly file: string;
  readonly blob: string;
}

export interface GatePlace {
  /** Null: the forge names no version that we know. */
  readonly version: ForgeVersion | null;
  /** The folder that the forge reads workflows from, or the one to make. */
  readonly folder: string;
  readonly gate: FoundGate | null;
}

/** Looks where the repository keeps its workflows: the first folder that exists counts alone (forge facts, 8). */
export async function findGatePlace(
  forge: ForgeAdmin,
  branch: string,
  queueName: string,
): Promise<GatePlace> {
  const version = await readShownVersion(forge);
  const folders = workflowFolders(version);
  for (const folder of folders) {
    const files = await forge.listFolder(folder, branch);
    if (files === null) continue;
    for (const file of gateFileNames(queueName)) {
      const found = files.find((entry) => entry.path === `${folder}/${file}`);
      if (found !== undefined) return { version, folder, gate: { file, blob: found.blob } };
    }
    return { version, folder, gate: null };
  }
  return { version, folder: folders[0] ?? '.github/workflows', gate: null };
}

/** Null where the forge, or a proxy before it, hides it. */
async function readShownVersion(forge: ForgeAdmin): Promise<ForgeVersion | null> {
  try {
    return await forge.readVersion();
  } catch (error) {
    if (error instanceof ForgeError && isVersionHidden(error)) return null;
    throw error;
  }
}

/** The gate as an enrollment finds it on the base; best effort, like all set-up at that time. */
export async function seeGate(
  openForge: OpenForge,
  repo: ManagedRepo,
  queueName: string,
): Promise<CiGate | 'base_missing'> {
  try {
    const opened = await openForge(repo);
    if (opened.kind !== 'open') return repo.ciGate;
    // The forge reads a file at a tag, a commit or `HEAD` as well, so one that is found proves no branch.
    if ((await opened.forge.readBranchTip(repo.baseBranch)) === null) return 'base_missing';
    const { gate } = await findGatePlace(opened.forge, repo.baseBranch, queueName);
    return gate === null ? repo.ciGate : { ...repo.ciGate, status: 'awaiting_validation' };
  } catch (error) {
    if (error instanceof ForgeError) return repo.ciGate;
    throw error;
  }
}

export type SetupResult =
  | { readonly kind: 'open'; readonly repo: ManagedRepo; readonly pull: PullLink }
  | Failed;

const SETUP_BODY = [
  'Adds the workflow that proves each staged batch before it lands.',
  '',
  'Replace its failing command with your own tests, merge this pull request, then verify the gate on the setup page of the queue. Until then nothing lands through the queue.',
].join('\n');

/**
 * Opens the pull request that adds the gate workflow, in the folder the repository uses already (D-64). An open one is
 * returned again. Never writes the base, never overwrites the file, never schedules a merge (A79).
 */
export async function openSetupPull(deps: CiGateDeps, repo: ManagedRepo): Promise<SetupResult> {
  try {
    const opened = await deps.openForge(repo);
    if (opened.kind !== 'open') return unopened(opened.kind);
    return await setUp(deps, opened.forge, repo);
  } catch (error) {
    if (error instanceof ForgeError) return refused(error);
    if (error instanceof StoreError) return failed('db_error');
    throw error;
  }
}

/** The repository is read first: of one that the forge hides, it says that a branch is not there either. */
async function setUp(deps: CiGateDeps, forge: ForgeAdmin, repo: ManagedRepo): Promise<SetupResult> {
  const base = repo.baseBranch;
  const { defaultBranch } = await forge.readRepo();
  const head = setupBranch(deps.queueName, base, defaultBranch);
  const tip = await forge.readBranchTip(base);
  if (tip === null) return failed('base_missing');
  const place = await findGatePlace(forge, base, deps.queueName);
  if (!tellsGateRuns(place.version)) return failed('gate_untold');
  if (place.gate !== null) return failed('ci_gate_exists');
  const open = await forge.findOpenPull(base, head);
  if (open !== null) return record(deps, repo, open);
  const creating = await saveGate(deps, repo, ({ ciGate }) => ({ ...ciGate, status: 'setup_creating' }));
  if (typeof creating === 'string') return failed(creating);
  try {
    // Left by an attempt that died, or of a pull request that was closed: it holds nothing but our file.
    await forge.deleteBranch(head);
    const made = await forge.commitFile({
      branch: base,
      newBranch: head,
      path: `${place.folder}/${gateFileName(deps.queueName)}`,
      content: gateTemplate(deps.queueName, place.version),
      message: 'Add the gate workflow of the merge queue',
    });
    if (made.parents[0] !== tip)
      deps.log.info('the base moved while the gate was set up', { repo_id: repo.id });
    const title = 'Set up the gate of the merge queue';
    return await record(deps, creating, await openPullOnce(forge, { base, head, title, body: SETUP_BODY }));
  } catch (error) {
    // The stored state must not say that a set-up is under way when it is not.
    await saveGate(deps, creating, ({ ciGate }) =>
      ciGate.status === 'setup_creating' ? { ...ciGate, status: repo.ciGate.status } : ciGate,
    );
    throw error;
  }
}

/** An answer that was lost, or a call at the same time, may stand for one that is open. */
async function openPullOnce(
  forge: ForgeAdmin,
  pull: { readonly base: string; readonly head: string; readonly title: string; readonly body: string },
): Promise<PullLink> {
  try {
    return await forge.openPull(pull);
  } catch (error) {
    if (!(error instanceof ForgeError) || (error.kind !== 'rejected' && !error.effectUnknown)) throw error;
    const found = await forge.findOpenPull(pull.base, pull.head);
    if (found === null) throw error;
    return found;
  }
}

async function record(deps: CiGateDeps, repo: ManagedRepo, pull: PullLink): Promise<SetupResult> {
  const gate: CiGate = { status: 'setup_pr_open', url: pull.url, setupPr: pull.number, probe: null };
  const saved = await saveGate(deps, repo, () => gate);
  return typeof saved === 'string' ? failed(saved) : { kind: 'open', repo: saved, pull };
}

export async function saveGate(
  deps: Pick<CiGateDeps, 'store'>,
  repo: ManagedRepo,
  change: (current: ManagedRepo) => CiGate,
): Promise<ManagedRepo | 'db_error' | 'not_found'> {
  const saved = await saveRepo(deps.store, repo, (current) => ({ ciGate: change(current) }));
  if (saved === 'gone') return 'not_found';
  return saved === 'unavailable' ? 'db_error' : saved;
}

/** Is this probe's gate run the one to go on with? Of an older gate file it proves nothing about the new one. */
export function isProbeOf(probe: GateProbe | null, gate: FoundGate): probe is GateProbe {
  return probe !== null && probe.gateBlob === gate.blob;
}
