import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { ForgeError, isOldName } from '../../ports/forge.ts';
import type { RepoIdReader } from '../../ports/repo-id.ts';
import type { DispatchStore } from '../../ports/store.ts';

/** Where the repository is not to be found under its name: another one has it, or it has another name and the forge says so. */
export type NotThere = 'replaced' | 'moved';

export function isNotThere(kind: string): kind is NotThere {
  return kind === 'replaced' || kind === 'moved';
}

/**
 * The forge, once it has said that the repository is the one that the queue serves: one read. A former name is free for any
 * account, so by the name alone a call would go to another repository (decision 0355). While the id cannot be read, each
 * call fails as that read did. Nothing is asked where no id is known to compare with. Throws `StoreError` only.
 */
export async function sameRepo<Forge extends RepoIdReader>(
  store: Pick<DispatchStore, 'readObligations'>,
  repo: Pick<ManagedRepo, 'id'>,
  forge: Forge,
): Promise<Forge | NotThere> {
  const known = (await store.readObligations(repo.id))?.repoId;
  if (known === undefined) return forge;
  try {
    const seen = await forge.readRepoId();
    return seen === null || seen === known ? forge : 'replaced';
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (isOldName(error)) return 'moved';
    // A repository that does not show is told by the calls that need it.
    return error.kind === 'missing' ? forge : failing(forge, error);
  }
}

function failing<Forge extends RepoIdReader>(forge: Forge, error: ForgeError): Forge {
  // What is awaited is asked for its `then`.
  return new Proxy(forge, {
    get: (_forge, name) => (name === 'then' ? undefined : () => Promise.reject(error)),
  });
}
