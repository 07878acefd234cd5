import { createSeededRandom } from '../support/seeded-random.ts';
import { checkCall, endWithUsage, type Usage } from '../support/usage.ts';
import { type Blow, modesOf, playStory, struckCalls } from './crash-sweep.ts';
import { countOption, option } from './options.ts';
import { CRASH_STORIES } from './pipeline-stories.ts';

const USAGE: Usage = {
  script: 'sim:crash',
  does: 'Strikes every call of every story in every mode. The last line is one JSON object.',
  options: {
    '--story N': 'this story alone, counted from 1',
    '--double N': 'so many pairs of crashes besides (0)',
  },
};
checkCall(USAGE);

const PROBLEMS_SHOWN = 40;
const started = performance.now();
const seen = new Set<string>();
const crashed = new Set<string>();
let runs = 0;
let failed = 0;

async function strike(story: (typeof CRASH_STORIES)[number], blows: readonly Blow[], label: string) {
  const { problems } = await playStory(story, blows);
  runs += 1;
  if (problems.length === 0) return;
  failed += 1;
  if (failed > PROBLEMS_SHOWN) return;
  const where = blows.map(({ at, mode }) => `${mode} call ${at}`).join(', ');
  console.log(`${story.name}: ${where} (${label}): ${problems.slice(0, 3).join('; ')}`);
}

const only = option('story') === undefined ? null : countOption('story', 0);
if (only !== null && CRASH_STORIES[only - 1] === undefined)
  endWithUsage(USAGE, `There are stories 1 to ${CRASH_STORIES.length}, and no ${only}.`);
const doubles = countOption('double', 0);
const random = createSeededRandom(1);
for (const [index, story] of CRASH_STORIES.entries()) {
  if (only !== null && only !== index + 1) continue;
  const clean = await playStory(story, []);
  if (clean.problems.length > 0) throw new Error(`${story.name} fails without any blow: ${clean.problems}`);
  const calls = struckCalls(story, clean.labels);
  for (const at of calls) {
    const label = clean.labels[at] ?? '';
    seen.add(label);
    for (const mode of modesOf(label)) {
      if (mode.startsWith('crash')) crashed.add(label);
      await strike(story, [{ at, mode }], label);
    }
  }
  for (let count = 0; count < doubles / CRASH_STORIES.length; count += 1) {
    const first = calls[random.int(calls.length)] ?? 0;
    const second = first + 1 + random.int(clean.labels.length);
    await strike(
      story,
      [first, second].map((at) => ({ at, mode: random.pick(['crash before', 'crash after']) })),
      'double crash',
    );
  }
  console.log(`${story.name}: ${clean.labels.length} calls, ${runs} runs so far, ${failed} failed`);
}
console.log(
  JSON.stringify({
    stories: CRASH_STORIES.length,
    runs,
    violations: failed,
    runs_per_second: Math.round((runs * 1000) / (performance.now() - started)),
    io_labels: seen.size,
    io_labels_crashed: crashed.size,
    labels: [...seen].sort(),
  }),
);
if (failed > 0) process.exitCode = 1;
