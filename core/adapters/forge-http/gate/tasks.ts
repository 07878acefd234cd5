import { FORGE_PAGE_SIZE_MAX } from '#core/domain/limits.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { readBody } from '../wire/read-body.ts';
import { TaskPage, type TaskRow } from '../wire/schema.ts';
import type { ForgeAnswer, ForgeTransport } from '../wire/transport.ts';

const LABEL = 'GET actions/tasks';
/** Job attempts that are read: more than a repository starts while a gate run is out. */
const TASKS_MAX = 2_000;
/** Rows of a page where the forge fails on one of the usual size: below the cap of an installation, so that page numbers mean these rows. */
const SMALL_PAGE_SIZE = 10;
/** Job attempts that are read in small pages, which may take a call each. */
const TASKS_IN_SMALL_PAGES_MAX = 100;

export interface TaskList {
  /** Newest first; those that the forge cannot show are left out. */
  readonly rows: readonly TaskRow[];
  /** By the forge's clock; null: its answer has no date. */
  readonly readAt: number | null;
}

/** Pages of one size, read from the newest task on. */
interface Pages {
  readonly transport: ForgeTransport;
  readonly size: number;
  /** Tasks older than this are of no use. */
  readonly notBefore: number;
}

type Page = TaskList & {
  /** The pages after it have no task that is of use. */
  readonly isLast: boolean;
};

/**
 * Tasks of the repository, down to those older than `notBefore`. Gitea before 1.26 and Forgejo before 15 fail on each page with a task
 * of a run whose account was deleted, for as long as it stands there (forge facts, 8): then pages get smaller, and that task is left out.
 */
export async function listTasks(transport: ForgeTransport, notBefore: number): Promise<TaskList> {
  const list = { transport, notBefore };
  const whole = await readLargePages({ ...list, size: FORGE_PAGE_SIZE_MAX });
  return whole ?? readSmallPages({ ...list, size: SMALL_PAGE_SIZE });
}

/** Null: the forge fails on a page. */
async function readLargePages(pages: Pages): Promise<TaskList | null> {
  const rows: TaskRow[] = [];
  let readAt: number | null = null;
  for (let at = 1; at <= TASKS_MAX / pages.size; at += 1) {
    const page = await readPage(pages, at);
    if ('failed' in page) return null;
    readAt ??= page.readAt;
    rows.push(...page.rows);
    if (page.isLast) break;
  }
  return { rows, readAt };
}

/** Throws where the forge shows none of the newest tasks, or no end of those that count. */
async function readSmallPages(pages: Pages): Promise<TaskList> {
  // A task that came meanwhile moves the others down, one of them to a page that is still to be read.
  const rows = new Map<number, TaskRow>();
  let readAt: number | null = null;
  for (let at = 1; at <= TASKS_IN_SMALL_PAGES_MAX / pages.size; at += 1) {
    const page = await readPage(pages, at);
    const parts = 'failed' in page ? await readSingly(pages, at) : [page];
    for (const part of parts) for (const row of part.rows) rows.set(row.id, row);
    readAt ??= parts[0]?.readAt ?? null;
    if (parts.some(({ isLast }) => isLast)) return { rows: [...rows.values()], readAt };
    if ('failed' in page && rows.size === 0) throw page.failed;
  }
  throw new ForgeError('unreachable', LABEL, null);
}

/** The tasks of a page, each by itself, without those that the forge fails on. */
async function readSingly(pages: Pages, at: number): Promise<readonly Page[]> {
  const singles: Page[] = [];
  for (let nth = 1; nth <= pages.size; nth += 1) {
    const single = await readPage({ ...pages, size: 1 }, (at - 1) * pages.size + nth);
    if ('failed' in single) continue;
    singles.push(single);
    if (single.isLast) break;
  }
  return singles;
}

async function readPage(
  { transport, size, notBefore }: Pages,
  page: number,
): Promise<Page | { readonly failed: ForgeError }> {
  const path = [...transport.repoPath, 'actions', 'tasks'];
  const call = { method: 'GET', label: LABEL, path, query: { page, limit: size } } as const;
  const answer = await transport.exchange(call);
  const readAt = readDate(answer);
  // Forgejo 7 and Gitea before 1.23 have no task list, and none is shown while Actions is off.
  if (answer.status === 404 || answer.status === 405) return { rows: [], readAt: null, isLast: true };
  const failed = answer.status === 200 ? null : transport.failure(call, answer);
  if (failed !== null && answer.status === 500 && answer.isJson) return { failed };
  if (failed !== null) throw failed;
  const rows = readBody(TaskPage, call, answer).workflow_runs.filter((row) => row !== null);
  const oldest = rows.at(-1);
  // Jobs older than the first status on the commit belong to other commits.
  return { rows, readAt, isLast: oldest === undefined || oldest.created_at < notBefore };
}

function readDate({ headers }: ForgeAnswer): number | null {
  const at = Date.parse(headers.date ?? '');
  return Number.isNaN(at) ? null : at;
}
