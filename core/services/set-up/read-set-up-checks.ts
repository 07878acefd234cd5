import { isCovered } from '../../domain/forge/branch-rule.ts';
import { PROBE_SWEEP_BRANCHES_MAX } from '../../domain/limits.ts';
import { isOwnBranch, probePrefix, stagingBranch, workBranch } from '../../domain/queue/queue-names.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { checkSetUp, type SetUpCheck, type SetUpFacts } from '../../domain/set-up/set-up-checks.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { ForgeAdmin } from '../../ports/forge-admin.ts';
import { type Failed, failed } from './ci-gate.ts';

/** The five things of a set-up, as far as the bot may read them. Reads alone; what cannot be read is `unknown`. */
export async function readSetUpChecks(
  forge: ForgeAdmin,
  repo: ManagedRepo,
  queueName: string,
): Promise<readonly SetUpCheck[]> {
  const rule = await orUnknown(() => forge.readProtection(repo.baseBranch));
  const ownBranches = await readOwnBranches(forge, repo, queueName);
  return checkSetUp({ repo, queueName, rule, ownBranches });
}

/** A set-up without its gate file: that is one step, and the others are worth their own. */
export async function gateMissing(forge: ForgeAdmin, repo: ManagedRepo, queueName: string): Promise<Failed> {
  const isBaseThere = (await orUnknown(() => forge.readBranchTip(repo.baseBranch))) !== null;
  const gateFile = {
    check: 'gate_file' as const,
    state: 'missing' as const,
    says: `The branch "${repo.baseBranch}" has the gate workflow.`,
    fix: `${isBaseThere ? 'Open' : 'Create that branch on the forge, which has none of this name; then open'} the setup pull request on the setup page, put your test command into its workflow, merge it, then verify again.`,
  };
  return {
    ...failed('ci_gate_missing'),
    checks: [gateFile, ...(await readSetUpChecks(forge, repo, queueName))],
  };
}

/** A 403 on a probe is that of a token without the right, also where a rule covers the branches of the queue. Null: none is seen. */
export async function findRuleOverProbe(
  forge: ForgeAdmin,
  repo: ManagedRepo,
  queueName: string,
  error: unknown,
): Promise<Failed | null> {
  if (!(error instanceof ForgeError) || error.status !== 403 || error.missingScopes.length > 0) return null;
  const checks = await readSetUpChecks(forge, repo, queueName);
  const isRuled = checks.some(({ check, state }) => check === 'own_branches_free' && state === 'missing');
  return isRuled ? { ...failed('queue_branches_ruled'), checks } : null;
}

/** A refusal that names no cause is also that of a name which git cannot hold beside another. Null: none is in the way. */
export async function findNameOverProbe(
  forge: ForgeAdmin,
  { baseBranch }: ManagedRepo,
  queueName: string,
  error: unknown,
): Promise<Failed | null> {
  if (!(error instanceof ForgeError) || (error.kind !== 'rejected' && error.status !== 500)) return null;
  const ref = await orUnknown(() => forge.findRefInTheWay([`${probePrefix(queueName, baseBranch)}probe`]));
  return ref === null || ref === 'unknown' ? null : failed('branch_name_taken');
}

async function readOwnBranches(
  forge: ForgeAdmin,
  { baseBranch }: ManagedRepo,
  queueName: string,
): Promise<SetUpFacts['ownBranches']> {
  const rules = await orUnknown(() => forge.listRules());
  if (rules !== 'unknown') {
    const own = [stagingBranch(queueName, baseBranch), workBranch(queueName, baseBranch, 'batch')];
    return own.some((branch) => isCovered(rules, branch)) ? 'ruled' : 'free';
  }
  const branches = await orUnknown(() => forge.listBranches(PROBE_SWEEP_BRANCHES_MAX));
  if (branches === 'unknown') return branches;
  // Branches that exist without a rule do not tell of a rule over those that are made later.
  const isRuled = branches.some(({ name, isProtected }) => isProtected && isOwnBranch(queueName, name));
  return isRuled ? 'ruled' : 'unknown';
}

async function orUnknown<T>(read: () => Promise<T>): Promise<T | 'unknown'> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError) return 'unknown';
    throw error;
  }
}
