import { renderPatch } from '../../../../engine-container/src/staging/patch.ts';
import { planMerge } from '../../../../engine-container/src/staging/three-way.ts';
import { diffTrees } from '../../../../engine-container/src/staging/tree-diff.ts';
import { hashTree } from '../../../../engine-container/src/staging/tree-hash.ts';
import { createSeededRandom } from '../../../support/seeded-random.ts';
import { GitLab } from './git-lab.ts';
import { entriesOf, randomCase } from './tree-case.ts';

const SEED = 20260901;
const CASES = 300;
const EXACT_CASES = 100;
/** A few processes per case; a busy machine may take its time. */
jest.setTimeout(60_000);
/** Git merges an add/add where one side is empty, and aligns lines a little better than `git apply`; we may refuse. */
const CAUTIOUS_CONFLICTS_MAX = 0.03;

describe(`staging against real git, seed ${SEED}`, () => {
  const random = createSeededRandom(SEED);
  const cases = Array.from({ length: CASES }, () => randomCase(random));
  const listings = cases.map((one) => ({
    base: entriesOf(one.base),
    ours: entriesOf(one.ours),
    theirs: entriesOf(one.theirs),
  }));
  const plans = listings.map(planMerge);
  let lab: GitLab;

  beforeAll(() => {
    lab = new GitLab();
    lab.importCases(cases);
  });
  afterAll(() => lab.dispose());

  test('hashTree computes the ids that git gives', () => {
    const sides = ['base', 'ours', 'theirs'] as const;
    const names = cases.flatMap((_, i) => sides.map((side) => `${i}/${side}`));
    const expected = lab.readTreeIds(names);
    const computed = listings.flatMap((listing) => sides.map((side) => hashTree(listing[side])));
    expect(computed).toEqual(expected);
  });

  test('the planned patch makes the tree that git merges, or there is a conflict', () => {
    const merged = lab.mergeCases(CASES);
    const applied = lab.applyPatches(
      plans.map((plan) => (plan.kind === 'plan' ? renderPatch(plan.changes) : null)),
    );
    const tally = { same: 0, contentMerges: 0, bothConflict: 0, cautious: 0 };
    plans.forEach((plan, i) => {
      const ours = plan.kind === 'conflict' ? 'conflict' : applied[i];
      const git = merged[i];
      expect(git).not.toBe('broken');
      if (ours === 'conflict') {
        tally[git === 'conflict' ? 'bothConflict' : 'cautious'] += 1;
        if (plan.kind === 'plan') expect(plan.contentMerges).not.toEqual([]);
        return;
      }
      expect({ case: i, tree: ours }).toEqual({ case: i, tree: git });
      tally.same += 1;
      if (plan.kind === 'plan' && plan.result !== null) {
        expect({ case: i, tree: hashTree(plan.result) }).toEqual({ case: i, tree: git });
      } else tally.contentMerges += 1;
    });
    expect(tally.same).toBeGreaterThan(CASES / 3);
    expect(tally.bothConflict).toBeGreaterThan(CASES / 10);
    expect(tally.contentMerges).toBeGreaterThan(CASES / 50);
    expect(tally.cautious).toBeLessThanOrEqual(CASES * CAUTIOUS_CONFLICTS_MAX);
  });

  test('the patch between two trees turns one into the other exactly', () => {
    const some = listings.slice(0, EXACT_CASES);
    const applied = lab.applyPatches(
      some.map((listing) => renderPatch(diffTrees(listing.ours, listing.theirs))),
    );
    expect(applied).toEqual(some.map((listing) => hashTree(listing.theirs)));
  });
});
