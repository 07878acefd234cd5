import type { RepoId } from '#core/domain/ids.ts';
import { BISECT_FANOUT_MAX } from '#core/domain/limits.ts';
import { type HoldSettings, pauseAt } from '#core/domain/repos/pause.ts';
import type { JournalEntry } from '../fakes/abstract-forge/world.ts';
import type { Managed } from './managed.ts';
import { breachOf, listCrowding } from './rules.ts';
import type { Witness } from './service/hosts.ts';
import { listFileFaults } from './settings-files.ts';
import type { WatchedStore } from './sightings.ts';
import { TurnJudge } from './turns.ts';

/** Between what the queue read and what it wrote, a person may have acted: less than this counts as no fault. */
const TOLERANCE_MS = 60_000;
const LATE_TOLERANCE_MS = 1_000;
const PAUSE_SEEN_MS = 90_000;
/** From an archive to the last success of a look that had read the list before. */
const ARCHIVE_SEEN_MS = 90_000;
/** The label that exempts from freeze windows, where `oncall` puts it on. */
export const EXEMPTING_LABEL = 'urgent';
/** From a landing to the last word on its head, on a service that has its troubles. */
const LAST_WORD_MS = 5 * 60_000;

/**
 * Conditions that must hold at the moment of a success, known from the people of the project: a person scheduled this head
 * (A30), the reviews allow it (A31), the intent is stored (A5), the base is the proven one (A4), and nothing lands after
 * a landed tree was found to be another one until a person says so.
 */
export class Watch {
  readonly #managed: Managed;
  readonly #bot: string;
  readonly #store: WatchedStore;
  readonly #now: () => number;
  readonly #witness: Witness;
  /** When a call whose caller has given it up is carried out, by the head that it writes to. */
  readonly #lateAt = new Map<string, readonly number[]>();
  /** When the queue last said success on a head, and when that head landed. */
  readonly #postedAt = new Map<string, number>();
  readonly #landedAt = new Map<string, number>();
  #baseMovedAt = Number.NEGATIVE_INFINITY;
  #recordLostAt = Number.NEGATIVE_INFINITY;
  #landedWithoutRecord = false;
  #halted = false;
  #hold: HoldSettings | null = null;
  #heldAt = 0;
  #archivedAt: number | null = null;
  readonly #turns: TurnJudge;

  constructor(managed: Managed, bot: string, store: WatchedStore, now: () => number, witness: Witness) {
    this.#managed = managed;
    this.#turns = new TurnJudge(managed);
    this.#bot = bot;
    this.#store = store;
    this.#now = now;
    this.#witness = witness;
  }

  /** This head's status will be written by a call whose caller has given up. */
  expectLate(sha: string, delayMs: number): void {
    this.#lateAt.set(sha, [...(this.#lateAt.get(sha) ?? []), this.#now() + delayMs]);
  }

  #isLate(sha: string): boolean {
    const now = this.#now();
    return (this.#lateAt.get(sha) ?? []).some((at) => Math.abs(now - at) <= LATE_TOLERANCE_MS);
  }

  /** What its owner has stored of pauses and freeze windows. */
  hold(repo: HoldSettings | null): void {
    this.#hold = repo;
    this.#heldAt = this.#now();
  }

  /** The forge's repository was archived, or taken out of the archive. */
  archive(isArchived: boolean): void {
    this.#archivedAt = isArchived ? this.#now() : null;
  }

  loseRecord(): void {
    this.#recordLostAt = this.#now();
  }

  /** Opened by a success whose record, with what it proved, was lost before the merge. */
  get landedWithoutRecord(): boolean {
    return this.#landedWithoutRecord;
  }

  halt(): void {
    this.#halted = true;
  }

  goOn(): void {
    this.#halted = false;
  }

  read(entry: JournalEntry): void {
    if (entry.kind === 'merge') this.#noteLanding(entry.merge.head);
    if (entry.kind === 'merge_elsewhere') this.#judgeElsewhere(entry.base, entry.merge);
    if (entry.kind === 'run') this.#judgePlaces();
    if (entry.kind === 'run') this.#judgeFanout();
    if (entry.kind === 'run') this.#judgeSettings();
    if (entry.kind === 'push' && entry.branch !== this.#managed.forge.base) this.#judgeTurns();
    if (entry.kind === 'push' && entry.branch === this.#managed.forge.base) this.#baseMovedAt = this.#now();
    if (entry.kind !== 'status' || entry.creator !== this.#bot || entry.state !== 'success') return;
    if (!this.#managed.contexts.includes(entry.context)) return;
    this.#postedAt.set(entry.sha, this.#now());
    if (this.#isLate(entry.sha)) return;
    this.#judgeSuccess(this.#managed.id, entry.sha);
  }

  #noteLanding(head: string): void {
    this.#landedAt.set(head, this.#now());
    const postedAt = this.#postedAt.get(head);
    if (postedAt !== undefined && postedAt <= this.#recordLostAt) this.#landedWithoutRecord = true;
  }

  /** One head, two bases: our success opened a branch that we prove nothing for (D-17). */
  #judgeElsewhere(base: string, { pr, head }: { readonly pr: number; readonly head: string }): void {
    const { project, id } = this.#managed;
    const postedAt = this.#postedAt.get(head);
    if (postedAt === undefined || !project.isGuarded(base)) return;
    const landedAt = this.#landedAt.get(head);
    const blame = (what: string): void => this.#witness.violate(`${id}: #${pr} merged into ${base}, ${what}`);
    if (landedAt !== undefined && landedAt >= postedAt && this.#now() - landedAt > LAST_WORD_MS)
      blame('by the success of a landing that was over');
    else if (postedAt - project.touchedAt(pr) > TOLERANCE_MS) blame('by a success that was not for it');
    else this.#witness.sometimes('a twin appears while a success stands');
  }

  /** Longer than a reconcile that had read the settings before, its posts included. */
  #isPausedForLong(sha: string): boolean {
    const now = this.#now();
    const hold = this.#hold === null ? null : pauseAt(this.#hold, now);
    if (hold?.kind !== 'pause' || (hold.isFreeze && this.#wasEverExempt(sha))) return false;
    return now - Math.max(hold.since, this.#heldAt) > PAUSE_SEEN_MS;
  }

  #wasEverExempt(sha: string): boolean {
    const { forge, project } = this.#managed;
    const entries = project.heads.pullsOf(sha).flatMap((pr) => forge.timelineOf(pr));
    return entries.some(({ label, user }) => label === EXEMPTING_LABEL && user === 'oncall');
  }

  /** While a batch is staged, the line is as it was chosen from. */
  #judgeTurns(): void {
    const { id, rules } = this.#managed;
    const record = this.#store.peekRecord(id);
    if (rules === undefined || record === null) return;
    for (const what of this.#turns.listFaults(record, this.#now())) this.#witness.violate(`${id}: ${what}`);
    if (this.#turns.judged > 0) this.#witness.sometimes('a crowd takes turns');
  }

  #judgePlaces(): void {
    const { id, rules } = this.#managed;
    const record = this.#store.peekRecord(id);
    if (rules === undefined || record === null) return;
    for (const what of listCrowding(this.#managed, rules, record)) this.#witness.violate(`${id}: ${what}`);
  }

  #judgeSettings(): void {
    const record = this.#store.peekRecord(this.#managed.id);
    if (record?.settingsSeen === undefined) return;
    for (const what of listFileFaults(this.#managed, record))
      this.#witness.violate(`${this.#managed.id}: ${what}`);
    if (record.settingsSeen.problems !== undefined) this.#witness.sometimes('a wrong settings file landed');
    if (Object.keys(record.settingsSeen.values).length > 0)
      this.#witness.sometimes('a settings file is in force');
  }

  /** Whatever the queue chooses: what is out or is to be stays below the ceiling, and so does what it allows itself. */
  #judgeFanout(): void {
    const { id } = this.#managed;
    const record = this.#store.peekRecord(id);
    if (record?.autoFanout === undefined) return;
    const { inForce, reason } = record.autoFanout;
    const out = record.batches.flatMap(({ nodes }) => nodes.filter(({ state }) => state === 'gating')).length;
    if (inForce < 1 || inForce > BISECT_FANOUT_MAX || out > BISECT_FANOUT_MAX)
      this.#witness.violate(`${id}: ${out} gate runs are out, and ${inForce} were chosen`);
    this.#witness.sometimes(`the queue has chosen its fan-out: ${reason}`);
  }

  #judgeSuccess(id: RepoId, sha: string): void {
    const { forge, project, judge } = this.#managed;
    const short = sha.slice(0, 8);
    const blame = (what: string): void => this.#witness.violate(`${id}: success on ${short}, ${what}`);
    // A call that was on its way when its machine froze may arrive after another one saw the merge: it opens nothing.
    if (!this.#store.hasIntent(id, sha) && !project.isMerged(sha)) blame('without a stored intent');
    if (!project.heads.wasScheduled(sha)) blame('which is not scheduled');
    if (this.#halted) blame('although the queue stands still');
    if (this.#isPausedForLong(sha)) blame('although the queue is paused');
    if (this.#archivedAt !== null && this.#now() - this.#archivedAt > ARCHIVE_SEEN_MS)
      blame('although the repository is archived');
    const isSettled = (pr: number) => this.#now() - project.touchedAt(pr) > TOLERANCE_MS;
    const prs = project.heads.pullsOf(sha);
    if (prs.length > 0 && prs.every(isSettled)) {
      const why = prs.map((pr) => forge.ruleViolation(pr));
      const isRefused = (reason: string | null) =>
        reason === 'not enough approvals' || reason === 'changes requested';
      if (why.every(isRefused)) blame(why[0] ?? '');
      const { rules } = this.#managed;
      const breaches = rules === undefined ? [] : prs.map((pr) => breachOf(this.#managed, rules, pr, sha));
      if (breaches.length > 0 && !breaches.includes(null)) blame(breaches[0] ?? '');
      if (prs.every((pr) => wasScheduledElsewhere(this.#managed, pr))) blame('scheduled for another branch');
    }
    if (this.#now() - this.#baseMovedAt <= TOLERANCE_MS || project.isMerged(sha)) return;
    // Of a forge that merges otherwise than git nothing can be known before.
    if (this.#managed.mergesOtherwise) return;
    judge.read();
    const tree = forge.previewMerge(forge.tipOfBase(), sha);
    if (tree !== null && !judge.isProven(tree))
      blame('whose merge with a base that stood for long is not proven');
  }
}

/** Its schedule was made while it targeted another branch, by the timeline alone. */
function wasScheduledElsewhere({ forge }: Managed, pr: number): boolean {
  const told = forge.timelineOf(pr);
  const at = told.findLastIndex(({ kind }) => kind === 'scheduled');
  const retarget = told.slice(at + 1).find(({ kind }) => kind === 'retargeted');
  return retarget !== undefined && retarget.baseBefore !== forge.base;
}
