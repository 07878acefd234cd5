import { listTasks } from '#core/adapters/forge-http/gate/tasks.ts';
import { openScripted } from '../../../../../support/open-scripted.ts';
import { type ScriptedAnswer, type SeenRequest, sha } from '../../../../../support/scripted-forge.ts';

const FAILS: ScriptedAnswer = { status: 500, json: { message: '', url: 'x' } };
const AT = '2026-01-01T00:00:20Z';
const BEFORE = '2026-01-01T00:00:00Z';
const NOT_BEFORE = Date.parse('2026-01-01T00:00:10Z');

/** A task, newest first by its number; of an account that was deleted, which keeps the page from being shown. */
interface Given {
  readonly id: number;
  readonly at?: string;
  readonly isOfDeleted?: boolean;
}

function openTasks(given: (reads: number) => readonly Given[], cap = 50) {
  let reads = 0;
  const { transport, seen } = openScripted(({ query }: SeenRequest) => {
    reads += 1;
    const size = Math.min(cap, Number(query.limit));
    const from = (Number(query.page) - 1) * size;
    const page = given(reads).slice(from, from + size);
    if (page.some(({ isOfDeleted }) => isOfDeleted)) return FAILS;
    const rows = page.map(({ id, at = AT }) => ({ id, run_number: id, head_sha: sha(9), created_at: at }));
    return { json: { workflow_runs: rows, total_count: given(reads).length } };
  });
  const list = async () => (await listTasks(transport, NOT_BEFORE)).rows.map(({ id }) => id);
  return { list, seen };
}

const down = (from: number, count: number): Given[] =>
  Array.from({ length: count }, (_, at) => ({ id: from - at }));

describe('the list of tasks, of which the forge fails on those of an account that was deleted', () => {
  test('has the others, down to what is of no use, for a call for each task of a page that fails', async () => {
    const rows = [...down(60, 14), { id: 46, isOfDeleted: true }, ...down(45, 45)];
    const { list, seen } = openTasks(() => rows.map((row) => ({ ...row, at: row.id < 44 ? BEFORE : AT })));
    expect(await list()).toEqual([...down(60, 14), ...down(45, 3)].map(({ id }) => id));
    expect(seen.map(({ query }) => query.limit)).toEqual(['50', '10', '10', ...Array(8).fill('1')]);
  });

  test('is read in small pages however small the installation caps them, and ends with the list', async () => {
    const rows = [...down(12, 4), { id: 8, isOfDeleted: true }, ...down(7, 7)];
    expect(await openTasks(() => rows, 20).list()).toEqual([12, 11, 10, 9, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('has a task once that another one moved to the next page meanwhile', async () => {
    const rows = [...down(25, 12), { id: 13, isOfDeleted: true }, ...down(12, 12)];
    const { list } = openTasks((reads) => (reads < 3 ? rows : [{ id: 26 }, ...rows]));
    const ids = await list();
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual([...down(25, 12), ...down(12, 12)].map(({ id }) => id));
  });

  test('is not known where none of the newest can be shown, which is a forge that fails', async () => {
    const { list, seen } = openTasks(() => down(99, 60).map((row) => ({ ...row, isOfDeleted: true })));
    await expect(list()).rejects.toMatchObject({ status: 500, call: 'GET actions/tasks' });
    expect(seen).toHaveLength(12);
  });

  test('is not known where a hundred tasks bring no end', async () => {
    const rows = down(300, 300).map((row, at) => ({ ...row, isOfDeleted: at === 45 }));
    const { list, seen } = openTasks(() => rows);
    await expect(list()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(seen).toHaveLength(21);
  });

  test('is not read further where a proxy fails', async () => {
    const { transport, seen } = openScripted(() => ({ status: 502, text: '<html>', type: 'text/html' }));
    await expect(listTasks(transport, NOT_BEFORE)).rejects.toMatchObject({ status: 502 });
    expect(seen).toHaveLength(1);
  });
});
