import { createHash } from 'node:crypto';
import { createForgeReader } from '#core/adapters/forge-http/reader.ts';
import { MERGE_FILE_BYTES_MAX } from '#core/domain/limits.ts';
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

const MISSING: ScriptedAnswer = { status: 404, json: { message: 'no', errors: null, url: 'x' } };

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

describe('statuses', () => {
  test('those of one second are all read, in whatever order the database has them at each call', async () => {
    const row = (id: number) => ({
      id,
      context: `c${id}`,
      status: 'success',
      created_at: '2026-01-01T00:00:00Z',
    });
    const rows = Array.from({ length: 80 }, (_, at) => row(80 - at));
    const { forge, seen } = open(({ query }, nth) => {
      const isUnique = query.sort === 'leastindex';
      const shown = isUnique || nth % 2 === 0 ? rows : rows.toReversed();
      const from = (Number(query.page) - 1) * Number(query.limit);
      return {
        json: shown.slice(from, from + Number(query.limit)),
        headers: { 'x-total-count': String(rows.length) },
      };
    });
    const read = await forge.listStatusHistory(sha(9));
    expect(seen[0]?.path).toBe(`/statuses/${sha(9)}`);
    expect(new Set(read.map(({ id }) => id)).size).toBe(rows.length);
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

describe('history', () => {
  test('a long branch is read over all its pages', async () => {
    const history: Record<number, readonly number[]> = { 1: [], 500: [1] };
    for (let n = 2; n <= 130; n += 1) history[n] = [n - 1];
    const { forge, seen } = openHistory(history, 30);
    const own = await forge.listOwnCommits(sha(500), sha(130));
    expect(own).toHaveLength(129);
    expect(own.at(-1)).toEqual({ sha: sha(2), parents: [sha(1)] });
    expect(seen).toHaveLength(5);
  });
});

describe('trees', () => {
  const EMPTY = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
  const file = (n: number) => ({ path: `f${n}`, mode: '100644', type: 'blob', sha: sha(n), size: 1 });

  const rows = [
    { path: 'd', mode: '040000', type: 'tree', sha: sha(1), size: 0 },
    { path: 'd/x', mode: '100755', type: 'blob', sha: sha(2), size: 7 },
    { path: 'l', mode: '120000', type: 'blob', sha: sha(3) },
    { path: 'sub', mode: '160000', type: 'commit', sha: sha(4), size: 0 },
    { path: 'ü', mode: '100644', type: 'blob', sha: EMPTY, size: 0 },
  ];
  const entries = [
    { path: 'd', mode: '040000', id: sha(1), size: null },
    { path: 'd/x', mode: '100755', id: sha(2), size: 7 },
    { path: 'l', mode: '120000', id: sha(3), size: null },
    { path: 'sub', mode: '160000', id: sha(4), size: null },
    { path: 'ü', mode: '100644', id: EMPTY, size: 0 },
  ];

  test('the whole of it in one answer, asked for by the tree itself', async () => {
    const { forge, seen } = open(() => ({ json: { sha: sha(9), tree: rows, total_count: 5 } }));
    expect(await forge.readTree(sha(8), 'all')).toEqual({ tree: sha(9), entries });
    expect(seen).toMatchObject([
      {
        path: `/git/trees/${encodeURIComponent(`${sha(8)}^{tree}`)}`,
        query: { recursive: 'true', per_page: '1000', page: '1' },
      },
    ]);
  });

  test('more than one answer holds is not read on', async () => {
    const { forge, seen } = open(() => ({ json: { sha: sha(9), tree: rows, total_count: 6 } }));
    expect(await forge.readTree(sha(9), 'all')).toEqual({ tree: sha(9), entries: null });
    expect(seen).toHaveLength(1);
  });

  test('one directory alone, over all its pages', async () => {
    const { forge, seen } = open((request) => {
      const page = Number(request.query.page);
      return { json: { sha: sha(9), tree: rows.slice((page - 1) * 2, page * 2), page, total_count: 5 } };
    });
    expect(await forge.readTree(sha(9), 'one')).toEqual({ tree: sha(9), entries });
    expect(seen.map((request) => request.query)).toEqual(
      ['1', '2', '3'].map((page) => ({ per_page: '1000', page })),
    );
  });

  test('an empty tree', async () => {
    const { forge } = open(() => ({ json: { sha: sha(9), tree: null, truncated: false, total_count: 0 } }));
    expect(await forge.readTree(sha(9), 'all')).toEqual({ tree: sha(9), entries: [] });
  });

  test.each([
    [EMPTY, 0],
    ['473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813', 0],
    [sha(7), null],
  ])('size 0 of %s is %s: one that the forge could not read is listed as 0 too', async (id, size) => {
    const row = { path: 'f', mode: '100644', type: 'blob', sha: id, size: 0 };
    const { forge } = open(() => ({ json: { sha: sha(9), tree: [row], total_count: 1 } }));
    expect((await forge.readTree(sha(9), 'one')).entries).toEqual([expect.objectContaining({ id, size })]);
  });

  test('half a directory is an error, not a directory', async () => {
    const { forge } = open((request) => ({
      json: { sha: sha(9), tree: request.query.page === '1' ? [file(1)] : [], total_count: 2 },
    }));
    await expect(forge.readTree(sha(9), 'one')).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test('a forge that never ends is left', async () => {
    const { forge, seen } = open(() => ({ json: { sha: sha(9), tree: [file(1)], total_count: 1_000_000 } }));
    await expect(forge.readTree(sha(9), 'one')).rejects.toMatchObject({ kind: 'unreachable' });
    expect(seen).toHaveLength(200);
  });

  test.each([400, 404])('an unknown object (%i) is missing', async (status) => {
    const { forge } = open(() => ({ status, json: { message: 'object does not exist', url: 'x' } }));
    await expect(forge.readTree(sha(9), 'all')).rejects.toMatchObject({ kind: 'missing', status });
  });
});

describe('blobs', () => {
  const content = Buffer.from('zwölf\r\n\0');
  const id = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
  const row = (more: object) => ({
    json: { sha: id, encoding: 'base64', size: content.length, content: content.toString('base64'), ...more },
  });

  test('the bytes as they are', async () => {
    const { forge, seen } = open(() => row({}));
    expect(await forge.readBlob(id, MERGE_FILE_BYTES_MAX)).toEqual(content);
    expect(seen).toMatchObject([{ method: 'GET', path: `/git/blobs/${id}` }]);
  });

  test.each(['', null])('above the size that the forge hands out (%j)', async (nothing) => {
    const { forge } = open(() => row({ content: nothing }));
    expect(await forge.readBlob(id, MERGE_FILE_BYTES_MAX)).toBeNull();
  });

  test('other bytes than the id names are never merged', async () => {
    const { forge } = open(() => row({ content: Buffer.from('other').toString('base64') }));
    await expect(forge.readBlob(id, MERGE_FILE_BYTES_MAX)).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

test('the login of the token’s owner', async () => {
  const { forge, seen } = open(() => ({ json: { login: 'mq-bot', id: 4 } }));
  expect(await forge.readBotLogin()).toBe('mq-bot');
  expect(seen[0]?.path).toBe('/user');
});

describe('teams that the settings name', () => {
  const TEAMS = {
    json: [
      { id: 3, name: 'Release' },
      { id: 4, name: 'docs' },
    ],
  };
  const answer = (members: ScriptedAnswer) => (request: SeenRequest) =>
    request.path === '/teams' ? TEAMS : members;

  test('the members of a team, whose name is compared without case; the teams are read once', async () => {
    const { forge, seen } = open(
      answer({ json: [{ login: 'ann' }, { login: 'bob' }], headers: { 'x-total-count': '2' } }),
    );
    expect(await forge.listTeamMembers('release')).toEqual(['ann', 'bob']);
    expect(await forge.listTeamMembers('DOCS')).toEqual(['ann', 'bob']);
    expect(seen.map(({ path }) => path)).toEqual([
      '/teams',
      '/teams/3/members',
      '/teams/3/members',
      '/teams/4/members',
      '/teams/4/members',
    ]);
  });

  test('a team that the repository does not have names no account', async () => {
    const { forge, seen } = open(answer({ json: [] }));
    expect(await forge.listTeamMembers('gone')).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  test('a repository of a person has no teams', async () => {
    const { forge } = open(() => ({
      status: 405,
      json: { message: 'repo is not owned by an organization' },
    }));
    expect(await forge.listTeamMembers('release')).toEqual([]);
  });

  test.each([[403], [404]])(
    'members that the forge keeps back with %i are not known to be none',
    async (status) => {
      const { forge } = open(answer({ status, json: { message: 'Must be a team member', url: 'x' } }));
      expect(await forge.listTeamMembers('release')).toBeNull();
    },
  );

  test('an answer of a proxy is no verdict', async () => {
    const page = { status: 403, text: '<html>', type: 'text/html' } as const;
    await expect(open(answer(page)).forge.listTeamMembers('release')).rejects.toMatchObject({
      kind: 'unreachable',
    });
    await expect(open(() => page).forge.listTeamMembers('release')).rejects.toMatchObject({
      kind: 'unreachable',
    });
  });
});

describe('deploy keys, whose pushes are shown as the owner’s', () => {
  test.each([
    ['none', { json: [] }, false],
    ['one that only reads', { json: [{ id: 1, read_only: true }] }, false],
    [
      'one that writes',
      {
        json: [
          { id: 1, read_only: true },
          { id: 2, read_only: false },
        ],
      },
      true,
    ],
    ['the bot may not ask: there may be one', { status: 403, json: { message: 'no' } }, true],
    ['hidden: there may be one', MISSING, true],
  ] as const)('%s', async (_name, answer, verdict) => {
    const pages: ScriptedAnswer[] = [answer];
    const { forge, seen } = open(() => pages.shift() ?? { json: [] });
    expect(await forge.hasWritingKey()).toBe(verdict);
    expect(seen[0]?.path).toBe('/keys');
  });

  test('styles that the settings allow are told where all are shown', async () => {
    const flags = { allow_merge_commits: true, allow_squash_merge: false, allow_rebase: true };
    const row = { full_name: 'corner/shop', default_branch: 'main', ...flags };
    expect(await open(() => ({ json: row })).forge.readAllowedStyles()).toEqual(['merge', 'rebase']);
    const { allow_rebase: _hidden, ...rest } = row;
    expect(await open(() => ({ json: rest })).forge.readAllowedStyles()).toBeNull();
  });

  test('a forge that fails says nothing about them', async () => {
    await expect(open(() => ({ status: 500, json: {} })).forge.hasWritingKey()).rejects.toMatchObject({
      kind: 'unreachable',
    });
  });
});

describe('a tag of a name', () => {
  test.each([
    ['there', { json: { name: 'main', commit: { sha: sha(1) } } }, true],
    ['absent', MISSING, false],
  ] as const)('is %s', async (_name, answer, expected) => {
    const { forge, seen } = open(() => answer);
    expect(await forge.hasTag('main')).toBe(expected);
    expect(seen[0]?.path).toBe('/tags/main');
  });

  test.each([
    ['a page that asks to sign in', { status: 200, text: '<html>', type: 'text/html' }],
    ['JSON that is no tag', { status: 200, json: {} }],
    ['a page of a proxy', { status: 404, text: '<html>', type: 'text/html' }],
    ['a gateway without a route', { status: 404, json: { message: 'no route' } }],
  ])('is not known by %s', async (_name, answer) => {
    await expect(open(() => answer).forge.hasTag('main')).rejects.toMatchObject({ kind: 'unreachable' });
  });
});
