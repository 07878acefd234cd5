import { createForgeReader } from '#core/adapters/forge-http/reader.ts';
import type { ForgeReader } from '#core/ports/forge.ts';
import { openScripted } from '../../../../support/open-scripted.ts';
import { type ScriptedAnswer, type SeenRequest, sha } from '../../../../support/scripted-forge.ts';

function open(respond: (request: SeenRequest, nth: number) => ScriptedAnswer | 'too_large'): {
  readonly forge: ForgeReader;
  readonly seen: readonly SeenRequest[];
} {
  const { transport, seen } = openScripted(respond);
  return { forge: createForgeReader(transport), seen };
}

function pullRow(number: number, change: object = {}) {
  return {
    number,
    title: `PR ${number}`,
    state: 'open',
    draft: false,
    mergeable: true,
    merged: false,
    merge_commit_sha: null,
    merge_base: sha(1),
    base: { ref: 'main', sha: sha(2), repo_id: 1 },
    head: { ref: `b${number}`, sha: sha(1000 + number), repo_id: 1, repo: {} },
    user: { login: 'dev' },
    updated_at: '2026-01-01T00:00:01Z',
    ...change,
  };
}

function pagesOf(rows: readonly unknown[], pageSize: number, headers = true) {
  return (request: SeenRequest): ScriptedAnswer => {
    const page = Number(request.query.page);
    const json = rows.slice((page - 1) * pageSize, page * pageSize);
    return { json, headers: headers ? { 'x-total-count': String(rows.length) } : {} };
  };
}

describe('pull requests', () => {
  test.each([
    ['a \ud800 b', 'a \ufffd b'],
    ['\udc00\ud83d', '\ufffd\ufffd'],
    ['whole: 😀', 'whole: 😀'],
  ])('a title with half a character in it (%j) is text that can be stored', async (title, read) => {
    const { forge } = open(pagesOf([pullRow(1, { title })], 50));
    expect((await forge.listOpenPullRequests()).map((pull) => pull.title)).toEqual([read]);
  });

  test('a text of any length is stored at a limited length: titles are cut, longer names are left out', async () => {
    const long = pullRow(1, { title: '😀'.repeat(9_000), user: { login: 'x'.repeat(9_000) } });
    const { forge } = open(pagesOf([long], 50));
    const [pull] = await forge.listOpenPullRequests();
    expect(pull?.title).toBe('😀'.repeat(255));
    expect(pull?.author).toBe('');
  });

  test('in the fields we use', async () => {
    const { forge, seen } = open(() => ({
      json: pullRow(3, { merged: true, state: 'closed', merge_commit_sha: sha(5) }),
    }));
    expect(await forge.readPullRequest(3)).toEqual({
      number: 3,
      repoId: expect.any(Number),
      title: 'PR 3',
      state: 'closed',
      draft: false,
      mergeable: true,
      merged: true,
      mergeCommitSha: sha(5),
      mergeBase: sha(1),
      baseRef: 'main',
      baseTip: sha(2),
      headRef: 'b3',
      headSha: sha(1003),
      fromFork: false,
      agit: false,
      author: 'dev',
      updatedAt: Date.UTC(2026, 0, 1, 0, 0, 1),
    });
    expect(seen[0]?.path).toBe('/pulls/3');
  });

  test.each([
    ['a ghost author', { user: null }, { author: '' }],
    ['no draft flag', { draft: undefined }, { draft: false }],
    ['no mergeable flag', { mergeable: undefined }, { mergeable: false }],
    ['no merge base yet', { merge_base: '' }, { mergeBase: null }],
    ['a merge base that the forge failed to find', { merge_base: '', mergeable: true }, { mergeable: false }],
    [
      'no merge base of one that is closed',
      { merge_base: '', mergeable: true, state: 'closed' },
      { mergeable: true },
    ],
    ['the commit of a trial merge', { merge_commit_sha: sha(5) }, { mergeCommitSha: null }],
    ['a fork', { head: { ref: 'b', sha: sha(1), repo_id: 8, repo: {} } }, { fromFork: true }],
    [
      'a head that is gone',
      { head: { ref: 'refs/pull/3/head', sha: sha(1), repo_id: -1, repo: null } },
      { fromFork: true, headRef: 'refs/pull/3/head', isBranchGone: true },
    ],
    [
      'a branch that is gone, as Gitea shows it',
      { head: { ref: 'refs/pull/3/head', sha: sha(1), repo_id: 1, label: 'p' } },
      { fromFork: false, agit: false, isBranchGone: true },
    ],
    [
      'a branch that is gone, as Forgejo shows it',
      { flow: 0, head: { ref: 'refs/pull/3/head', sha: sha(1), repo_id: 1, label: 'p' } },
      { fromFork: false, agit: false, isBranchGone: true },
    ],
    [
      'a branch whose name begins as that of what is kept',
      { head: { ref: 'refs/heads/x', sha: sha(1), repo_id: 1, label: 'refs/heads/x' } },
      { fromFork: false, agit: false },
    ],
    ['a branch, as Forgejo says it', { flow: 0 }, { fromFork: false, agit: false }],
    [
      'an AGit head, as Forgejo says it',
      { flow: 1, head: { ref: 'refs/pull/3/head', sha: sha(1), repo_id: 1, label: '' } },
      { fromFork: false, agit: true },
    ],
    [
      'an AGit head, as Gitea shows it',
      { head: { ref: 'refs/pull/3/head', sha: sha(1), repo_id: 1, label: '' } },
      { fromFork: false, agit: true },
    ],
    [
      'an AGit head, as the list of Gitea shows it beside a branch with the name of its topic',
      { head: { ref: 'dev/topic', sha: sha(1), repo_id: 1, label: '' } },
      { fromFork: false, agit: true },
    ],
    [
      'another time zone',
      { updated_at: '2026-01-01T02:00:01+02:00' },
      { updatedAt: Date.UTC(2026, 0, 1, 0, 0, 1) },
    ],
    [
      'a sha256 repository',
      { head: { ref: 'b', sha: 'a'.repeat(64), repo_id: 1 } },
      { headSha: 'a'.repeat(64) },
    ],
  ])('with %s', async (_name, change, expected) => {
    const { forge } = open(() => ({ json: pullRow(3, change) }));
    expect(await forge.readPullRequest(3)).toMatchObject(expected);
  });

  test.each([
    { head: { ref: 'b', sha: '', repo_id: 1 } },
    { base: { ref: 'main', sha: '', repo_id: 1 } },
    { state: 'strange' },
    { updated_at: 'yesterday' },
    { number: 'three' },
  ])('with %j cannot be read', async (change) => {
    const { forge } = open(() => ({ json: pullRow(3, change) }));
    await expect(forge.readPullRequest(3)).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test('the open ones to every branch, whatever else the forge lists', async () => {
    const rows = [
      pullRow(1),
      null,
      pullRow(2, { base: { ref: 'next', sha: sha(2), repo_id: 1 } }),
      pullRow(3, { state: 'closed' }),
      pullRow(4, { head: { ref: 'gone', sha: '', repo_id: -1 } }),
      pullRow(5),
    ];
    const { forge, seen } = open(pagesOf(rows, 50));
    expect((await forge.listOpenPullRequests()).map((pr) => pr.number)).toEqual([1, 2, 5]);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.query).toEqual({ state: 'open', sort: 'oldest', page: '1', limit: '50' });
  });

  test('the open ones that changed last are one page, newest change first', async () => {
    const { forge, seen } = open(pagesOf([pullRow(7), null, pullRow(2)], 50));
    expect((await forge.listTouchedPullRequests()).map((pr) => pr.number)).toEqual([7, 2]);
    expect(seen.map((request) => request.query)).toEqual([
      { state: 'open', sort: 'recentupdate', page: '1', limit: '20' },
    ]);
  });

  test('the merged ones that changed last are the merged of one page of closed ones', async () => {
    const merged = { state: 'closed', merged: true, merge_commit_sha: sha(9) };
    const rows = [pullRow(7, merged), null, pullRow(2, { state: 'closed' }), pullRow(5, merged)];
    const { forge, seen } = open(pagesOf(rows, 50));
    const listed = await forge.listMergedPullRequests();
    expect(listed.map((pr) => [pr.number, pr.mergeCommitSha])).toEqual([
      [7, sha(9)],
      [5, sha(9)],
    ]);
    expect(seen.map((request) => request.query)).toEqual([
      { state: 'closed', sort: 'recentupdate', page: '1', limit: '50' },
    ]);
  });

  test.each([
    ['with a total', 7, true, 3],
    ['without a total', 7, false, 4],
    ['with exactly full pages and no total', 6, false, 3],
  ])('pages that the instance caps below the limit, %s', async (_name, count, headers, requests) => {
    const rows = Array.from({ length: count }, (_, at) => pullRow(at + 1));
    const { forge, seen } = open(pagesOf(rows, 3, headers));
    expect((await forge.listOpenPullRequests()).map((pr) => pr.number)).toEqual(
      rows.map((row) => row.number),
    );
    expect(seen).toHaveLength(requests);
  });

  test('one that closes while the pages are read hides no other', async () => {
    const rows = Array.from({ length: 7 }, (_, at) => pullRow(at + 1));
    const { forge } = open((request, nth) => pagesOf(nth === 1 ? rows : rows.slice(1), 3)(request));
    expect((await forge.listOpenPullRequests()).map((pr) => pr.number)).toEqual([2, 3, 4, 5, 6, 7]);
  });

  test('a list that never holds still is taken as it is', async () => {
    const { forge } = open((request, nth) => ({
      json: Number(request.query.page) > 2 ? [] : [pullRow(Number(request.query.page))],
      headers: { 'x-total-count': String(100 + nth) },
    }));
    expect((await forge.listOpenPullRequests()).map((pr) => pr.number)).toEqual([1, 2]);
  });

  test('a forge that repeats one page for ever is left', async () => {
    const { forge, seen } = open(() => ({ json: [pullRow(1)] }));
    await expect(forge.listOpenPullRequests()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(seen).toHaveLength(200);
  });

  test.each([null, []])('none (%j)', async (json) => {
    const { forge } = open(() => ({ json }));
    expect(await forge.listOpenPullRequests()).toEqual([]);
  });
});

describe('reviews', () => {
  const row = (id: number, state: string, change: object = {}) => ({
    id,
    state,
    user: { login: 'rev' },
    official: true,
    stale: false,
    dismissed: false,
    commit_id: sha(1),
    ...change,
  });

  test('states, and what teams and old versions leave out', async () => {
    const { forge } = open(() => ({
      json: [
        row(1, 'APPROVED', { submitted_at: '2026-01-01T00:00:01Z' }),
        row(2, 'REQUEST_CHANGES', { stale: true }),
        row(3, 'REQUEST_REVIEW', { user: null, team: { name: 't' }, commit_id: '' }),
        row(4, 'COMMENT', { official: undefined, dismissed: true }),
        row(5, 'PENDING'),
        null,
      ],
    }));
    expect(await forge.listReviews(4)).toEqual([
      {
        id: 1,
        user: 'rev',
        state: 'approved',
        official: true,
        stale: false,
        dismissed: false,
        commit: sha(1),
        at: Date.UTC(2026, 0, 1, 0, 0, 1),
      },
      {
        id: 2,
        user: 'rev',
        state: 'changes_requested',
        official: true,
        stale: true,
        dismissed: false,
        commit: sha(1),
        at: 0,
      },
      {
        id: 3,
        user: '',
        state: 'review_requested',
        official: true,
        stale: false,
        dismissed: false,
        commit: null,
        at: 0,
      },
      {
        id: 4,
        user: 'rev',
        state: 'comment',
        official: false,
        stale: false,
        dismissed: true,
        commit: sha(1),
        at: 0,
      },
      {
        id: 5,
        user: 'rev',
        state: 'other',
        official: true,
        stale: false,
        dismissed: false,
        commit: sha(1),
        at: 0,
      },
    ]);
  });

  test('are paged where one answer does not hold them all', async () => {
    const rows = [1, 2, 3, 4, 5].map((id) => row(id, 'COMMENT'));
    const { forge, seen } = open((request) =>
      pagesOf(rows, 2)({ ...request, query: { page: '1', ...request.query } }),
    );
    expect((await forge.listReviews(4)).map((review) => review.id)).toEqual([1, 2, 3, 4, 5]);
    expect(seen.map((request) => request.query.page)).toEqual([undefined, '1', '2', '3']);
  });

  test('are paged where one answer would be too large, and one that is too large alone is left out', async () => {
    const rows = Array.from({ length: 12 }, (_, nth) => row(nth, nth === 11 ? 'APPROVED' : 'COMMENT'));
    const { forge } = open(({ query }) => {
      const size = Number(query.limit ?? rows.length);
      const page = rows.slice((Number(query.page ?? 1) - 1) * size).slice(0, size);
      if (page.length > 10 || page.some(({ id }) => id === 4)) return 'too_large';
      return { json: page, headers: { 'x-total-count': String(rows.length) } };
    });
    const read = await forge.listReviews(4);
    expect(read.map(({ id }) => id)).toEqual([0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]);
    expect(read.at(-1)?.state).toBe('approved');
  });

  test('are paged where one answer has more values than are parsed', async () => {
    const fields = Object.fromEntries(Array.from({ length: 40 }, (_, nth) => [`field_${nth}`, '']));
    const rows = Array.from({ length: 5_000 }, (_, nth) => row(nth, 'COMMENT', fields));
    const { forge, seen } = open(({ query }) => {
      const size = Number(query.limit ?? rows.length);
      return { json: rows.slice((Number(query.page ?? 1) - 1) * size).slice(0, size) };
    });
    expect(await forge.listReviews(4)).toHaveLength(rows.length);
    expect(seen[0]?.query.page).toBeUndefined();
  });
});

describe('statuses', () => {
  const row = (context: string, status: string) => ({
    id: 1,
    context,
    status,
    description: 'd',
    target_url: '',
    creator: { login: 'mq-bot' },
    created_at: '2026-01-01T00:00:00Z',
  });

  test('the latest of each context over all pages; the total of the body counts one page only', async () => {
    const rows = [row('a', 'success'), row('b', 'pending'), row('c', 'warning')];
    const { forge, seen } = open((request) => {
      const page = Number(request.query.page);
      const statuses = rows.slice((page - 1) * 2, page * 2);
      return { json: { state: 'pending', sha: sha(1), total_count: statuses.length, statuses } };
    });
    expect(await forge.readStatuses(sha(1))).toEqual(
      rows.map(({ context, status }) => ({
        context,
        state: status,
        description: 'd',
        creator: 'mq-bot',
        createdAt: Date.UTC(2026, 0, 1),
      })),
    );
    expect(seen[0]?.path).toBe(`/commits/${sha(1)}/status`);
  });

  test('those of another commit, which a branch with the name of this one answers with, are none of this one', async () => {
    const { forge } = open(() => ({
      json: { state: 'success', sha: sha(2), total_count: 1, statuses: [row('a', 'success')] },
    }));
    await expect(forge.readStatuses(sha(1))).rejects.toMatchObject({ kind: 'unreachable', status: 200 });
  });

  test.each([
    null,
    { state: '', sha: '', total_count: 0, statuses: null },
    { state: 'pending', statuses: [] },
  ])('none (%j)', async (json) => {
    const { forge } = open(() => ({ json }));
    expect(await forge.readStatuses(sha(1))).toEqual([]);
  });
});
