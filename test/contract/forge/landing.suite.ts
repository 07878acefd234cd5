import { FileGuard } from '#core/domain/forge/protected-files.ts';
import { type Actor, type ForgeSubject, type Needs, RepoDriver } from './subject.ts';

const CONTEXT = 'mq';
const NAMESAKE = 'refs/heads/main';
const LOOKS_BEFORE_ANOTHER_POST = 20;
const SUCCESS = { state: 'success', context: CONTEXT, description: 'landing', targetUrl: null } as const;

/** A posted success starts the forge's own merge, which no call of the client asks for (forge facts, 3.5). */
export function landingSuite(subject: () => ForgeSubject, needs: Needs): void {
  const isForgejo = () => subject().workflowDir.startsWith('.forgejo');

  async function create(...others: readonly string[]): Promise<RepoDriver> {
    const repo = await RepoDriver.create(subject());
    await repo.must('bot', 'POST', '/branch_protections', {
      rule_name: 'main',
      enable_status_check: true,
      status_check_contexts: [CONTEXT, ...others],
    });
    return repo;
  }

  async function openChecked(
    repo: RepoDriver,
    branch: string,
    files: Readonly<Record<string, string | null>>,
  ) {
    const opened = await repo.openPull('bot', branch, files);
    await repo.untilMergeable(opened.pr);
    return opened;
  }

  const awaitMerged = (repo: RepoDriver, pr: number) =>
    repo.until(
      () => repo.forge.readPullRequest(pr),
      (pull) => pull.merged,
    );

  /**
   * Posts the success, and merges by it. A pull request may be checked again at any time; a forge that loses a success which is posted
   * meanwhile gets it again, as from the queue (D-11).
   */
  const land = async (repo: RepoDriver, pr: number, head: string) => {
    await repo.forge.postStatus(head, SUCCESS);
    let looks = 0;
    return repo.until(
      async () => {
        looks += 1;
        if (subject().facts.losesSuccessInCheck && looks % LOOKS_BEFORE_ANOTHER_POST === 0)
          await repo.forge.postStatus(head, SUCCESS);
        return repo.forge.readPullRequest(pr);
      },
      (pull) => pull.merged,
    );
  };

  /**
   * Status of the answer: 201 there was no schedule, 409 there was one. A pull request may be checked again at any time,
   * such as for a push to its base that the forge comes to only now, and is not taken meanwhile (405).
   */
  const schedule = (repo: RepoDriver, pr: number, style = 'merge', as: Actor = 'bot') => {
    const body = { Do: style, merge_when_checks_succeed: true, force_merge: false };
    return repo.until(
      async () => (await repo.api(as, 'POST', `/pulls/${pr}/merge`, body)).status,
      (status) => status !== 405,
    );
  };

  const settle = async (times: number) => {
    for (let n = 0; n < times; n += 1) await subject().wait();
  };

  test.each(['merge', 'squash', 'rebase'])('a success lands what is scheduled, by %s', async (style) => {
    const repo = await create();
    const { pr, head } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    const before = (await repo.forge.readBranchTip('main')) ?? '';
    expect(await schedule(repo, pr, style)).toBe(201);
    const pull = await land(repo, pr, head);
    expect(pull).toMatchObject({ state: 'closed', headSha: head, baseTip: pull.mergeCommitSha });
    const merge = await repo.forge.readCommit(pull.mergeCommitSha ?? '');
    expect(merge.parents).toEqual(style === 'merge' ? [before, head] : [before]);
    // Nothing else moved: what lands has the very tree of the head.
    expect(merge.tree).toBe((await repo.forge.readCommit(head)).tree);
    expect(await repo.forge.readBranchTip('main')).toBe(merge.sha);
  });

  test('a required check that was skipped has passed', async () => {
    const repo = await create('ci/*');
    const { pr, head } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    expect(await schedule(repo, pr)).toBe(201);
    await repo.must('bot', 'POST', `/statuses/${head}`, { state: 'skipped', context: 'ci/docs' });
    await land(repo, pr, head);
  });

  test('a required pattern that is malformed is left out', async () => {
    const repo = await create('ci/[linux');
    const { pr, head } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    expect(await schedule(repo, pr)).toBe(201);
    await land(repo, pr, head);
  });

  test('a required pattern with several ranges in a set is asked for on Gitea, and malformed on Forgejo', async () => {
    const repo = await create('ci/[a-z0-9]*');
    const { pr, head } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    expect(await schedule(repo, pr)).toBe(201);
    await repo.forge.postStatus(head, SUCCESS);
    if (!isForgejo()) {
      await settle(2);
      expect((await repo.forge.readPullRequest(pr)).merged).toBe(false);
      await repo.must('bot', 'POST', `/statuses/${head}`, { state: 'success', context: 'ci/x1' });
    }
    await land(repo, pr, head);
  });

  test('nothing that can be read tells which style was scheduled', async () => {
    const repo = await create();
    const { pr } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    expect(await schedule(repo, pr, 'squash')).toBe(201);
    const entries: readonly { type: string }[] = await repo.must('bot', 'GET', `/issues/${pr}/timeline`);
    const entry = entries.find(({ type }) => type === 'pull_scheduled_merge');
    expect(entry).toMatchObject({ body: '', ref_commit_sha: '' });
    expect(JSON.stringify(entry)).not.toContain('squash');
  });

  test('a second one lands on the first as soon as it is checked again', async () => {
    const repo = await create();
    const first = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    const second = await openChecked(repo, 'two', { 'b.txt': 'b\n' });
    for (const { pr } of [first, second]) expect(await schedule(repo, pr)).toBe(201);
    const below = await land(repo, first.pr, first.head);
    await repo.untilMergeable(second.pr);
    const merged = await land(repo, second.pr, second.head);
    const merge = await repo.forge.readCommit(merged.mergeCommitSha ?? '');
    expect(merge.parents).toEqual([below.mergeCommitSha, second.head]);
  });

  test('a success that came before the schedule lands once it is posted again', async () => {
    const repo = await create();
    const { pr, head } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    await repo.forge.postStatus(head, SUCCESS);
    await settle(2);
    expect(await schedule(repo, pr)).toBe(201);
    await settle(4);
    // Gitea looks right after scheduling, Forgejo at the next success, or at the end of a check that was still to come:
    // a real one that is busy may have one.
    if (isForgejo() && repo.subject.fake !== null)
      expect((await repo.forge.readPullRequest(pr)).merged).toBe(false);
    await land(repo, pr, head);
  });

  test('below a merge: a repository that detects manual merges calls it merged, by that merge', async () => {
    const repo = await create();
    await repo.must('bot', 'PATCH', '', { has_pull_requests: true, autodetect_manual_merge: true });
    const lower = await openChecked(repo, 'lower', { 'a.txt': 'a\n' });
    await repo.commit('bot', { 'b.txt': 'b\n' }, { branch: 'lower', newBranch: 'upper' });
    const body = { head: 'upper', base: 'main', title: 'Upper', body: '' };
    const upper: number = (await repo.must('bot', 'POST', '/pulls', body)).number;
    const { headSha } = await repo.untilMergeable(upper);
    for (const pr of [lower.pr, upper])
      await repo.until(
        () => schedule(repo, pr),
        (answer) => answer === 201,
      );
    const { mergeCommitSha } = await land(repo, upper, headSha);
    expect(await awaitMerged(repo, lower.pr)).toMatchObject({ state: 'closed', mergeCommitSha });
  });

  test('a merge that fails: Forgejo has dropped the schedule by then, and says so nowhere', async () => {
    const repo = await create();
    await repo.must('bot', 'PATCH', '', { has_pull_requests: true, allow_squash_merge: false });
    const { pr, head } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    expect(await schedule(repo, pr, 'squash')).toBe(201);
    await repo.forge.postStatus(head, SUCCESS);
    await settle(6);
    expect(await repo.forge.readPullRequest(pr)).toMatchObject({ state: 'open', merged: false });
    expect((await repo.forge.readTimeline(pr)).entries.filter((entry) => entry.kind === 'cancelled')).toEqual(
      [],
    );
    if (!isForgejo()) {
      await repo.forge.postStatus(head, { ...SUCCESS, state: 'pending' });
      expect(await schedule(repo, pr, 'merge')).toBe(409);
      return;
    }
    // A busy one fails to merge later. The style stays the forbidden one, so that the new schedule lands nothing.
    await repo.until(
      () => schedule(repo, pr, 'squash'),
      (answer) => answer === 201,
    );
  });

  test('a tag with the name of the base: Forgejo merges into the tag', async () => {
    const repo = await create();
    const ahead = await repo.commit('bot', { 'ahead.txt': 'a\n' }, { newBranch: 'ahead' });
    const { pr, head } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    expect(await repo.forge.hasTag('main')).toBe(false);
    await repo.must('bot', 'POST', '/tags', { tag_name: 'main', target: ahead });
    expect(await repo.forge.hasTag('main')).toBe(true);
    expect(await schedule(repo, pr)).toBe(201);
    await land(repo, pr, head);
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    const { entries } = await repo.forge.readTree(await repo.forge.readTreeId(tip), 'all');
    const paths = (entries ?? []).map(({ path }) => path);
    expect(paths).toContain('a.txt');
    expect(paths.includes('ahead.txt')).toBe(subject().facts.mergesIntoTag);
  });

  test('a tag with the full name of the base: git takes no merge, and it is found', async () => {
    const repo = await create();
    const { pr, head } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    expect(await repo.forge.findNamesake('main')).toBeNull();
    await repo.must('bot', 'POST', '/tags', { tag_name: NAMESAKE, target: head });
    expect(await repo.forge.findNamesake('main')).toEqual({ kind: 'tag', name: NAMESAKE });
    expect(await schedule(repo, pr)).toBe(201);
    await repo.forge.postStatus(head, SUCCESS);
    await settle(6);
    expect((await repo.forge.readPullRequest(pr)).merged).toBe(false);
  });

  needs('person')(
    'an open dependency: a success lands nothing and asking is a bare 500; both timelines tell of it, and not of its end',
    async () => {
      const repo = await create();
      const first = await openChecked(repo, 'first', { 'first.txt': 'a\n' });
      const { pr, head } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
      expect(await schedule(repo, pr)).toBe(201);
      const [owner, name] = repo.slug.split('/');
      const before = { owner, repo: name, index: first.pr };
      await repo.must('person', 'POST', `/issues/${pr}/dependencies`, before);
      for (const each of [pr, first.pr]) {
        const kinds = (await repo.forge.readTimeline(each)).entries.map(({ kind }) => kind);
        expect(kinds.filter((kind) => kind === 'dependency')).toEqual(['dependency']);
      }
      expect(await repo.forge.countDependencies(pr)).toEqual({ open: 1, hidden: 0 });
      expect(await repo.forge.countDependencies(first.pr)).toEqual({ open: 0, hidden: 0 });
      await repo.forge.postStatus(head, SUCCESS);
      await settle(6);
      expect((await repo.forge.readPullRequest(pr)).merged).toBe(false);
      await repo.forge.postStatus(head, { ...SUCCESS, state: 'pending' });
      expect(await schedule(repo, pr)).toBe(500);
      const { updatedAt } = await repo.forge.readPullRequest(pr);
      await repo.must('person', 'PATCH', `/pulls/${first.pr}`, { state: 'closed' });
      await settle(3);
      expect(await repo.forge.countDependencies(pr)).toEqual({ open: 0, hidden: 0 });
      expect((await repo.forge.readPullRequest(pr)).updatedAt).toBe(updatedAt);
      await land(repo, pr, head);
    },
  );

  test.each([
    ['*.pem', 'src/key.pem', false],
    ['*.PEM', 'KEY.pem', true],
    ['secrets/**', 'secrets/deep/one.txt', true],
    ['secrets/*', 'secrets/deep/one.txt', false],
    ['secrets/*', 'secrets/one.txt', false],
    ['{broken; secrets/*.txt ;', 'secrets/one.txt', true],
  ])(
    'protected files %p: with a change of %s a success lands nothing: %p',
    async (patterns, path, isBlocked) => {
      const repo = await RepoDriver.create(subject());
      await repo.must('bot', 'POST', '/branch_protections', {
        rule_name: 'main',
        enable_status_check: true,
        status_check_contexts: [CONTEXT],
        protected_file_patterns: patterns,
      });
      const { pr, head } = await openChecked(repo, 'one', { [path]: 'a\n' });
      expect(await repo.forge.listChangedFiles(pr)).toEqual([path]);
      const read = (await repo.forge.readProtection('main'))?.protectedFilePatterns ?? [];
      expect(new FileGuard(read).covers(path)).toBe(isBlocked);
      expect(await schedule(repo, pr)).toBe(201);
      await repo.forge.postStatus(head, SUCCESS);
      if (!isBlocked) {
        await land(repo, pr, head);
        return;
      }
      await settle(6);
      expect((await repo.forge.readPullRequest(pr)).merged).toBe(false);
      await repo.forge.postStatus(head, { ...SUCCESS, state: 'pending' });
      await repo.must('bot', 'PATCH', '/branch_protections/main', { protected_file_patterns: '' });
      await settle(3);
      await repo.untilMergeable(pr);
      await land(repo, pr, head);
    },
  );

  test('a file that is moved out of what is protected is listed, and judged, where it is now', async () => {
    const repo = await RepoDriver.create(subject(), { 'secrets/one.txt': 'one\ntwo\nthree\n' });
    await repo.must('bot', 'POST', '/branch_protections', {
      rule_name: 'main',
      enable_status_check: true,
      status_check_contexts: [CONTEXT],
      protected_file_patterns: 'secrets/**',
    });
    const { pr, head } = await openChecked(repo, 'one', {
      'secrets/one.txt': null,
      'open.txt': 'one\ntwo\nthree\n',
    });
    expect(await repo.forge.listChangedFiles(pr)).toEqual(['open.txt']);
    expect(await schedule(repo, pr)).toBe(201);
    await land(repo, pr, head);
  });

  needs('person')('a push after the schedule lands the new head, once that is green', async () => {
    const repo = await create();
    const { pr } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
    expect(await schedule(repo, pr)).toBe(201);
    const head = await repo.commit('person', { 'a.txt': 'b\n' }, { branch: 'one' });
    await repo.until(
      () => repo.forge.readPullRequest(pr),
      (pull) => pull.headSha === head && pull.mergeable,
    );
    await settle(3);
    expect(await land(repo, pr, head)).toMatchObject({ headSha: head });
  });

  needs('person')(
    'a push while it is closed: opened again, the forge goes by the head of before until the next push',
    async () => {
      const repo = await create();
      const { pr, head: before } = await openChecked(repo, 'one', { 'a.txt': 'a\n' });
      expect(await repo.forge.readKeptHead(pr)).toBe(before);
      await repo.must('person', 'PATCH', `/pulls/${pr}`, { state: 'closed' });
      const head = await repo.commit('person', { 'a.txt': 'b\n' }, { branch: 'one' });
      // Nothing tells when the forge has dealt with a push that changes nothing else.
      await settle(LOOKS_BEFORE_ANOTHER_POST);
      await repo.must('person', 'PATCH', `/pulls/${pr}`, { state: 'open' });
      expect((await repo.untilMergeable(pr)).headSha).toBe(head);
      expect(await schedule(repo, pr)).toBe(201);
      // Gitea from 1.24.3 on looks at the statuses for each schedule, in its own time.
      await settle(6);
      await repo.forge.postStatus(head, SUCCESS);
      await settle(6);
      expect((await repo.forge.readPullRequest(pr)).merged).toBe(false);
      expect(await repo.forge.readKeptHead(pr)).toBe(before);
      const next = await repo.commit('person', { 'a.txt': 'c\n' }, { branch: 'one' });
      await repo.until(
        () => repo.forge.readKeptHead(pr),
        (kept) => kept === next,
      );
      await repo.untilMergeable(pr);
      await land(repo, pr, next);
    },
  );
}
