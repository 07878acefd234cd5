import { ApiError, type ResultOf } from '#core/contracts/routes/client.ts';
import { findBlocker, sayTimes } from '../dashboard/view/blocker.ts';
import { type Asked, EXIT, emit, type Repo } from './asked.ts';
import { describeLine, listPlaces } from './commands.ts';
import { describeEvent } from './log.ts';
import { type Happened, readMissed } from './missed-events.ts';
import { plain } from './values.ts';

const POLL_MS = 5_000;
const EVENTS_SHOWN = 8;
const CLEAR = '\u001b[2J\u001b[H';

export interface Seen {
  readonly blocker: string;
  readonly queue: ResultOf<'readActivity'>['repos'][number]['queue'];
  /** The newest ones, at most `EVENTS_SHOWN`. */
  readonly events: readonly Happened[];
}

/**
 * Shows the queue until `end` (epoch ms; infinite: until it is interrupted). A terminal is drawn anew at each look;
 * elsewhere each change is printed as one line, with `--json` as the whole state, of which the events are the newest.
 */
export async function watch(asked: Asked, repo: Repo, end: number): Promise<number> {
  const { machine, json } = asked;
  let last = '';
  let told = new Set<string>();
  let isFirst = true;
  for (;;) {
    const looked = await lookAt(asked, repo);
    if (looked === null) {
      if (machine.isTerminal && !json)
        emit(asked, null, () => ['The service did not answer; it is asked again.']);
    } else if (json) {
      if (looked.facts !== last) emit(asked, looked.seen, () => []);
      last = looked.facts;
    } else if (machine.isTerminal) {
      // The one place that moves a cursor, so it does not go through `emit`.
      const lines = draw(repo, looked.seen, machine.now()).map(plain);
      if (!asked.quiet) machine.print(`${CLEAR}${lines.join('\n')}`);
    } else {
      const events = await readMissed(asked.api, repo, looked, isFirst ? null : told);
      if (events !== null) {
        const lines = tellLines(looked, events);
        emit(asked, looked.seen, () => lines.filter((line) => !told.has(line)));
        told = new Set(lines);
        isFirst = false;
      }
    }
    const leftMs = end - machine.now();
    if (leftMs <= 0) return EXIT.ok;
    await machine.sleep(Math.min(POLL_MS, leftMs));
  }
}

/** The state of the queue now; null: the service has a fault that is temporary. */
export async function look(asked: Pick<Asked, 'api' | 'machine'>, repo: Repo): Promise<Seen | null> {
  return (await lookAt(asked, repo))?.seen ?? null;
}

interface Looked {
  readonly seen: Seen;
  /** The blocker of `seen` without its times; null: not known. */
  readonly cause: string | null;
  /** A text that is equal for two looks between which nothing changed: durations so far are left out. */
  readonly facts: string;
  /** Whether the service left out older events than those of `seen`, of this repository or of others. */
  readonly isCut: boolean;
}

async function lookAt(
  { api, machine }: Pick<Asked, 'api' | 'machine'>,
  { id }: Repo,
): Promise<Looked | null> {
  try {
    const [status, activity] = await Promise.all([api.readQueueStatus(), api.readActivity()]);
    const entry = status.repos.find((each) => each.id === id) ?? null;
    const mine = activity.repos.find((each) => each.repo_id === id);
    const blocker = mine === undefined ? null : findBlocker(mine, entry, machine.now());
    const own = activity.recent_activity.filter((event) => event.repo_id === id);
    const told = { queue: mine?.queue ?? null, events: own.slice(0, EVENTS_SHOWN) };
    const isCut = activity.recent_activity_truncated === true || own.length > EVENTS_SHOWN;
    const says = blocker === null ? 'The queue is not known.' : plain(sayBlocker(blocker, machine.now()));
    const cause = blocker === null ? null : plain(`${blocker.text}.${sayRun(blocker)}`);
    return { seen: { blocker: says, ...told }, cause, facts: JSON.stringify({ blocker, ...told }), isCut };
  } catch (error) {
    if (error instanceof ApiError && error.retryable) return null;
    throw error;
  }
}

export function sayBlocker(blocker: ReturnType<typeof findBlocker>, now: number): string {
  const times = sayTimes(blocker, now);
  return `${blocker.text}${times === '' ? '' : ` (${times})`}.${sayRun(blocker)}`;
}

function sayRun({ runUrl }: ReturnType<typeof findBlocker>): string {
  return runUrl === null ? '' : ` ${runUrl}`;
}

function draw(repo: Repo, { blocker, queue, events }: Seen, now: number): readonly string[] {
  return [
    `${repo.name} ${repo.base_branch}   ${new Date(now).toISOString().slice(0, 19)}Z`,
    blocker,
    '',
    ...(queue === null ? [] : describeLine(queue)),
    '',
    ...events.map(describeEvent),
  ];
}

/** Events, oldest first, then what is waited for and the queue, as lines. No line has the times of the blocker, which change at each look. */
function tellLines({ seen: { queue }, cause }: Looked, events: readonly Happened[]): readonly string[] {
  return [
    ...[...events].reverse().map(describeEvent),
    ...(cause === null ? [] : [cause]),
    ...(queue === null ? [] : listPlaces(queue)),
  ];
}
