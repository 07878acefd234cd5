import type { GateReading } from '../domain/forge.ts';
import {
  PROBE_LEFTOVER_AGE_MS,
  PROBE_LOOK_EVERY_MS,
  PROBE_SWEEP_BRANCHES_MAX,
  PROBE_VISIBLE_WAIT_MS,
} from '../domain/limits.ts';
import type { CiGate, CiGateStatus, GateProbe } from '../domain/provisioning.ts';
import { probePrefix } from '../domain/queue-names.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import { ForgeError } from '../ports/forge.ts';
import type { ForgeAdmin } from '../ports/forge-admin.ts';
import { StoreError } from '../ports/store.ts';
import {
  type CiGateDeps,
  type Failed,
  type FoundGate,
  failed,
  findGatePlace,
  isProbeOf,
  refused,
  saveGate,
} from './ci-gate.ts';
import { type ProvisioningDeps, provisionProtection } from './provisioning.ts';

export interface VerifyDeps extends CiGateDeps, ProvisioningDeps {
  readonly clock: CiGateDeps['clock'];
}

export type ProbeState = 'pending' | 'success' | 'failure';

export type VerifyResult =
  | {
      readonly kind: 'verified_or_not';
      readonly repo: ManagedRepo;
      readonly probe: { readonly sha: string; readonly state: ProbeState };
    }
  | Failed;

/**
 * One verify call (D-63): reads the gate file, then goes on with the probe that waits, or makes a new one. Only the
 * success of the exact probe commit verifies (A78); a pending gate run leaves the state. With the rule asked for, it is
 * written now (D-67). Never queues or merges anything, never touches the base (A79).
 */
export async function verifyCiGate(deps: VerifyDeps, repo: ManagedRepo): Promise<VerifyResult> {
  try {
    const opened = await deps.openForge(repo);
    if (opened.kind !== 'open') return failed(opened.kind);
    const gate = await readGateFile(deps, opened.forge, repo);
    if (gate === null) return failed('ci_gate_missing');
    return await observe(deps, opened.forge, repo, gate);
  } catch (error) {
    if (error instanceof ForgeError) return refused(error);
    if (error instanceof StoreError) return failed('db_error');
    throw error;
  }
}

async function readGateFile(
  deps: VerifyDeps,
  forge: ForgeAdmin,
  repo: ManagedRepo,
): Promise<FoundGate | null> {
  try {
    return (await findGatePlace(forge, repo.baseBranch, deps.queueName)).gate;
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
): Promise<VerifyResult> {
  const { probe } = repo.ciGate;
  if (isProbeOf(probe, gate)) {
    const reading = await forge.readGate(probe.sha, probe.branch, gate.file);
    const isStale = deps.clock.now() - probe.madeAt > PROBE_LEFTOVER_AGE_MS;
    if (reading.kind === 'running' ? !isStale : !needsNewProbe(reading))
      return conclude(deps, repo, probe, reading);
  }
  await sweepLeftovers(deps, forge, repo);
  const id = deps.ids.uuid().slice(0, 8);
  const branch = `${probePrefix(deps.queueName, repo.baseBranch)}${id}`;
  try {
    const made = await makeProbe(deps, forge, repo, gate, branch, id);
    const saved = await saveGate(deps, repo, {
      ...repo.ciGate,
      status: statusWhileWaiting(repo.ciGate.status),
      probe: made,
    });
    if (typeof saved === 'string') return failed(saved);
    return await conclude(deps, saved, made, await awaitVisible(deps, forge, made, gate));
  } finally {
    // By now the gate run is visible or late; a ref that stays would be litter (D-65).
    await removeProbe(deps, forge, branch);
  }
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
  probe: GateProbe,
  gate: FoundGate,
): Promise<GateReading> {
  const end = deps.clock.monotonic() + PROBE_VISIBLE_WAIT_MS;
  for (;;) {
    const reading = await forge.readGate(probe.sha, probe.branch, gate.file);
    if (reading.kind !== 'none' || deps.clock.monotonic() >= end) return reading;
    await deps.clock.sleep(PROBE_LOOK_EVERY_MS);
  }
}

async function conclude(
  deps: VerifyDeps,
  repo: ManagedRepo,
  probe: GateProbe,
  reading: GateReading,
): Promise<VerifyResult> {
  const state = stateOf(reading);
  const url = reading.kind === 'none' ? null : reading.url;
  if (state === 'pending') {
    const saved = await saveUrl(deps, repo, url);
    if (typeof saved === 'string') return failed(saved);
    return { kind: 'verified_or_not', repo: saved, probe: { sha: probe.sha, state } };
  }
  const ended: CiGate = {
    ...repo.ciGate,
    status: state === 'success' ? 'verified' : 'failed',
    url,
    probe: null,
  };
  const saved = await saveGate(deps, repo, ended);
  if (typeof saved === 'string') return failed(saved);
  const provisioned =
    state === 'success' && saved.protectionRequested ? (await provisionProtection(deps, saved)).repo : saved;
  return { kind: 'verified_or_not', repo: provisioned, probe: { sha: probe.sha, state } };
}

function stateOf(reading: GateReading): ProbeState {
  if (reading.kind !== 'finished' || reading.verdict === 'cancelled') return 'pending';
  return reading.verdict === 'success' ? 'success' : 'failure';
}

async function saveUrl(deps: VerifyDeps, repo: ManagedRepo, url: string | null) {
  const shown = repo.ciGate.status === 'verified' || url === null || url === repo.ciGate.url;
  return shown ? repo : saveGate(deps, repo, { ...repo.ciGate, url });
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
