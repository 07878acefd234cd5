import { computeAtHand } from '../../../../engine-container/src/staging/objects.ts';
import { renderPatch } from '../../../../engine-container/src/staging/patch.ts';
import { planMerge } from '../../../../engine-container/src/staging/three-way.ts';
import { diffTrees } from '../../../../engine-container/src/staging/tree-walk.ts';
import { draftCase } from '../../../merges/cases.ts';
import { compareMerges, Tally } from '../../../merges/compare.ts';
import { GitLab } from '../../../merges/git-lab.ts';
import { randomCase } from '../../../merges/small-trees.ts';
import { MemoryObjects } from '../../../merges/trees.ts';
import { createSeededRandom } from '../../../support/seeded-random.ts';

const SEED = 20261122;
const PROJECTS = 100;
const SMALL_TREES = 70;
const EXACT_CASES = 40;
/** A few processes per case; a busy machine may take its time. */
jest.setTimeout(120_000);

/** The share of `npm run merges` that every run of the tests pays for. */
test(`merges of ${PROJECTS} projects are git's own, and none is planned where git stops, seed ${SEED}`, () => {
  const random = createSeededRandom(SEED);
  const tally = new Tally();
  tally.add(SEED, compareMerges(Array.from({ length: PROJECTS }, () => draftCase(random))));
  expect(tally.wrong).toEqual([]);
  expect(tally.counts['same tree']).toBeGreaterThan(PROJECTS / 3);
  expect(tally.counts['both refuse']).toBeGreaterThan(PROJECTS / 10);
  expect(tally.counts['refused alone'] ?? 0).toBeLessThanOrEqual(PROJECTS / 50);
});

describe(`staging against real git, seed ${SEED}`, () => {
  const random = createSeededRandom(SEED);
  const cases = [
    ...Array.from({ length: SMALL_TREES }, () => randomCase(random)),
    ...Array.from({ length: SMALL_TREES }, () => draftCase(random)),
  ];
  const objects = new MemoryObjects();
  const trees = cases.map((one) => ({
    base: objects.putTree(one.base),
    ours: objects.putTree(one.ours),
    theirs: objects.putTree(one.theirs),
  }));
  let lab: GitLab;

  beforeAll(() => {
    lab = new GitLab();
    lab.importCases(cases);
  });
  afterAll(() => lab.dispose());

  test('directories get the ids that git gives', () => {
    const sides = ['base', 'ours', 'theirs'] as const;
    const expected = lab.readTreeIds(cases.flatMap((_, i) => sides.map((side) => `${i}/${side}`)));
    expect(trees.flatMap((tree) => sides.map((side) => tree[side]))).toEqual(expected);
  });

  test('the patch makes the tree that the plan says, and that git merges', async () => {
    const merged = lab.mergeCases(cases.length);
    const made = new Map<string, Buffer>();
    const planner = new MemoryObjects();
    for (const one of cases) for (const side of [one.base, one.ours, one.theirs]) planner.putTree(side);
    planner.putBlob = (id, content) => made.set(id, content);
    const plans = trees.map((each) => computeAtHand(planMerge(planner, each)));
    const patches = plans.map((plan) =>
      plan.kind === 'plan' ? renderPatch(plan.changes, (id) => made.get(id)) : null,
    );
    const applied = lab.applyPatches(await Promise.all(patches));
    const planned = plans.flatMap((plan, i) => (plan.kind === 'plan' ? [{ i, tree: plan.tree }] : []));
    expect(planned.map(({ i }) => ({ i, tree: applied[i] }))).toEqual(planned);
    expect(planned.map(({ i }) => ({ i, tree: merged[i] }))).toEqual(planned);
    expect(planned.length).toBeGreaterThan(cases.length / 3);
    expect(made.size).toBeGreaterThan(cases.length / 20);
  });

  test('the patch between two trees turns one into the other exactly', async () => {
    const some = trees.slice(0, EXACT_CASES);
    const patches = some.map(({ ours, theirs }) =>
      renderPatch(computeAtHand(diffTrees(objects, ours, theirs)).changes),
    );
    const applied = lab.applyPatches(await Promise.all(patches));
    expect(applied).toEqual(some.map(({ theirs }) => theirs));
  });
});
