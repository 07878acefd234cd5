import { type ForgeSubject, listFiles, RepoDriver } from './subject.ts';

/** Listings that do not fit on one page of any forge. */
export function longListingsSuite(subject: () => ForgeSubject): void {
  const create = (files: Readonly<Record<string, string>> = {}) => RepoDriver.create(subject(), files);

  test('trees: more entries than a page holds', async () => {
    const files: Record<string, string> = {};
    for (let n = 0; n < 1030; n += 1) files[`d${n % 7}/f${String(n).padStart(4, '0')}.txt`] = `${n}\n`;
    const repo = await create(files);
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    // One answer does not hold them, and says so instead of giving the half of them.
    expect(await repo.forge.readTree(tip, 'all')).toEqual({
      tree: await repo.forge.readTreeId(tip),
      entries: null,
    });
    const entries = await listFiles(repo.forge, tip);
    expect(entries.map((entry) => entry.path).filter((path) => path !== 'README.md')).toEqual(
      Object.keys(files).sort(),
    );
  });

  test('trees: a directory with more entries than a page holds', async () => {
    const files: Record<string, string> = {};
    for (let n = 0; n < 1030; n += 1) files[`wide/f${String(n).padStart(4, '0')}.txt`] = `${n}\n`;
    const repo = await create(files);
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    const { entries } = await repo.forge.readTree(tip, 'one');
    const wide = entries?.find((entry) => entry.path === 'wide')?.id ?? '';
    expect((await repo.forge.readTree(wide, 'one')).entries).toHaveLength(1030);
  });

  test('history: a branch longer than a page', async () => {
    const repo = await create();
    const fork = (await repo.forge.readBranchTip('main')) ?? '';
    let head = await repo.commit('bot', { 'f.txt': '0\n' }, { newBranch: 'long' });
    for (let n = 1; n <= 52; n += 1)
      head = await repo.commit('bot', { 'f.txt': `${n}\n` }, { branch: 'long' });
    const own = await repo.forge.listOwnCommits(fork, head);
    expect(own).toHaveLength(53);
    expect(own.map(({ sha }) => sha)).toContain(head);
    expect(own.filter(({ parents }) => parents.includes(fork))).toHaveLength(1);
  });

  test('pull requests, one of which closes', async () => {
    const repo = await create();
    const numbers: number[] = [];
    for (let n = 0; n < 53; n += 1) {
      numbers.push((await repo.openPull('bot', `b${n}`, { [`f${n}.txt`]: `${n}\n` })).pr);
    }
    const [closed, ...open] = numbers;
    await repo.must('bot', 'PATCH', `/pulls/${closed}`, { state: 'closed' });
    expect((await repo.forge.listOpenPullRequests()).map((pull) => pull.number)).toEqual(open);
  });

  test('statuses of one commit', async () => {
    const repo = await create();
    const sha = (await repo.forge.readBranchTip('main')) ?? '';
    const contexts = Array.from({ length: 55 }, (_, n) => `c${n}`);
    for (const context of contexts) {
      await repo.forge.postStatus(sha, { state: 'error', context, description: '', targetUrl: null });
    }
    const read = (await repo.forge.readStatuses(sha)).map((status) => status.context);
    expect(read.sort()).toEqual(contexts.sort());
  });
}
