import type { BranchProtection, PullRequest } from '#core/domain/forge/forge.ts';
import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { known, mapKnown, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { isOpenedBy } from '../queue/admission/admission.ts';
import type { OpensAnother } from '../queue/admission/admission-facts.ts';
import { landingOf } from '../queue/batches/pipeline.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { TryRead } from './look-reads.ts';

/** Whom else would a `success` on a head open, on our base or on another branch? A status belongs to the commit (D-17). */
export class TwinReader {
  readonly #forge: EngineForge;
  readonly #repo: ManagedRepo;
  readonly #tryRead: TryRead;
  /** Open pull requests to other branches, by the last look at all. */
  #elsewhere: readonly PullRequest[] = [];
  /** Every head that was seen of a pull request to our base, closed since or not. */
  readonly #heads = new Map<PullRequestNumber, CommitSha>();
  readonly #rules = new Map<string, Reading<BranchProtection | null>>();

  constructor(forge: EngineForge, repo: ManagedRepo, tryRead: TryRead) {
    this.#forge = forge;
    this.#repo = repo;
    this.#tryRead = tryRead;
  }

  keep(pulls: readonly PullRequest[], record: QueueRecord): void {
    this.#elsewhere = pulls.filter(({ baseRef }) => baseRef !== this.#repo.baseBranch);
    for (const { pr, head } of record.entries) this.#heads.set(pr, head);
    this.#noteHeads(pulls);
  }

  #noteHeads(pulls: readonly PullRequest[]): void {
    for (const { number, headSha, baseRef } of pulls)
      if (baseRef === this.#repo.baseBranch) this.#heads.set(number, headSha);
  }

  /** Merged the latest, to every branch: one that has the head of a landing may have appeared since the last look at all. */
  async readMerged(): Promise<Reading<readonly PullRequest[]>> {
    const merged = await this.#tryRead(() => this.#forge.listMergedPullRequests());
    if (merged.known) this.#noteHeads(merged.value);
    return merged;
  }

  /** Who has, or had, the head that lands, besides the one it lands for: merged, it may be this landing. */
  ofLanding(record: QueueRecord): readonly PullRequestNumber[] {
    const landing = landingOf(record);
    if (landing === null) return [];
    const { pr: own, head } = landing;
    return [...this.#heads].filter(([pr, of]) => of === head && pr !== own).map(([pr]) => pr);
  }

  opensAnother(pull: PullRequest): Promise<Reading<OpensAnother>> {
    return this.#opensOneOf(pull, this.#elsewhere);
  }

  /** The same, asked anew: since the last look at all, one may have been opened or pushed. */
  async opensAnotherNow(pull: PullRequest): Promise<Reading<OpensAnother>> {
    const touched = await this.#tryRead(() => this.#forge.listTouchedPullRequests());
    if (touched.known) this.#noteHeads(touched.value);
    if (!touched.known) return UNKNOWN;
    const others = [...this.#elsewhere, ...touched.value];
    return this.#opensOneOf(pull, others, () => this.#holdsTip(pull));
  }

  /** @param holdsTip asked of a head that the last conflict check calls behind its base: it may have become up to date since */
  async #opensOneOf(
    pull: PullRequest,
    others: readonly PullRequest[],
    holdsTip: () => Promise<Reading<boolean>> = async () => known(false),
  ): Promise<Reading<OpensAnother>> {
    const elsewhere = others.filter(({ baseRef }) => baseRef !== this.#repo.baseBranch);
    const twins = elsewhere.filter(({ headSha }) => headSha === pull.headSha);
    const isTwin = await this.#isAnyOpened(twins);
    if (!isTwin.known) return UNKNOWN;
    if (isTwin.value) return known('twin_elsewhere');
    if (this.#repo.mergeStyle !== 'rebase') return known(null);
    const isBase = await this.#isAnyOpened(elsewhere.filter((other) => this.#comesFromBase(other)));
    if (!isBase.known || !isBase.value) return mapKnown(isBase, () => null);
    const mayFastForward = isUpToDate(pull) ? known(true) : await holdsTip();
    return mapKnown(mayFastForward, (opens) => (opens ? 'base_heads_another' : null));
  }

  /** One that stands on the pull request that has just landed, for example. */
  async #holdsTip({ headSha, baseTip }: PullRequest): Promise<Reading<boolean>> {
    const missed = await this.#tryRead(() => this.#forge.listNewCommits(headSha, baseTip));
    return mapKnown(missed, (commits) => commits.length === 0);
  }

  async #isAnyOpened(pulls: readonly PullRequest[]): Promise<Reading<boolean>> {
    for (const base of new Set(pulls.map(({ baseRef }) => baseRef))) {
      const rule = this.#rules.get(base) ?? (await this.#tryRead(() => this.#forge.readProtection(base)));
      if (!rule.known) return UNKNOWN;
      this.#rules.set(base, rule);
      if (rule.value !== null && isOpenedBy(rule.value, this.#repo.statusContext)) return known(true);
    }
    return known(false);
  }

  /** Its head moves with our base. */
  #comesFromBase({ headRef, fromFork }: PullRequest): boolean {
    return headRef === this.#repo.baseBranch && !fromFork;
  }
}

/** By the last conflict check. Its landing may make its head, which says `success` then, the tip of the base. */
function isUpToDate({ mergeBase, baseTip }: PullRequest): boolean {
  return mergeBase === null || mergeBase === baseTip;
}
