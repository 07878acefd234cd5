import type { SeededRandom } from '../../support/seeded-random.ts';
import { BASE_ACTS } from './base-acts.ts';
import { isWrite } from './blow.ts';
import { playBare } from './play-bare.ts';
import { playDeployed } from './play-deployed.ts';
import { PULL_ACTS } from './pull-acts.ts';
import { RULE_ACTS } from './rule-acts.ts';
import { STORIES } from './stories.ts';
import type { Act, Moment, Story } from './story.ts';

export const ACTS: readonly Act[] = [...PULL_ACTS, ...BASE_ACTS, ...RULE_ACTS];

export interface Case extends Moment {
  readonly story: Story;
  readonly target: number;
}

export interface Choice {
  readonly stories: readonly Story[];
  readonly acts: readonly Act[];
  /** Null: all that the story names. */
  readonly target: number | null;
  /** Every call whose number this divides. */
  readonly step: number;
  readonly isDeployed: boolean;
}

export const EVERYTHING: Choice = { stories: STORIES, acts: ACTS, target: null, step: 1, isDeployed: false };

export const playerOf = (isDeployed: boolean): typeof playBare => (isDeployed ? playDeployed : playBare);

/** The moments of a story: before each call, but for one more read of the same, and after each write. */
export async function momentsOf(
  story: Story,
  { isDeployed, step }: Pick<Choice, 'isDeployed' | 'step'>,
): Promise<readonly Pick<Moment, 'at' | 'when'>[]> {
  const { calls, violations } = await playerOf(isDeployed)(story, null, 0);
  if (violations.length > 0) throw new Error(`${story.name} goes wrong without any act: ${violations}`);
  return calls.flatMap((call, at) => {
    if (at % step !== 0) return [];
    const isAgain = at > 0 && call === calls[at - 1] && !isWrite(call);
    return [
      ...(isAgain ? [] : [{ at, when: 'before' as const }]),
      ...(isWrite(call) ? [{ at, when: 'after' as const }] : []),
    ];
  });
}

/** Every act at every moment of every story that is chosen. */
export async function* listCases(choice: Choice): AsyncGenerator<Case> {
  for (const story of choice.stories) {
    const moments = await momentsOf(story, choice);
    for (const act of choice.acts)
      for (const target of choice.target === null ? story.targets : [choice.target])
        for (const moment of moments) yield { story, act, target, ...moment };
  }
}

/** So many of them, drawn evenly over the stories. */
export async function* drawCases(choice: Choice, count: number, random: SeededRandom): AsyncGenerator<Case> {
  const moments = new Map<Story, Awaited<ReturnType<typeof momentsOf>>>();
  for (let drawn = 0; drawn < count; drawn += 1) {
    const story = choice.stories[drawn % choice.stories.length];
    if (story === undefined) return;
    const ofStory = moments.get(story) ?? (await momentsOf(story, choice));
    moments.set(story, ofStory);
    const act = choice.acts[random.int(choice.acts.length)];
    const moment = ofStory[random.int(ofStory.length)];
    const target = choice.target ?? story.targets[random.int(story.targets.length)];
    if (act === undefined || moment === undefined || target === undefined) return;
    yield { story, act, target, ...moment };
  }
}

/** The words of the command line that play it again, and tell it. */
export function replayOf({ story, act, target, at, when }: Case, isDeployed: boolean): string {
  const words = `--story ${story.name} --act "${act.name}" --target ${target} --at ${at} --when ${when}`;
  return `npm run -s sim:acts -- ${words}${isDeployed ? ' --deployed' : ''}`;
}
