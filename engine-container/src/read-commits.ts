import type { Commit } from '#core/domain/forge.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { untracedOf } from './landing-view.ts';
import type { QueueRecord } from './queue/record.ts';
import type { MergeView, Snapshot } from './queue/snapshot.ts';

/** Commits below a merge commit that are looked at to find the verified tip: a rebase lands one per commit. */
const LINEAGE_COMMITS_MAX = 50;

/** What stands above a commit: the tip, and the first parent of each. */
export interface Lines {
  readonly tip: CommitSha;
  readonly parents: ReadonlyMap<CommitSha, CommitSha | undefined>;
}

/** Commits, their trees and the lines below them. Immutable by id, so one reconcile reads each once. */
export class CommitReader {
  readonly #forge: EngineForge;
  readonly #attempt: <T>(read: () => Promise<T>) => Promise<Reading<T>>;
  readonly #commits = new Map<CommitSha, Commit>();
  readonly #treeIds = new Map<CommitSha, TreeHash>();

  constructor(forge: EngineForge, attempt: <T>(read: () => Promise<T>) => Promise<Reading<T>>) {
    this.#forge = forge;
    this.#attempt = attempt;
  }

  /** Everything above the oldest landing whose line is not read yet, in one call. Null: unknown. */
  async readLines(record: QueueRecord, of: string, baseBefore: CommitSha): Promise<Lines | null> {
    const [first] = untracedOf(record);
    const not = first?.baseBefore ?? baseBefore;
    const links = await this.#attempt(() => this.#forge.listNewCommits(not, of));
    if (!links.known) return null;
    const parents = new Map(links.value.map((link) => [link.sha, link.parents[0]]));
    return { tip: links.value[0]?.sha ?? not, parents };
  }

  async readAllLines(record: QueueRecord, lines: Lines): Promise<NonNullable<Snapshot['lines']>> {
    const result = new Map<CommitSha, Reading<readonly CommitSha[]>>();
    for (const { mergeCommit, baseBefore } of untracedOf(record))
      result.set(mergeCommit, await this.readLine(lines, mergeCommit, baseBefore));
    return result;
  }

  /** First parents from a merge down to the tip that it is to stand on; what the page does not hold is read one by one. */
  async readLine(lines: Lines, sha: CommitSha, tip: CommitSha): Promise<Reading<readonly CommitSha[]>> {
    const lineage: CommitSha[] = [];
    for (let at = sha; at !== tip && lineage.length < LINEAGE_COMMITS_MAX; ) {
      let parent = lines.parents.get(at);
      if (!lines.parents.has(at)) {
        const commit = await this.readCommit(at);
        if (!commit.known) return UNKNOWN;
        parent = commit.value.parents[0];
      }
      if (parent === undefined) break;
      lineage.push(parent);
      at = parent;
    }
    return known(lineage);
  }

  async readMerge(sha: CommitSha, tip: CommitSha | undefined): Promise<Reading<MergeView>> {
    const commit = await this.readCommit(sha);
    if (!commit.known) return UNKNOWN;
    const lineage: CommitSha[] = [];
    let parent = commit.value.parents[0];
    while (parent !== undefined) {
      lineage.push(parent);
      // Whatever style was expected: the one that a person scheduled wins, and no forge tells which it is (D-12).
      if (tip === undefined || parent === tip || lineage.length >= LINEAGE_COMMITS_MAX) break;
      const next = await this.readCommit(parent);
      if (!next.known) return UNKNOWN;
      parent = next.value.parents[0];
    }
    return known({ commit: commit.value, lineage });
  }

  async readTreeId(sha: CommitSha): Promise<Reading<TreeHash>> {
    const seen = this.#treeIds.get(sha) ?? this.#commits.get(sha)?.tree;
    if (seen !== undefined) return known(seen);
    const read = await this.#attempt(() => this.#forge.readTreeId(sha));
    if (read.known) this.#treeIds.set(sha, read.value);
    return read;
  }

  async readCommit(sha: CommitSha): Promise<Reading<Commit>> {
    const seen = this.#commits.get(sha);
    if (seen !== undefined) return known(seen);
    const read = await this.#attempt(() => this.#forge.readCommit(sha));
    if (read.known) this.#commits.set(sha, read.value);
    return read;
  }
}
