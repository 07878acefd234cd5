import type { PullRequest } from '#core/domain/forge/forge.ts';
import { type EngineForge, ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import type { QueueRecord } from '../queue/record/record.ts';

/** Another repository has the name: what it shows and what it lacks says nothing of the one that the queue serves. */
export class AnotherRepo extends Error {
  override readonly name = 'AnotherRepo';
  constructor() {
    super('another repository has the name');
  }
}

type Showing = Pick<EngineForge, 'listOpenPullRequests' | 'readRepoId'>;
type Answer = Promise<unknown>;
type AnyCall = (...values: readonly unknown[]) => Answer;

/** Calls whose answers are of no repository. */
const OF_NO_REPO: readonly (string | symbol)[] = [
  'readRepoId',
  'readBotLogin',
  'readVersion',
] satisfies (keyof EngineForge)[];

/**
 * The repository by the id that the forge gave it. A former name is free for any account, which can make the bot a
 * collaborator: by the name alone the queue would go on there.
 */
export class RepoIdentity {
  #id: number | null;
  #isAsked = false;
  #isConfirmed = false;
  #isHidden = false;

  constructor(id: number | null = null) {
    this.#id = id;
  }

  /** The id of the repository that the queue serves; null: not known yet. */
  get id(): number | null {
    return this.#id;
  }

  /** Takes the id of the record. Called before the first look. */
  begin({ repoId }: Pick<QueueRecord, 'repoId'>): void {
    this.#id = repoId ?? null;
  }

  /**
   * The same forge. What would be said of another repository throws `AnotherRepo`. The list of pull requests, which each look begins
   * with, shows the id at no cost. Where it is empty or fails, the first call after it asks for the id: by its failures alone another
   * repository could have its base told, and its statuses taken for those of the one that is served.
   */
  guard<Forge extends Showing>(forge: Forge): Forge {
    const shown = this.#showing(forge);
    return new Proxy(forge, {
      get: (target, name) => {
        const own = Reflect.get(shown, name) as AnyCall | undefined;
        if (own !== undefined) return own;
        const call = Reflect.get(target, name) as AnyCall;
        if (OF_NO_REPO.includes(name) || typeof call !== 'function') return call;
        return (...values: readonly unknown[]) => this.#once(forge, () => call.apply(target, [...values]));
      },
    });
  }

  /** Calls that show the id, and those by which something may count as gone. */
  #showing(open: Showing): Partial<EngineForge> {
    // Of an idle look the others are not there, and are not called.
    const forge = open as EngineForge;
    const all = async (read: () => Promise<readonly PullRequest[]>) => this.#check(await read());
    return {
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
      readStatuses: (sha) =>
        this.#once(forge, () => this.#unlessMissing(forge, () => forge.readStatuses(sha))),
      postStatus: (sha, status) =>
        this.#once(forge, () => this.#unlessMissing(forge, () => forge.postStatus(sha, status))),
    };
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

  /** The call, once it is known that the repository is the one, or that it cannot be told. */
  #once<T>(forge: Showing, call: () => Promise<T>): Promise<T> {
    const isSettled = this.#id === null || this.#isConfirmed || this.#isAsked || this.#isHidden;
    return isSettled ? call() : this.#askUnlessLate(forge).then(call);
  }

  async #unlessMissing<T>(forge: Showing, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ForgeError && error.kind === 'missing') await this.#ask(forge);
      throw error;
    }
  }

  /** When reads are not sent any more, a success is taken back all the same. */
  async #askUnlessLate(forge: Showing): Promise<void> {
    try {
      await this.#ask(forge);
    } catch (error) {
      if (!(error instanceof ReadNotBegun)) throw error;
    }
  }

  /** An answer holds for the whole reconcile. Nothing is asked where no id is known to compare with. */
  async #ask(forge: Showing): Promise<void> {
    if (this.#id === null || this.#isAsked) return;
    let id: number | null = null;
    try {
      id = await forge.readRepoId();
    } catch (error) {
      // A repository that does not show is told by the calls that need it. With any other failure it is not known which one this is.
      if (!(error instanceof ForgeError && error.kind === 'missing')) throw error;
      this.#isHidden = true;
      return;
    }
    if (id !== null) this.#adopt(id);
    this.#isAsked = true;
  }
}
