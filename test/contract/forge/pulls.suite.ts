import { requireContext, schedulePull as schedule } from './scheduling.ts';
import { type ForgeSubject, fakeOf, listFiles, type Needs, RepoDriver } from './subject.ts';

/** Entries of a timeline; the largest page of either forge is 50 by default. */
const MORE_THAN_A_PAGE = 55;

/** Pull requests, their timeline, reviews and statuses. */
export function pullsSuite(subject: () => ForgeSubject, needs: Needs): void {
  const create = () => RepoDriver.create(subject());

  test('a pull request from its opening to "mergeable"', async () => {
    const repo = await create();
    const base = await repo.forge.readBranchTip('main');
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    const opened = await repo.forge.readPullRequest(pr);
    expect(opened).toMatchObject({
      number: pr,
      title: 'Change one',
      state: 'open',
      draft: false,
      merged: false,
      mergeCommitSha: null,
      baseRef: 'main',
      baseTip: base,
      headRef: 'one',
      headSha: head,
      fromFork: false,
      author: repo.loginOf('bot'),
    });
    const checked = await repo.untilMergeable(pr);
    expect(checked.mergeBase).toBe(base);
  });

  test('its labels are in the list, and its timeline says which account put each on or took it off', async () => {
    const repo = await create();
    const { pr } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    const made = await repo.must('bot', 'POST', '/labels', { name: 'hotfix', color: '#ff0000' });
    const { id } = made as { id: number };
    await repo.must('bot', 'POST', `/issues/${pr}/labels`, { labels: [id] });
    const [listed] = await repo.forge.listOpenPullRequests();
    expect([listed?.labels, (await repo.forge.readPullRequest(pr)).labels]).toEqual([['hotfix'], ['hotfix']]);
    await repo.must('bot', 'DELETE', `/issues/${pr}/labels/${id}`);
    expect((await repo.forge.readPullRequest(pr)).labels).toBeUndefined();
    const entries = (await repo.forge.readTimeline(pr)).entries.filter(({ label }) => label === 'hotfix');
    const by = repo.loginOf('bot');
    expect(entries.map(({ kind, user }) => [kind, user])).toEqual([
      ['labelled', by],
      ['unlabelled', by],
    ]);
  });

  test('the base tip is live, the merge base is not', async () => {
    const repo = await create();
    const fork = await repo.forge.readBranchTip('main');
    const { pr } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await repo.untilMergeable(pr);
    const tip = await repo.commit('bot', { 'b.txt': 'b\n' });
    expect(await repo.forge.readPullRequest(pr)).toMatchObject({ baseTip: tip, mergeBase: fork });
  });

  test('a conflict and a check under way both read as not mergeable', async () => {
    const repo = await create();
    const { pr } = await repo.openPull('bot', 'one', { 'README.md': 'theirs\n' });
    await repo.untilMergeable(pr);
    await repo.commit('bot', { 'README.md': 'ours\n' });
    const after = await repo.until(
      () => repo.forge.readPullRequest(pr),
      (pull) => !pull.mergeable,
    );
    expect(after.state).toBe('open');
    for (let looks = 0; looks < 6; looks += 1) await repo.subject.wait();
    expect((await repo.forge.readPullRequest(pr)).mergeable).toBe(false);
  });

  test('draft, closed, merged, absent', async () => {
    const repo = await create();
    const draft = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' }, { title: 'WIP: one' });
    expect(await repo.forge.readPullRequest(draft.pr)).toMatchObject({ draft: true, mergeable: false });
    await repo.must('bot', 'PATCH', `/pulls/${draft.pr}`, { state: 'closed' });
    expect(await repo.forge.readPullRequest(draft.pr)).toMatchObject({ state: 'closed', merged: false });
    const merged = await repo.openPull('bot', 'two', { 'b.txt': 'b\n' });
    await repo.untilMergeable(merged.pr);
    await repo.must('bot', 'POST', `/pulls/${merged.pr}/merge`, {
      Do: 'squash',
      delete_branch_after_merge: false,
    });
    const tip = await repo.forge.readBranchTip('main');
    expect(await repo.forge.readPullRequest(merged.pr)).toMatchObject({
      state: 'closed',
      merged: true,
      mergeCommitSha: tip,
      headSha: merged.head,
    });
    await expect(repo.forge.readPullRequest(9999)).rejects.toMatchObject({ kind: 'missing', status: 404 });
  });

  test('the list holds the open ones to every branch, oldest first; the touched ones are those that changed last', async () => {
    const repo = await create();
    await repo.forge.createBranch('next', (await repo.forge.readBranchTip('main')) ?? '');
    const closed = await repo.openPull('bot', 'closed', { 'c.txt': 'c\n' });
    const one = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    const other = await repo.openPull('bot', 'other', { 'x.txt': 'x\n' }, { base: 'next' });
    const two = await repo.openPull('bot', 'two', { 'b.txt': 'b\n' });
    await repo.must('bot', 'PATCH', `/pulls/${closed.pr}`, { state: 'closed' });
    const numbers = (await repo.forge.listOpenPullRequests()).map(({ number, baseRef }) => [number, baseRef]);
    expect(numbers).toEqual([
      [one.pr, 'main'],
      [other.pr, 'next'],
      [two.pr, 'main'],
    ]);
    const touched = (await repo.forge.listTouchedPullRequests()).map((pull) => pull.number);
    expect([...touched].sort((a, b) => a - b)).toEqual([one.pr, other.pr, two.pr]);
  });

  needs('fake')('an entry that the forge could not convert is passed over', async () => {
    const fake = fakeOf(subject());
    const repo = await create();
    const one = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    const two = await repo.openPull('bot', 'two', { 'b.txt': 'b\n' });
    fake.knobs.nullPulls.add(one.pr);
    try {
      expect((await repo.forge.listOpenPullRequests()).map((pull) => pull.number)).toEqual([two.pr]);
    } finally {
      fake.knobs.nullPulls.clear();
    }
  });

  needs('person')(
    'a pull request from a fork: its head arrives, its status counts, its merge may not',
    async () => {
      const repo = await create();
      await requireContext(repo);
      const fork = new RepoDriver(subject(), await subject().fork(repo.slug));
      const head = await fork.commit('person', { 'f.txt': 'f\n' }, { newBranch: 'theirs' });
      const body = { head: `${repo.loginOf('person')}:theirs`, base: 'main', title: 'From a fork', body: '' };
      const pr: number = (await repo.must('person', 'POST', '/pulls', body)).number;
      const pull = await repo.until(
        () => repo.forge.readPullRequest(pr),
        (found) => found.mergeable,
      );
      expect(pull).toMatchObject({ fromFork: true, headRef: 'theirs', headSha: head, state: 'open' });
      // Its objects are in the base repository, where they are staged and judged.
      expect((await listFiles(repo.forge, head)).map((entry) => entry.path)).toContain('f.txt');
      await schedule(repo, pr, head);
      await repo.forge.postStatus(head, {
        state: 'success',
        context: 'mq',
        description: '',
        targetUrl: null,
      });
      if (subject().asksForkForMergeRight) {
        for (let look = 0; look < 8; look += 1) await subject().wait();
        expect((await repo.forge.readPullRequest(pr)).merged).toBe(false);
      } else {
        await repo.until(
          () => repo.forge.readPullRequest(pr),
          (found) => found.merged,
        );
      }
    },
  );

  needs('reader')(
    'a head pushed to refs/for by one who may only read: on no branch, bound approvals, merged like any other',
    async () => {
      const repo = await create();
      await requireContext(repo);
      const first = await subject().pushAgit(repo.slug, 'topic', { 'agit.txt': '1\n' });
      const [opened] = await repo.until(
        () => repo.forge.listOpenPullRequests(),
        (pulls) => pulls.length === 1,
      );
      const pr = opened?.number ?? 0;
      const author = repo.loginOf('reader');
      expect(opened).toMatchObject({ agit: true, fromFork: false, headSha: first, author });
      expect(opened?.headRef).toBe(`refs/pull/${pr}/head`);
      const branches: readonly { name: string }[] = await repo.must('bot', 'GET', '/branches');
      expect(branches.map((branch) => branch.name)).toEqual(['main']);
      await repo.must('bot', 'POST', `/pulls/${pr}/reviews`, { event: 'APPROVED', body: '' });
      const approval = async () => {
        const [review] = await repo.forge.listReviews(pr);
        return review;
      };
      expect(await approval()).toMatchObject({ state: 'approved', official: true, commit: first });
      const namesake = { new_branch_name: `${author}/topic`, old_ref_name: 'main' };
      await repo.must('bot', 'POST', '/branches', namesake);
      const [beside] = await repo.forge.listOpenPullRequests();
      expect(beside).toMatchObject({ agit: true, headSha: first });
      const second = await subject().pushAgit(repo.slug, 'topic', { 'agit.txt': '2\n' });
      const pull = await repo.until(
        () => repo.forge.readPullRequest(pr),
        (found) => found.headSha === second && found.mergeable,
      );
      expect(pull.agit).toBe(true);
      // Still official, and of the head that it was given on.
      expect(await approval()).toMatchObject({ state: 'approved', official: true, commit: first });
      await schedule(repo, pr, second);
      await repo.forge.postStatus(second, {
        state: 'success',
        context: 'mq',
        description: '',
        targetUrl: null,
      });
      await repo.until(
        () => repo.forge.readPullRequest(pr),
        (found) => found.merged,
      );
    },
  );

  needs('reader')(
    'who may write: the bot, a person with the right, not a reader, not one who is gone',
    async () => {
      const repo = await create();
      const asked = ['bot', 'person', 'reader'] as const;
      const told: Record<string, string> = {};
      for (const actor of asked) {
        const login = repo.loginOf(actor);
        if (login !== '') told[actor] = await repo.forge.readWriteRight(login);
      }
      expect(told).toEqual({
        bot: 'yes',
        ...(repo.loginOf('person') === '' ? {} : { person: 'yes' }),
        reader: 'no',
      });
      expect(await repo.forge.readWriteRight('no-such-user-here')).toBe('no');
    },
  );

  test('a pull request whose head is gone', async () => {
    const repo = await create();
    const own = await repo.openPull('bot', 'gone', { 'g.txt': 'g\n' });
    await repo.forge.deleteBranch('gone');
    await repo.until(
      () => repo.forge.readPullRequest(own.pr),
      (pull) => pull.state === 'closed',
    );
    expect(await repo.forge.readPullRequest(own.pr)).toMatchObject({
      headRef: `refs/pull/${own.pr}/head`,
      headSha: own.head,
      agit: false,
      isBranchGone: true,
    });
    if (!subject().facts.reopensWithoutBranch) return;
    await repo.must('bot', 'PATCH', `/pulls/${own.pr}`, { state: 'open' });
    const opened = { state: 'open', agit: false, isBranchGone: true };
    expect(await repo.forge.readPullRequest(own.pr)).toMatchObject(opened);
    expect(await repo.forge.listOpenPullRequests()).toMatchObject([opened]);
  });

  test('the timeline: empty, scheduled, cancelled, scheduled again', async () => {
    const repo = await create();
    await requireContext(repo);
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await repo.untilMergeable(pr);
    const kinds = async () =>
      (await repo.forge.readTimeline(pr)).entries.filter(
        (entry) => entry.kind !== 'other' && entry.kind !== 'pushed',
      );
    expect(await kinds()).toEqual([]);
    await schedule(repo, pr, head);
    expect(await kinds()).toMatchObject([{ kind: 'scheduled', user: repo.loginOf('bot'), newHead: null }]);
    await repo.must('bot', 'DELETE', `/pulls/${pr}/merge`);
    await schedule(repo, pr, head);
    const entries = await kinds();
    expect(entries.map((entry) => entry.kind)).toEqual(['scheduled', 'cancelled', 'scheduled']);
    const ids = entries.map((entry) => entry.id);
    expect([...ids].sort((a, b) => a - b)).toEqual(ids);
    expect(entries.every((entry) => entry.at > Date.UTC(2020, 0, 1))).toBe(true);
  });

  test('the timeline: a push appears a moment later and names the new head; the schedule survives it', async () => {
    const repo = await create();
    await requireContext(repo);
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await repo.untilMergeable(pr);
    await schedule(repo, pr, head);
    const pushed = await repo.commit('bot', { 'a.txt': 'b\n' }, { branch: 'one' });
    // `head.sha` is live; the entry is written by a queue.
    expect((await repo.forge.readPullRequest(pr)).headSha).toBe(pushed);
    const { entries } = await repo.until(
      () => repo.forge.readTimeline(pr),
      (part) => part.entries.some((entry) => entry.newHead === pushed),
    );
    expect(entries.at(-1)).toMatchObject({ kind: 'pushed', newHead: pushed });
    expect((await repo.api('bot', 'DELETE', `/pulls/${pr}/merge`)).status).toBe(204);
  });

  test('the timeline: an entry behind more others than a page holds is read', async () => {
    const repo = await create();
    await requireContext(repo);
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await repo.untilMergeable(pr);
    for (let nth = 0; nth < MORE_THAN_A_PAGE; nth += 1)
      await repo.must('bot', 'POST', `/issues/${pr}/comments`, { body: `comment ${nth}` });
    await schedule(repo, pr, head);
    const { updatedAt } = await repo.forge.readPullRequest(pr);
    const { entries } = await repo.forge.readTimeline(pr, { changedAt: updatedAt });
    expect(entries.at(-1)).toMatchObject({ kind: 'scheduled' });
    expect(entries.length).toBeGreaterThan(MORE_THAN_A_PAGE);
    const since = entries.at(-1)?.at ?? 0;
    const part = await repo.forge.readTimeline(pr, { changedAt: updatedAt, since });
    expect(part).toEqual({ entries: entries.filter(({ at }) => at >= since), readTo: null });
    expect((await repo.api('bot', 'DELETE', `/pulls/${pr}/merge`)).status).toBe(204);
  });

  test('the timeline: a change of the target names the branch before; the schedule survives it', async () => {
    const repo = await create();
    await requireContext(repo);
    await repo.must('bot', 'POST', '/branches', { new_branch_name: 'docs', old_ref_name: 'main' });
    // Without a rule the end of the conflict check on the new base merges it.
    await requireContext(repo, 'docs');
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await repo.untilMergeable(pr);
    await schedule(repo, pr, head);
    await repo.must('bot', 'PATCH', `/pulls/${pr}`, { base: 'docs' });
    const { entries } = await repo.forge.readTimeline(pr);
    expect(entries).toContainEqual(expect.objectContaining({ kind: 'retargeted', baseBefore: 'main' }));
    const pushes = entries.filter(({ kind }) => kind === 'pushed');
    expect(pushes).toEqual([expect.objectContaining({ newHead: head })]);
    const isAfter = pushes.every(({ id }) =>
      entries.some((each) => each.kind === 'retargeted' && each.id < id),
    );
    expect(isAfter).toBe(repo.subject.facts.retargetRestatesPush);
    expect((await repo.forge.readPullRequest(pr)).baseRef).toBe('docs');
    expect((await repo.api('bot', 'DELETE', `/pulls/${pr}/merge`)).status).toBe(204);
  });

  test('whose target is deleted is closed by Forgejo, and sent to the default branch by Gitea', async () => {
    const repo = await create();
    await repo.must('bot', 'POST', '/branches', { new_branch_name: 'docs', old_ref_name: 'main' });
    const { pr } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' }, { base: 'docs' });
    await repo.must('bot', 'DELETE', '/branches/docs');
    const { sendsToDefaultBranch } = repo.subject.facts;
    // The client takes none whose target is gone, so the call is made by hand.
    const { state, base } = await repo.until(
      () => repo.must('bot', 'GET', `/pulls/${pr}`),
      (pull) => pull.state === 'closed' || pull.base.ref === 'main',
    );
    expect([state, base.ref]).toEqual(sendsToDefaultBranch ? ['open', 'main'] : ['closed', 'docs']);
  });

  test('a schedule, which edits nothing of the pull request, moves `updated_at`', async () => {
    const repo = await create();
    await requireContext(repo);
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    const read = () => repo.forge.readPullRequest(pr);
    const wait = async () => {
      for (let times = 0; times < 4; times += 1) await repo.subject.wait();
    };
    await repo.until(read, (pull) => pull.mergeable);
    await wait();
    const { updatedAt: before } = await read();
    // Forges tell the time in whole seconds.
    await wait();
    expect((await read()).updatedAt).toBe(before);
    await schedule(repo, pr, head);
    await repo.until(read, (pull) => pull.updatedAt > before);
  });

  test('a commit on any branch that says #n touches it; one that says n does not', async () => {
    const repo = await create();
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    const read = () => repo.forge.readPullRequest(pr);
    const wait = async () => {
      for (let times = 0; times < 4; times += 1) await repo.subject.wait();
    };
    const push = (branch: string, who: string) =>
      repo.must('bot', 'POST', '/contents', {
        branch: 'main',
        new_branch: branch,
        message: `staged\n\n${who} ${head}`,
        files: [{ operation: 'create', path: `${branch}.txt`, content: '' }],
      });
    await repo.until(read, (pull) => pull.mergeable);
    await wait();
    const before = (await read()).updatedAt;
    await push('silent', `${pr}`);
    await wait();
    expect((await read()).updatedAt).toBe(before);
    await push('loud', `#${pr}`);
    await repo.until(read, (pull) => pull.updatedAt > before);
  });

  test('reviews: none, then a comment', async () => {
    const repo = await create();
    const { pr } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    expect(await repo.forge.listReviews(pr)).toEqual([]);
    await repo.must('bot', 'POST', `/pulls/${pr}/reviews`, { event: 'COMMENT', body: 'hm' });
    expect(await repo.forge.listReviews(pr)).toMatchObject([{ user: repo.loginOf('bot'), state: 'comment' }]);
  });

  needs('person')('reviews: an approval that a push makes stale, then a rejection', async () => {
    const repo = await create();
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await repo.must('person', 'POST', `/pulls/${pr}/reviews`, {
      event: 'APPROVED',
      body: '',
      commit_id: head,
    });
    expect((await repo.forge.listReviews(pr)).at(-1)).toMatchObject({
      user: repo.loginOf('person'),
      state: 'approved',
      official: true,
      stale: false,
      dismissed: false,
      commit: head,
    });
    await repo.commit('bot', { 'a.txt': 'other\n' }, { branch: 'one' });
    const stale = await repo.until(
      () => repo.forge.listReviews(pr),
      (reviews) => reviews.at(-1)?.stale === true,
    );
    expect(stale.at(-1)?.commit).toBe(head);
    await repo.must('person', 'POST', `/pulls/${pr}/reviews`, { event: 'REQUEST_CHANGES', body: 'no' });
    const [approval, rejection] = await repo.forge.listReviews(pr);
    expect(approval).toMatchObject({ state: 'approved', official: false });
    expect(rejection).toMatchObject({ state: 'changes_requested', official: true, stale: false });
  });

  needs('person')('reviews: one that is deleted is gone, and the pull request shows no change', async () => {
    const repo = await create();
    const { pr } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    const review = { event: 'APPROVED', body: '' };
    const { id } = (await repo.must('person', 'POST', `/pulls/${pr}/reviews`, review)) as { id: number };
    const read = async () => (await repo.forge.readPullRequest(pr)).updatedAt;
    const before = await read();
    // More than the second in which it was written.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await repo.must('person', 'DELETE', `/pulls/${pr}/reviews/${id}`);
    expect(await repo.forge.listReviews(pr)).toEqual([]);
    expect(await read()).toBe(before);
  });

  test('statuses: the latest per context with its author; none', async () => {
    const repo = await create();
    const sha = (await repo.forge.readBranchTip('main')) ?? '';
    expect(await repo.forge.readStatuses(sha)).toEqual([]);
    await repo.forge.postStatus(sha, {
      state: 'pending',
      context: 'mq',
      description: 'staged',
      targetUrl: null,
    });
    await repo.forge.postStatus(sha, {
      state: 'success',
      context: 'mq',
      description: 'landed',
      targetUrl: 'https://queue.test/1',
    });
    const statuses = await repo.forge.readStatuses(sha);
    expect(statuses).toMatchObject([
      { context: 'mq', state: 'success', description: 'landed', creator: repo.loginOf('bot') },
    ]);
  });

  test('statuses: an unknown commit is missing, or a bare 500 as the version has it', async () => {
    const repo = await create();
    const post = { state: 'pending', context: 'mq', description: '', targetUrl: null } as const;
    const isMissing = subject().facts.unknownCommitStatus === 404;
    await expect(repo.forge.postStatus('1234567890'.repeat(4), post)).rejects.toMatchObject(
      isMissing
        ? { kind: 'missing', status: 404, effectUnknown: false }
        : { kind: 'unreachable', status: 500, effectUnknown: true },
    );
  });
}
