import { Effort, EffortSpent } from '../effort.ts';
import { GLOB_STEPS_MAX, GlobReader, isGlob } from '../globs/glob.ts';
import { Subject } from '../globs/glob-matcher.ts';
import type { CommitStatus, GateReading } from './forge.ts';

/** Most contexts that set-up shows to choose from. */
const ANSWERS_MAX = 100;

export const GATE_KINDS = ['workflow', 'statuses'] as const;
/** The judge of a staged tree: the forge's own workflow run, or the commit statuses of another CI. */
export type GateKind = (typeof GATE_KINDS)[number];

/** The settings of a repository that say what its gate is. */
export interface GateSettings {
  readonly gate: GateKind;
  /** Of a gate by statuses: all must be `success`, posted by one of the authors. */
  readonly gateContexts: readonly string[];
  readonly gateAuthors: readonly string[];
}

/** Contexts that must all be `success` on the staged commit, and the accounts whose statuses count. */
export interface StatusGate {
  /** Exact, or a pattern as the forges' own lists of required contexts have it. */
  readonly contexts: readonly string[];
  /** Logins, pinned at set-up. */
  readonly authors: readonly string[];
}

/** One status as it was posted; several may share their context. */
export interface PostedStatus extends CommitStatus {
  /** Grows with time on one commit. */
  readonly id: number;
  readonly url: string | null;
}

/** A status under a context of the gate by an account that is not allowed to answer for it. It never counts. */
export interface ForeignStatus {
  readonly context: string;
  readonly author: string;
}

export interface StatusVerdict {
  readonly gate: GateReading;
  /** The newest one; null: none. */
  readonly foreign: ForeignStatus | null;
  /** True: a pattern does not say how many contexts there are, so more may still appear. */
  readonly isOpenEnded: boolean;
  /** Contexts, as the gate names them, that have no end yet. */
  readonly unanswered: readonly string[];
}

/** The gate by statuses that these settings ask for; null: the workflow. */
export function statusGateOf(settings: GateSettings): StatusGate | null {
  if (settings.gate === 'workflow') return null;
  return { contexts: settings.gateContexts, authors: settings.gateAuthors };
}

/** False: it names no context or no author, so nothing could ever pass. */
export function isComplete(gate: StatusGate): boolean {
  return gate.contexts.length > 0 && gate.authors.length > 0;
}

/** One spelling for gates that ask for the same. */
export function describeGate(gate: StatusGate): string {
  const authors = gate.authors.map((author) => author.toLowerCase());
  return JSON.stringify([[...new Set(gate.contexts)].sort(), [...new Set(authors)].sort()]);
}

export function isSameGate(one: StatusGate | null, other: StatusGate | null): boolean {
  return one === null || other === null ? one === other : describeGate(one) === describeGate(other);
}

const STATUS_RUN = 'status-';

/** Whether the forge has the run itself, and could cancel it. */
export function isForgeRun(runKey: string): boolean {
  return !runKey.startsWith(STATUS_RUN);
}

type Answer = 'missing' | 'pending' | 'success' | 'failure' | 'cancelled' | 'error';

/** First of these that a context has decides: one that fails is not made good by one that is still to come. */
const WORST_FIRST = ['failure', 'cancelled', 'error'] as const;

/**
 * The verdict that the statuses of one staged commit make. The newest one of an allowed author counts for each context, and where
 * workflows of one pipeline share a context, the newest one of each. They can only be of this attempt, because each attempt
 * has a commit of its own.
 */
export function judgeGateStatuses(history: readonly PostedStatus[], gate: StatusGate): StatusVerdict {
  try {
    return judgeMatching(history, gate, matchContexts(history, gate));
  } catch (error) {
    if (!(error instanceof EffortSpent)) throw error;
    // More contexts, or longer ones, than can be read: what ended is not known, and the gate has its deadline.
    const last = history.reduce(newer, null);
    const runId = `${STATUS_RUN}${last?.id ?? 0}`;
    return {
      gate: { kind: 'running', runId, url: null },
      foreign: null,
      isOpenEnded: true,
      unanswered: gate.contexts,
    };
  }
}

type Matches = (wanted: string, context: string) => boolean;

/** Each context is held against what the gate names once, however often it was posted. Throws `EffortSpent`. */
function matchContexts(history: readonly PostedStatus[], gate: StatusGate): Matches {
  const reader = new GlobReader('gitea', null, new Effort(GLOB_STEPS_MAX));
  const found = new Map<string, ReadonlySet<string>>();
  for (const { context } of history) {
    if (found.has(context)) continue;
    const subject = new Subject(context);
    const matches = (wanted: string): boolean =>
      wanted === context || (isGlob(wanted) && reader.matches(wanted, subject) === true);
    found.set(context, new Set(gate.contexts.filter(matches)));
  }
  return (wanted, context) => found.get(context)?.has(wanted) === true;
}

function judgeMatching(history: readonly PostedStatus[], gate: StatusGate, matches: Matches): StatusVerdict {
  const authors = new Set(gate.authors.map((author) => author.toLowerCase()));
  const isOpenEnded = gate.contexts.some(isGlob);
  const asked = history.filter(({ context }) => gate.contexts.some((each) => matches(each, context)));
  const isAllowed = ({ creator }: PostedStatus) => authors.has(creator.toLowerCase());
  const told = answersOfPipelines(history.filter(isAllowed));
  const counted = newestOf(asked.filter(isAllowed)).map((status) => ({
    ...status,
    answer: answerOf(status, told),
  }));
  const stranger = asked.filter((status) => !isAllowed(status)).reduce(newer, null);
  const foreign = stranger === null ? null : { context: stranger.context, author: stranger.creator };
  const last = counted.reduce(newer, null);
  const unanswered = gate.contexts.filter((each) => {
    const found = counted.filter(({ context }) => matches(each, context));
    return found.length === 0 || found.some(({ answer }) => answer === 'pending');
  });
  const facts = { foreign, isOpenEnded, unanswered };
  if (last === null) return { gate: { kind: 'none' }, ...facts };
  const answers = gate.contexts.flatMap((each) => {
    const found = counted.filter(({ context }) => matches(each, context));
    return found.length === 0 ? (['missing'] as const) : found.map(({ answer }) => answer);
  });
  const worst = WORST_FIRST.find((answer) => answers.includes(answer));
  const decisive = counted.filter(({ answer }) => answer === worst).reduce(newer, null) ?? last;
  const run = { runId: `${STATUS_RUN}${last.id}`, url: decisive.url };
  const verdict = worst ?? (answers.every((answer) => answer === 'success') ? 'success' : null);
  if (verdict === null) return { gate: { kind: 'running', ...run }, ...facts };
  return { gate: { kind: 'finished', verdict, ...run }, ...facts };
}

/** Last word of one account under one context. */
export interface AnsweredContext {
  readonly context: string;
  readonly author: string;
  readonly state: string;
}

export function listAnswers(history: readonly PostedStatus[]): readonly AnsweredContext[] {
  const newest = new Map<string, PostedStatus>();
  for (const status of history) {
    const key = JSON.stringify([status.context, status.creator]);
    newest.set(key, newer(newest.get(key) ?? null, status));
  }
  return [...newest.values()]
    .map(({ context, creator, state }) => ({ context, author: creator, state }))
    .sort((a, b) => (a.context < b.context ? -1 : a.context > b.context ? 1 : 0))
    .slice(0, ANSWERS_MAX);
}

/**
 * Link of a workflow of Woodpecker: its pipeline, and its number in it. Its workflows share a context where the format of
 * contexts leaves the workflow out, and where two have one name.
 */
const WORKFLOW_LINK = /^(.+\/pipeline\/\d+)\/\d+$/;

function pipelineOf({ url }: PostedStatus): string | null {
  return WORKFLOW_LINK.exec(url ?? '')?.[1] ?? null;
}

/** The newest of each context; of the pipeline that posted last under it, the newest of each workflow. */
function newestOf(statuses: readonly PostedStatus[]): readonly PostedStatus[] {
  const last = newestBy(statuses, ({ context }) => context);
  const isOfLast = (status: PostedStatus): boolean => {
    const newest = last.get(status.context);
    if (newest === undefined || newest === status) return true;
    const pipeline = pipelineOf(newest);
    return pipeline !== null && pipelineOf(status) === pipeline;
  };
  const newest = newestBy(statuses.filter(isOfLast), ({ context, url }) => JSON.stringify([context, url]));
  return [...newest.values()];
}

function newestBy(
  statuses: readonly PostedStatus[],
  keyOf: (status: PostedStatus) => string,
): ReadonlyMap<string, PostedStatus> {
  const newest = new Map<string, PostedStatus>();
  for (const status of statuses) newest.set(keyOf(status), newer(newest.get(keyOf(status)) ?? null, status));
  return newest;
}

function newer(one: PostedStatus | null, other: PostedStatus): PostedStatus {
  return one === null || other.id > one.id ? other : one;
}

/**
 * Woodpecker leaves out a workflow that waits for another one which did not pass, and posts that as a failure, perhaps before
 * that one's own end. So it is what its pipeline says, and never a pass: its own condition may have left it out as well.
 */
function answerOf(status: PostedStatus, told: ReadonlyMap<string, ReadonlySet<Answer>>): Answer {
  const pipeline = pipelineOf(status);
  if (pipeline === null || !isLeftOut(status)) return readAnswer(status);
  return LEFT_OUT_BY.find((answer) => told.get(pipeline)?.has(answer)) ?? 'failure';
}

/** By pipeline, what its workflows say that were not left out. */
function answersOfPipelines(statuses: readonly PostedStatus[]): ReadonlyMap<string, ReadonlySet<Answer>> {
  const told = new Map<string, Set<Answer>>();
  for (const status of newestBy(statuses, ({ context, url }) => JSON.stringify([context, url])).values()) {
    const pipeline = pipelineOf(status);
    if (pipeline === null || isLeftOut(status)) continue;
    told.set(pipeline, (told.get(pipeline) ?? new Set()).add(readAnswer(status)));
  }
  return told;
}

/** The first of these that a workflow of its pipeline has is that of one that was left out. */
const LEFT_OUT_BY = [...WORST_FIRST, 'pending'] as const;
/** Woodpecker for a state that it has no word for: of a workflow, one that was left out. */
const WORDS_OF_LEFT_OUT = 'unknown status';

function isLeftOut({ state, description }: PostedStatus): boolean {
  return state === 'failure' && description === WORDS_OF_LEFT_OUT;
}

/** Woodpecker's own words for a pipeline that was stopped, which it posts as a failure. */
const WORDS_OF_CANCELLED = 'Pipeline was canceled';
/** Pipelines as Code for a commit on which it ran nothing, or does not know what happened; the forges have no word for that. */
const WORDS_OF_NOTHING_RUN = 'Unknown';
/** Jenkins on a forge without `skipped`. */
const WORDS_OF_NOT_BUILT = 'This commit was not built';

/** `warning` is how Jenkins posts failed tests and Woodpecker a pipeline that a person declined: no pass. */
function readAnswer({ state, description }: PostedStatus): Answer {
  switch (state) {
    case 'success':
      return description === WORDS_OF_NOTHING_RUN ? 'error' : 'success';
    case 'failure':
      return description === WORDS_OF_CANCELLED ? 'cancelled' : 'failure';
    case 'warning':
      return description === WORDS_OF_NOT_BUILT ? 'error' : 'failure';
    // Pipelines as Code posts its own word, which the forges take.
    case 'cancelled':
    case 'canceled':
      return 'cancelled';
    case 'error':
    case 'skipped':
      return 'error';
    default:
      return 'pending';
  }
}
