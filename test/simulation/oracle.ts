import type { CommitStatus, PullRequest } from '#core/domain/forge/forge.ts';
import { codeOfEvent } from '#core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { ActivityEvent, NodeRow } from '#core/domain/queue/batch.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { judgeByContent } from '../scenario/stories.ts';
import type { Judge } from './judge.ts';
import type { Project } from './project.ts';
import { isWaitForAuthor, type Subject } from './waits-for-author.ts';

/** One repository at rest, as its forge, its judge and its stored rows have it. */
export interface RestingRepo {
  readonly repo: ManagedRepo;
  readonly forge: AbstractForge;
  readonly judge: Judge;
  readonly project: Project;
  readonly rows: readonly NodeRow[];
  readonly events: readonly ActivityEvent[];
  readonly isFlaky: boolean;
  /** Failing runs of one tree that its bounces need (D-08). */
  readonly failuresMin: number;
  /** How far the clocks of the machines are off at most, either way: events carry the time of the machine that told them. */
  readonly skewMs: number;
  /** No machine died or froze. */
  readonly isPrompt: boolean;
  /** How often the queue record was lost. */
  readonly recordsLost: number;
  /** Schedules with which one head may be tried; 0: no limit. */
  readonly attemptsMax: number;
}

/** The account of the queue on the forge of a life. */
const BOT = 'mq-bot';

const TWIN_RACE_MS = 60_000;

/** Ten are written; some may not have arrived. */
const POSTS_BEFORE_BOUNCE_MIN = 6;

/** States that are told only of pull requests in the queue. */
const BEGUN: ReadonlySet<string> = new Set(['pr_staged', 'pr_requeued', 'pr_refused', 'pr_bounced']);

/** The faults of a repository at rest. */
export async function judgeRest(subject: RestingRepo): Promise<string[]> {
  const { forge } = subject;
  // A failing base that stays unrepaired is probed again and again: there is no rest, and nothing to expect of one.
  if (judgeByContent(await forge.readFiles(await forge.tip(forge.base))) === 'failure')
    return checkEvents(subject);
  return [...checkRows(subject), ...(await checkEvents(subject))];
}

/**
 * A26, A42, A43, A54: resolved for good, one action per member, a parent in its batch and no ring of parents, no member landed
 * or bounced by a superseded node.
 */
export function checkRows({ rows }: Pick<RestingRepo, 'rows'>): string[] {
  const problems: string[] = [];
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const row of rows) {
    if (row.resolvedAt === null || row.outcome.startsWith('held'))
      problems.push(`row ${row.nodeId} rests as ${row.outcome}`);
    else if (String(row.actions.map((action) => action.pr)) !== String(row.prs)) {
      problems.push(`row ${row.nodeId} (${row.outcome}) has not one action per member`);
    }
    const decides = row.actions.some((action) => action.action === 'landed' || action.action === 'bounced');
    if ((row.outcome === 'superseded' || row.outcome === 'bisected') && decides) {
      problems.push(`${row.outcome} row ${row.nodeId} lands or bounces`);
    }
    if (
      row.parentId !== null &&
      !rows.some((other) => other.id === row.parentId && other.batchId === row.batchId)
    ) {
      problems.push(`row ${row.nodeId} has no parent in its run`);
    }
    if (isBelowItself(row, byId)) problems.push(`row ${row.nodeId} is below itself`);
  }
  return problems;
}

/** Also below a ring: no chain of parents is longer than the rows are many. */
function isBelowItself(row: NodeRow, byId: ReadonlyMap<string, NodeRow>): boolean {
  let above: NodeRow | undefined = row;
  for (let steps = 0; steps <= byId.size; steps += 1) {
    if (above === undefined || above.parentId === null) return false;
    above = byId.get(above.parentId);
  }
  return true;
}

/** A15, A37, A42, A84: each landing told once, each bounce once per schedule of a head, and only for cause. */
async function checkEvents(subject: RestingRepo): Promise<string[]> {
  const { events, forge } = subject;
  const problems: string[] = [];
  const landed = new Map<number, number>();
  const bounced = new Map<string, ActivityEvent[]>();
  for (const event of events) {
    if (event.event === 'pr_landed') landed.set(event.pr, (landed.get(event.pr) ?? 0) + 1);
    if (event.event === 'pr_bounced')
      bounced.set(`${event.pr} ${event.head}`, [...(bounced.get(`${event.pr} ${event.head}`) ?? []), event]);
  }
  for (const { pr, at, event, reason } of events) {
    const end = events.find(
      (each) => each.pr === pr && isMergeTold(each) && each.at + 2 * subject.skewMs < at,
    );
    if (end !== undefined) problems.push(`#${pr} had merged and is told as ${event} ${reason ?? ''}`);
  }
  for (const { pr, event, reason } of events) {
    const code = codeOfEvent(event, reason);
    const isOver = event === 'pr_landed' || event === 'pr_bounced' || event === 'pr_skipped';
    if (code === null) problems.push(`#${pr} ${event} ${reason ?? ''} has no code`);
    else if (isOver && PULL_CODES[code].is !== 'exit')
      problems.push(`#${pr} left with the code of a wait: ${code}`);
  }
  problems.push(...checkEnds(subject), ...checkReceipts(subject));
  for (const [pr, count] of landed) {
    if (count > 1) problems.push(`#${pr} told as landed ${count} times`);
    const pull = await forge.pull(pr);
    if (!pull.merged && !hasLateTwin(subject, pull)) problems.push(`#${pr} told as landed is not merged`);
  }
  for (const { pr, head, reason } of events) {
    if (reason !== 'merge_timeout' || !subject.isPrompt) continue;
    const told = bounced.get(`${pr} ${head}`) ?? [];
    const bounces = told.filter((event) => event.reason === 'merge_timeout').length;
    if (bounces === 0) continue;
    const isOurs = ({ state, creator }: CommitStatus): boolean => state === 'success' && creator === BOT;
    const posts = forge.statusHistory(head).filter(isOurs).length;
    // Two landings, each with its nudges (D-11): a forge that loses a merge now and then is no cause.
    if (posts < bounces * POSTS_BEFORE_BOUNCE_MIN) problems.push(`#${pr} bounced after ${posts} posts`);
  }
  for (const told of bounced.values()) {
    const [first] = told;
    if (first === undefined) continue;
    const schedules = countSchedules(forge, first.pr, first.head);
    // The words on a head are the memory of a bounce; of one that is closed while the record is rebuilt they are not read.
    const { attemptsMax } = subject;
    // A failure that is known is told again without a try (decision 0216).
    const tries = told.filter(({ reason }) => reason !== 'verdict_known' && reason !== 'retest_spent').length;
    // Each record that is lost takes the whole count along.
    if (attemptsMax > 0 && tries > attemptsMax * (subject.recordsLost + 1))
      problems.push(`#${first.pr} was tried ${tries} times, and ${attemptsMax} are allowed`);
    if (told.length > schedules + subject.recordsLost)
      problems.push(`#${first.pr} bounced ${told.length} times on ${schedules} schedules`);
    if (told.some((event) => event.reason === 'gate_failed') && !(await isGuilty(subject, first))) {
      problems.push(`#${first.pr} was bounced although it makes nothing fail`);
    }
  }
  return problems;
}

/** How often a head was asked for: by a schedule while it was the head, by each push that made it the head, and by approvals of it. */
function countSchedules(forge: AbstractForge, pr: number, head: string): number {
  // Null: not told. A retarget on Gitea states the push anew, and takes the entry of the first one away.
  let at: string | null = null;
  let count = 0;
  for (const { kind, newHead } of forge.timelineOf(pr)) {
    if (kind === 'pushed') at = newHead ?? at;
    if ((at === null || at === head) && (kind === 'pushed' || kind === 'scheduled')) count += 1;
  }
  // After a push that renews no schedule an approval does.
  return (
    count + forge.reviewsOf(pr).filter(({ state, commit }) => state === 'approved' && commit === head).length
  );
}

const isMergeTold = ({ event, reason }: ActivityEvent): boolean =>
  event === 'pr_landed' || reason === 'merged_outside_the_queue' || reason === 'merged_along';

function isExit({ event, reason }: ActivityEvent): boolean {
  const code = codeOfEvent(event, reason);
  return code !== null && PULL_CODES[code].is === 'exit';
}

/** A life in the queue begins with one event, and ends in one where it ends in a merge. */
function checkEnds({ events, skewMs, recordsLost }: RestingRepo): string[] {
  const problems: string[] = [];
  for (const pr of new Set(events.map((event) => event.pr))) {
    const own = events.filter((event) => event.pr === pr);
    const ends = own.filter(isMergeTold);
    if (ends.length > 1) problems.push(`#${pr} is told as merged ${ends.length} times`);
    const queuedAt = Math.min(...own.flatMap(({ event, at }) => (event === 'pr_queued' ? [at] : [])));
    const lives = own.filter(({ event }) => event === 'pr_queued').length;
    // Each record that is lost takes the lives in the queue along.
    if (lives > own.filter(isExit).length + 1 + recordsLost)
      problems.push(`#${pr} was queued ${lives} times, and left ${own.filter(isExit).length} times`);
    const early = own.find((each) => BEGUN.has(each.event) && each.at + 2 * skewMs < queuedAt);
    if (early !== undefined) problems.push(`#${pr} is told as ${early.event} before it was queued`);
  }
  return problems;
}

/**
 * A42: the head of what is told as landed has its receipt in a row. A record that is lost in between may cost it, and a merge that
 * came after its success was taken back has none.
 */
function checkReceipts({ events, rows, forge, recordsLost }: RestingRepo): string[] {
  if (recordsLost > 0) return [];
  const proven = new Set(
    rows.flatMap(({ actions }) =>
      actions.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt.head])),
    ),
  );
  const landed = events.filter(({ event, reason }) => event === 'pr_landed' && reason === null);
  return landed.flatMap(({ pr, head }) =>
    !proven.has(head) && wasOpenedBySuccess(forge, pr, head)
      ? [`#${pr} landed and no row has its receipt`]
      : [],
  );
}

/** Did a success of the queue stand on this head as the newest word when the forge merged it? */
function wasOpenedBySuccess(forge: AbstractForge, pr: number, head: string): boolean {
  let openedUnder: string | null = null;
  for (const entry of forge.journal()) {
    if (entry.kind === 'status' && entry.sha === head) {
      const isProven = entry.state === 'success' && entry.description.startsWith('proven:');
      if (isProven) openedUnder = entry.context;
      else if (entry.context === openedUnder) openedUnder = null;
    }
    if (entry.kind === 'merge' && entry.merge.pr === pr) return openedUnder !== null;
  }
  return false;
}

/** Another one with its head appeared while its success stood, unknown to all, and the forge merged that. */
function hasLateTwin({ project, events, forge }: RestingRepo, { number, headSha }: PullRequest): boolean {
  const told = events.find(({ pr, event }) => pr === number && event === 'pr_landed');
  return project.heads
    .pullsOf(headSha)
    .some(
      (other) => forge.isMerged(other) && Math.abs((told?.at ?? 0) - project.touchedAt(other)) < TWIN_RACE_MS,
    );
}

/** A35, D-08: on some proven ground the gate really fails with it, as often as it must, and passes without it. */
async function isGuilty(
  { judge, forge, failuresMin, isFlaky }: RestingRepo,
  event: ActivityEvent,
): Promise<boolean> {
  for (const ground of judge.provenGrounds()) {
    const tree = forge.previewMerge(ground, event.head);
    if (tree === null || judge.failuresOf(tree) < failuresMin) continue;
    // By chance as often as it must.
    if (isFlaky) return true;
    if (judgeByContent(await forge.readFiles(ground)) !== 'success') continue;
    if (judgeByContent(forge.readTreeFiles(tree)) === 'failure') return true;
  }
  return false;
}

/** Scheduled on its head, and neither landed nor told why not. */
export interface Unsettled {
  readonly pr: number;
  /** The statuses of its head, under each context. */
  readonly words: string;
  /** None of them is of the schedule that holds. */
  readonly isUntold: boolean;
}

type Said = Pick<CommitStatus, 'description' | 'createdAt'>;

/** What the queue said last on a head under a context. */
function lastOwnWords(forge: AbstractForge, head: string, context: string): Said | null {
  const own = forge.statusHistory(head).findLast((each) => each.context === context && each.creator === BOT);
  return own ?? null;
}

export async function listUnsettled(subject: Subject): Promise<readonly Unsettled[]> {
  const { forge, project, contexts } = subject;
  const unsettled: Unsettled[] = [];
  const tip = await forge.tip(forge.base);
  const baseTree = await forge.tree(tip);
  for (const pr of project.prs) {
    const pull = await forge.pull(pr);
    if (pull.state !== 'open' || pull.draft || pull.baseRef !== forge.base || !forge.isScheduled(pr))
      continue;
    if (!project.heads.wasScheduled(pull.headSha)) continue;
    const scheduledAt = forge.timelineOf(pr).findLast(({ kind }) => kind === 'scheduled')?.at ?? 0;
    // Said under the context of that time, and remembered when it changes. Another account may have written over it.
    const said = contexts.map((context) => lastOwnWords(forge, pull.headSha, context));
    const merged = forge.previewMerge(tip, pull.headSha);
    const isExcused = async ({ description: words, createdAt }: Said): Promise<boolean> => {
      if (words.startsWith('bounced:')) return createdAt >= scheduledAt;
      if (words.startsWith('refused: conflicts')) return merged === null;
      // Held while the base came to conflict with it.
      if (words.startsWith('refused: git merges it, but the forge calls it a conflict'))
        return merged === null;
      if (words.startsWith('refused: changes nothing')) return merged === baseTree;
      if (words.startsWith('refused: its branch and the base were merged into each other'))
        return forge.mergeBases(tip, pull.headSha).length > 1;
      return (await isWaitForAuthor(subject, pull, words)) || (await project.isTold(pr, words));
    };
    const words = said.filter((each) => each !== null);
    // Of what cannot be read no words are written.
    const excused =
      words.length === 0 ? [await project.isTold(pr, '')] : await Promise.all(words.map(isExcused));
    if (excused.includes(true)) continue;
    const isTold = forge
      .statusHistory(pull.headSha)
      .some(({ context, createdAt }) => contexts.includes(context) && createdAt >= scheduledAt);
    unsettled.push({
      pr,
      words: said.map((status) => status?.description ?? 'nothing').join(' / '),
      isUntold: !isTold,
    });
  }
  return unsettled;
}
