import { sayRunner } from '../forge/runner-labels.ts';
import type { EpochMs, PullRequestNumber } from '../ids.ts';
import type { ActivityEvent, NodeRow, OwnEvent, Receipt } from '../queue/batch.ts';
import type { ToldForecast } from '../queue/forecast.ts';
import type { QueuePlace, QueueView } from '../queue/queue-view.ts';
import { type Standstill, type StandstillCause, sayStandstill } from '../queue/standstill.ts';
import { type Hold, holdToTell, sayPause } from '../repos/pause.ts';
import { codeOfEvent, codeOfPlace, type PullCodeName } from './find-pull-code.ts';
import { BY_ITSELF } from './pull-code-kinds.ts';
import { PULL_CODES } from './pull-code-table.ts';

/** Landings of the repository that an estimate needs at least. */
export const ESTIMATE_LANDINGS_MIN = 5;

/** Stored rows of one repository, newest first, as far back as they were read. */
export interface StoryFacts {
  readonly pr: PullRequestNumber;
  readonly now: EpochMs;
  readonly queueEnabled: boolean;
  /**
   * Nothing lands until a person acts. `shut_out`: no look gets through, so the view is of before. `rule`: a branch rule keeps
   * the queue from landing. `name`: another branch or tag keeps it from staging, and what is in flight goes on, as the view tells; or from
   * landing.
   */
  readonly stopped?: keyof typeof LET_GO_ON;
  /** The queue stands still. @default it does not, or that is not known */
  readonly standstill?: Standstill | null;
  /** The pause that holds now. */
  readonly pause: Hold | null;
  /** Undefined: not known. */
  readonly view: QueueView | undefined;
  readonly events: readonly OwnEvent[];
  readonly batches: readonly NodeRow[];
}

/** Time until it lands, by this repository's own landings; the truth is within `errorMs` either way for four in five. */
export interface LandingEstimate {
  readonly ms: number;
  readonly errorMs: number;
  readonly landings: number;
}

export interface PullStory {
  readonly title: string | null;
  readonly inQueue: boolean;
  /** Null: a reason that this version does not know. */
  readonly code: PullCodeName | null;
  /** The words of a commit status that are not the code's own; null: they are. */
  readonly words: string | null;
  /** The next step where it is not the code's own; null: it is. */
  readonly next: string | null;
  readonly since: EpochMs | null;
  /** From 1; null: not in the queue, or behind the places that are kept. */
  readonly place: number | null;
  /** Looked at again at this time by itself; null: when something changes. */
  readonly until: EpochMs | null;
  /** Null: its chance to fail is the usual one, or is not known. */
  readonly forecast: ToldForecast | null;
  /** The node that is about it now, or was last. */
  readonly node: NodeRow | null;
  readonly estimate: LandingEstimate | null;
  readonly history: readonly ActivityEvent[];
  readonly attempts: readonly NodeRow[];
  readonly receipts: readonly Receipt[];
  /** As in `QueuePlace`; null: none is known. */
  readonly settings: string | null;
}

/** Null: nothing is known of this number. */
export function tellPull(facts: StoryFacts): PullStory | null {
  const { pr, view } = facts;
  const history = facts.events.filter((event) => event.pr === pr);
  const attempts = facts.batches.filter((row) => row.prs.includes(pr));
  // The forge keeps the schedule of one that was bounced, so the view holds it; it is out of the queue all the same.
  const line = view?.places.filter(({ state }) => state !== 'bounced') ?? [];
  const place = view?.places.find((each) => each.pr === pr);
  const nth = line.findIndex((each) => each.pr === pr) + 1;
  const isOut = place === undefined && view?.more === 0;
  const last = lastOf(history, isOut);
  if (place === undefined && last === undefined && attempts.length === 0) return null;
  const running = smallest(attempts.filter((row) => row.outcome === 'running'));
  const code = codeNow(facts, place, history, { last, running });
  const inQueue =
    nth > 0 || (place === undefined && last !== undefined && code !== null && PULL_CODES[code].is === 'wait');
  return {
    code,
    inQueue,
    history,
    attempts,
    ...sayMore(code, facts, place, running),
    title: place?.title ?? last?.title ?? null,
    since: last?.at ?? place?.queuedAt ?? null,
    place: nth === 0 ? null : nth,
    until: place?.until ?? null,
    forecast: place?.forecast ?? null,
    node: running ?? attempts[0] ?? null,
    estimate: inQueue ? estimate(facts, code, place?.queuedAt ?? last?.at ?? facts.now) : null,
    receipts: receiptsOf(attempts, pr),
    settings: place?.settings ?? null,
  };
}

/** No gate run speaks for what is staged. */
const UNBEGUN: readonly StandstillCause[] = ['gate_not_started', 'checks_not_reported'];

/** Facts beyond the code: the pause with its end, and the labels of the runner that is awaited. */
function sayMore(
  code: PullCodeName | null,
  { pause, view, stopped, standstill = null }: StoryFacts,
  place: QueuePlace | undefined,
  running: NodeRow | undefined,
): Pick<PullStory, 'words' | 'next'> {
  if (code === 'paused' && pause !== null)
    return { words: sayPause(holdToTell(pause, place ?? {})), next: null };
  if (code === 'head_changed' && place?.says !== undefined)
    return { words: place.says, next: stepOf(place.says) };
  if (code === 'queue_stopped' && stopped !== undefined) return { words: null, next: LET_GO_ON[stopped] };
  // What is proven lands within seconds, unless a tag of the name of the base keeps it.
  if (code === 'staged' && stopped === 'name' && running?.phase === 'waiting_merge')
    return { words: null, next: LET_GO_ON.name };
  // It goes on by itself only where a gate run begins.
  if (
    code === 'staged' &&
    standstill !== null &&
    UNBEGUN.includes(standstill.cause) &&
    running?.runUrl === null
  )
    return { words: null, next: sayStandstill(standstill).next };
  const labels = code === 'runner_wait' && view?.block.kind === 'runner' ? (view.block.labels ?? []) : [];
  if (labels.length === 0) return { words: null, next: null };
  const wanted = sayRunner(labels);
  return {
    words: `staged: the gate run of its batch waits for ${wanted}`,
    next: `If that lasts, check that ${wanted} is online and free, or change runs-on in the gate workflow.`,
  };
}

/** The step of words that are `WHAT; STEP`, as a sentence; null: they name none. */
function stepOf(words: string): string | null {
  const [, step] = words.split('; ');
  return step === undefined ? null : `${step.charAt(0).toUpperCase()}${step.slice(1)}.`;
}

const LET_GO_ON = {
  shut_out:
    'Read on the queue page why the forge refuses the queue, and put that right. The queue then goes on by itself.',
  rule: 'Read on the setup page which branch rule keeps the queue from landing, and put that right. The queue then goes on by itself.',
  name: 'Read on the queue page which branch or tag stands in the way, and rename or delete it. The queue then goes on by itself.',
};

/**
 * The event that tells where it stands: the newest one. A clock may have run ahead and been put right, so that what came later
 * has an earlier time: then a landing that was stored last is the end, and so is any way out of one that the queue does not hold.
 */
function lastOf(history: readonly OwnEvent[], isOut: boolean): OwnEvent | undefined {
  const [last] = history;
  const stored = history.reduce<OwnEvent | undefined>(
    (found, each) => ((each.stored ?? '') > (found?.stored ?? '') ? each : found),
    undefined,
  );
  if (last === undefined || stored === undefined || !isWayOut(stored)) return last;
  return stored.event === 'pr_landed' || (isOut && !isWayOut(last)) ? stored : last;
}

function isWayOut({ event, reason }: ActivityEvent): boolean {
  const code = codeOfEvent(event, reason);
  return code !== null && PULL_CODES[code].is === 'exit';
}

/**
 * Waits for what may have ended since, where no look gets through: another check, a runner. Under such a rule that check may be one
 * that nothing posts, or that opens the merge of what is not proven, and nothing lands by the gate run.
 */
const MAYBE_OVER: readonly PullCodeName[] = ['not_admitted', 'other_checks', 'runner_wait'];

function codeNow(
  { queueEnabled, stopped }: StoryFacts,
  place: QueueView['places'][number] | undefined,
  history: readonly ActivityEvent[],
  { last, running }: { readonly last: ActivityEvent | undefined; readonly running: NodeRow | undefined },
): PullCodeName | null {
  if (place?.state === 'bounced') {
    if (place.reason !== null && place.reason !== 'bounced') return codeOfPlace(place.state, place.reason);
    // Why its gate failed is told as its status tells it; the place knows only that it was.
    const bounce = history.find(({ event }) => event === 'pr_bounced');
    return bounce === undefined
      ? codeOfPlace(place.state, place.reason)
      : codeOfEvent(bounce.event, bounce.reason);
  }
  if (place !== undefined && !queueEnabled) return 'queue_disabled';
  const code = place === undefined ? codeOfLast(last, running) : codeOfPlace(place.state, place.reason);
  if (code === null || stopped === undefined || stopped === 'name') return code;
  if (PULL_CODES[code].is !== 'wait') return code;
  return MAYBE_OVER.includes(code) || PULL_CODES[code].next === BY_ITSELF ? 'queue_stopped' : code;
}

function codeOfLast(last: ActivityEvent | undefined, running: NodeRow | undefined): PullCodeName | null {
  if (last === undefined) return 'left_the_queue';
  // Merged, and out of the queue: its landing is told once its history is read.
  const isMerged = last.event === 'pr_staged' && running?.phase === 'waiting_merge';
  return isMerged ? 'landing' : codeOfEvent(last.event, last.reason);
}

function smallest(rows: readonly NodeRow[]): NodeRow | undefined {
  return rows.toSorted((one, other) => one.prs.length - other.prs.length)[0];
}

function receiptsOf(attempts: readonly NodeRow[], pr: PullRequestNumber): readonly Receipt[] {
  const receipts = attempts
    .flatMap((row) => row.actions)
    .flatMap((action) => (action.pr === pr && action.receipt !== undefined ? [action.receipt] : []));
  return receipts.filter(
    (receipt, index) => receipts.findIndex((other) => other.mergeCommit === receipt.mergeCommit) === index,
  );
}

/** Nothing is promised while a person has to act, before the repository has taught enough, or to one that has waited longer than nine in ten did. */
function estimate(facts: StoryFacts, code: PullCodeName | null, queuedAt: EpochMs): LandingEstimate | null {
  if (code === null || !['none', 'ci', 'forge'].includes(PULL_CODES[code].turn)) return null;
  const took = landingTimes(facts.events).sort((one, other) => one - other);
  if (took.length < ESTIMATE_LANDINGS_MIN) return null;
  const at = (share: number): number => took[Math.max(0, Math.ceil(took.length * share) - 1)] ?? 0;
  const waited = Math.max(0, facts.now - queuedAt);
  if (waited > at(0.9)) return null;
  return {
    ms: Math.max(0, at(0.5) - waited),
    errorMs: Math.max(at(0.9) - at(0.5), at(0.5) - at(0.1)),
    landings: took.length,
  };
}

/** From entering the queue to landing, for each landing whose entry was read too. */
function landingTimes(events: readonly ActivityEvent[]): number[] {
  const entered = new Map<PullRequestNumber, EpochMs>();
  const took: number[] = [];
  for (const { pr, at, event, scheduledAt = at } of events.toReversed()) {
    if (event === 'pr_queued') entered.set(pr, Math.min(at, scheduledAt));
    else if (event === 'pr_skipped') entered.delete(pr);
    else if (event === 'pr_landed') {
      const since = entered.get(pr);
      if (since !== undefined) took.push(at - since);
      entered.delete(pr);
    }
  }
  return took;
}
