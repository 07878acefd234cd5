import type { TimelinePart, TimelineQuestion } from '#core/ports/forge.ts';
import type { Pull, World } from './world.ts';

/**
 * A timeline as far as one reading of the client comes: `timelineRowsMax` entries, ten times as many where it goes on, and all others of the last
 * one's second, in the order of the forge, which is that of its clock.
 */
export function readTimeline(
  { knobs }: World,
  { timeline }: Pick<Pull, 'timeline'>,
  { since }: TimelineQuestion = {},
): TimelinePart {
  const rows = timeline.filter(({ at }) => at >= (since ?? 0)).toSorted((one, other) => one.at - other.at);
  const rowsMax = knobs.timelineRowsMax * (since === undefined ? 1 : 10);
  const end = rows.slice(rowsMax - 1).find(({ at }) => at > (since ?? 0))?.at ?? Number.POSITIVE_INFINITY;
  const entries = rows.filter(({ at }) => at <= end);
  return {
    entries: entries.toSorted((one, other) => one.id - other.id),
    readTo: entries.length < rows.length ? end : null,
  };
}
