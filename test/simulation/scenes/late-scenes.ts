import { SUCCESS_LATE_MS } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME, isOwnBranch, stagingBranch } from '#core/domain/queue/queue-names.ts';
import { StoreError } from '#core/ports/store.ts';
import { LATE_EFFECT_MS } from '../../fakes/abstract-forge/exchange.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { giveUpFirst, postsSuccess } from '../../scenario/late-call.ts';
import { givenProject, givenScheduled, staleSuccesses } from '../../scenario/stories.ts';
import type { Machine } from '../../support/machine.ts';
import { type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes in which a call is carried out after its caller has given up. */

const TWO_MINUTES_MS = 120_000;

/** The first success is carried out after it was taken back, right before its landing is over (E19). */
async function successComesLate(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.lateEffectMs = SUCCESS_LATE_MS - 3_000;
  const pr = await givenScheduled(stage.forge, 'a');
  const head = (await stage.forge.pull(pr)).headSha;
  const wasGivenUp = giveUpFirst(stage.forge, postsSuccess(head));
  await stage.drain({ until: wasGivenUp });
  await stage.forge.cancelSchedule(pr);
  await stage.reconcile();
  // It is too early for the next look whether a lost answer has come true.
  await stage.drain({ maxMs: SUCCESS_LATE_MS + 1_000 });
  if (!stage.forge.statusHistory(head).some(({ state }) => state === 'success'))
    return ['the scene did not come about'];
  return (await staleSuccesses(stage.forge, [pr])).length === 0 ? [] : ['a success that came late stands'];
}

/** A branch that a given-up call creates after its batch is gone (E7). */
async function branchComesLate(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  const wasGivenUp = giveUpFirst(stage.forge, (call) => call.path.endsWith('/diffpatch'));
  await stage.reconcile();
  await stage.forge.cancelSchedule(pr);
  for (let waited = 0; waited < LATE_EFFECT_MS; waited += 1_000) {
    await stage.reconcile();
    await stage.clock.advance(1_000);
  }
  await stage.drain();
  const left = (await stage.forge.branches()).filter((branch) => isOwnBranch(DEFAULT_SERVICE_NAME, branch));
  return wasGivenUp() ? left.map((branch) => `branch left: ${branch}`) : ['the scene did not come about'];
}

/** The repository hides from the bot before a branch of the queue is deleted: the 404 says nothing of the branch. */
async function hideBranchToDelete(): Promise<readonly string[]> {
  let isHidden = false;
  const stage: Stage = await setStage({
    wrapForge: wrapForge(async (name, _values, answer) => {
      if (name === 'deleteBranch' && !isHidden) {
        isHidden = true;
        stage.forge.fault = () => ({ status: 404 });
      }
      return answer();
    }),
  });
  await givenProject(stage.forge);
  await givenScheduled(stage.forge, 'a');
  await stage.drain({ until: () => isHidden });
  stage.forge.fault = () => null;
  await stage.drain();
  const left = (await stage.forge.branches()).filter((branch) => isOwnBranch(DEFAULT_SERVICE_NAME, branch));
  return isHidden ? left.map((branch) => `branch left: ${branch}`) : ['the scene did not come about'];
}

/**
 * A staging call is given up, the write that is to say so fails as well, and the next try under the same name has come
 * and gone when the forge carries the first one out (E7).
 */
function stagingComesLate(contents: readonly string[]): () => Promise<readonly string[]> {
  return async () => {
    let isGivenUp = (): boolean => false;
    let isUnsaid = false;
    const machine: Machine = {
      io: (label, call) => {
        if (label !== 'store saveQueue' || isUnsaid || !isGivenUp()) return call();
        isUnsaid = true;
        return Promise.reject(new StoreError('unavailable', 'saveQueue'));
      },
    };
    const stage = await setStage({ newMachine: () => machine });
    await givenProject(stage.forge);
    stage.forge.gateDurationMs = 2_000;
    stage.forge.lateEffectMs = TWO_MINUTES_MS;
    for (const [at, content] of contents.entries()) await givenScheduled(stage.forge, `p${at}`, content);
    isGivenUp = giveUpFirst(
      stage.forge,
      ({ method, path }) =>
        method === 'POST' &&
        (contents.length === 1 || stage.forge.runs().length > 0) &&
        !/statuses/.test(path),
    );
    await stage.drain({ maxMs: TWO_MINUTES_MS - 10_000 });
    if (!isUnsaid || (await stage.record()).batches.length > 0) return ['the scene did not come about'];
    await stage.clock.advance(TWO_MINUTES_MS);
    await stage.drain({ maxMs: 30 * 60_000 });
    const left = (await stage.forge.branches()).filter((branch) => isOwnBranch(DEFAULT_SERVICE_NAME, branch));
    return left.map((branch) => `branch left: ${branch}`);
  };
}

/** A deletion that was given up is carried out when the next batch is under way (E7). */
async function deletionComesLate(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await givenScheduled(stage.forge, 'a');
  const wasGivenUp = giveUpFirst(
    stage.forge,
    (call) =>
      call.method === 'DELETE' && call.path.endsWith(`/${stagingBranch(DEFAULT_SERVICE_NAME, 'main')}`),
  );
  await stage.drain({ until: wasGivenUp });
  await stage.reconcile();
  await givenScheduled(stage.forge, 'b');
  stage.forge.judge = () => 'never';
  await stage.reconcile();
  const nodes = (await stage.record()).batches.flatMap((batch) => batch.nodes);
  if (nodes.length !== 1 || nodes[0]?.branch == null) return ['the scene did not come about'];
  await stage.clock.advance(LATE_EFFECT_MS);
  const stands = (await stage.forge.branches()).includes(nodes[0].branch);
  return stands ? [] : ['a deletion of before took the branch of the next batch'];
}

/** A person deletes the staging branch before its run has begun: none can come any more. */
async function branchGoesEarly(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.judge = () => 'never';
  await givenScheduled(stage.forge, 'a');
  await stage.reconcile();
  await stage.forge.deleteBranch(stagingBranch(DEFAULT_SERVICE_NAME, 'main'));
  stage.forge.judge = () => 'success';
  await stage.drain({ maxMs: 30 * 60_000 });
  return stage.forge.merges().length === 1 ? [] : ['a batch without a branch waits for its run'];
}

/** … or pushes something else there: what runs then is not what was staged. */
async function branchIsMoved(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.judge = () => 'never';
  await givenScheduled(stage.forge, 'a');
  await stage.reconcile();
  await stage.forge.pushBranch(stagingBranch(DEFAULT_SERVICE_NAME, 'main'), await stage.forge.tip('main'));
  stage.forge.judge = () => 'success';
  await stage.drain({ maxMs: 30 * 60_000 });
  return stage.forge.merges().length === 1 ? [] : ['a batch whose branch was moved waits for its run'];
}

export const LATE_SCENES = {
  'a success comes late': successComesLate,
  'a branch comes late': branchComesLate,
  'the repository hides before a branch is deleted': hideBranchToDelete,
  'the staging of a batch comes late and unsaid': stagingComesLate(['BAD\n']),
  'the staging of a part comes late and unsaid': stagingComesLate(['BAD\n', 'good\n']),
  'a branch goes early': branchGoesEarly,
  'a staging branch is moved': branchIsMoved,
  'a deletion comes late': deletionComesLate,
} satisfies Scenes;
