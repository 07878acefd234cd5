import type { EpochMs } from '#core/domain/ids.ts';
import type { QueueRecord } from '../../engine-container/src/queue/record/record.ts';
import type { Managed } from './managed.ts';

/** Decision 0215, in numbers of its own: so many are a few, so large a share is a crowd, so many turns of others lie between. */
const FEW_MAX = 4;
const CROWD_SHARE = 0.25;
const TURNS_OF_OTHERS = 3;
/** Of a batch that is staged later, too much may have happened since. */
const STAGED_WITHIN_MS = 5_000;

/**
 * None under the share waits for two turns of one crowd that lie closer together than the rule says: in each new batch.
 * One that has passed, whose chances are known, or that staging failed with, is staged by rules of its own.
 */
export class TurnJudge {
  readonly #managed: Managed;
  readonly #seen = new Set<string>();
  /** Since when each that is set aside was seen so. */
  #asideSince: ReadonlyMap<number, EpochMs> = new Map();
  /** Batches in which a crowd stood beside one who waited. */
  judged = 0;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  listFaults({ entries, batches, deferred, bounced }: QueueRecord, now: EpochMs): readonly string[] {
    const { project } = this.#managed;
    const fresh = batches.filter(({ batchId }) => !this.#seen.has(batchId));
    for (const { batchId } of batches) this.#seen.add(batchId);
    this.#asideSince = new Map(deferred.map(({ pr }) => [pr, this.#asideSince.get(pr) ?? now]));
    const [batch] = fresh;
    // Of two that were made in one look the first leaves more behind than the second was chosen from.
    // A trial beside the line takes no turn in it (decision 0253).
    if (
      batch === undefined ||
      batch.place === 'trial' ||
      fresh.length > 1 ||
      now - batch.createdAt > STAGED_WITHIN_MS
    )
      return [];
    const inFlight = new Set(batches.flatMap(({ members }) => members.map(({ pr }) => pr)));
    const isAside = (pr: number): boolean => [...deferred, ...bounced].some((each) => each.pr === pr);
    const waiting = entries.filter(
      (entry) =>
        entry.readyAt !== null &&
        entry.readyAt <= batch.createdAt &&
        entry.scheduleId !== 0 &&
        !inFlight.has(entry.pr) &&
        !isAside(entry.pr) &&
        !entry.passedOnStaleBase &&
        entry.failureProbability === null &&
        entry.contradictedAt === undefined &&
        entry.timesSetAside === undefined &&
        entry.stagingTries === undefined &&
        entry.mergeTimedOut === undefined,
    );
    const hasPassed = new Set(entries.filter((entry) => entry.passedOnStaleBase).map(({ pr }) => pr));
    const own = new Set(batch.members.map(({ pr }) => pr));
    const isOwn = ({ pr }: { readonly pr: number }): boolean => own.has(pr);
    // One that staging left out had its turn between them; one that was set aside or bounced before had none.
    const isLeftOut = (pr: number): boolean =>
      now - (this.#asideSince.get(pr) ?? Number.NEGATIVE_INFINITY) <= STAGED_WITHIN_MS;
    // A look that came since has put the line in its order anew: then the batch itself tells whose turn came when.
    const isAsChosen = entries.filter(isOwn).every(({ pr }, index) => pr === batch.members[index]?.pr);
    const line = isAsChosen
      ? entries.slice(entries.findIndex(isOwn), entries.findLastIndex(isOwn) + 1)
      : batch.members;
    const taken = line.filter(({ pr }) => !hasPassed.has(pr) && (own.has(pr) || isLeftOut(pr)));
    const members = taken.map(({ pr }) => project.authorOf(pr));
    const authors = [...members, ...waiting.map(({ pr }) => project.authorOf(pr))];
    const crowds = (author: string): boolean => {
      const count = authors.filter((each) => each === author).length;
      return count > FEW_MAX && count > CROWD_SHARE * authors.length;
    };
    const late = waiting.filter(({ pr }) => !crowds(project.authorOf(pr)));
    if (late.length === 0 || !members.some(crowds)) return [];
    this.judged += 1;
    return members.flatMap((author, index) =>
      crowds(author) && members.slice(Math.max(0, index - TURNS_OF_OTHERS), index).includes(author)
        ? [`#${taken[index]?.pr} of ${author} has a turn too soon, and #${late[0]?.pr} waits`]
        : [],
    );
  }
}
