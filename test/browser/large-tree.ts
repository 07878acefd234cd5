import { randomUUID } from 'node:crypto';
import type { NodeRow } from '#core/domain/queue/batch.ts';
import { givenNodeRow } from '../builders/store-rows.ts';
import { openRepo, sees, signIn } from './steps.ts';
import type { BrowserWorld } from './world.ts';

const NODES = 200;
const MEMBERS = 50;
/** As text: this file is checked without the types of a browser. */
const DRAW = `(async () => {
  const link = [...document.querySelectorAll('tbody a')].find((each) => each.textContent.startsWith('#1, #2'));
  const began = performance.now();
  link.click();
  while (document.querySelectorAll('[role=treeitem]').length < ${NODES}) await new Promise((next) => setTimeout(next, 0));
  document.querySelector('[role=tree]').getBoundingClientRect();
  await new Promise((next) => requestAnimationFrame(() => setTimeout(next, 0)));
  return Math.round(performance.now() - began);
})()`;

/** Milliseconds from the click to the drawn tree of a batch with 200 nodes, styles and layout included. */
export async function drawLargeTree(world: BrowserWorld): Promise<number> {
  const watched = await world.open();
  const { page } = watched;
  await signIn(watched, world, 'Ada');
  const id = await openRepo(watched, 'ledger');
  const repo = await world.started.service.store.getRepo(id);
  if (repo === null) throw new Error('the repository is gone');
  await storeTree(world, makeTree(repo.tenantId, id, repo.slug, repo.instanceUrl));
  await page
    .getByRole('navigation', { name: /Pages of/ })
    .getByRole('link', { name: 'Batches' })
    .click();
  await page.reload();
  const link = page.getByRole('row').getByRole('link', { name: /#1, #2/ });
  await sees(link);
  // The first visit loads the code of the page; the second one is what drawing costs.
  await link.click();
  await sees(page.getByRole('treeitem').first());
  await page.goBack();
  await sees(link);
  const took = await page.evaluate<number>(DRAW);
  await watched.context.close();
  return took;
}

/** A search by halves of fifty members, attempt after attempt, until there are 200 nodes. */
function makeTree(
  tenantId: string,
  repoId: string,
  repoSlug: string,
  instanceUrl: string,
): readonly NodeRow[] {
  const rows: NodeRow[] = [];
  const batchId = randomUUID();
  // The newest of all: the feed ends after 200 nodes, and a root that is cut off leaves a forest.
  const at = Date.now();
  const make = (from: number, to: number, parent: NodeRow | null, nodeId: string): NodeRow => {
    const row = givenNodeRow({
      id: randomUUID(),
      tenantId,
      repoId,
      repoSlug,
      instanceUrl,
      batchId,
      nodeId,
      parentId: parent?.id ?? null,
      parentNodeId: parent?.nodeId ?? null,
      stagingBranch: null,
      gateVerdict: 'failure',
      gateRuns: 1,
      outcome: to - from === 1 ? 'bounced' : 'bisected',
      phase: null,
      createdAt: at + rows.length,
      resolvedAt: at + 1_000,
      prs: Array.from({ length: to - from }, (_, index) => from + index + 1),
    });
    rows.push(row);
    return row;
  };
  const queue: { row: NodeRow; from: number; to: number }[] = [
    { row: make(0, MEMBERS, null, 'r'), from: 0, to: MEMBERS },
  ];
  while (rows.length < NODES) {
    const { row, from, to } = queue.shift() ?? { row: rows[0] as NodeRow, from: 0, to: MEMBERS };
    const middle = Math.ceil((from + to) / 2);
    const parts =
      to - from > 1
        ? ([
            [from, middle],
            [middle, to],
          ] as const)
        : ([[from, to]] as const);
    for (const [index, [start, end]] of parts.entries()) {
      if (rows.length >= NODES) break;
      queue.push({ row: make(start, end, row, `${row.nodeId}.${index + 1}`), from: start, to: end });
    }
  }
  return rows;
}

const ROWS_PER_WRITE = 40;

async function storeTree(world: BrowserWorld, rows: readonly NodeRow[]): Promise<void> {
  const { store } = world.started.service;
  const repo = await store.getRepo(rows[0]?.repoId ?? '');
  if (repo === null) throw new Error('the repository is gone');
  let grant = await store.acquireLease(repo.id, 'browser-test', 'rows', 60_000);
  for (let tries = 0; grant === 'held' && tries < 60; tries += 1) {
    await new Promise((next) => setTimeout(next, 500));
    grant = await store.acquireLease(repo.id, 'browser-test', 'rows', 60_000);
  }
  if (grant === 'held') throw new Error('the lease stays held');
  const held = { repoId: repo.id, fence: grant.fence, isPastDeadline: () => false };
  let version = (await store.loadQueueRecord(repo.id))?.version ?? null;
  const document = (await store.loadQueueRecord(repo.id))?.document ?? {};
  for (let from = 0; from < rows.length; from += ROWS_PER_WRITE) {
    const batches = rows.slice(from, from + ROWS_PER_WRITE);
    version = await store.saveQueue(held as never, repo, {
      document,
      expectedVersion: version,
      batches,
      events: [],
    });
  }
  await store.releaseLease(repo.id, grant);
}
