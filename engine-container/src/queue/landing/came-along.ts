import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { DecisionContext } from '../decision-context.ts';
import { hasLandedHead } from './landed.ts';
import { isUntraced } from './merged-instead.ts';

type Merged = Pick<PullRequest, 'headSha' | 'mergeCommitSha'>;

/**
 * A landing of ours merged it: by the success on its head, which merges nothing more with the others that have that head, or
 * with its commits, where the forge calls merged what the base holds (`autodetect_manual_merge` of a repository). The forge
 * names the oldest merge above its head then, or its head where there is none.
 *
 * @returns `unknown` until the landing that may have done it is judged
 */
export function cameAlong(pass: DecisionContext, pull: Merged): 'yes' | 'unknown' | 'no' {
  const { record, s } = pass;
  const { mergeCommitSha: merge } = pull;
  const landed = record.landed ?? [];
  // Before its head: a landing that its tree alone has shown may be of this one, and not of the one that it is noted for.
  if (merge !== null && landed.some((each) => each.merge === merge))
    return isUntraced(record, merge) ? 'unknown' : 'yes';
  if (hasLandedHead(record, pull.headSha)) return 'yes';
  if (merge === null) return 'no';
  const toJudge = mergesToJudge(pass);
  const isItsHead = merge === pull.headSha;
  if (toJudge.includes(merge) || (isItsHead && toJudge.length > 0)) return 'unknown';
  // A push of that head would have moved the base, which is read where it may be another one.
  const tip = s.base.known ? s.base.value.sha : record.baseSeen?.sha;
  const isOfTip = isItsHead && tip !== undefined && tip === landed.at(-1)?.merge;
  // A landing that was not as it was proven stands on what others pushed: it brought none of that.
  return isOfTip && record.halted?.mergeCommit !== tip ? 'yes' : 'no';
}

/** The merge commits of landings under way that this look has read. */
function mergesToJudge({ record, s }: DecisionContext): readonly (string | null)[] {
  return record.batches.flatMap(({ landing }) => {
    const view = landing === null ? undefined : s.focus.get(landing.pr);
    return view?.known === true && view.value.pull.merged ? [view.value.pull.mergeCommitSha] : [];
  });
}
