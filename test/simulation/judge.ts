import { mayOpenMerge } from '#core/domain/forge/forge.ts';
import {
  DEFAULT_SERVICE_NAME,
  isOwnBranch,
  stagingPrefix,
  workPrefix,
} from '#core/domain/queue/queue-names.ts';
import type { MergeView } from '../../local/forge/control.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';

/** The judge's view: the forge's own journal and objects. It sees neither the engine nor the store. */
export type ForgeLog = Pick<AbstractForge, 'base' | 'journal' | 'commit' | 'previewMerge'>;

export interface JudgeOptions {
  readonly bot: string;
  /** Contexts that the queue ever posted under. */
  readonly contexts: readonly string[];
  /** False: people push straight to the base, or the forge merges what it did not check. Then unproven is detected, not prevented. */
  readonly baseIsProtected: boolean;
  /** A pass of a head’s own run proves its tree as well. @default false */
  readonly headsProve?: boolean;
  readonly mayLeakBranches?: () => boolean;
  /** Another queue of the repository serves another base: only what is below the names of this one is its own. */
  readonly sharesForge?: boolean;
}

interface Staged {
  readonly tree: string;
  readonly parent: string | undefined;
}

/** Latest status under our context; `since` is when the first of equal ones in a row was written. */
interface Latest {
  readonly sha: string;
  readonly context: string;
  readonly state: string;
  readonly by: string;
  readonly since: number;
}

const STAGING = stagingPrefix(DEFAULT_SERVICE_NAME);
const DESCRIPTION_CHARS_MAX = 140;
const ON_ITS_WAY_MS = 5 * 60_000;

/**
 * Reads the forge's journal as it grows and says what should never have been: an unproven landing (A1, A2), a success on
 * what was not proven on this base (A3, A4), a branch pushed twice (A20), words that are not ours (A38).
 */
export class Judge {
  readonly violations: string[] = [];
  /** Merges into the base whose tree no green run proved. */
  readonly unproven = new Set<number>();
  readonly #log: ForgeLog;
  readonly #options: JudgeOptions;
  #read = 0;
  #baseTip: string | null = null;
  readonly #staged = new Map<string, Staged>();
  readonly #byTree = new Map<string, string[]>();
  readonly #proven = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #stagingTips = new Map<string, string>();
  /** Latest status of ours by head and context. */
  readonly #latest = new Map<string, Latest>();
  /** When each was merged last. */
  readonly #mergedHeads = new Map<string, number>();

  constructor(log: ForgeLog, options: JudgeOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** Reads what is new. */
  read(): void {
    const journal = this.#log.journal();
    for (; this.#read < journal.length; this.#read += 1) {
      const entry = journal[this.#read];
      if (entry === undefined) return;
      if (entry.kind === 'push') this.#readPush(entry.branch, entry.to, entry.by);
      else if (entry.kind === 'run') this.#readRun(entry.run);
      else if (entry.kind === 'status') this.#readStatus(entry);
      else if (entry.kind === 'merge') this.#readMerge(entry.merge);
    }
  }

  isProven(tree: string): boolean {
    return this.#proven.has(tree);
  }

  /** Failing runs that were seen of this tree. */
  failuresOf(tree: string): number {
    return this.#failures.get(tree) ?? 0;
  }

  /** Commits that a pull request may have been judged on: the base, and every staged one whose tree is proven. */
  provenGrounds(): readonly string[] {
    const staged = [...this.#staged].filter(([, { tree }]) => this.#proven.has(tree)).map(([sha]) => sha);
    return this.#baseTip === null ? staged : [this.#baseTip, ...staged];
  }

  /** A success that leads to no merge is taken back after its time (D-11, A23): none that does was written before `latest`. */
  readStanding(now: number, latest: number, isGone: (sha: string) => boolean): void {
    this.read();
    for (const { sha, state, by, since } of this.#latest.values()) {
      if (state !== 'success' || by !== this.#options.bot || since >= latest) continue;
      if (!this.#mergedHeads.has(sha) && !isGone(sha))
        this.violations.push(
          `success stands on ${sha.slice(0, 8)} for ${Math.round((now - since) / 60_000)} min`,
        );
    }
  }

  /** At rest: no head that did not merge carries a success of ours (A24); no staging branch is left, unless one is probed. */
  readRest(mayProbe: boolean, settled: Pick<Set<string>, 'has'> = new Set()): void {
    this.read();
    for (const { sha, state, by } of this.#latest.values()) {
      if (state !== 'success' || by !== this.#options.bot) continue;
      if (settled.has(sha)) continue;
      this.violations.push(`stale success on ${sha.slice(0, 8)}`);
    }
    for (const branch of mayProbe ? [] : this.#stagingTips.keys()) {
      // A lost record cannot say which branches it still had to delete.
      if (this.#options.mayLeakBranches?.() === true) continue;
      this.violations.push(`branch left: ${branch}`);
    }
  }

  /** At rest: no success that another account wrote for us stands on an open head (A7, A24). */
  readForged(context: string, isOpen: (sha: string) => boolean): void {
    for (const latest of this.#latest.values()) {
      const isForged = latest.context === context && latest.by !== this.#options.bot;
      if (isForged && mayOpenMerge(latest) && isOpen(latest.sha))
        this.violations.push(`the success of another account stands on ${latest.sha.slice(0, 8)}`);
    }
  }

  #readPush(branch: string, to: string | null, by: string): void {
    if (branch === this.#log.base) {
      this.#baseTip = to;
      if (to !== null) this.#keep(to);
      return;
    }
    if (!this.#isOwn(branch) || by !== this.#options.bot) {
      if (to === null) this.#stagingTips.delete(branch);
      return;
    }
    if (to === null) {
      this.#stagingTips.delete(branch);
      return;
    }
    if (branch.startsWith(STAGING) && this.#stagingTips.has(branch))
      this.violations.push(`pushed twice: ${branch}`);
    this.#stagingTips.set(branch, to);
    this.#keep(to);
  }

  #isOwn(branch: string): boolean {
    if (this.#options.sharesForge !== true) return isOwnBranch(DEFAULT_SERVICE_NAME, branch);
    return [STAGING, workPrefix(DEFAULT_SERVICE_NAME)].some((prefix) =>
      branch.startsWith(`${prefix}${this.#log.base}/`),
    );
  }

  #keep(sha: string): void {
    if (this.#staged.has(sha)) return;
    const { tree, parents } = this.#log.commit(sha);
    this.#staged.set(sha, { tree, parent: parents[0] });
    const same = this.#byTree.get(tree);
    if (same === undefined) this.#byTree.set(tree, [sha]);
    else same.push(sha);
    // A tree that is proven already proves what lies between it and the base.
    if (this.#proven.has(tree)) this.#prove(sha);
  }

  #readRun(run: { readonly tree: string; readonly branch: string; readonly state: string }): void {
    if (!this.#isOwn(run.branch)) {
      // What the queue of another base has asked proves nothing here.
      const isOfHead = !isOwnBranch(DEFAULT_SERVICE_NAME, run.branch);
      if (this.#options.headsProve !== true || !isOfHead || run.state !== 'success') return;
      this.#proven.add(run.tree);
      for (const sha of this.#byTree.get(run.tree) ?? []) this.#prove(sha);
      return;
    }
    if (run.state === 'failure') this.#failures.set(run.tree, this.failuresOf(run.tree) + 1);
    if (run.state !== 'success') return;
    this.#proven.add(run.tree);
    for (const sha of this.#byTree.get(run.tree) ?? []) this.#prove(sha);
  }

  /** The tip of a batch is what is gated: with it the trees below it in the chain may land on the way to it. */
  #prove(tip: string): void {
    for (let at = this.#staged.get(tip); at !== undefined; ) {
      this.#proven.add(at.tree);
      at = at.parent === undefined ? undefined : this.#staged.get(at.parent);
    }
  }

  #readStatus(post: {
    readonly at: number;
    readonly sha: string;
    readonly context: string;
    readonly state: string;
    readonly description: string;
    readonly creator: string;
  }): void {
    if (!this.#options.contexts.includes(post.context)) return;
    const key = `${post.sha} ${post.context}`;
    const before = this.#latest.get(key);
    const repeats = before?.state === post.state && before.by === post.creator;
    const since = repeats ? before.since : post.at;
    const { sha, context, state, creator: by } = post;
    this.#latest.set(key, { sha, context, state, by, since });
    if (post.creator !== this.#options.bot) return;
    if (!['pending', 'success', 'error'].includes(post.state)) this.violations.push(`posted ${post.state}`);
    if (post.description.length > DESCRIPTION_CHARS_MAX) this.violations.push('a description is too long');
    if (post.state !== 'success' || !this.#options.baseIsProtected || this.#baseTip === null) return;
    // A call that was on its way when the forge merged may arrive a little later.
    if (post.at - (this.#mergedHeads.get(post.sha) ?? Number.NEGATIVE_INFINITY) < ON_ITS_WAY_MS) return;
    const tree = this.#log.previewMerge(this.#baseTip, post.sha);
    if (tree !== null && !this.#proven.has(tree)) {
      this.violations.push(`success on ${post.sha.slice(0, 8)}, whose merge is not proven`);
    }
  }

  #readMerge(merge: MergeView): void {
    this.#mergedHeads.set(merge.head, merge.at);
    if (this.#proven.has(merge.tree)) return;
    this.unproven.add(merge.pr);
    if (this.#options.baseIsProtected) this.violations.push(`unproven landing of #${merge.pr}`);
  }
}
