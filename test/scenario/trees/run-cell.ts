import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import {
  MERGEABLE_WAIT_MS,
  UNMERGEABLE_LANDING_MS,
  UNMERGEABLE_REFUSED_AFTER_MS,
} from '#core/domain/limits.ts';
import { isMergeRefusal } from '#core/domain/pulls/merge-refusal.ts';
import { Secret } from '#core/secret.ts';
import type { DeferReason } from '../../../engine-container/src/queue/record/deferral.ts';
import { describeDefer } from '../../../engine-container/src/queue/words/phrases.ts';
import { givenHeldLease } from '../../builders/held-lease.ts';
import type { ForgeControl } from '../../support/forge-control.ts';
import { createWorldOn } from '../world.ts';
import { baseFiles, type Cell } from './cells.ts';
import { GitDesk } from './git-desk.ts';
import { makeHistory } from './histories.ts';
import { CHECK_LOOKS_MAX, openPull, schedule } from './people.ts';
import { callApi, type TreeForge } from './tree-forge.ts';

const GATE_FILE = 'mq-gate.yaml';
/** Needs nothing from outside: a runner in host mode runs it in a moment. */
const GATE = `on:
  push:
    branches: ['mq/**']
jobs:
  gate:
    runs-on: docker
    steps:
      - run: 'true'
`;
/** On real time: long enough for a landing that is given up, revoked and asked about, beside others on a slow machine. */
export const DRAIN_MS_MAX = 600_000;
/** No check for conflicts of a small repository takes longer: the rest of the engine's wait for it is skipped. */
const MERGEABLE_CHECK_MS_MAX = 15_000;
/** More than the service has for a call: a forge that is slow because of its machine fails nothing. */
const CALL_TIMEOUT_MS = 30_000;
const ENDS: ReadonlySet<string> = new Set(['pr_landed', 'pr_bounced', 'pr_skipped']);

/** How one pull request of a cell ended. */
export type Ending =
  | { readonly kind: 'landed'; readonly mergeCommit: string; readonly receiptTree: string | null }
  /** Open, with the words of the queue on its head. */
  | { readonly kind: 'held'; readonly words: string }
  /** The forge would not take its schedule, so it never came into the queue. */
  | { readonly kind: 'not schedulable' };

export interface CellResult {
  readonly endings: readonly Ending[];
  readonly halted: boolean;
  /** False: a pull request still waited when the time of the cell was over. */
  readonly cameToRest: boolean;
  /** What the queue raised an alarm for. */
  readonly alarms: readonly string[];
  /** Pull requests of which it told more than one end. */
  readonly endedTwice: readonly number[];
  /** First-parent line of the base since the pull requests were opened, with the trees that git reads there. */
  readonly line: readonly { readonly sha: string; readonly tree: string }[];
}

/** Plays one cell on a repository of its own, and reads with git what became of the base. */
export async function runCell(forge: TreeForge, cell: Cell, name: string): Promise<CellResult> {
  const slug = await forge.createRepo(name);
  const url = new URL(`${forge.instanceUrl}/${slug}.git`);
  url.username = forge.person.login;
  url.password = forge.person.token;
  const desk = new GitDesk(url.href, forge.caFile);
  try {
    await desk.open();
    return await play(forge, cell, slug, desk);
  } finally {
    desk.dispose();
  }
}

/** No time alone changes it: `not_mergeable` is told as a refusal later, and a reason without words is of now. */
function isFinal(reason: DeferReason, until: number | null): boolean {
  if (isMergeRefusal(reason)) return true;
  return until === null && reason !== 'not_mergeable' && describeDefer(reason) !== null;
}

async function play(forge: TreeForge, cell: Cell, slug: string, desk: GitDesk): Promise<CellResult> {
  const { clock, skip } = forge.startClock();
  const api = (as: 'bot' | 'person', method: 'GET' | 'POST', path: string, body?: unknown) =>
    callApi(forge.send, forge.instanceUrl, forge[as].token, method, `/repos/${slug}${path}`, body);
  const gate = { [`${forge.workflowFolder}/${GATE_FILE}`]: { mode: '100644', content: GATE } as const };
  const files = { ...baseFiles(cell.kind), ...gate };
  const [base = ''] = await desk.commitAll([{ parent: null, change: files, message: 'First commit' }]);
  const { base: tip, heads } = await makeHistory(desk, cell, base);
  await desk.push({ main: tip, ...Object.fromEntries(heads.map((head, at) => [`p${at + 1}`, head])) });
  await forge.settle();
  await api('bot', 'POST', '/branch_protections', {
    rule_name: 'main',
    enable_status_check: true,
    status_check_contexts: ['mq'],
  });
  const prs: { readonly pr: number; readonly scheduled: boolean }[] = [];
  for (const at of heads.keys()) {
    const number = await openPull(forge, clock, api, `p${at + 1}`);
    prs.push({ pr: number, scheduled: await schedule(forge, clock, api, number, cell.style) });
  }
  await clock.advance(5_000);
  await forge.settle();
  const client = createEngineForge(givenHeldLease(), {
    instanceUrl: forge.instanceUrl,
    slug,
    token: new Secret(forge.bot.token),
    send: forge.send,
    clock,
    timeoutMs: CALL_TIMEOUT_MS,
  });
  // The world's own forge is for tests that act through it; this one acts through git and the API alone.
  const none = {} as ForgeControl;
  const repo = { instanceUrl: forge.instanceUrl, slug, mergeStyle: cell.style };
  const world = await createWorldOn(clock, none, client, { repo }, forge.settle);
  // On time that does not pass by itself the world drains at once; on real time until the queue is empty.
  const deadline = Date.now() + DRAIN_MS_MAX;
  let cameToRest = false;
  const unseen = new Set(prs.flatMap(({ pr, scheduled }) => (scheduled ? [pr] : [])));
  await world.drain({
    maxMs: 2 * 60 * 60_000,
    until: async () => {
      const record = await world.record();
      const idle =
        record.batches.length === 0 && record.pendingStatuses.length === 0 && record.garbage.length === 0;
      const waits = record.entries.filter(
        (entry) =>
          !record.deferred.some(({ pr, until, reason }) => pr === entry.pr && isFinal(reason, until)) &&
          !record.bounced.some((known) => known.pr === entry.pr) &&
          entry.refusedFor === null,
      );
      for (const { pr } of [...record.entries, ...(await world.events())]) unseen.delete(pr);
      // A schedule is told of by the forge a moment after it is made: an empty queue has not come to rest before that.
      cameToRest = idle && waits.length === 0 && unseen.size === 0;
      // The words of a refusal come once no check can still be running.
      const held = record.deferred.filter(({ reason }) => reason === 'not_mergeable');
      if (idle && waits.length > 0 && waits.every((entry) => held.some(({ pr }) => pr === entry.pr))) {
        const until = held.find((each) => each.until !== null)?.until ?? null;
        skip(until === null ? UNMERGEABLE_REFUSED_AFTER_MS : Math.max(until - clock.now() + 1_000, 0));
      }
      for (const { unmergeableSince, landing } of record.batches) {
        const [since, waitMs] =
          landing === null
            ? [unmergeableSince, MERGEABLE_WAIT_MS]
            : [landing.takeBack === null ? landing.unmergeableSince : null, UNMERGEABLE_LANDING_MS];
        const waited = clock.now() - (since ?? clock.now());
        if (waited > MERGEABLE_CHECK_MS_MAX) skip(Math.max(waitMs - waited, 0));
      }
      return record.halted !== null || cameToRest || Date.now() > deadline;
    },
  });
  const record = await world.record();
  const receipts = new Map(
    (await world.rows()).flatMap((row) =>
      row.actions.flatMap((action) =>
        action.receipt === undefined ? [] : [[action.pr, action.receipt] as const],
      ),
    ),
  );
  const endings: Ending[] = [];
  for (const { pr, scheduled } of prs) {
    let pull = await client.readPullRequest(pr);
    // A merge moves the base before the forge says "merged".
    for (let look = 1; receipts.has(pr) && !pull.merged && look < CHECK_LOOKS_MAX; look += 1) {
      await clock.advance(500);
      pull = await client.readPullRequest(pr);
    }
    if (pull.merged) {
      endings.push({
        kind: 'landed',
        mergeCommit: pull.mergeCommitSha ?? '',
        receiptTree: receipts.get(pr)?.tree ?? null,
      });
    } else if (!scheduled) endings.push({ kind: 'not schedulable' });
    else {
      const status = (await client.readStatuses(pull.headSha)).find((each) => each.context === 'mq');
      endings.push({ kind: 'held', words: status?.description ?? '' });
    }
  }
  const whole = await desk.readLine('main');
  const line = whole.slice(1 + whole.findIndex(({ sha }) => sha === tip));
  const alarms = world.log.flatMap(({ fields }) =>
    fields.alarm === undefined ? [] : [String(fields.alarm)],
  );
  const ended = (await world.events()).flatMap(({ pr, event }) => (ENDS.has(event) ? [pr] : []));
  const endedTwice = ended.filter((pr, at) => ended.indexOf(pr) !== at);
  return { endings, halted: record.halted !== null, cameToRest, alarms, endedTwice, line };
}
