import type { GateReading } from '../../domain/forge/forge.ts';
import { tellsGateRuns } from '../../domain/forge/forge-version.ts';
import {
  type AnsweredContext,
  isSameGate,
  judgeGateStatuses,
  listAnswers,
  statusGateOf,
} from '../../domain/forge/status-gate.ts';
import {
  PROBE_LEFTOVER_AGE_MS,
  PROBE_LOOK_EVERY_MS,
  PROBE_SWEEP_BRANCHES_MAX,
  PROBE_VISIBLE_WAIT_MS,
} from '../../domain/limits.ts';
import { PROBE_ID_CHARS, probePrefix } from '../../domain/queue/queue-names.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { CiGate, CiGateStatus, GateProbe } from '../../domain/set-up/provisioning.ts';
import type { SetUpCheck } from '../../domain/set-up/set-up-checks.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { ForgeAdmin } from '../../ports/forge-admin.ts';
import { StoreError } from '../../ports/store.ts';
import {
  type CiGateDeps,
  type Failed,
  type FoundGate,
  failed,
  findGatePlace,
  isProbeOf,
  refused,
  saveGate,
  unopened,
} from './ci-gate.ts';
import { type ProvisioningDeps, provisionProtection } from './provisioning.ts';
import { findNameOverProbe, findRuleOverProbe, gateMissing, readSetUpChecks } from './read-set-up-checks.ts';

export interface VerifyDeps extends CiGateDeps, ProvisioningDeps {
  readonly clock: CiGateDeps['clock'];
  readonly store: ProvisioningDeps['store'];
}

export type ProbeState = 'pending' | 'success' | 'failure';

export type VerifyResult =
  | {
      readonly kind: 'verified_or_not';
      readonly repo: ManagedRepo;
      readonly probe: {
        readonly sha: string;
        readonly state: ProbeState;
        /** Of a gate by statuses: what was posted on the probe so far, to choose from. Absent: a workflow is the gate. */
        readonly contexts?: readonly AnsweredContext[];
      };
      /** Parts that a bot which is no administrator leaves to the owner, each as far as it could be read. */
      readonly checks: readonly SetUpCheck[];
    }
  | Failed;

type Observed = Omit<Exclude<VerifyResult, Failed>, 'checks'> | Failed;

/**
 * One verify call (D-63): reads the gate file, then goes on with the probe that waits, or makes a new one. Only the
 * success of the exact probe commit verifies (A78); a pending gate run leaves the state. With the rule asked for, it is
 * written now (D-67). Never queues or merges anything, never touches the base (A79).
 */
export async function verifyCiGate(deps: VerifyDeps, repo: ManagedRepo): Promise<VerifyResult> {
  try {
    const opened = await deps.openForge(repo);
    if (opened.kind !== 'open') return unopened(opened.kind);
    const gate = repo.gate === 'statuses' ? BY_STATUSES : await readGateFile(deps, opened.forge, repo);
    if (gate === 'untold') return failed('gate_untold');
    if (gate === null) return await gateMissing(opened.forge, repo, deps.queueName);
    const observed = await observe(deps, opened.forge, repo, gate).catch(async (error: unknown) => {
      const facts = [opened.forge, repo, deps.queueName, error] as const;
      const cause = (await findRuleOverProbe(...facts)) ?? (await findNameOverProbe(...facts));
      if (cause === null) throw error;
      return cause;
    });
    if (observed.kind === 'failed') return observed;
    return { ...observed, checks: await readSetUpChecks(opened.forge, observed.repo, deps.queueName) };
  } catch (error) {
    if (error instanceof ForgeError) return refused(error);
    if (error instanceof StoreError) return failed('db_error');
    throw error;
  }
}

/** One probe serves any choice of contexts: what is posted on it stays readable. */
const BY_STATUSES: FoundGate = { file: '', blob: 'statuses' };

/** Statuses or gate run of the probe so far. */
interface Seen {
  readonly reading: GateReading;
  readonly contexts?: readonly AnsweredContext[];
}

async function readProbe(
  forge: ForgeAdmin,
  repo: ManagedRepo,
  probe: GateProbe,
  gate: FoundGate,
): Promise<Seen> {
  const asked = statusGateOf(repo);
  if (asked === null) return { reading: await forge.readGate(probe.sha, probe.branch, gate.file) };
  const history = await forge.listStatusHistory(probe.sha);
  return { reading: judgeGateStatuses(history, asked).gate, contexts: listAnswers(history) };
}

async function readGateFile(
  deps: VerifyDeps,
  forge: ForgeAdmin,
  repo: ManagedRepo,
): Promise<FoundGate | 'untold' | null> {
  try {
    const { version, gate } = await findGatePlace(forge, repo.baseBranch, deps.queueName);
    return tellsGateRuns(version) ? gate : 'untold';
  } catch (error) {
    // The forge says 404 of the file as well when it hides the whole repository.
    if (error instanceof ForgeError && error.kind === 'missing') return null;
    throw error;
  }
}

async function observe(
  deps: VerifyDeps,
  forge: ForgeAdmin,
  repo: ManagedRepo,
  gate: FoundGate,
): Promise<Observed> {
  const { probe } = repo.ciGate;
  if (isProbeOf(probe, gate)) {
    const seen = await readProbe(forge, repo, probe, gate);
    const isStale = deps.clock.now() - probe.madeAt > PROBE_LEFTOVER_AGE_MS;
    if (isAwaited(seen) ? !isStale : !needsNewProbe(seen.reading))
      return conclude(deps, forge, repo, probe, seen);
    if (repo.gate === 'statuses') await removeProbe(deps, forge, probe.branch);
  }
  await sweepLeftovers(deps, forge, repo);
  const id = deps.ids.uuid().slice(0, PROBE_ID_CHARS);
  const branch = `${probePrefix(deps.queueName, repo.baseBranch)}${id}`;
  try {
    const made = await makeProbe(deps, forge, repo, gate, branch, id);
    const saved = await saveGate(deps, repo, ({ ciGate }) => ({
      ...ciGate,
      status: statusWhileWaiting(ciGate.status),
      probe: made,
    }));
    if (typeof saved === 'string') return failed(saved);
    return await conclude(deps, forge, saved, made, await awaitVisible(deps, forge, saved, made, gate));
  } finally {
    // By now the gate run is visible or late; a ref that stays would be litter (D-65). Another CI may still have to fetch it.
    if (repo.gate === 'workflow') await removeProbe(deps, forge, branch);
  }
}

/** May a verdict still come? The branch of a probe is kept for another CI, so one that has not begun still may. */
function isAwaited({ reading, contexts }: Seen): boolean {
  return reading.kind === 'running' || (reading.kind === 'none' && contexts !== undefined);
}

/** A gate run that was cancelled says nothing, and one that never appeared has no branch left to appear for. */
function needsNewProbe(reading: GateReading): boolean {
  return reading.kind === 'none' || (reading.kind === 'finished' && reading.verdict === 'cancelled');
}

/** The file is on the base, so the set-up is over; a verdict that stands goes on standing until there is another. */
function statusWhileWaiting(status: CiGateStatus): CiGateStatus {
  return status === 'verified' ? 'verified' : 'awaiting_validation';
}

async function makeProbe(
  deps: VerifyDeps,
  forge: ForgeAdmin,
  repo: ManagedRepo,
  gate: FoundGate,
  branch: string,
  id: string,
): Promise<GateProbe> {
  const commit = await forge.commitFile({
    branch: repo.baseBranch,
    newBranch: branch,
    path: `${deps.queueName}-probe-${id}.txt`,
    content: 'Made by the merge queue to see its gate run. This commit is on no branch that is kept.\n',
    message: 'Probe of the merge gate',
  });
  return { sha: commit.sha, branch, gateBlob: gate.blob, madeAt: deps.clock.now() };
}

/** Looks until the gate run shows up, ten seconds at most. */
async function awaitVisible(
  deps: VerifyDeps,
  forge: ForgeAdmin,
  repo: ManagedRepo,
  probe: GateProbe,
  gate: FoundGate,
): Promise<Seen> {
  const end = deps.clock.monotonic() + PROBE_VISIBLE_WAIT_MS;
  for (;;) {
    const seen = await readProbe(forge, repo, probe, gate);
    const isSeen = seen.reading.kind !== 'none' || (seen.contexts ?? []).length > 0;
    if (isSeen || deps.clock.monotonic() >= end) return seen;
    await deps.clock.sleep(PROBE_LOOK_EVERY_MS);
  }
}

async function conclude(
  deps: VerifyDeps,
  forge: ForgeAdmin,
  repo: ManagedRepo,
  probe: GateProbe,
  { reading, contexts }: Seen,
): Promise<Observed> {
  const state = stateOf(reading);
  const shown = { sha: probe.sha, state, ...(contexts === undefined ? {} : { contexts }) };
  const url = reading.kind === 'none' ? null : reading.url;
  if (state === 'pending') {
    const saved = await saveUrl(deps, repo, url);
    if (typeof saved === 'string') return failed(saved);
    return { kind: 'verified_or_not', repo: saved, probe: shown };
  }
  if (repo.gate === 'statuses') await removeProbe(deps, forge, probe.branch);
  const saved = await saveGate(deps, repo, (current) => endProbe(current, repo, probe, { state, url }));
  if (typeof saved === 'string') return failed(saved);
  const isProven = state === 'success' && saved.ciGate.status === 'verified';
  const provisioned =
    isProven && saved.protectionRequested ? (await provisionProtection(deps, saved)).repo : saved;
  return { kind: 'verified_or_not', repo: provisioned, probe: shown };
}

/** The verdict counts for the gate that it was read of: one that the owner chose meanwhile is proven by none. */
function endProbe(
  current: ManagedRepo,
  judged: ManagedRepo,
  probe: GateProbe,
  { state, url }: { readonly state: ProbeState; readonly url: string | null },
): CiGate {
  const { ciGate } = current;
  if (!isSameGate(statusGateOf(current), statusGateOf(judged))) return ciGate;
  return {
    ...ciGate,
    status: state === 'success' ? 'verified' : 'failed',
    url,
    // A newer one is still waited for.
    probe: ciGate.probe?.sha === probe.sha ? null : ciGate.probe,
  };
}

function stateOf(reading: GateReading): ProbeState {
  if (reading.kind !== 'finished' || reading.verdict === 'cancelled') return 'pending';
  return reading.verdict === 'success' ? 'success' : 'failure';
}

async function saveUrl(deps: VerifyDeps, repo: ManagedRepo, url: string | null) {
  const shown = repo.ciGate.status === 'verified' || url === null || url === repo.ciGate.url;
  return shown ? repo : saveGate(deps, repo, ({ ciGate }) => ({ ...ciGate, url }));
}

async function removeProbe(deps: VerifyDeps, forge: ForgeAdmin, branch: string): Promise<void> {
  try {
    await forge.deleteBranch(branch);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    deps.log.warn('a probe branch could not be deleted', { outcome: error.kind });
  }
}

/** Best effort: a listing that fails must not stop a verification. */
async function sweepLeftovers(deps: VerifyDeps, forge: ForgeAdmin, repo: ManagedRepo): Promise<void> {
  const prefix = probePrefix(deps.queueName, repo.baseBranch);
  const before = deps.clock.now() - PROBE_LEFTOVER_AGE_MS;
  try {
    for (const branch of await forge.listBranches(PROBE_SWEEP_BRANCHES_MAX)) {
      if (branch.name.startsWith(prefix) && branch.committedAt < before)
        await forge.deleteBranch(branch.name);
    }
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    deps.log.warn('left-over probe branches could not be swept', { outcome: error.kind });
  }
}
