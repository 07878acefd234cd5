import type { PullRequestNumber } from '#core/domain/ids.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { FORGEJO_15_SWITCHES, GITEA_126_SWITCHES } from '../../fakes/abstract-forge/world.ts';
import { givenProject } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';

/** Scenes in which a rebase checks files out that git converts between history and disk. */
const LOOKS = 20;
const TEXT = '*.txt text\n';
const crlf = (line: string): string => `begin\r\n${line}\r\nend\r\n`;
const CRLF = crlf('line');

async function openStage(
  files: Readonly<Record<string, string>>,
  switches = GITEA_126_SWITCHES,
): Promise<Stage> {
  const stage = await setStage({ switches, repo: { mergeStyle: 'rebase' } });
  await givenProject(stage.forge, files);
  return stage;
}

async function play(stage: Stage, pr: number): Promise<string> {
  await stage.forge.schedule(pr, 'rebase');
  await look(stage, LOOKS);
  return stage.forge.isMerged(pr) ? 'landed' : wordsOn(stage, pr);
}

const told = (words: string, wanted: string, what: string): readonly string[] =>
  words === wanted ? [] : [`${what}: "${words}"`];
const REFUSED = PULL_CODES.file_converted.says;

/** Its words name the way back: that file keeps its line ends by a rule, and the branch comes after the rule. */
async function changeConverted(): Promise<readonly string[]> {
  const stage = await openStage({ '.gitattributes': TEXT, 'dos.txt': CRLF });
  const { forge } = stage;
  const pr = await forge.openPullRequest({ branch: 'dos', files: { 'dos.txt': crlf('changed') } });
  const refused = await play(stage, pr);
  if (refused !== REFUSED) return [`a file whose line ends git converts: "${refused}"`];
  const rule = { '.gitattributes': `${TEXT}dos.txt -text\n` };
  const keeps = await forge.openPullRequest({ branch: 'keeps', files: rule });
  const landed = await play(stage, keeps);
  await forge.updateBranch(pr);
  await look(stage, LOOKS);
  const back = forge.isMerged(pr) ? [] : ['the way back that its words name does not lead back'];
  return [...told(landed, 'landed', 'a change of the rules alone'), ...back];
}

/** The file is gone or converted for good in the head: the rebase stops where it would overwrite the one of the base. */
async function removeConverted(): Promise<readonly string[]> {
  const stage = await openStage({ '.gitattributes': TEXT, 'dos.txt': CRLF });
  const pr = await stage.forge.openPullRequest({
    branch: 'unix',
    files: { 'dos.txt': CRLF.replaceAll('\r', '') },
  });
  return told(await play(stage, pr), REFUSED, 'a file that is converted for good');
}

/** Git stops at what the commit before wrote, unless the commits stand on the base and stay as they are. */
function convertBetween(isBehind: boolean, wanted: string): () => Promise<readonly string[]> {
  return async () => {
    const stage = await openStage({ '.gitattributes': TEXT });
    const { forge } = stage;
    const pr = await forge.openPullRequest({ branch: 'dos', files: { 'dos.txt': CRLF } });
    await forge.pushToPullRequest(pr, { 'dos.txt': CRLF.replaceAll('\r', '') });
    if (isBehind) await forge.pushToBase({ 'src/base.txt': '1\n' });
    await stage.clock.advance(60_000);
    return told(await play(stage, pr), wanted, 'a file that one commit adds and the next converts');
  };
}

const convertBehind = convertBetween(true, REFUSED);
const convertUpToDate = convertBetween(false, 'landed');

/** Its head has no rule; the base has one by now, and git takes the rebased file for changed when it is put on top. */
async function addBeforeRule(): Promise<readonly string[]> {
  const stage = await openStage({});
  const { forge } = stage;
  const pr = await forge.openPullRequest({ branch: 'dos', files: { 'dos.txt': CRLF } });
  await forge.pushToBase({ '.gitattributes': TEXT });
  await stage.clock.advance(60_000);
  return told(await play(stage, pr), REFUSED, 'a new file that the base has a rule for');
}

/** The rule that keeps line ends comes in the same pull request: the base is checked out without it once more at the end. */
async function changeAfterOwnRule(): Promise<readonly string[]> {
  const stage = await openStage({ '.gitattributes': TEXT, 'dos.txt': CRLF });
  const { forge } = stage;
  const pr = await forge.openPullRequest({
    branch: 'dos',
    files: { '.gitattributes': `${TEXT}dos.txt -text\n` },
  });
  await forge.pushToPullRequest(pr, { 'dos.txt': crlf('changed') });
  return told(await play(stage, pr), REFUSED, 'a change behind a rule of its own');
}

/** Only what differs between the head and the base is checked out. */
async function leaveConverted(): Promise<readonly string[]> {
  const stage = await openStage({ '.gitattributes': TEXT, 'dos.txt': CRLF });
  const { forge } = stage;
  const pr = await forge.openPullRequest({ branch: 'there', files: { 'dos.txt': crlf('changed') } });
  await forge.pushToPullRequest(pr, { 'dos.txt': CRLF, 'src/own.txt': '1\n' });
  await forge.pushToBase({ 'src/base.txt': '1\n' });
  await stage.clock.advance(60_000);
  return told(await play(stage, pr), 'landed', 'a change of such a file that is taken back');
}

/** With `text=auto` git leaves line ends alone that are in the index. */
async function changeAutoText(): Promise<readonly string[]> {
  const stage = await openStage({ '.gitattributes': '*.txt text=auto eol=lf\n', 'dos.txt': CRLF });
  const pr = await stage.forge.openPullRequest({ branch: 'dos', files: { 'dos.txt': crlf('changed') } });
  return told(await play(stage, pr), 'landed', 'line ends that git leaves alone');
}

/** Forgejo leaves a head as it is that holds the whole base, also by a merge; any other is checked out there as well. */
async function changeConvertedOnForgejo(): Promise<readonly string[]> {
  const stage = await openStage({ '.gitattributes': TEXT, 'dos.txt': CRLF }, FORGEJO_15_SWITCHES);
  const { forge } = stage;
  const change = (branch: string): Promise<PullRequestNumber> =>
    forge.openPullRequest({ branch, files: { 'dos.txt': crlf(branch) } });
  const upToDate = await play(stage, await change('dos'));
  const behind = await change('behind');
  await forge.pushToBase({ 'src/base.txt': '1\n' });
  await stage.clock.advance(60_000);
  const refused = await play(stage, behind);
  await forge.updateBranch(behind);
  await look(stage, LOOKS);
  const back = forge.isMerged(behind) ? [] : ['a head that has merged the base is not left as it is'];
  return [
    ...told(upToDate, 'landed', 'a head that holds the base'),
    ...told(refused, REFUSED, 'a head behind the base'),
    ...back,
  ];
}

export const CONVERTED_SCENES = {
  'a rebase stops at a file that git converts': changeConverted,
  'a rebase stops at a file that its head converts for good': removeConverted,
  'a rebase stops at a file that a commit of its own converts': convertBehind,
  'a rebase leaves commits as they are that stand on the base': convertUpToDate,
  'a rebase stops at a new file that the base has a rule for': addBeforeRule,
  'a rebase stops at the base, which lacks the rule of the head': changeAfterOwnRule,
  'a rebase passes a file by that git converts and that does not change': leaveConverted,
  'a rebase checks out a file whose line ends git leaves alone': changeAutoText,
  'a forge checks out the heads alone that lack its base': changeConvertedOnForgejo,
} satisfies Scenes;
