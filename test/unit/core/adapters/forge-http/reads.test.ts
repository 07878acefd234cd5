import { createForgeReader } from '#core/adapters/forge-http/reader.ts';
import type { ForgeReader } from '#core/ports/forge.ts';
import { openScripted } from '../../../../support/open-scripted.ts';
import { type ScriptedAnswer, type SeenRequest, sha } from '../../../../support/scripted-forge.ts';

function open(respond: (request: SeenRequest, nth: number) => ScriptedAnswer): {
  readonly forge: ForgeReader;
  readonly seen: readonly SeenRequest[];
} {
  const { transport, seen } = openScripted(respond);
  return { forge: createForgeReader(transport), seen };
}

const MISSING: ScriptedAnswer = { status: 404, json: { message: 'no', errors: null } };

describe('branches', () => {
  const branch = { name: 'mq/main/staging', commit: { id: sha(7) }, protected: false };

  test('the tip of a branch, its slashes kept and the rest encoded', async () => {
    const { forge, seen } = open(() => ({ json: branch }));
    expect(await forge.readBranchTip('mq/ma#n/st?ging')).toBe(sha(7));
    expect(seen[0]?.path).toBe('/branches/mq/ma%23n/st%3Fging');
  });

  test('a branch that is not there', async () => {
    const { forge, seen } = open((request) => (request.path === '' ? { json: { id: 1 } } : MISSING));
    expect(await forge.readBranchTip('main')).toBeNull();
    expect(seen.map((request) => request.path)).toEqual(['/branches/main', '']);
  });

  test('a repository that is not there is no missing branch', async () => {
    const { forge } = open(() => MISSING);
    await expect(forge.readBranchTip('main')).rejects.toMatchObject({ kind: 'missing', call: 'GET repo' });
  });

  test('a proxy that finds nothing is no missing branch', async () => {
    const { forge } = open(() => ({ status: 404, text: '404 page not found', type: 'text/plain' }));
    await expect(forge.readBranchTip('main')).rejects.toMatchObject({ kind: 'unreachable', status: 404 });
  });
});

describe('commits', () => {
  test('a commit in the fields we use', async () => {
    const parents = [{ sha: sha(1) }, { sha: sha(2) }];
    const { forge, seen } = open(() => ({
      json: { sha: sha(9), commit: { message: 'm', tree: { sha: sha(8) } }, parents },
    }));
    expect(await forge.readCommit(sha(9))).toEqual({
      sha: sha(9),
      tree: sha(8),
      parents: [sha(1), sha(2)],
      message: 'm',
    });
    expect(seen[0]).toMatchObject({
      path: `/git/commits/${sha(9)}`,
      query: { stat: 'false', verification: 'false', files: 'false' },
    });
  });

  test('a forge that names the commit where its tree belongs is asked for the tree', async () => {
    const { forge, seen } = open(({ path }) => ({
      json: path.startsWith('/git/trees/')
        ? { sha: sha(8), tree: [], total_count: 0 }
        : { sha: sha(9), commit: { message: 'm', tree: { sha: sha(9) } }, parents: [] },
    }));
    expect((await forge.readCommit(sha(9))).tree).toBe(sha(8));
    expect(seen[1]?.path).toBe(`/git/trees/${sha(9)}%5E%7Btree%7D`);
  });

  test('a forge that does not peel gives no tree, and never a wrong one', async () => {
    const { forge } = open(() => ({
      json: { sha: sha(9), commit: { message: 'm', tree: { sha: sha(9) } }, parents: [], tree: [] },
    }));
    await expect(forge.readCommit(sha(9))).rejects.toMatchObject({ kind: 'unreachable', status: 200 });
  });

  test.each([null, undefined])('a root commit with parents %s', async (parents) => {
    const { forge } = open(() => ({
      json: { sha: sha(9), commit: { message: '', tree: { sha: sha(8) } }, parents },
    }));
    expect((await forge.readCommit(sha(9))).parents).toEqual([]);
  });

  test.each([{}, [], null, 'x', { sha: 'abc' }, { sha: sha(9), commit: {} }])(
    '%j is no commit',
    async (json) => {
      const { forge } = open(() => ({ json }));
      await expect(forge.readCommit(sha(9))).rejects.toMatchObject({ kind: 'unreachable', status: 200 });
    },
  );
});

/** A small history: child -> parents. Answers `commits?sha&not` from it. */
function openHistory(parentsOf: Readonly<Record<number, readonly number[]>>, pageSize = 50) {
  const reach = (from: string): Set<string> => {
    const found = new Set<string>();
    const visit = (n: number): void => {
      if (found.has(sha(n))) return;
      found.add(sha(n));
      for (const parent of parentsOf[n] ?? []) visit(parent);
    };
    visit(Number.parseInt(from, 16));
    return found;
  };
  return open((request) => {
    const not = reach(request.query.not ?? '');
    const rows = [...reach(request.query.sha ?? '')]
      .filter((id) => !not.has(id))
      .map((id) => ({
        sha: id,
        parents: (parentsOf[Number.parseInt(id, 16)] ?? []).map((n) => ({ sha: sha(n) })),
      }));
    const limit = Math.min(pageSize, Number(request.query.limit));
    const page = Number(request.query.page);
    return {
      json: rows.slice((page - 1) * limit, page * limit),
      headers: { 'x-total-count': String(rows.length) },
    };
  });
}

describe('merge base', () => {
  const line = { 1: [], 2: [1], 3: [2], 4: [2], 5: [4] };

  test.each([
    ['a fork', line, 3, 5, 2],
    ['a head that contains the base', line, 2, 5, 2],
    ['a head that the base contains', line, 5, 4, 4],
    ['the same commit', line, 5, 5, 5],
    ['a head that merged the base in', { ...line, 6: [5, 3], 7: [3] }, 7, 6, 3],
    ['a head that merged the base in twice', { ...line, 6: [5, 3], 7: [3], 8: [6, 7], 9: [7] }, 9, 8, 7],
  ])('%s', async (_name, history, base, head, expected) => {
    const { forge } = openHistory(history);
    expect(await forge.readMergeBase(sha(base), sha(head))).toBe(sha(expected));
  });

  test('a criss-cross has several, one of them is taken', async () => {
    const { forge } = openHistory({ 1: [], 2: [1], 3: [1], 4: [2, 3], 5: [3, 2] });
    expect([sha(2), sha(3)]).toContain(await forge.readMergeBase(sha(4), sha(5)));
  });

  test('unrelated histories have none', async () => {
    const { forge } = openHistory({ 1: [], 2: [], 3: [2] });
    expect(await forge.readMergeBase(sha(1), sha(3))).toBeNull();
  });

  test('a long branch is read over all its pages', async () => {
    const history: Record<number, readonly number[]> = { 1: [], 500: [1] };
    for (let n = 2; n <= 130; n += 1) history[n] = [n - 1];
    const { forge, seen } = openHistory(history, 30);
    expect(await forge.readMergeBase(sha(500), sha(130))).toBe(sha(1));
    expect(seen).toHaveLength(5);
  });

  test('a merge of very many branches is not computed', async () => {
    const history: Record<number, readonly number[]> = { 1: [] };
    for (let n = 2; n <= 20; n += 1) history[n] = [1];
    history[30] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    history[31] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    const { forge } = openHistory(history);
    expect(await forge.readMergeBase(sha(30), sha(31))).toBeNull();
  });
});

describe('trees', () => {
  const file = (n: number) => ({ path: `f${n}`, mode: '100644', type: 'blob', sha: sha(n), size: 1 });

  test('all pages, directories dropped, links and submodules kept', async () => {
    const rows = [
      { path: 'd', mode: '040000', type: 'tree', sha: sha(1) },
      { path: 'd/x', mode: '100755', type: 'blob', sha: sha(2) },
      { path: 'l', mode: '120000', type: 'blob', sha: sha(3) },
      { path: 'sub', mode: '160000', type: 'commit', sha: sha(4) },
      { path: 'ü', mode: '100644', type: 'blob', sha: sha(5) },
    ];
    const { forge, seen } = open((request) => {
      const page = Number(request.query.page);
      return {
        json: {
          sha: sha(9),
          tree: rows.slice((page - 1) * 2, page * 2),
          truncated: true,
          page,
          total_count: 5,
        },
      };
    });
    expect(await forge.readTree(sha(9))).toEqual([
      { path: 'd/x', mode: '100755', id: sha(2) },
      { path: 'l', mode: '120000', id: sha(3) },
      { path: 'sub', mode: '160000', id: sha(4) },
      { path: 'ü', mode: '100644', id: sha(5) },
    ]);
    expect(seen.map((request) => request.query)).toEqual(
      ['1', '2', '3'].map((page) => ({ recursive: 'true', per_page: '1000', page })),
    );
  });

  test('an empty tree', async () => {
    const { forge } = open(() => ({ json: { sha: sha(9), tree: null, truncated: false, total_count: 0 } }));
    expect(await forge.readTree(sha(9))).toEqual([]);
  });

  test('half a tree is an error, not a tree', async () => {
    const { forge } = open((request) => ({
      json: { sha: sha(9), tree: request.query.page === '1' ? [file(1)] : [], total_count: 2 },
    }));
    await expect(forge.readTree(sha(9))).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test('a forge that never ends is left', async () => {
    const { forge, seen } = open(() => ({ json: { tree: [file(1)], total_count: 1_000_000 } }));
    await expect(forge.readTree(sha(9))).rejects.toMatchObject({ kind: 'unreachable' });
    expect(seen).toHaveLength(200);
  });

  test.each([400, 404])('an unknown object (%i) is missing', async (status) => {
    const { forge } = open(() => ({ status, json: { message: 'object does not exist' } }));
    await expect(forge.readTree(sha(9))).rejects.toMatchObject({ kind: 'missing', status });
  });
});

test('the login of the token’s owner', async () => {
  const { forge, seen } = open(() => ({ json: { login: 'mq-bot', id: 4 } }));
  expect(await forge.readBotLogin()).toBe('mq-bot');
  expect(seen[0]?.path).toBe('/user');
});

describe('who may write', () => {
  const assignees = { json: [{ login: 'Dev' }, { login: 'ops' }] };
  const answer = (permission: ScriptedAnswer) => (request: SeenRequest) =>
    request.path === '/assignees' ? assignees : permission;

  test('whoever can be given work may, and the list is read once', async () => {
    const { forge, seen } = open(answer(MISSING));
    expect([await forge.canWrite('dev'), await forge.canWrite('OPS')]).toEqual([true, true]);
    expect(seen.map((request) => request.path)).toEqual(['/assignees']);
  });

  test.each([
    ['an administrator of the site', { json: { permission: 'owner' } }, true],
    ['one who may read', { json: { permission: 'read' } }, false],
    ['one who may nothing', { json: { permission: 'none' } }, false],
    [
      'one whom a bot without administration cannot ask about',
      { status: 403, json: { message: 'no' } },
      false,
    ],
    ['one who is gone', MISSING, false],
  ] as const)('%s, who is not in that list', async (_name, permission, verdict) => {
    const { forge, seen } = open(answer(permission));
    expect(await forge.canWrite('guest')).toBe(verdict);
    expect(seen[1]?.path).toBe('/collaborators/guest/permission');
  });

  test('no name at all may not', async () => {
    const { forge, seen } = open(answer(MISSING));
    expect(await forge.canWrite('')).toBe(false);
    expect(seen).toEqual([]);
  });

  test('what a proxy answers is no verdict', async () => {
    const page = { status: 403, text: '<html>', type: 'text/html' } as const;
    await expect(open(answer(page)).forge.canWrite('guest')).rejects.toMatchObject({ kind: 'unreachable' });
    await expect(open(() => page).forge.canWrite('guest')).rejects.toMatchObject({ kind: 'unreachable' });
  });
});
