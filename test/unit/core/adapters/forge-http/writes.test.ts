import { createForgeStager } from '#core/adapters/forge-http/stager.ts';
import { createStatusWriter } from '#core/adapters/forge-http/status-writer.ts';
import { openScripted } from '../../../../support/open-scripted.ts';
import { type ScriptedAnswer, type SeenRequest, sha } from '../../../../support/scripted-forge.ts';

function openStager(respond: (request: SeenRequest, nth: number) => ScriptedAnswer) {
  const { transport, seen } = openScripted(respond);
  return { stager: createForgeStager(transport), seen };
}

const refused = (status: number): ScriptedAnswer => ({ status, json: { message: '', url: 'x' } });
const page = (status: number): ScriptedAnswer => ({ status, text: '<html></html>', type: 'text/html' });

describe('applying a patch', () => {
  const applied: ScriptedAnswer = {
    status: 201,
    json: {
      commit: { sha: sha(3), tree: { sha: sha(2) }, parents: [{ sha: sha(1) }], message: 'm' },
      verification: {},
    },
  };
  const patch = { branch: 'main', patch: 'diff --git a/x b/x\n', message: 'm' };

  test('sends what every version wants and reads the commit', async () => {
    const { stager, seen } = openStager(() => applied);
    const commit = await stager.applyPatch({ ...patch, newBranch: 'mq/main/staging' });
    expect(commit).toEqual({ sha: sha(3), tree: sha(2), parents: [sha(1)], message: 'm' });
    expect(seen).toMatchObject([{ method: 'POST', path: '/diffpatch' }]);
    expect(seen[0]?.body).toEqual({
      branch: 'main',
      new_branch: 'mq/main/staging',
      content: patch.patch,
      message: 'm',
      sha: 'unused',
    });
  });

  test('names no new branch where the branch itself moves', async () => {
    const { stager, seen } = openStager(() => applied);
    await stager.applyPatch(patch);
    expect(seen[0]?.body).not.toHaveProperty('new_branch');
  });

  test.each([
    ['says 500: a fault of the server, whatever it was', 500, { kind: 'unreachable', effectUnknown: true }],
    ['protects the branch', 403, { kind: 'denied' }],
    ['has no such branch', 404, { kind: 'missing' }],
    ['has the new branch already', 422, { kind: 'rejected' }],
    ['has archived the repository', 423, { kind: 'archived' }],
  ])('the forge %s', async (_name, status, expected) => {
    const { stager, seen } = openStager(() => refused(status));
    await expect(stager.applyPatch(patch)).rejects.toMatchObject({ ...expected, status });
    expect(seen).toHaveLength(1);
  });

  test('a proxy’s 500 is no other', async () => {
    const { stager, seen } = openStager(() => page(500));
    await expect(stager.applyPatch(patch)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(seen).toHaveLength(1);
  });

  test('a success that names no commit leaves the effect open', async () => {
    const { stager } = openStager(() => ({ status: 201, json: { commit: {} } }));
    await expect(stager.applyPatch(patch)).rejects.toMatchObject({
      kind: 'unreachable',
      effectUnknown: true,
    });
  });
});

describe('writing whole files', () => {
  const written: ScriptedAnswer = {
    status: 201,
    json: {
      files: [{ content: 'x'.repeat(3 * 1024 * 1024) }],
      commit: { sha: sha(3), tree: { sha: sha(2) }, parents: [{ sha: sha(1) }], message: 'm' },
    },
  };
  const files = [
    { path: 'new.txt', content: Buffer.from('ü\n'), replaces: null },
    { path: 'a.txt', content: Buffer.alloc(0), replaces: sha(7) },
    { path: 'gone.txt', content: null, replaces: sha(8) },
  ];

  test('sends each file as the forge asks for it, and reads the commit beside the contents that come back', async () => {
    const { stager, seen } = openStager(() => written);
    const commit = await stager.writeFiles({
      branch: 'main',
      newBranch: 'mq/main/staging',
      files,
      message: 'm',
    });
    expect(commit).toEqual({ sha: sha(3), tree: sha(2), parents: [sha(1)], message: 'm' });
    expect(seen).toMatchObject([{ method: 'POST', path: '/contents' }]);
    expect(seen[0]?.body).toEqual({
      branch: 'main',
      new_branch: 'mq/main/staging',
      message: 'm',
      files: [
        { operation: 'create', path: 'new.txt', content: 'w7wK' },
        { operation: 'update', path: 'a.txt', content: '', sha: sha(7) },
        { operation: 'delete', path: 'gone.txt', sha: sha(8) },
      ],
    });
  });

  test('names no new branch where the branch itself moves', async () => {
    const { stager, seen } = openStager(() => written);
    await stager.writeFiles({ branch: 'work', files, message: 'm' });
    expect(seen[0]?.body).not.toHaveProperty('new_branch');
  });

  test.each([
    ['is not the one that is replaced', 422, { kind: 'rejected' }],
    ['is not the one that is replaced, by Forgejo', 409, { kind: 'rejected' }],
    ['may not be written', 403, { kind: 'denied' }],
  ])('a file that %s', async (_name, status, expected) => {
    const { stager, seen } = openStager(() => refused(status));
    await expect(stager.writeFiles({ branch: 'main', files, message: 'm' })).rejects.toMatchObject({
      ...expected,
      status,
    });
    expect(seen).toHaveLength(1);
  });
});

describe('branches', () => {
  const branch = { status: 201, json: { name: 'b', commit: { id: sha(1) }, protected: false } };

  test('a branch at a commit', async () => {
    const { stager, seen } = openStager(() => branch);
    expect(await stager.createBranch('mq/main/staging', sha(1))).toBe(true);
    expect(seen).toMatchObject([
      {
        method: 'POST',
        path: '/branches',
        body: { new_branch_name: 'mq/main/staging', old_ref_name: sha(1) },
      },
    ]);
  });

  test('a name that is taken', async () => {
    const { stager } = openStager(() => refused(409));
    expect(await stager.createBranch('b', sha(1))).toBe(false);
  });

  test.each([
    [refused(403), 'denied'],
    [refused(404), 'missing'],
    [refused(423), 'archived'],
    [refused(500), 'unreachable'],
    [page(409), 'unreachable'],
    [page(201), 'unreachable'],
  ])('a refusal %j', async (answer, kind) => {
    const { stager } = openStager(() => answer);
    await expect(stager.createBranch('b', sha(1))).rejects.toMatchObject({ kind });
  });

  test.each([{ status: 204 }, refused(404)])(
    'deleting is done when the branch is gone (%j)',
    async (answer) => {
      const { stager, seen } = openStager(() => answer);
      await stager.deleteBranch('mq/main/staging');
      expect(seen).toMatchObject([{ method: 'DELETE', path: '/branches/mq/main/staging' }]);
    },
  );

  test.each([
    [refused(403), 'denied'],
    [page(404), 'unreachable'],
    [page(200), 'unreachable'],
    [refused(500), 'unreachable'],
  ])('deleting is not done after %j', async (answer, kind) => {
    const { stager } = openStager(() => answer);
    await expect(stager.deleteBranch('b')).rejects.toMatchObject({ kind });
  });
});

describe('deleting, answered with a bare 500', () => {
  test('is done when the branch is not there', async () => {
    const { stager, seen } = openStager((request) => {
      if (request.method === 'DELETE') return refused(500);
      return request.path === '' ? { json: {} } : refused(404);
    });
    await stager.deleteBranch('b');
    expect(seen.map((request) => `${request.method} ${request.path}`)).toEqual([
      'DELETE /branches/b',
      'GET /branches/b',
      'GET ',
    ]);
  });

  test('is not done when no reading shows whether it is', async () => {
    const { stager } = openStager((request) => refused(request.method === 'DELETE' ? 500 : 404));
    await expect(stager.deleteBranch('b')).rejects.toMatchObject({ kind: 'missing' });
  });
});

describe('cancelling a run', () => {
  test.each([
    [{ status: 204 }, true],
    [{ status: 200, json: {} }, true],
    [refused(409), true],
    [refused(404), false],
    [page(404), false],
    [page(405), false],
  ])('%j: %s', async (answer, expected) => {
    const { stager, seen } = openStager(() => answer);
    expect(await stager.cancelGateRun('12')).toBe(expected);
    expect(seen).toMatchObject([{ method: 'POST', path: '/actions/runs/12/cancel' }]);
  });

  test('of which a page tells is not known to be done', async () => {
    const { stager } = openStager(() => page(200));
    await expect(stager.cancelGateRun('12')).rejects.toMatchObject({
      kind: 'unreachable',
      effectUnknown: true,
    });
  });

  test('that the token may not do is denied', async () => {
    const { stager } = openStager(() => refused(403));
    await expect(stager.cancelGateRun('12')).rejects.toMatchObject({ kind: 'denied' });
  });
});

describe('posting a status', () => {
  const post = { state: 'success', context: 'mq', description: 'landed', targetUrl: null } as const;
  const stored = {
    id: 1,
    status: 'success',
    context: 'mq',
    description: '',
    target_url: '',
    creator: { login: 'mq-bot' },
    created_at: '2026-01-01T00:00:00Z',
  };

  test.each([
    [null, ''],
    ['https://queue.test/b/1', 'https://queue.test/b/1'],
  ])('with target %s', async (targetUrl, sent) => {
    const { transport, seen } = openScripted(() => ({ status: 201, json: stored }));
    await createStatusWriter(transport).postStatus(sha(1), { ...post, targetUrl });
    expect(seen).toMatchObject([{ method: 'POST', path: `/statuses/${sha(1)}` }]);
    expect(seen[0]?.body).toEqual({
      state: 'success',
      context: 'mq',
      description: 'landed',
      target_url: sent,
    });
  });

  test.each([
    [refused(404), 'missing', false],
    [refused(500), 'unreachable', true],
    [page(201), 'unreachable', true],
    [{ status: 201, json: {} }, 'unreachable', true],
  ])('after %j the effect is known: %s', async (answer, kind, effectUnknown) => {
    const { transport, seen } = openScripted(() => answer);
    await expect(createStatusWriter(transport).postStatus(sha(1), post)).rejects.toMatchObject({
      kind,
      effectUnknown,
    });
    expect(seen).toHaveLength(1);
  });
});
