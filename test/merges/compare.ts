import { computeAtHand } from '../../engine-container/src/staging/objects.ts';
import { type MergePlan, planMerge } from '../../engine-container/src/staging/three-way.ts';
import { GitLab } from './git-lab.ts';
import { MemoryObjects, type MergeCase } from './trees.ts';

export interface Verdict {
  /** Git's merge and ours, by the same name where they agree. */
  readonly name: 'same tree' | 'both refuse' | 'refused alone' | 'other tree' | 'accepted alone';
  readonly plan: MergePlan;
  /** Tree id, `conflict`, or `broken` where git aborts: 2.39 does on a few renames. */
  readonly git: string;
}

/** Merges each case with the engine's planner and with git itself. */
export function compareMerges(cases: readonly MergeCase[]): readonly Verdict[] {
  const lab = new GitLab();
  try {
    lab.importCases(cases);
    const trees = lab.mergeCases(cases.length);
    return cases.map((one, at) => {
      const git = trees[at] ?? 'broken';
      const plan = planCase(one);
      return { name: nameOf(plan, git), plan, git };
    });
  } finally {
    lab.dispose();
  }
}

export function planCase(one: MergeCase): MergePlan {
  const objects = new MemoryObjects();
  const [base, ours, theirs] = [one.base, one.ours, one.theirs].map((tree) => objects.putTree(tree));
  if (base === undefined || ours === undefined || theirs === undefined) throw new Error('a side is missing');
  return computeAtHand(planMerge(objects, { base, ours, theirs }));
}

function nameOf(plan: MergePlan, git: string): Verdict['name'] {
  const gitRefuses = git === 'conflict' || git === 'broken';
  if (plan.kind === 'refused') return gitRefuses ? 'both refuse' : 'refused alone';
  if (gitRefuses) return 'accepted alone';
  return plan.tree === git ? 'same tree' : 'other tree';
}

/** The sum of a run of verdicts; `wrong` must stay empty. */
export class Tally {
  readonly counts: Record<string, number> = {};
  readonly reasons: Record<string, number> = {};
  readonly wrong: { readonly seed: number; readonly at: number; readonly name: string }[] = [];

  add(seed: number, verdicts: readonly Verdict[]): void {
    for (const [at, { name, plan }] of verdicts.entries()) {
      this.counts[name] = (this.counts[name] ?? 0) + 1;
      if (name === 'refused alone' && plan.kind === 'refused') {
        this.reasons[plan.reason] = (this.reasons[plan.reason] ?? 0) + 1;
      }
      if (name === 'other tree' || name === 'accepted alone') this.wrong.push({ seed, at, name });
    }
  }
}
