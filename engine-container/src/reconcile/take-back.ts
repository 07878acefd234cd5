import { mayOpenMerge } from '#core/domain/forge/forge.ts';
import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import { describeUnrecorded } from '../queue/words/phrases.ts';
import { isGone } from '../reading/is-gone.ts';
import { AnotherRepo } from '../reading/repo-identity.ts';

/** Heads that are looked at, those of the record that was stored last first, and of these the one that lands; each costs a call, and one more where something stands. */
const HEADS_MAX = 60;

interface Posted {
  readonly pr: PullRequestNumber;
  readonly sha: CommitSha;
  readonly context: string;
}

/**
 * Takes back every `success` that these records know of, without a record to write that down in: what cannot be stored
 * cannot be watched either, and would open a merge on whatever the base is by then. True when all of them were looked
 * at. Safe to repeat: what says something else already is left alone.
 */
export async function takeBackUnrecorded(
  forge: EngineForge,
  baseBranch: string,
  records: readonly QueueRecord[],
): Promise<boolean> {
  const heads = new Map(
    records.flatMap(postedBy).map((posted) => [`${posted.sha} ${posted.context}`, posted]),
  );
  let isComplete = heads.size <= HEADS_MAX;
  for (const posted of [...heads.values()].slice(0, HEADS_MAX)) {
    try {
      await takeBack(forge, posted);
    } catch (error) {
      // The heads are in the repository that had the name before.
      if (error instanceof AnotherRepo) return false;
      if (!(error instanceof ForgeError)) throw error;
      // A commit that is gone opens nothing.
      if (!(await isKnownGone(forge, baseBranch, error))) isComplete = false;
    }
  }
  return isComplete;
}

async function isKnownGone(forge: EngineForge, baseBranch: string, error: ForgeError): Promise<boolean> {
  try {
    return await isGone(forge, baseBranch, error);
  } catch (silence) {
    if (!(silence instanceof ForgeError)) throw silence;
    return false;
  }
}

function postedBy({ context, batches, pendingStatuses, unheard = [] }: QueueRecord): readonly Posted[] {
  const landing = batches.flatMap((batch) => (batch.landing === null ? [] : [batch.landing]));
  return [
    ...landing.map(({ pr, head }) => ({ pr, sha: head, context })),
    ...unheard.map(({ pr, sha, context: posted }) => ({ pr, sha, context: posted })),
    ...pendingStatuses.map(({ pr, sha, context: posted }) => ({ pr, sha, context: posted })),
  ];
}

async function takeBack(forge: EngineForge, { sha, context }: Posted): Promise<void> {
  const statuses = await forge.readStatuses(sha);
  const ours = statuses.find((status) => status.context === context);
  if (ours === undefined || !mayOpenMerge(ours)) return;
  await forge.postStatus(sha, {
    state: 'pending',
    context,
    description: describeUnrecorded(),
    targetUrl: null,
  });
}
