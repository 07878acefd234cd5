import * as z from 'zod';
import type { PullRequestNumber } from '../../domain/ids.ts';
import { BACKPORT_RESULTS, sayBackport } from '../../domain/pulls/backport.ts';
import { codeOfEvent, PULL_CODE_NAMES, type PullCodeName } from '../../domain/pulls/find-pull-code.ts';
import { TURNS } from '../../domain/pulls/pull-code-kinds.ts';
import { PULL_CODES } from '../../domain/pulls/pull-code-table.ts';
import type { PullStory } from '../../domain/pulls/pull-story.ts';
import { ACTIVITY_EVENTS, type NodeRow } from '../../domain/queue/batch.ts';
import { sayForecast } from '../../domain/queue/forecast.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { ReceiptView, toReceiptView } from '../evidence/receipt.ts';
import { formatTime, formatTimeOrNull, Time, Uuid } from '../fields.ts';
import { QueueBatch, toQueueBatch } from '../queue/activity.ts';

const Told = z.object({
  /** Null: written by a newer service. */
  code: z.enum(PULL_CODE_NAMES).nullable(),
  kind: z.enum(['exit', 'wait']).nullable(),
  turn: z.enum(TURNS).nullable(),
  fault: z.boolean().nullable(),
  words: z.string().nullable(),
  next: z.string().nullable(),
});

export const PullStoryView = z.object({
  repo_id: Uuid,
  repo_slug: z.string(),
  number: z.int(),
  title: z.string().nullable(),
  in_queue: z.boolean(),
  now: Told.extend({ since: Time.nullable(), until: Time.nullable() }),
  /** From 1; null: not in the queue, or too far behind. */
  place: z.int().nullable(),
  batch: z
    .object({
      run_id: z.string(),
      node_id: z.string(),
      tree: z.string().nullable(),
      gate_verdict: z.string(),
      run_url: z.string().nullable(),
      prs: z.array(z.int()),
    })
    .nullable(),
  /** Null: a person has to act first, the repository has landed too little to tell, or this one has waited longer than nine in ten did. */
  estimate: z.object({ seconds: z.int(), error_seconds: z.int(), landings: z.int() }).nullable(),
  /** One sentence where its chance to fail is held to be another than usual; null: it is not. */
  forecast: z.string().nullable(),
  history: z.array(Told.extend({ timestamp: Time, event: z.enum(ACTIVITY_EVENTS), head: z.string() })),
  attempts: z.array(QueueBatch),
  receipts: z.array(ReceiptView),
  /** The change that it would make to the settings by `.mergeyard.yml`, or what is wrong in it; null: none is known. */
  settings_file: z.string().nullable(),
  /** One for each label that asked for one, once it has landed. `number`: the pull request that carries it; null: there is none. */
  backports: z.array(
    z.object({
      branch: z.string(),
      result: z.enum(BACKPORT_RESULTS),
      number: z.int().nullable(),
      says: z.string(),
      next: z.string().nullable(),
    }),
  ),
});
export type PullStoryView = z.input<typeof PullStoryView>;

function tell(code: PullCodeName | null): z.input<typeof Told> {
  if (code === null) return { code, kind: null, turn: null, fault: null, words: null, next: null };
  const { is, turn, fault, says, next } = PULL_CODES[code];
  return { code, kind: is, turn, fault, words: says, next };
}

function toBatch({ batchId, nodeId, stagingTree, gateVerdict, runUrl, prs }: NodeRow) {
  return {
    run_id: batchId,
    node_id: nodeId,
    tree: stagingTree,
    gate_verdict: gateVerdict,
    run_url: runUrl,
    prs: [...prs],
  };
}

const toSeconds = (ms: number): number => Math.round(ms / 1000);

export function toPullStoryView(
  repo: Pick<ManagedRepo, 'id' | 'slug' | 'backported'>,
  number: PullRequestNumber,
  story: PullStory,
): PullStoryView {
  const { estimate } = story;
  return {
    repo_id: repo.id,
    repo_slug: repo.slug,
    number,
    title: story.title,
    in_queue: story.inQueue,
    now: {
      ...tell(story.code),
      ...(story.words === null ? {} : { words: story.words }),
      ...(story.next === null ? {} : { next: story.next }),
      since: formatTimeOrNull(story.since),
      until: formatTimeOrNull(story.until),
    },
    place: story.place,
    batch: story.node === null ? null : toBatch(story.node),
    estimate:
      estimate === null
        ? null
        : {
            seconds: toSeconds(estimate.ms),
            error_seconds: toSeconds(estimate.errorMs),
            landings: estimate.landings,
          },
    forecast: story.forecast === null ? null : sayForecast(story.forecast),
    history: story.history.map(({ at, event, reason, head }) => ({
      ...tell(codeOfEvent(event, reason)),
      timestamp: formatTime(at),
      event,
      head,
    })),
    attempts: story.attempts.map((row) => toQueueBatch(row, [])),
    receipts: story.receipts.map(toReceiptView),
    settings_file: story.settings,
    backports: (repo.backported ?? [])
      .filter(({ pr }) => pr === number)
      .flatMap(({ backports }) => backports)
      .map((each) => ({ branch: each.branch, result: each.result, number: each.pull, ...sayBackport(each) })),
  };
}
