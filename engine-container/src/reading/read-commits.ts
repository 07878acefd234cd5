import type { Commit } from '#core/domain/forge/forge.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { known, mapKnown, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { MergeView, Snapshot, Trace } from '../queue/snapshot.ts';
import { standsOn } from '../staging/ancestry.ts';
import { untracedOf } from './landing-view.ts';
import type { TryRead } from './look-reads.ts';
import { isLost } from './lost-commit.ts';

/** The newest commits that a branch or commit has above a commit that is left out: one page, of whatever size the forge gives. */
export interface History {
  readonly tip: CommitSha;
  readonly parents: ReadonlyMap<CommitSha, readonly CommitSha[]>;
}

/** Commits, their trees and their ancestry. Immutable by id, so one reconcile reads each once. */
export class CommitReader {
  readonly #forge: EngineForge;
  readonly #tryRead: TryRead;
  readonly #baseBranch: string;
  readonly #commits = new Map<CommitSha, Commit>();
  readonly #treeIds = new Map<CommitSha, TreeHash>();

  constructor(forge: EngineForge, tryRead: TryRead, baseBranch: string) {
    this.#forge = forge;
    this.#tryRead = tryRead;
    this.#baseBranch = baseBranch;
  }

  /** Everything above the oldest landing that is not traced yet, one page in one call. Null: unknown. */
  async readHistory(record: QueueRecord, of: string, baseBefore: CommitSha): Promise<History | null> {
    const [first] = untracedOf(record);
    const not = first?.baseBefore ?? baseBefore;
    const links = await this.#tryRead(() => this.#forge.listNewCommits(not, of));
    if (!links.known) return null;
    const parents = new Map(links.value.map((link) => [link.sha, link.parents]));
    return { tip: links.value[0]?.sha ?? not, parents };
  }

  async traceAll(record: QueueRecord, history: History): Promise<NonNullable<Snapshot['traces']>> {
    const result = new Map<CommitSha, Reading<Trace>>();
    for (const { mergeCommit, baseBefore } of untracedOf(record))
      result.set(mergeCommit, await this.contains(history, mergeCommit, baseBefore));
    return result;
  }

  /** No history can be read: a tip that the forge has lost has none, and what landed before that tip may be there still. */
  async traceWithoutHistory(record: QueueRecord): Promise<NonNullable<Snapshot['traces']>> {
    const result = new Map<CommitSha, Reading<Trace>>();
    for (const { mergeCommit, baseBefore } of untracedOf(record)) {
      const lost = await this.#tryRead(() => isLost(this.#forge, this.#baseBranch, mergeCommit));
      if (!lost.known) break;
      result.set(mergeCommit, lost.value ? known('lost') : await this.#isAncestor(baseBefore, mergeCommit));
    }
    return result;
  }

  /** Is `older` an ancestor of `newer`? Yes where a history at hand shows it; else the forge is asked. */
  async contains(history: History, newer: CommitSha, older: CommitSha): Promise<Reading<boolean>> {
    const queue = [newer];
    const seen = new Set<CommitSha>(queue);
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      if (at === older) return known(true);
      for (const parent of history.parents.get(at) ?? []) {
        if (!seen.has(parent)) queue.push(parent);
        seen.add(parent);
      }
    }
    // A short page is no sign of the end: the instance may cap pages below what was asked for (forge facts, 1).
    return this.#isAncestor(older, newer);
  }

  /**
   * A commit that `newer` has and `older` has not, and whose parent is `older`, exists exactly where `older` is an
   * ancestor: ancestry needs no limit on how many commits a landing has.
   */
  async #isAncestor(older: CommitSha, newer: CommitSha): Promise<Reading<boolean>> {
    const own = await this.#tryRead(() => this.#forge.listOwnCommits(older, newer));
    return mapKnown(own, (commits) => standsOn(commits, older));
  }

  async readMerge(sha: CommitSha, tip: CommitSha | undefined): Promise<Reading<MergeView>> {
    const commit = await this.readCommit(sha);
    if (!commit.known) return UNKNOWN;
    if (tip === undefined) return known({ commit: commit.value, standsOnTip: null });
    if (commit.value.parents.includes(tip)) return known({ commit: commit.value, standsOnTip: true });
    // Other styles than the expected one, too: the style that a person scheduled wins, and no forge tells which it is (D-12).
    const own = await this.#tryRead(() => this.#forge.listOwnCommits(tip, sha));
    if (!own.known) return known({ commit: commit.value, standsOnTip: null });
    const isInTip = own.value.length === 0 ? { isInTip: true as const } : {};
    return known({ commit: commit.value, standsOnTip: standsOn(own.value, tip), ...isInTip });
  }

  async readTreeId(sha: CommitSha): Promise<Reading<TreeHash>> {
    const seen = this.#treeIds.get(sha) ?? this.#commits.get(sha)?.tree;
    if (seen !== undefined) return known(seen);
    const read = await this.#tryRead(() => this.#forge.readTreeId(sha));
    if (read.known) this.#treeIds.set(sha, read.value);
    return read;
  }

  async readCommit(sha: CommitSha): Promise<Reading<Commit>> {
    const seen = this.#commits.get(sha);
    if (seen !== undefined) return known(seen);
    const read = await this.#tryRead(() => this.#forge.readCommit(sha));
    if (read.known) this.#commits.set(sha, read.value);
    return read;
  }
}
