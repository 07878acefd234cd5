import type { Blow } from './blow.ts';
import { type End, judgeEnd, tellEndings } from './judge-end.ts';
import type { Outcome, Tell } from './story.ts';
import type { WordWatch } from './word-watch.ts';

interface Life {
  readonly blow: Blow;
  readonly words: WordWatch;
  readonly begun: number;
  readonly tell: Tell;
  /** Those that were seen while it was lived. */
  readonly violations?: readonly string[];
}

/** The outcome of a story that has been played to its end. Its events are told line by line. */
export async function tellOutcome(
  end: End,
  { blow, words, begun, tell, violations = [] }: Life,
): Promise<Outcome> {
  for (const { at, pr, event, reason } of end.events)
    tell(`event of ${((at - begun) / 1000).toFixed(1)} s: #${pr} ${event} ${reason ?? ''}`);
  return {
    calls: blow.calls,
    violations: [...violations, ...words.violations(), ...(await judgeEnd(end))],
    endings: `${await tellEndings(end)}${blow.refusal}`,
    hasActed: blow.hasActed,
  };
}
