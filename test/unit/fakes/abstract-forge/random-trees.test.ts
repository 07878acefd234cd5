import { renderPatch } from '../../../../engine-container/src/staging/patch.ts';
import { GATE_WORKFLOW_PATH } from '../../../fakes/abstract-forge/index.ts';
import { randomCase } from '../../../merges/small-trees.ts';
import type { CaseTree } from '../../../merges/trees.ts';
import type { FileChanges } from '../../../support/forge-control.ts';
import { createSeededRandom } from '../../../support/seeded-random.ts';
import { planPull, STAGING, setUp, success } from './set-up.ts';

const SEED = 7;
const CASES = 300;

function changesBetween(from: CaseTree, to: CaseTree): FileChanges {
  const changes: Record<string, FileChanges[string]> = {};
  for (const path of from.keys()) if (!to.has(path)) changes[path] = null;
  for (const [path, file] of to) changes[path] = file;
  return changes;
}

test(`the engine's plan, the forge's patch and the native merge agree on every tree, seed ${SEED}`, async () => {
  const random = createSeededRandom(SEED);
  const tally = { same: 0, refused: 0, contentMerges: 0 };
  for (let i = 0; i < CASES; i++) {
    const one = randomCase(random);
    const files = { ...Object.fromEntries(one.base), 'README.md': null, [GATE_WORKFLOW_PATH]: null };
    const { clock, control, bot } = setUp({ files: { ...files, ...Object.fromEntries(one.base) } });
    const pr = await control.openPullRequest({ branch: 'one', files: changesBetween(one.base, one.theirs) });
    await control.schedule(pr, 'squash').catch(() => undefined);
    const tip = await control.pushToBase(changesBetween(one.base, one.ours));
    const pull = await bot.readPullRequest(pr);
    const { objects, plan } = await planPull(bot, tip, pr);
    expect({ i, mergeable: pull.mergeable }).toEqual({ i, mergeable: plan.kind === 'plan' });
    if (plan.kind === 'refused') {
      tally.refused += 1;
      continue;
    }
    if (plan.changes.length === 0) continue;
    const patch = await renderPatch(plan.changes, (id) => objects.contentOf(id));
    const staged = await bot.applyPatch({ branch: 'main', newBranch: STAGING, patch, message: 'stage' });
    expect({ i, tree: staged.tree }).toEqual({ i, tree: plan.tree });
    if (patch.includes('\nliteral ')) tally.contentMerges += 1;
    await success(control, pull.headSha);
    await clock.advance(1000);
    expect({ i, tree: control.merges()[0]?.tree }).toEqual({ i, tree: staged.tree });
    tally.same += 1;
  }
  expect(tally.same).toBeGreaterThan(CASES / 3);
  expect(tally.refused).toBeGreaterThan(CASES / 10);
  expect(tally.contentMerges).toBeGreaterThan(CASES / 50);
});
