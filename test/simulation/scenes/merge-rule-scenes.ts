import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage, wordOn, wordsOn } from '../scene-stage.ts';
import { givenOthers, judgeBlocked, MINUTE_MS } from './blocked-scenes.ts';

/** Scenes in which the forge takes no merge in a style, without a signature or with a title. */

/** Several are scheduled in a style that is off already: the first is waited for to the end, the others are not. */
async function styleOffForSeveral(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { rowDeletedBeforeMerge: false } });
  const { forge } = stage;
  await givenProject(forge);
  forge.forbidStyle('squash');
  const all: number[] = [];
  for (const branch of ['a', 'b', 'c', 'd']) all.push(await givenScheduled(forge, branch));
  await stage.drain({ until: async () => forge.runs().length > 0 });
  const words = async () => Promise.all(all.map((pr) => wordsOn(stage, pr)));
  const begun = stage.clock.now();
  const isTold = async () => (await words()).every((each) => each === PULL_CODES.style_off.says);
  await stage.drain({ maxMs: 60 * MINUTE_MS, until: isTold });
  if (!(await isTold())) return [`a style that is off: ${JSON.stringify(await words())}`];
  const minutes = (stage.clock.now() - begun) / MINUTE_MS;
  return minutes < 20
    ? []
    : [`four were told only after ${Math.round(minutes)} minutes that their style is off`];
}

/** Asked for since a pull request was scheduled, and its merge does not come: told after a minute, and not after ten or twenty. */
async function judgeToldSoon(
  change: (stage: Stage) => unknown,
  code: 'style_off' | 'merge_unsigned',
): Promise<readonly string[]> {
  const stage = await setStage({ switches: { rowDeletedBeforeMerge: false } });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => forge.runs().length > 0 });
  await change(stage);
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await look(stage, 8);
  const words = await wordsOn(stage, pr);
  return words === PULL_CODES[code].says ? [] : [`after four minutes: "${words}"`];
}

/** The settings of the repository do not allow the style any more in which all are scheduled; in another one they land. */
async function styleOff(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { rowDeletedBeforeMerge: false } });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => forge.runs().length > 0 });
  forge.forbidStyle('squash');
  await look(stage, 50);
  const words = await wordsOn(stage, pr);
  if (words !== PULL_CODES.style_off.says) return [`a style that is off: "${words}"`];
  const runs = forge.runs().length;
  await look(stage, 50);
  const problems = forge.runs().length > runs ? ['it was tried again although the style is off'] : [];
  await forge.cancelSchedule(pr);
  await look(stage, 2);
  await forge.schedule(pr, 'merge');
  await look(stage, 20);
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land in a style that is allowed'];
}

/**
 * The forge merges only what it signs, and has no key any more: told at the second merge that does not come, and not bounced. Once the
 * rule is off, all land by themselves.
 */
async function signedWithoutKey(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setProtection({ requiresSigned: true });
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')];
  await look(stage, 120);
  const problems: string[] = [];
  for (const pr of prs) {
    const words = await wordsOn(stage, pr);
    if (words !== PULL_CODES.merge_unsigned.says) problems.push(`a merge that is not signed: "${words}"`);
  }
  if ((await stage.events()).some(({ event }) => event === 'pr_bounced'))
    problems.push('one is bounced for a signature of the forge');
  const runs = forge.runs().length;
  await look(stage, 60);
  if (forge.runs().length > runs) problems.push('it was tried again although nothing has changed');
  await forge.setProtection({ requiresSigned: false });
  await stage.drain({ maxMs: 60 * MINUTE_MS });
  return prs.every((pr) => forge.isMerged(pr))
    ? problems
    : [...problems, 'they did not land without the rule'];
}

/** A forge with a key signs its merges: one that is lost is tried again under that rule as under any. */
async function lostUnderSignedRule(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setProtection({ requiresSigned: true });
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 20);
  await forge.setProtection({ requiresSigned: false });
  await look(stage, 30);
  const told = (await stage.events()).some(({ reason }) => reason === 'merge_unsigned');
  const problems = told ? ['one lost merge was taken for one that is not signed'] : [];
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land at its second try'];
}

/**
 * Git takes no NUL in a message, and the forge keeps the message of a schedule: scheduled under such a title it costs no gate run, and
 * holds up none. With another title and another schedule it lands.
 */
async function unmergeableTitle(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await forge.openPullRequest({ branch: 'a', title: 'Say\0more', files: { 'src/a.txt': 'a\n' } });
  await forge.schedule(pr, 'squash');
  const others = await givenOthers(stage);
  const begun = stage.clock.now();
  await look(stage, 20);
  const problems = await judgeBlocked(stage, pr, others, begun);
  const words = await wordsOn(stage, pr);
  if (words !== PULL_CODES.title_not_mergeable.says) problems.push(`a title with NUL: "${words}"`);
  await forge.setTitle(pr, 'Say more');
  const runs = forge.runs().length;
  await look(stage, 20);
  if (forge.runs().length > runs) problems.push('a schedule of before was tried with the message of before');
  await forge.cancelSchedule(pr);
  await look(stage, 2);
  await forge.schedule(pr, 'squash');
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land under another title'];
}

/** Scheduled under a title that can be merged, and changed while its merge is awaited: the forge merges with the message of before. */
async function titleChangedAmidLanding(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.mergeBehaviour = () => ({ kind: 'slow', ms: 4 * MINUTE_MS });
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await forge.setTitle(pr, 'Say\0more');
  await look(stage, 8);
  return forge.isMerged(pr) ? [] : ['a success was taken back for a title that the forge does not use'];
}

export const MERGE_RULE_SCENES = {
  'the style of a queue is switched off amid a landing': styleOff,
  'the style of a queue is switched off before several land': styleOffForSeveral,
  'the style of a queue is switched off since one was scheduled': () =>
    judgeToldSoon(({ forge }) => forge.forbidStyle('squash'), 'style_off'),
  'merges have to be signed since one was scheduled': () =>
    judgeToldSoon(({ forge }) => forge.setProtection({ requiresSigned: true }), 'merge_unsigned'),
  'merges have to be signed, and the forge has no key any more': signedWithoutKey,
  'a merge is lost where merges have to be signed': lostUnderSignedRule,
  'a title holds what git takes in no message': unmergeableTitle,
  'a title is changed amid a landing to one that git takes in no message': titleChangedAmidLanding,
} satisfies Scenes;
