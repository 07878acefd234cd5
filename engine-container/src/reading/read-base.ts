import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import { known, mapKnown, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import type { Ground, QueueRecord } from '../queue/record/record.ts';
import { verifiedTipTree } from './landing-view.ts';
import type { TryRead } from './look-reads.ts';
import type { CommitReader } from './read-commits.ts';

/** The base was seen to end in a merge of ours so short a time ago that it need not be asked again. */
const TIP_FRESH_MS = 2_000;

export interface BaseDeps {
  readonly forge: EngineForge;
  readonly clock: Clock;
  readonly commits: CommitReader;
  readonly tryRead: TryRead;
}

/** Tip and tree of the base branch, as far as they are not known already. */
export class BaseReader {
  readonly #forge: EngineForge;
  readonly #clock: Clock;
  readonly #commits: CommitReader;
  readonly #tryRead: TryRead;
  readonly #baseBranch: string;
  #landedTip: { readonly sha: CommitSha; readonly at: EpochMs } | null = null;

  constructor(deps: BaseDeps, baseBranch: string) {
    this.#forge = deps.forge;
    this.#clock = deps.clock;
    this.#commits = deps.commits;
    this.#tryRead = deps.tryRead;
    this.#baseBranch = baseBranch;
  }

  noteLanding(sha: CommitSha): void {
    this.#landedTip = { sha, at: this.#clock.now() };
  }

  /**
   * Every open pull request shows the tip of its base: where all agree, it need not be asked. Not where staging has met another
   * one: the list of Gitea shows what it has written down of the branch, which may be late for good (forge facts, 2).
   */
  async readTip(
    { doubtedTip }: Pick<QueueRecord, 'doubtedTip'>,
    pulls: Reading<readonly PullRequest[]>,
  ): Promise<Reading<CommitSha | null>> {
    const shown = new Set(pulls.known ? pulls.value.map((pull) => pull.baseTip) : []);
    const [only = null] = shown;
    if (shown.size === 1 && only !== doubtedTip) return known(only);
    const seen = this.#landedTip;
    if (shown.size === 0 && seen !== null && this.#clock.now() - seen.at <= TIP_FRESH_MS)
      return known(seen.sha);
    return this.#tryRead(() => this.#forge.readBranchTip(this.#baseBranch));
  }

  /** The base at this tip. An unmoved one costs no call. */
  async read(record: QueueRecord, tip: Reading<CommitSha | null>): Promise<Reading<Ground>> {
    if (!tip.known || tip.value === null) return UNKNOWN;
    const sha = tip.value;
    const tree = verifiedTipTree(record, sha) ?? (record.baseSeen?.sha === sha ? record.baseSeen.tree : null);
    if (tree !== null) return known({ sha, tree });
    const read = await this.#commits.readTreeId(sha);
    return mapKnown(read, (tree) => ({ sha, tree }));
  }
}
