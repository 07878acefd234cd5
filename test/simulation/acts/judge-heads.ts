import { type CommitStatus, mayOpenMerge, type PullRequest } from '#core/domain/forge/forge.ts';
import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { PAUSED_PREFIX } from '#core/domain/repos/pause-words.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { BOT, CONTEXTS } from './story.ts';

/** The state of the queue that words have to agree with. */
export interface QueueState {
  readonly context: string;
  readonly isOn: boolean;
  /** A drain lets what is staged go on. */
  readonly pause: 'pause' | 'drain' | null;
  readonly isHalted: boolean;
  /** The rule of the base asks for its status. Else the forge merges what the queue says nothing about, and heads tell nothing new. */
  readonly isRuled: boolean;
  /** Null: not known. */
  readonly batches: number | null;
}

type Code = keyof typeof PULL_CODES;
type Status = Pick<CommitStatus, 'state' | 'description' | 'creator'>;

/** Promises of the queue to one that is in it. */
const GOES_ON = /^(queued|staged|requeued|proven)/;
const IN_QUEUE = /^(queued|staged|requeued|paused|proven|waiting|refused)/;
/** Of one that is merged; a bounce keeps the words of its cause (A146). */
const OF_MERGED = /^(landed|bounced|not landed: an earlier head|not queued: (it was merged past|another))/;
/** It waits for its author, who reads what to do, whatever the rule asks for besides. */
const HEAD_CHANGED = 'requeued: head changed';
/** Promises that hold on a head of before no more. */
const OF_NEWEST_HEAD = /^(queued|staged|proven|requeued: (a|the))/;
/** Codes that name something under way. */
const NEEDS_BATCH: readonly string[] = [
  'conflict_ahead',
  'twin_ahead',
  'suspect_ahead',
  'not_on_batch',
  'staged',
  'next_batch',
] satisfies readonly Code[];
const OF_RULE: readonly string[] = [
  'approvals_missing',
  'changes_requested',
  'review_requested',
  'branch_outdated',
] satisfies readonly Code[];
/** How what is told of a success begins that another account wrote: it is found in the patrol's turn (A7). */
export const STRANGER_STANDS = 'a success of another account stands on';
/** How what is told of a success that stands begins. */
export const SUCCESS_STANDS = 'a success stands on';
/** One that another required check keeps out says nothing for five minutes (A145). */
export const SILENCE = 'and its head says nothing';

/** The code whose words these are, or the words themselves. */
export function codeOfWords(words: string): string {
  return Object.entries(PULL_CODES).find(([, { says }]) => says === words)?.[0] ?? words;
}

export function isInQueue(forge: AbstractForge, pull: PullRequest): boolean {
  const isOpen = pull.state === 'open' && pull.baseRef === forge.base && !pull.draft;
  return isOpen && forge.isScheduled(pull.number);
}

export async function findPull(forge: AbstractForge, pr: PullRequestNumber): Promise<PullRequest | null> {
  try {
    return await forge.pull(pr);
  } catch {
    return null;
  }
}

/** What heads say that does not hold: words against the state of their pull request, as the forge has it at this moment. */
export class HeadJudge {
  readonly #forge: AbstractForge;
  readonly #prs: readonly PullRequestNumber[];
  readonly #heads = new Map<PullRequestNumber, Set<CommitSha>>();

  constructor(forge: AbstractForge, prs: readonly PullRequestNumber[]) {
    this.#forge = forge;
    this.#prs = prs;
  }

  async judge(queue: QueueState): Promise<readonly string[]> {
    const pulls: PullRequest[] = [];
    for (const pr of this.#prs) {
      const pull = await findPull(this.#forge, pr);
      if (pull !== null) pulls.push(pull);
    }
    const newest = new Set(pulls.map(({ headSha }) => headSha));
    const problems: string[] = [];
    for (const pull of pulls) {
      // A status belongs to the commit: of several with it, the words are those of one that is open.
      const isOthers = pulls.some(({ headSha, state }) => headSha === pull.headSha && state === 'open');
      if (pull.merged && isOthers) continue;
      problems.push(...(await this.#judgeFormer(pull, newest, queue.context)));
      problems.push(...this.#judgeNewest(pull, await this.#forge.status(pull.headSha, queue.context), queue));
    }
    return problems;
  }

  /** Heads of before, and contexts of before. */
  async #judgeFormer(pull: PullRequest, newest: ReadonlySet<CommitSha>, context: string): Promise<string[]> {
    const problems: string[] = [];
    const heads = this.#heads.get(pull.number) ?? new Set();
    this.#heads.set(pull.number, heads);
    heads.add(pull.headSha);
    for (const head of heads) {
      const isNewest = head === pull.headSha;
      if (isNewest ? pull.merged : newest.has(head)) continue;
      for (const each of CONTEXTS) {
        if (isNewest && each === context) continue;
        const status = await this.#forge.status(head, each);
        if (status === null || status.creator !== BOT) continue;
        const of = `a head or context of #${pull.number} before says`;
        if (status.state === 'success' && !this.#forge.merges().some((merge) => merge.head === head))
          problems.push(`${of} success: "${status.description}"`);
        else if (OF_NEWEST_HEAD.test(status.description)) problems.push(`${of} "${status.description}"`);
      }
    }
    return problems;
  }

  #judgeNewest(pull: PullRequest, status: Status | null, queue: QueueState): readonly string[] {
    const { number, merged } = pull;
    if (status !== null && status.creator !== BOT)
      return merged || !mayOpenMerge(status) ? [] : [`${STRANGER_STANDS} #${number}`];
    const words = status?.description ?? '';
    if (merged && pull.baseRef === this.#forge.base)
      return words === '' || OF_MERGED.test(words) || !queue.isOn
        ? []
        : [`#${number} is merged, and its head says "${words}"`];
    const problems: string[] = [];
    if (words.startsWith('landed')) problems.push(`#${number} is not merged, and its head says "${words}"`);
    if (status?.state === 'success' && !merged) problems.push(`${SUCCESS_STANDS} #${number}: "${words}"`);
    const says = codeOfWords(words);
    if (!queue.isOn) {
      if (GOES_ON.test(words) || words.startsWith(PAUSED_PREFIX))
        problems.push(`the queue is off, and #${number} says ${says}`);
    } else if (!isInQueue(this.#forge, pull)) {
      if (IN_QUEUE.test(words) && says !== 'schedule_lost')
        problems.push(`#${number} is out (${pull.state}, before ${pull.baseRef}), and says ${says}`);
    } else if (queue.isRuled) problems.push(...this.#judgeWaiting(number, words, queue));
    return problems;
  }

  #judgeWaiting(pr: PullRequestNumber, words: string, queue: QueueState): readonly string[] {
    const says = codeOfWords(words);
    const problems: string[] = [];
    const say = (is: boolean, what: string) => {
      if (is) problems.push(`#${pr} ${what} says ${says}`);
    };
    if (words === '') problems.push(`#${pr} is in the queue, ${SILENCE}`);
    say(words.startsWith('not queued') || says === 'schedule_lost', 'is in the queue, and');
    say(queue.batches === 0 && NEEDS_BATCH.includes(says), 'waits for nothing under way, and');
    say(words.startsWith(PAUSED_PREFIX) && queue.pause === null, 'is not paused, and');
    const isOfPaused = queue.pause === 'drain' ? /^(queued|requeued)/ : /^(queued|staged|requeued)/;
    say(queue.pause !== null && isOfPaused.test(words), 'is paused, and');
    say(says === 'queue_stopped' && !queue.isHalted, 'is of a queue that goes on, and');
    const isOfHalted = /^(queued: [wgt]|staged|requeued)/.test(words) && says !== 'queue_stopped';
    say(queue.isHalted && isOfHalted, 'is of a queue that has stopped, and');
    const violation = this.#forge.ruleViolation(pr);
    say(violation === null && OF_RULE.includes(says), 'meets the rule, and');
    say(
      violation !== null && GOES_ON.test(words) && !words.startsWith(HEAD_CHANGED),
      `does not meet the rule (${violation}), and`,
    );
    return problems;
  }
}
