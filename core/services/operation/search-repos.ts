import { ADMIN_SORTED_REPOS_MAX } from '../../domain/api-limits.ts';
import type { ManagedRepo, ReconcileOutcome } from '../../domain/repos/repo.ts';
import type { AccountStore, AdminStore } from '../../ports/account-store.ts';

export interface SearchDeps {
  readonly store: Pick<AdminStore, 'searchRepos'> & Pick<AccountStore, 'listOutcomes'>;
}

export interface FoundRepos {
  readonly repos: readonly ManagedRepo[];
  readonly total: number;
  /** `trouble`: over all pages. `name`: too many for that. */
  readonly order: 'trouble' | 'name';
}

/** One page of the repositories of all tenants, those in trouble first where they are few enough to be sorted. */
export async function searchRepos(
  { store }: SearchDeps,
  text: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<FoundRepos> {
  const found = await store.searchRepos(text, 0, ADMIN_SORTED_REPOS_MAX);
  const { total } = found;
  if (total > ADMIN_SORTED_REPOS_MAX) {
    const { repos } = await store.searchRepos(text, offset, limit);
    return { repos, total, order: 'name' };
  }
  const tenants = [...new Set(found.repos.map(({ tenantId }) => tenantId))];
  const outcomes = new Map(
    (await Promise.all(tenants.map((tenantId) => store.listOutcomes(tenantId)))).flatMap((each) => [...each]),
  );
  const sorted = found.repos.toSorted(
    (one, other) => troubleOf(one, outcomes.get(one.id)) - troubleOf(other, outcomes.get(other.id)),
  );
  return { repos: sorted.slice(offset, offset + limit), total, order: 'trouble' };
}

/** Looks that fail, then what was never looked at or whose gate is not verified, then the rest. */
function troubleOf({ ciGate }: ManagedRepo, outcome: ReconcileOutcome | undefined): number {
  if (outcome === undefined) return 1;
  if (!outcome.ok) return 0;
  return ciGate.status === 'verified' ? 3 : 2;
}
