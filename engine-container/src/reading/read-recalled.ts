import type { CommitStatus } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { nextStuck } from '../queue/landing/standing.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { RecalledHead, RecalledView, Snapshot } from '../queue/snapshot.ts';
import { unlessGone } from './is-gone.ts';
import type { LookBudget } from './look-budget.ts';
import type { TryRead } from './look-reads.ts';
import { readOrNone } from './read-pull.ts';

/** Watched heads that one look reads; the others follow in the next. */
const UNHEARD_READS_MAX = 20;

/**
 * The statuses on the heads, of now and of then, of those that a lost record had in flight (A24, A32): as many as the
 * time of a look allows.
 */
export async function readRecalled(
  forge: EngineForge,
  baseBranch: string,
  budget: Pick<LookBudget, 'tryRead' | 'isSpent'>,
  { recall, recallHeads = [] }: QueueRecord,
): Promise<Pick<Snapshot, 'recalled'>> {
  if (recall === undefined) return {};
  const recalled = new Map<PullRequestNumber, Reading<RecalledView>>();
  for (const pr of recall) {
    // One that was deleted leaves its commits, and the statuses on them.
    const pull = await budget.tryRead(() => readOrNone(forge, baseBranch, pr));
    if (budget.isSpent) break;
    if (!pull.known) {
      recalled.set(pr, UNKNOWN);
      continue;
    }
    const earlier = recallHeads.filter((staged) => staged.pr === pr).map(({ head }) => head);
    const heads = new Set([...(pull.value === null ? [] : [pull.value.headSha]), ...earlier]);
    const merged = pull.value?.merged === true ? pull.value.headSha : null;
    const read = await budget.tryRead(() => readHeads(forge, baseBranch, heads, merged));
    if (budget.isSpent) break;
    recalled.set(pr, read);
  }
  return { recalled };
}

async function readHeads(
  forge: EngineForge,
  baseBranch: string,
  heads: ReadonlySet<CommitSha>,
  merged: CommitSha | null,
): Promise<RecalledView> {
  const read: RecalledHead[] = [];
  for (const head of heads) {
    // One that no branch has any more is swept by the forge some day.
    const statuses = await unlessGone(forge, baseBranch, () => forge.readStatuses(head));
    if (statuses !== null) read.push({ head, merged: head === merged, statuses });
  }
  return read;
}

/** The statuses on the heads whose post had no answer, or whose success cannot be taken back. */
export async function readUnheard(
  forge: EngineForge,
  tryRead: TryRead,
  { unheard = [], pendingStatuses }: QueueRecord,
  now: EpochMs,
): Promise<Pick<Snapshot, 'unheard'>> {
  const late = unheard.filter(({ lookAt }) => lookAt <= now).sort((a, b) => a.lookAt - b.lookAt);
  // Read whenever it is tried again: it may not stand at all, or not any more.
  const stuck = nextStuck(pendingStatuses, now);
  const inTurn = [...late.slice(0, UNHEARD_READS_MAX), ...(stuck === null ? [] : [stuck])];
  const due = new Set(inTurn.map(({ sha }) => sha));
  if (due.size === 0) return {};
  const read = new Map<CommitSha, Reading<readonly CommitStatus[]>>();
  for (const sha of due) {
    const statuses = await tryRead(() => forge.readStatuses(sha));
    read.set(sha, statuses);
    // It may have taken ten seconds: the others follow in the next look, before this one.
    if (!statuses.known) break;
  }
  return { unheard: read };
}
