import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME, stagingBranch } from '#core/domain/queue/queue-names.ts';
import { FORGEJO_15_SWITCHES, GITEA_126_SWITCHES, type Switches } from '../../fakes/abstract-forge/world.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { judgeWords, look, type Scene, type Scenes, setStage, wordsOn } from '../scene-stage.ts';

/** Scenes about how the rule of a base is read, and about rules and names that keep the queue from landing. */

const HOUR_MS = 60 * 60_000;

/** A required check that no status can answer, by the forge's own reading of its pattern: the forge does not ask for it. */
function askForMalformed(pattern: string, switches: Partial<Switches>): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage({ switches });
    await givenProject(stage.forge);
    await stage.forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME, pattern] });
    const pr = await givenScheduled(stage.forge, 'a');
    await look(stage, 20);
    return stage.forge.isMerged(pr) ? [] : ['a malformed pattern is waited for'];
  };
}

const askForOpenClass = askForMalformed('ci/[linux', GITEA_126_SWITCHES);
const askForRangesOfForgejo = askForMalformed('ci/[a-z0-9]*', FORGEJO_15_SWITCHES);

/** A rule covers the branches of the queue: owner and author are told, nothing is tried meanwhile, and it lands once the rule is gone. */
function ruleOverOwnBranches(switches: Switches): Scene {
  return async () => {
    const stage = await setStage({ switches });
    const { forge } = stage;
    await givenProject(forge);
    const own = stagingBranch(DEFAULT_SERVICE_NAME, 'main');
    await forge.protectBranch(own, { directPushAllowed: false });
    const pr = await givenScheduled(forge, 'a');
    const problems: string[] = [];
    const isTold = async () => (await stage.record()).rule?.reasons.includes('staging_protected') === true;
    let code: string | null | undefined = null;
    for (let count = 0; count < 10 && code !== 'protection_conflict'; count += 1) {
      await stage.clock.advance(30_000);
      code = (await stage.reconcile())?.errorCode;
    }
    if (!(await isTold())) problems.push('the look that meets the rule does not tell its owner');
    await look(stage, 4);
    if (!(await isTold())) problems.push('a later look takes the rule for gone');
    const { batches } = await stage.record();
    if (batches.length > 0) problems.push('a batch is opened that cannot be staged');
    const words = await wordsOn(stage, pr);
    if (words !== PULL_CODES.queue_stopped.says) problems.push(`the author is told "${words}"`);
    problems.push(...(await judgeWords(stage)));
    await forge.unprotectBranch(own);
    await look(stage, 20);
    if (!forge.isMerged(pr)) problems.push('nothing lands although the rule is gone');
    if (await isTold()) problems.push('the owner is told of a rule that is gone');
    return problems;
  };
}

/** A person renames the base: the next look says that it is gone, its rule is not told to be gone, and it goes on under its old name. */
async function renameBase(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { protectionRequested: true } });
  const { forge } = stage;
  await givenProject(forge);
  await look(stage, 1);
  const before = (await stage.record()).rule;
  const pr = await givenScheduled(forge, 'a');
  await forge.renameBranch('main', 'trunk');
  // By then the rule is looked at again.
  await stage.clock.advance(HOUR_MS);
  await look(stage, 2);
  const problems: string[] = [];
  if ((await stage.reconcile())?.errorCode !== 'base_missing')
    problems.push('a base that is gone is not told');
  const { rule } = await stage.record();
  if (String(rule?.reasons) !== String(before?.reasons)) problems.push('the rule is told to be gone');
  await forge.renameBranch('trunk', 'main');
  await look(stage, 20);
  return forge.isMerged(pr) ? problems : [...problems, 'nothing lands under the old name'];
}

/** The rule asks for a check that nothing posts in place of the status of the queue: its owner is told, and it goes on once that is put right. */
async function askForOldContext(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setProtection({ requiredContexts: ['old'] });
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 2);
  const told = (await stage.reconcile())?.errorCode;
  const problems = told === 'protection_conflict' ? [] : [`the owner is told "${told}"`];
  if ((await wordsOn(stage, pr)).startsWith('waiting: another required check'))
    problems.push('the author is told to get the check passed that opens the merge of what is not proven');
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] });
  await look(stage, 20);
  return forge.isMerged(pr) ? problems : [...problems, 'nothing lands although the rule is right'];
}

/** The rule asks for a pattern that ours is one match of among many (E14). */
async function requirePattern(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await stage.forge.setProtection({ requiredContexts: ['m*'] });
  await givenScheduled(stage.forge, 'a');
  await look(stage, 4);
  return stage.forge.runs().length === 0 ? [] : ['a gate that any status opens was taken for one'];
}

export const RULE_SCENES = {
  'a required check is malformed': askForOpenClass,
  'a required check is malformed on Forgejo alone': askForRangesOfForgejo,
  'a rule covers the branches of the queue': ruleOverOwnBranches(GITEA_126_SWITCHES),
  'a rule covers the branches of the queue on Forgejo': ruleOverOwnBranches(FORGEJO_15_SWITCHES),
  'a person renames the base': renameBase,
  'the rule asks for a former context of the queue': askForOldContext,
  'a pattern is required': requirePattern,
} satisfies Scenes;
