import { CONNECTIONS_PER_TENANT_MAX, REPOS_PER_TENANT_MAX } from '../api-limits.ts';
import type { EpochMs, RepoId } from '../ids.ts';

export const TIERS = ['free', 'pro', 'team'] as const;
export type Tier = (typeof TIERS)[number];
export const PAID_TIERS = ['pro', 'team'] as const satisfies readonly Tier[];
export type PaidTier = (typeof PAID_TIERS)[number];

export const BILLING_STATUSES = [
  'active',
  'trialing',
  'past_due',
  'incomplete',
  'paused',
  'canceled',
  'unknown',
] as const;
export type BillingStatus = (typeof BILLING_STATUSES)[number];

/** Null is unlimited. */
export interface Allowance {
  readonly connections: number | null;
  readonly repos: number | null;
}

export interface PlanLimits {
  /** Covered by the flat price. */
  readonly included: Allowance;
  /** Enrollment beyond it is refused. */
  readonly ceiling: Allowance;
}

export type PlanLimitsTable = Readonly<Record<Tier, PlanLimits>>;

/** D-53. What a deployment has unless it says otherwise (`planLimits`). */
export const PLAN_LIMITS: PlanLimitsTable = {
  free: { included: { connections: 1, repos: 1 }, ceiling: { connections: 1, repos: 1 } },
  pro: { included: { connections: 3, repos: 10 }, ceiling: { connections: 10, repos: 50 } },
  team: { included: { connections: 10, repos: 50 }, ceiling: { connections: null, repos: null } },
};

/** Where no plans are sold: every tenant has what any may have. */
const UNLIMITED = { connections: null, repos: null };
export const NO_PLANS: PlanLimitsTable = {
  free: { included: UNLIMITED, ceiling: UNLIMITED },
  pro: { included: UNLIMITED, ceiling: UNLIMITED },
  team: { included: UNLIMITED, ceiling: UNLIMITED },
};

/** The purchase, as stored. */
export interface Plan {
  readonly tier: Tier;
  readonly status: BillingStatus;
}

/** A tenant that never bought anything: nothing is wrong with that (D-56). */
export const FREE_PLAN: Plan = { tier: 'free', status: 'active' };

/** Whether a subscription of this status grants what was bought. There is no grace period (contract, Other rules 3). */
export function isEntitling(status: BillingStatus): boolean {
  return status === 'active' || status === 'trialing';
}

/** The plan that is granted now (A106). */
export function entitledTier(plan: Plan): Tier {
  return isEntitling(plan.status) ? plan.tier : 'free';
}

export function needsPayment(plan: Plan): boolean {
  return plan.tier !== 'free' && entitledTier(plan) === 'free';
}

/** Ceiling of the granted plan, never above the hard maximum. */
export function ceilingOf(
  plan: Plan,
  limits: PlanLimitsTable,
): { readonly connections: number; readonly repos: number } {
  const { ceiling } = limits[entitledTier(plan)];
  return {
    connections: Math.min(ceiling.connections ?? CONNECTIONS_PER_TENANT_MAX, CONNECTIONS_PER_TENANT_MAX),
    repos: Math.min(ceiling.repos ?? REPOS_PER_TENANT_MAX, REPOS_PER_TENANT_MAX),
  };
}

/** The facts that decide whether a repo is held, and its place in the order. */
export interface HoldableRepo {
  readonly id: RepoId;
  readonly createdAt: EpochMs;
  /** A repo that is being deleted takes no place. */
  readonly tombstone?: boolean;
}

/**
 * Repos that are held while a subscription does not entitle: all but the oldest up to the free allowance (A107), also once
 * it has ended and the tier is free again. A tenant that never had one is `active` (D-56) and holds nothing: its ceiling
 * was kept when it enrolled. Computed on every read, so that a hold vanishes the moment the plan entitles again (D-55).
 */
export function repoIdsOnHold(
  plan: Plan,
  repos: readonly HoldableRepo[],
  limits: PlanLimitsTable,
): ReadonlySet<RepoId> {
  if (isEntitling(plan.status)) return new Set();
  const alive = repos.filter((repo) => repo.tombstone !== true);
  const allowed = limits.free.included.repos ?? alive.length;
  const oldestFirst = alive.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  return new Set(oldestFirst.slice(allowed).map((repo) => repo.id));
}
