import { createSeededRandom } from '../../support/seeded-random.ts';
import { checkCall, endWithUsage, type Usage } from '../../support/usage.ts';
import { countOption, hasOption, option } from '../options.ts';
import { findAccepted } from './accepted.ts';
import { ACTS, type Choice, drawCases, listCases, playerOf, replayOf } from './moments.ts';
import { STORIES } from './stories.ts';

const USAGE: Usage = {
  script: 'sim:acts',
  does: 'Does one act of a person at every call of the engine in a small story. The last line is one JSON object.',
  options: {
    '--story NAMES': 'these stories alone, with commas between them',
    '--act TEXT': 'acts with this name, or else with this text in it',
    '--target N': 'to the pull request at this place of the story alone, counted from 0',
    '--at N': 'at this call alone, counted from 0; a story, an act and a target that are named are told',
    '--when WHEN': 'before or after that call (before)',
    '--step N': 'at every Nth call (1)',
    '--sample N': 'so many acts at moments that are drawn, and not all',
    '--seed S': 'of the draw (1)',
    '--seconds T': 'ends after so long',
    '--deployed': 'through the whole service, with its idle looks, glances and webhooks',
  },
};
checkCall(USAGE);

function chooseStories(): Choice['stories'] {
  const names = option('story')?.split(',');
  if (names === undefined) return STORIES;
  const missing = names.find((name) => !STORIES.some((story) => story.name === name));
  if (missing !== undefined)
    endWithUsage(
      USAGE,
      `There is no story ${missing}; there are ${STORIES.map(({ name }) => name).join(', ')}.`,
    );
  return STORIES.filter(({ name }) => names.includes(name));
}

function chooseActs(): Choice['acts'] {
  const text = option('act');
  if (text === undefined) return ACTS;
  const named = ACTS.filter(({ name }) => name === text);
  const found = named.length > 0 ? named : ACTS.filter(({ name }) => name.includes(text));
  if (found.length === 0) endWithUsage(USAGE, `No act has the text "${text}".`);
  return found;
}

const choice: Choice = {
  stories: chooseStories(),
  acts: chooseActs(),
  target: option('target') === undefined ? null : countOption('target', 0),
  step: Math.max(1, countOption('step', 1)),
  isDeployed: hasOption('deployed'),
};
const play = playerOf(choice.isDeployed);

/** One case, told line by line. */
async function tellCase(at: number): Promise<void> {
  const [story, ...stories] = choice.stories;
  const [act, ...acts] = choice.acts;
  if (story === undefined || act === undefined || stories.length + acts.length > 0)
    endWithUsage(USAGE, '--at needs one --story and one --act.');
  const when = option('when') ?? 'before';
  if (when !== 'before' && when !== 'after') endWithUsage(USAGE, `--when is before or after, not ${when}.`);
  const outcome = await play(story, { act, at, when }, choice.target ?? 0, console.log);
  for (const violation of outcome.violations) {
    const accepted = findAccepted(story.name, act.name, violation);
    console.log(accepted === undefined ? violation : `accepted: ${violation} (${accepted.why})`);
    if (accepted === undefined) process.exitCode = 1;
  }
  console.log(outcome.endings);
}

async function sweep(): Promise<void> {
  const started = performance.now();
  const msMax = countOption('seconds', Number.MAX_SAFE_INTEGER / 1_000) * 1_000;
  const sample = option('sample');
  const random = createSeededRandom(countOption('seed', 1));
  const cases =
    sample === undefined ? listCases(choice) : drawCases(choice, countOption('sample', 0), random);
  const found = new Map<string, { count: number; readonly replay: string }>();
  let runs = 0;
  let accepted = 0;
  let isWhole = true;
  for await (const each of cases) {
    if (performance.now() - started > msMax) {
      isWhole = false;
      break;
    }
    const { story, act, target } = each;
    const { hasActed, violations } = await play(story, each, target);
    if (!hasActed) continue;
    runs += 1;
    for (const violation of violations) {
      if (findAccepted(story.name, act.name, violation) !== undefined) {
        accepted += 1;
        continue;
      }
      const key = `${story.name}, ${act.name}, to ${target}: ${violation}`;
      const before = found.get(key);
      if (before !== undefined) before.count += 1;
      else {
        found.set(key, { count: 1, replay: replayOf(each, choice.isDeployed) });
        console.log(`${key}\n  ${replayOf(each, choice.isDeployed)}`);
      }
    }
  }
  console.log(
    JSON.stringify({
      stories: choice.stories.length,
      acts: choice.acts.length,
      runs,
      is_whole: isWhole,
      accepted,
      violations: [...found.values()].reduce((sum, { count }) => sum + count, 0),
      kinds: found.size,
      seconds: Math.round((performance.now() - started) / 1_000),
    }),
  );
  if (found.size > 0) process.exitCode = 1;
}

if (option('at') === undefined) await sweep();
else await tellCase(countOption('at', 0));
