import { renderPatch } from '../../../engine-container/src/staging/patch.ts';
import type { ForgeControl } from '../../../local/forge/control.ts';
import { type ForgeSubject, fakeOf, listFiles, RepoDriver } from './subject.ts';

type Fault = ReturnType<ForgeControl['fault']>;

/** Faults between the client and a forge. Only the fake can be told to have them. */
export function faultsSuite(subject: () => ForgeSubject): void {
  const post = { state: 'success', context: 'mq', description: '', targetUrl: null } as const;

  async function withFault<T>(
    method: string,
    fault: Fault,
    times: number,
    run: () => Promise<T>,
  ): Promise<T> {
    const fake = fakeOf(subject());
    let left = times;
    fake.knobs.fault = (call) => {
      if (call.method !== method || left === 0) return null;
      left -= 1;
      return fault;
    };
    try {
      return await run();
    } finally {
      fake.knobs.fault = () => null;
    }
  }

  async function open(): Promise<{ readonly repo: RepoDriver; readonly tip: string }> {
    const repo = await RepoDriver.create(subject());
    return { repo, tip: (await repo.forge.readBranchTip('main')) ?? '' };
  }

  test.each([
    [{ status: 500 }, 'unreachable'],
    [{ status: 502, html: true }, 'unreachable'],
    [{ status: 503, html: true }, 'unreachable'],
    [{ status: 429 }, 'rate_limited'],
    [{ status: 423 }, 'archived'],
    [{ status: 413, body: '{"message":"quota exceeded","user_id":2}' }, 'denied'],
    [{ status: 413, body: '{"message":"too large"}' }, 'unreachable'],
    [{ status: 413, html: true }, 'unreachable'],
    [{ status: 200, html: true }, 'unreachable'],
    [{ status: 403, html: true }, 'unreachable'],
    [{ status: 404, html: true }, 'unreachable'],
    [{ status: 200, body: '{"commit":{"id"' }, 'unreachable'],
    [{ status: 200, body: '[]' }, 'unreachable'],
  ])('an answer of %j is %s', async (fault, kind) => {
    const { repo, tip } = await open();
    const read = withFault('GET', fault, 9, () => repo.forge.readCommit(tip));
    await expect(read).rejects.toMatchObject({ kind, status: fault.status });
  });

  test('a read survives one broken connection, not two', async () => {
    const { repo, tip } = await open();
    const once = await withFault('GET', { status: 0 }, 1, () => repo.forge.readCommit(tip));
    expect(once.sha).toBe(tip);
    const twice = withFault('GET', { status: 0 }, 2, () => repo.forge.readCommit(tip));
    await expect(twice).rejects.toMatchObject({ kind: 'unreachable', status: null });
  });

  test.each([
    ['before it was carried out', 'before', 0],
    ['after it was carried out', 'after', 1],
  ] as const)(
    'a write whose connection broke %s leaves its effect open and is not repeated',
    async (_name, when, count) => {
      const { repo, tip } = await open();
      const sent = withFault('POST', { status: 0, when }, 1, () => repo.forge.postStatus(tip, post));
      await expect(sent).rejects.toMatchObject({ kind: 'unreachable', status: null, effectUnknown: true });
      expect(await repo.must('bot', 'GET', `/statuses/${tip}`)).toHaveLength(count);
    },
  );

  test('a patch that was applied although the forge said 500 blames no pull request', async () => {
    const repo = await RepoDriver.create(subject(), { 'a.txt': 'a\n' });
    const head = await repo.commit('bot', { 'a.txt': 'new\n' }, { newBranch: 'side' });
    const entryOf = async (ref: string) =>
      (await listFiles(repo.forge, ref)).find((entry) => entry.path === 'a.txt') ?? null;
    const patch = await renderPatch([
      { path: 'a.txt', from: await entryOf('main'), to: await entryOf(head) },
    ]);
    const request = { branch: 'main', newBranch: 'w', patch, message: 'm' };
    const applied = withFault('POST', { status: 500, when: 'after' }, 1, () =>
      repo.forge.applyPatch(request),
    );
    await expect(applied).rejects.toMatchObject({ kind: 'unreachable', status: 500, effectUnknown: true });
    expect(await repo.forge.readBranchTip('w')).not.toBeNull();
  });
}
