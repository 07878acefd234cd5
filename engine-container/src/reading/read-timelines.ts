import type { PullRequest, TimelineEntry } from '#core/domain/forge/forge.ts';
import { type ForgeVersion, givesWholeTimelines } from '#core/domain/forge/forge-version.ts';
import type { EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import {
  AnswerTooLarge,
  type ForgeReader,
  type TimelinePart,
  type TimelineQuestion,
} from '#core/ports/forge.ts';
import type { TryRead } from './look-reads.ts';

/** Entries from which on a timeline is not read from its start again. */
const LONG_ENTRIES_MIN = 100;
/** The clock of the forge may have gone back by so much since a whole timeline was read. */
const OVERLAP_MS = 5 * 60_000;

interface Kept {
  /** Without those that say nothing to the queue. */
  readonly entries: ReadonlyMap<number, TimelineEntry>;
  /** All entries up to then are known. */
  readonly readTo: EpochMs;
  readonly isWhole: boolean;
  /** When the pull request had changed last. */
  readonly changedAt: EpochMs;
  /** The last reading led no further: it is not tried again before the pull request changes. */
  readonly isStuck: boolean;
}

const NOTHING = { entries: new Map<number, TimelineEntry>(), readTo: 0 } as const;

/** Long timelines of one repository, as far as they were read. */
export class TimelineMemory {
  readonly #kept = new Map<PullRequestNumber, Kept>();

  /** Entries of all of them. */
  get size(): number {
    return [...this.#kept.values()].reduce((sum, { entries }) => sum + 1 + entries.size, 0);
  }

  get(pr: PullRequestNumber): Kept | undefined {
    return this.#kept.get(pr);
  }

  keep(pr: PullRequestNumber, kept: Kept): void {
    this.#kept.set(pr, kept);
  }
}

/**
 * Reads timelines, and of long ones what is new (decision 0321): who may comment makes a timeline as long as they like, and no other
 * pull request waits for it. Entries of pushes that Gitea deletes where the target changes stay known: the one that it writes with that
 * change is newer than all of them (forge facts, 3.4).
 */
export class TimelineReader {
  readonly #forge: Pick<ForgeReader, 'readTimeline'>;
  readonly #memory: TimelineMemory;
  #givesAll = false;
  #isUnfinished = false;

  constructor(forge: Pick<ForgeReader, 'readTimeline'>, memory: TimelineMemory) {
    this.#forge = forge;
    this.#memory = memory;
  }

  /** @param version - Of the forge; null: not known. */
  begin(version: ForgeVersion | null): void {
    this.#givesAll = givesWholeTimelines(version);
    this.#isUnfinished = false;
  }

  /** The next look has more of a long timeline to read or to tell. */
  get isUnfinished(): boolean {
    return this.#isUnfinished;
  }

  /** Whether the last reading did not come to the end: what it says is unknown until `goOn` has come there. */
  isPartial(pr: PullRequestNumber): boolean {
    return this.#memory.get(pr)?.isWhole === false;
  }

  /** In the order of writing; null: it was not read to its end. */
  async read({ number: pr, updatedAt: changedAt }: PullRequest): Promise<readonly TimelineEntry[] | null> {
    const kept = this.#memory.get(pr);
    // A part goes on without an overlap: an account that writes thousands of entries in five minutes would else keep it from the end.
    const since = kept && (kept.isWhole ? kept.readTo - OVERLAP_MS : kept.readTo);
    const part = await this.#readPart(pr, {
      changedAt,
      givesAll: this.#givesAll,
      ...(since === undefined ? {} : { since }),
    });
    if (part === null) {
      this.#memory.keep(pr, { ...(kept ?? NOTHING), isWhole: false, changedAt, isStuck: true });
      return null;
    }
    const isShort = kept === undefined && part.readTo === null && part.entries.length < LONG_ENTRIES_MIN;
    return isShort ? part.entries : this.#keep({ pr, changedAt }, part, kept);
  }

  /** Null, and no failure: one entry alone is larger than any answer may be. Every account that may read can write one. */
  async #readPart(pr: PullRequestNumber, question: TimelineQuestion): Promise<TimelinePart | null> {
    try {
      return await this.#forge.readTimeline(pr, question);
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error;
      return null;
    }
  }

  /**
   * Goes on with those that were read in part, when all else of a look is known: each may take all the time that is left.
   *
   * @param isInFlight - Something is in flight, which waits for the next look: one reading is all.
   */
  async goOn(pulls: readonly PullRequest[], tryRead: TryRead, isInFlight: boolean): Promise<void> {
    const partial = pulls.filter((pull) => this.isPartial(pull.number) && !this.#isStuckAt(pull));
    for (const pull of isInFlight ? partial.slice(0, 1) : partial) {
      const read = await tryRead(() => this.read(pull));
      // The next look heeds what is known now.
      this.#isUnfinished ||= read.known && read.value !== null;
    }
    if (isInFlight) this.#isUnfinished = false;
  }

  #isStuckAt({ number, updatedAt }: PullRequest): boolean {
    const kept = this.#memory.get(number);
    return kept?.isStuck === true && kept.changedAt === updatedAt;
  }

  #keep(
    { pr, changedAt }: { readonly pr: PullRequestNumber; readonly changedAt: EpochMs },
    { entries, readTo }: TimelinePart,
    before?: Kept,
  ): readonly TimelineEntry[] | null {
    const told = entries.filter(({ kind }) => kind !== 'other').map((entry) => [entry.id, entry] as const);
    const known = new Map([...(before?.entries ?? []), ...told]);
    const knownTo = before?.readTo ?? 0;
    const newest = Math.max(knownTo, readTo ?? 0, ...entries.map(({ at }) => at));
    const isFurther = newest > knownTo || before?.isWhole === true;
    const isStuck = readTo !== null && !isFurther;
    this.#memory.keep(pr, { entries: known, readTo: newest, isWhole: readTo === null, changedAt, isStuck });
    if (readTo === null) return [...known.values()].sort((one, other) => one.id - other.id);
    this.#isUnfinished ||= isFurther;
    return null;
  }
}
