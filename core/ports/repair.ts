import type { RepoId } from '../domain/ids.ts';

/** Has the set-up of a repository put back by the one function that may change it. Returns before that is done. */
export interface RepairAsker {
  ask(repoId: RepoId): Promise<void>;
}
