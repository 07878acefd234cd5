import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { isSuccess, judgeWords, look, type Scenes, setStage, wordsOn } from '../scene-stage.ts';

/** Scenes about what the page and the head tell of one place in the queue. */

const DID_NOT_COME = ['the scene did not come about'];
const LIST_LAG_MS = 60_000;

/** One that the base moved under, so that they conflict. */
async function conflictWithBase(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await forge.pushToBase({ 'src/a.txt': 'other\n' });
  await look(stage, 4);
  return (await wordsOn(stage, pr)) === PULL_CODES.conflict.says ? judgeWords(stage) : DID_NOT_COME;
}

/** An author has one in the queue, as many as the settings allow, and schedules another one. */
async function beyondAuthorLimit(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { authorQueuedMax: 1 } });
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  await givenScheduled(forge, 'a');
  await look(stage, 2);
  const pr = await givenScheduled(forge, 'b');
  await look(stage, 4);
  return (await wordsOn(stage, pr)) === PULL_CODES.author_limit.says ? judgeWords(stage) : DID_NOT_COME;
}

/** The rule asks for another check while the gate run goes on: the forge does not merge, and the success is taken back. */
async function checkKeepsMerge(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 1);
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME, 'lint'] });
  await look(stage, 12);
  return (await wordsOn(stage, pr)) === PULL_CODES.other_checks.says ? judgeWords(stage) : DID_NOT_COME;
}

/**
 * Two with one head were refused, because it heads one to another branch as well. That branch is guarded no more, one
 * success merges both, and the list shows them as open for a while, in which nothing can be staged.
 */
async function headLandsTwice(): Promise<readonly string[]> {
  const stage = await setStage({
    onEntry: (entry, { forge }) => {
      if (!isSuccess(entry)) return;
      forge.lags = { ...NO_LAGS, list: LIST_LAG_MS };
      forge.fault = ({ path }) => (path.includes('/git/trees/') ? { status: 500 } : null);
    },
  });
  const { forge } = stage;
  await givenProject(forge);
  await forge.pushBranch('release', await forge.tip('main'));
  await forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME] }, 'release');
  const first = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(first);
  await stage.clock.advance(30_000);
  const twin = await forge.openPullRequest({ branch: 'twin', head: headSha });
  await forge.schedule(twin, 'squash');
  const elsewhere = await forge.openPullRequest({ branch: 'elsewhere', head: headSha, base: 'release' });
  await look(stage, 4);
  if ((await wordsOn(stage, elsewhere)) !== PULL_CODES.twin_elsewhere.says) return DID_NOT_COME;
  await forge.setProtection({ requiredContexts: ['docs/check'] }, 'release');
  await look(stage, 40);
  if (!forge.isMerged(first) || !forge.isMerged(twin)) return DID_NOT_COME;
  const words = await wordsOn(stage, elsewhere);
  return words === PULL_CODES.landed.says ? [] : [`one that no queue holds is told "${words}"`];
}

export const PLACE_SCENES = {
  'one conflicts with the base': conflictWithBase,
  'an author schedules one more than the settings allow': beyondAuthorLimit,
  'another check keeps a merge back': checkKeepsMerge,
  'both with a head that was refused land, and are listed as open': headLandsTwice,
} satisfies Scenes;
