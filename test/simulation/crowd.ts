import { QUEUE_ENTRIES_MAX } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** Reviews on one pull request, now and then. */
const COMMENTS_MAX = 16_000;
const REVIEWS_EACH_MAX = 12;

/** Pull requests that are open beside those of the life, by the hundred or the thousand: the record has to hold them. */
export interface Crowd {
  /** Scheduled without the approval that the rule asks for: each is to be told so. */
  readonly scheduled: readonly number[];
}

/**
 * Fills a repository. Those of the life are approved and go on landing; of the crowd some are scheduled and lack the
 * approval, most only lie there.
 */
export async function gatherCrowd(
  forge: AbstractForge,
  size: number,
  random: SeededRandom,
  others: readonly number[],
): Promise<Crowd> {
  await forge.setProtection({ requiredApprovals: 1 });
  for (const pr of others) await forge.review(pr, 'alice', 'approve');
  const scheduled: number[] = [];
  const scheduledShare = random.pick([0.1, 0.5, 1]);
  const reviewsEach = random.int(REVIEWS_EACH_MAX + 1);
  for (let index = 0; index < size; index += 1) {
    const pr = await forge.openPullRequest({
      branch: `crowd-${index}`,
      title: `Change ${index} of a crowd ${'x'.repeat(random.int(120))}`,
      files: { [`crowd/${index}.txt`]: `${index}\n` },
    });
    for (let count = 0; count < reviewsEach; count += 1)
      await forge.review(pr, `person-${random.int(997)}`, 'comment');
    if (!random.chance(scheduledShare)) continue;
    await forge.schedule(pr);
    scheduled.push(pr);
  }
  const [first] = scheduled;
  const comments = random.chance(0.2) ? random.int(COMMENTS_MAX) : 0;
  for (let count = 0; first !== undefined && count < comments; count += 1)
    await forge.review(first, `person-${random.int(997)}`, 'comment');
  return { scheduled };
}

/**
 * How many the queue has no room for (decision 0124): they enter as others leave, and nothing is said of them before.
 */
export function countBeyond(crowd: Crowd | undefined, others: readonly number[]): number {
  return Math.max(0, (crowd?.scheduled.length ?? 0) + others.length - QUEUE_ENTRIES_MAX);
}

/** At rest each of the crowd that the queue has room for was told what it lacks. */
export async function judgeCrowd(
  forge: AbstractForge,
  crowd: Crowd,
  others: readonly number[],
): Promise<readonly string[]> {
  const { scheduled } = crowd;
  const words = await Promise.all(
    scheduled.map(
      async (pr) =>
        (await forge.status((await forge.pull(pr)).headSha, DEFAULT_SERVICE_NAME))?.description ?? '',
    ),
  );
  const untold = words.filter((text) => !text.startsWith('refused: required approvals')).length;
  return untold > countBeyond(crowd, others)
    ? [`${untold} of a crowd of ${scheduled.length} are not told what they lack`]
    : [];
}
