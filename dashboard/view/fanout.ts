import type { StatusEntry } from './blocker.ts';

type Fanout = StatusEntry['bisect_fanout'];

/** The one that holds: of the settings file, where that names it. */
export function fanoutOf(repo: StatusEntry): Fanout {
  const { value, origin } = repo.file_settings.values.bisect_fanout;
  return origin === 'file' ? (value as Fanout) : repo.bisect_fanout;
}

/** For the head of a page; `inForce` is what the queue chose, where it was told. */
export function sayFanout(fanout: Fanout, inForce: number | undefined): string {
  const count = fanout === 'auto' ? inForce : fanout;
  if (count === undefined) return 'gate runs at once chosen by the queue';
  const many = count === 1 ? 'one gate run at a time' : `up to ${count} gate runs at once`;
  return fanout === 'auto' ? `${many}, chosen by the queue` : many;
}
