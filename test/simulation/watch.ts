import type { RepoId } from '#core/domain/ids.ts';
import type { JournalEntry } from '../fakes/abstract-forge/world.ts';
import type { Witness } from './hosts.ts';
import type { Managed } from './managed.ts';
import type { WatchedStore } from './sightings.ts';

/** Between what the queue read and what it wrote, somebody may have acted: nobody is blamed for less than this. */
const TOLERANCE_MS = 60_000;

/**
 * What must hold at the very moment of a success, known from the people of the project: somebody scheduled this head
 * (A30), the reviews allow it (A31), the intent is stored (A5), the base is the proven one (A4), and nothing lands after
 * a landed tree was found to be another one until a person says so.
 */
export class Watch {
  readonly #managed: Managed;
  readonly #bot: string;
  readonly #store: WatchedStore;
  readonly #now: () => number;
  readonly #witness: Witness;
  readonly #late = new Set<string>();
  #baseMovedAt = Number.NEGATIVE_INFINITY;
  #halted = false;

  constructor(managed: Managed, bot: string, store: WatchedStore, now: () => number, witness: Witness) {
    this.#managed = managed;
    this.#bot = bot;
    this.#store = store;
    this.#now = now;
    this.#witness = witness;
  }

  /** This head's status may still be written by a call that nobody waits for any more. */
  expectLate(sha: string): void {
    this.#late.add(sha);
  }

  halt(): void {
    this.#halted = true;
  }

  goOn(): void {
    this.#halted = false;
  }

  read(entry: JournalEntry): void {
    if (entry.kind === 'push' && entry.branch === this.#managed.forge.base) this.#baseMovedAt = this.#now();
    if (entry.kind !== 'status' || entry.creator !== this.#bot || entry.state !== 'success') return;
    if (!entry.context.startsWith('mq') || this.#late.has(entry.sha)) return;
    this.#judgeSuccess(this.#managed.id, entry.sha);
  }

  #judgeSuccess(id: RepoId, sha: string): void {
    const { forge, project, judge } = this.#managed;
    const short = sha.slice(0, 8);
    const blame = (what: string): void => this.#witness.violate(`${id}: success on ${short}, ${what}`);
    // A call that was on its way when its machine froze may arrive after another one saw the merge: it opens nothing.
    if (!this.#store.hasIntent(id, sha) && !project.isMerged(sha)) blame('without a stored intent');
    if (!project.wasScheduled(sha)) blame('which nobody scheduled');
    if (this.#halted) blame('although the queue stands still');
    const isSettled = (pr: number) => this.#now() - project.touchedAt(pr) > TOLERANCE_MS;
    const prs = project.pullsOf(sha);
    if (prs.length > 0 && prs.every(isSettled)) {
      const why = prs.map((pr) => forge.ruleViolation(pr));
      const isRefused = (reason: string | null) =>
        reason === 'not enough approvals' || reason === 'changes requested';
      if (why.every(isRefused)) blame(why[0] ?? '');
    }
    if (this.#now() - this.#baseMovedAt <= TOLERANCE_MS || project.isMerged(sha)) return;
    judge.read();
    const tree = forge.previewMerge(forge.tipOfBase(), sha);
    if (tree !== null && !judge.isProven(tree))
      blame('whose merge with a base that stood for long is not proven');
  }
}
