import type { PullRequest } from '#core/domain/forge/forge.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { QueueRecord } from '../queue/record/record.ts';

/** Another repository has the name: what it shows and what it lacks says nothing of the one that the queue serves. */
export class AnotherRepo extends Error {
  override readonly name = 'AnotherRepo';
  constructor() {
    super('another repository has the name');
  }
}

/**
 * The repository by the id that the forge gave it. A former name is free for any account, which can make the bot a
 * collaborator: by the name alone the queue would go on there.
 */
export class RepoIdentity {
  #id: number | null = null;
  #isAsked = false;
  #isConfirmed = false;

  /** The id of the repository that the queue serves; null: not known yet. */
  get id(): number | null {
    return this.#id;
  }

  /** Takes the id of the record. Called before the first look. */
  begin({ repoId }: Pick<QueueRecord, 'repoId'>): void {
    this.#id = repoId ?? null;
  }

  /**
   * The same forge. What would be said of another repository throws `AnotherRepo`. Once the forge has told the id, no further call of
   * the reconcile asks for it.
   */
  guard(forge: EngineForge): EngineForge {
    const all = async (read: () => Promise<readonly PullRequest[]>) => this.#check(await read());
    const guarded: Partial<EngineForge> = {
      listOpenPullRequests: async () => {
        const pulls = await all(() => this.#unlessMissing(forge, () => forge.listOpenPullRequests()));
        // No pull request shows the id, and the base and its rule would be told as those of the repository that is served.
        if (pulls.length === 0 && !this.#isConfirmed) await this.#ask(forge);
        return pulls;
      },
      listMergedPullRequests: () => all(() => forge.listMergedPullRequests()),
      readPullRequest: async (pr) => {
        const pull = await this.#unlessMissing(forge, () => forge.readPullRequest(pr));
        this.#check([pull]);
        return pull;
      },
      readStatuses: (sha) => this.#unlessMissing(forge, () => forge.readStatuses(sha)),
      postStatus: (sha, status) => this.#unlessMissing(forge, () => forge.postStatus(sha, status)),
    };
    // No spread: a forge may inherit its methods.
    return Object.create(forge, Object.getOwnPropertyDescriptors(guarded));
  }

  #check(pulls: readonly PullRequest[]): readonly PullRequest[] {
    for (const { repoId } of pulls) if (repoId !== undefined) this.#adopt(repoId);
    return pulls;
  }

  #adopt(id: number): void {
    if (this.#id !== null && this.#id !== id) throw new AnotherRepo();
    this.#id = id;
    this.#isConfirmed = true;
  }

  async #unlessMissing<T>(forge: EngineForge, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ForgeError && error.kind === 'missing') await this.#ask(forge);
      throw error;
    }
  }

  /** An answer holds for the whole reconcile. Nothing is asked where no id is known to compare with. */
  async #ask(forge: EngineForge): Promise<void> {
    if (this.#id === null || this.#isAsked) return;
    let id: number | null = null;
    try {
      id = await forge.readRepoId();
    } catch (error) {
      // A repository that does not show is told by the calls that need it. With any other failure it is not known which one this is.
      if (!(error instanceof ForgeError && error.kind === 'missing')) throw error;
      return;
    }
    this.#isAsked = true;
    if (id !== null) this.#adopt(id);
  }
}
