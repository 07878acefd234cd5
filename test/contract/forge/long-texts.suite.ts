import { requireContext, schedulePull } from './scheduling.ts';
import { type ForgeSubject, RepoDriver } from './subject.ts';

/** Texts of megabytes, which a forge takes from each person who may read. They take seconds to send and to store. */
export function longTextsSuite(subject: () => ForgeSubject): void {
  const create = () => RepoDriver.create(subject());

  // Who may only read can open a pull request, and no forge limits its text.
  test('a description and comments of megabytes do not keep the queue from reading', async () => {
    const repo = await create();
    await requireContext(repo);
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await schedulePull(repo, pr, head);
    // Few marks and lines among the letters: Forgejo 16 looks for names in a text in a time that grows with their square.
    const text = 'äx"\n'.repeat(1_000) + 'ä'.repeat(4_500_000);
    await repo.must('bot', 'PATCH', `/pulls/${pr}`, { body: text });
    // The later ones begin as the entry of a push does.
    const remark = '€\\'.repeat(1_000) + '€'.repeat(1_500_000);
    for (const begin of ['', '{"', '{"'])
      await repo.must('bot', 'POST', `/issues/${pr}/comments`, { body: begin + remark });
    const listed = await repo.forge.listOpenPullRequests();
    expect(listed.map(({ number }) => number)).toEqual([pr]);
    expect(await repo.forge.listTouchedPullRequests()).toEqual(listed);
    expect(await repo.forge.readPullRequest(pr)).toMatchObject({ headSha: head, title: 'Change one' });
    const kinds = (await repo.forge.readTimeline(pr)).entries.map(({ kind }) => kind);
    expect(kinds).toContain('scheduled');
    // A fake writes all of its state after each change: with these texts in it every later test takes a second more.
    if (subject().fake !== null) await repo.must('bot', 'DELETE', '');
  });

  // Who may only read can review each pull request, under a rule that asks for approvals too.
  test('reviews of many megabytes are read', async () => {
    const repo = await create();
    const { pr } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    const body = 'ä'.repeat(2_000_000);
    for (const text of [...Array.from({ length: 9 }, () => body), 'short'])
      await repo.must('bot', 'POST', `/pulls/${pr}/reviews`, { event: 'COMMENT', body: text });
    const states = (await repo.forge.listReviews(pr)).map(({ state }) => state);
    expect(states).toEqual(Array.from({ length: 10 }, () => 'comment'));
    // See above.
    if (subject().fake !== null) await repo.must('bot', 'DELETE', '');
  });
}
