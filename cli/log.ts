import { EVENT_NAMES, type EventName } from '#core/contracts/queue/event-history.ts';
import type { ResultOf } from '#core/contracts/routes/client.ts';
import { type Asked, EXIT, emit, type Repo } from './asked.ts';
import type { CallOptions } from './call.ts';
import { Misuse } from './context.ts';
import { plain, readNumber } from './values.ts';

export const LOG_EVENTS_DEFAULT = 20;
/** The service looks through 2,000 rows for a page: a search of a long history is many calls. */
const LOG_EVENTS_MAX = 1_000;
const LOG_CALLS_MAX = 40;

/** Which events are shown; a field that is null admits all. */
export interface LogFilter {
  readonly event: EventName | null;
  readonly pr: number | null;
  readonly words: string | null;
  readonly limit: number;
}

type Happened = ResultOf<'readEvents'>['events'][number];

/** The history of a repository, newest first, over as many pages as it takes (decision 0254). */
export async function log({ api, ...asked }: Asked, repo: Repo, filter: LogFilter): Promise<number> {
  const events: Happened[] = [];
  let before: string | null = null;
  for (let calls = 0; calls < LOG_CALLS_MAX; calls += 1) {
    const page: ResultOf<'readEvents'> = await api.readEvents({
      id: repo.id,
      query: {
        ...(filter.event === null ? {} : { event: filter.event }),
        ...(filter.pr === null ? {} : { pr: String(filter.pr) }),
        ...(filter.words === null ? {} : { q: filter.words }),
        ...(before === null ? {} : { before }),
        // The service gives as many as a page has.
        limit: String(filter.limit - events.length),
      },
    });
    events.push(...page.events);
    before = page.next;
    if (before === null || events.length >= filter.limit) break;
  }
  // The service looks through a bounded number of rows for each call.
  const isCut = before !== null && events.length < filter.limit;
  emit(asked, events, () => [
    ...events.map(describeEvent),
    ...(isCut ? ['Older events were not looked through: ask for one pull request with --pr.'] : []),
  ]);
  return EXIT.ok;
}

/** Events by their filter, or the log of the gate run of one pull request. Throws `Misuse` for both at once. */
export function readLogged(options: CallOptions) {
  const { event, pr, search, limit, gate } = options;
  if (gate === undefined) return { gate: null, filter: readFilter(options) };
  if ([event, pr, search, limit].some((option) => option !== undefined))
    throw new Misuse('--gate goes with none of --event, --limit, --pr and --search.');
  return { gate: readNumber(gate) };
}

const readFilter = ({ event, pr, search, limit }: CallOptions): LogFilter => ({
  event: event === undefined ? null : readEventName(event),
  pr: pr === undefined ? null : readNumber(pr),
  words: search ?? null,
  limit: limit === undefined ? LOG_EVENTS_DEFAULT : readLimit(limit),
});

function readEventName(text: string): EventName {
  const found = EVENT_NAMES.find((event) => event === text || event === `pr_${text}`);
  if (found === undefined) throw new Misuse(`An event is one of ${EVENT_NAMES.join(', ')}.`);
  return found;
}

function readLimit(text: string): number {
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Number.NaN;
  if (!(limit <= LOG_EVENTS_MAX)) throw new Misuse(`A limit is a number from 1 to ${LOG_EVENTS_MAX}.`);
  return limit;
}

/** One event as a line. `reason` is a code, or text that a person wrote. */
export const describeEvent = ({ timestamp, event, pr, title, reason }: Happened): string =>
  `${timestamp} ${event} #${pr} ${plain(title)}${reason == null ? '' : ` (${plain(reason)})`}`;

/** The end of the log of the newest gate run; where the forge gives none: its page, and why. */
export async function gateLog(asked: Asked, repo: Repo, number: number): Promise<number> {
  const read = await asked.api.readGateLog({ id: repo.id, number });
  emit(asked, read, () => describeGateLog(read));
  return EXIT.ok;
}

export type GateLog = ResultOf<'readGateLog'>;

/**
 * Mark before each line of a log, and before no other line: output of a pull request may imitate lines of this program.
 */
const LOG_MARK = '| ';

/** A gate log as lines. Output of programs is shown as data, line by line, behind `LOG_MARK`. */
export function describeGateLog({ run_url, gate_verdict, words, jobs }: GateLog): readonly string[] {
  return [
    ...(run_url === null ? [] : [`run: ${gate_verdict ?? 'unknown'} ${run_url}`]),
    ...(words === null ? [] : [words]),
    ...jobs.flatMap(({ name, result, text, is_cut }) => [
      `--- ${plain(name)}: ${plain(result)}${is_cut ? ' (the end of the log)' : ''}`,
      ...(text === null ? ['The forge has no log of this job.'] : linesOf(text)),
    ]),
  ];
}

/** Lines of a text, each behind `LOG_MARK`, with tabs as spaces, so that each is as wide as a terminal shows it. */
const linesOf = (text: string): readonly string[] =>
  withoutEmptyEnd(text.split('\n')).map((line) => `${LOG_MARK}${plain(line.replaceAll('\t', '  '))}`);

/**
 * Removes the empty lines at the end. No regular expression: on a log of empty lines alone it would take quadratic
 * time.
 */
const withoutEmptyEnd = (lines: readonly string[]): readonly string[] =>
  lines.slice(0, Math.max(1, lines.findLastIndex((line) => line !== '') + 1));
