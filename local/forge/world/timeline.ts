import type { PullRecord, TimelineRecord } from '../model.ts';
import { takeId, type World } from '../world.ts';

/** Every entry moves `updated_at`: that is the cheap sign of change clients have. */
export function addEntry(
  world: World,
  pull: PullRecord,
  type: string,
  user: string,
  more: Partial<Omit<TimelineRecord, 'id' | 'type' | 'user' | 'at'>> = {},
): TimelineRecord {
  const at = world.timers.now();
  const entry: TimelineRecord = { body: '', ...more, id: takeId(world), type, user, at };
  pull.timeline.push(entry);
  pull.updatedAt = at;
  return entry;
}
