import { createForgeAccountOpener } from '#core/adapters/forge-http/account.ts';
import { BOT_SCOPES } from '#core/domain/forge/token-scopes.ts';
import { Secret } from '#core/secret.ts';
import { renderPatch } from '../../../engine-container/src/staging/patch.ts';
import { clientTokenOf, type ForgeSubject, listFiles, type Needs, RepoDriver } from './subject.ts';

/** Branch rules, and what a token may not do. */
export function rulesSuite(subject: () => ForgeSubject, needs: Needs): void {
  const create = () => RepoDriver.create(subject());
  const addRule = (repo: RepoDriver, rule_name: string, fields: object = {}) =>
    repo.must('bot', 'POST', '/branch_protections', { rule_name, ...fields });

  /** On Forgejo the answer is a 500 where the name is malformed there, after the rule was made (forge facts, 4). */
  const addPattern = async (repo: RepoDriver, ruleName: string): Promise<void> => {
    const failed: unknown = await addRule(repo, ruleName).then(
      () => null,
      (error: unknown) => error,
    );
    if (failed === null) return;
    const rules: readonly { rule_name: string }[] = await repo.must('bot', 'GET', '/branch_protections');
    if (!rules.some((rule) => rule.rule_name === ruleName)) throw failed;
  };

  test('no rule, and a rule field by field', async () => {
    const repo = await create();
    expect(await repo.forge.readProtection('main')).toBeNull();
    await addRule(repo, 'main', {
      enable_status_check: true,
      status_check_contexts: ['mq', 'ci/*'],
      required_approvals: 2,
      block_on_rejected_reviews: true,
      block_on_official_review_requests: true,
      block_on_outdated_branch: true,
      dismiss_stale_approvals: true,
      ignore_stale_approvals: true,
    });
    expect(await repo.forge.readProtection('main')).toEqual({
      scope: 'full',
      ruleName: 'main',
      statusCheckEnabled: true,
      requiredContexts: ['mq', 'ci/*'],
      requiredApprovals: 2,
      blockOnRejectedReviews: true,
      blockOnOfficialReviewRequests: true,
      blockOnOutdatedBranch: true,
      ignoreStaleApprovals: true,
      dismissStaleApprovals: true,
      directPushAllowed: false,
    });
  });

  test('a fresh rule lets no account push and asks for nothing', async () => {
    const repo = await create();
    await addRule(repo, 'main');
    expect(await repo.forge.readProtection('main')).toMatchObject({
      statusCheckEnabled: false,
      requiredContexts: [],
      requiredApprovals: 0,
      directPushAllowed: false,
    });
  });

  /** The rule that we say governs must be the one that the forge says governs. */
  test.each([
    ['a plain name after a pattern', ['m*', 'main'], 'main'],
    ['the older of two patterns', ['m*', '*n'], 'main'],
    ['a pattern that stops at a slash', ['release/*'], 'release/1/2'],
    ['a pattern that does not', ['release/**'], 'release/1/2'],
    ['one character', ['mai?'], 'main'],
    ['a set', ['mai[a-n]'], 'main'],
    ['a set left out', ['mai[!a-m]'], 'main'],
    ['alternatives', ['{main,next}'], 'main'],
    ['a plain name in another case', ['MAIN'], 'main'],
    ['a pattern in another case', ['MAI*'], 'main'],
    ['several ranges', ['mai[a-c0-9n]'], 'main'],
    ['ranges and a dash', ['next', '[a-z0-9_-]*'], 'main'],
    ['a range that goes on', ['mai[a-c-n]'], 'main'],
    ['a set left out with a roof', ['[^x]*'], 'main'],
    ['an escaped end of a set', ['mai[\\]n]'], 'main'],
    ['alternatives that are not closed', ['{next,in'], 'main'],
    ['a letter that is escaped', ['m\\ain'], 'main'],
    ['none', ['next', 'release/*'], 'main'],
  ])('the forge agrees which rule governs: %s', async (_name, rules, branch) => {
    const repo = await create();
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    if (branch !== 'main') expect(await repo.forge.createBranch(branch, tip)).toBe(true);
    for (const rule of rules) await addPattern(repo, rule);
    const told = (await repo.must('bot', 'GET', `/branches/${branch}`)).effective_branch_protection_name;
    expect((await repo.forge.readProtection(branch))?.ruleName ?? '').toBe(told);
  });

  test('the forge agrees which rule governs where a pattern comes before the plain name', async () => {
    const repo = await create();
    const asks = { enable_status_check: true, status_check_contexts: ['mq'] };
    await addRule(repo, 'main', asks);
    await addPattern(repo, '[a-z0-9_-]*');
    // Forgejo knows no priorities and leaves the field out.
    await repo.must('bot', 'PATCH', `/branch_protections/${encodeURIComponent('main')}`, {
      ...asks,
      priority: 5,
    });
    const told = (await repo.must('bot', 'GET', '/branches/main')).effective_branch_protection_name;
    const rule = await repo.forge.readProtection('main');
    expect([rule?.ruleName, rule?.statusCheckEnabled]).toEqual([told, told === 'main']);
  });

  needs('person')('a bot that is no administrator reads the summary', async () => {
    const repo = await create();
    const forge = repo.connect({ as: 'person' });
    expect(await forge.readProtection('main')).toBeNull();
    await addRule(repo, 'main', {
      enable_status_check: true,
      status_check_contexts: ['mq'],
      required_approvals: 1,
    });
    expect(await forge.readProtection('main')).toMatchObject({
      scope: 'summary',
      statusCheckEnabled: true,
      requiredContexts: ['mq'],
      requiredApprovals: 1,
      directPushAllowed: false,
    });
  });

  test('a protected branch is neither written nor deleted', async () => {
    const repo = await create();
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    await repo.forge.createBranch('mq/main/staging', tip);
    await addRule(repo, '**');
    const deleted = repo.forge.deleteBranch('mq/main/staging');
    await expect(deleted).rejects.toMatchObject({ kind: 'denied', status: 403 });
  });

  test('a bad token, a hidden repository and one that is not there', async () => {
    const repo = await create();
    const stranger = repo.connect({ token: '0'.repeat(40) });
    await expect(stranger.readBotLogin()).rejects.toMatchObject({ kind: 'denied', status: 401 });
    await expect(stranger.listOpenPullRequests()).rejects.toMatchObject({
      kind: 'denied',
      status: 401,
    });
    const lost = repo.connect({ slug: `${repo.loginOf('bot')}/no-such-repository` });
    await expect(lost.readBranchTip('main')).rejects.toMatchObject({ kind: 'missing', status: 404 });
    await expect(lost.listOpenPullRequests()).rejects.toMatchObject({ kind: 'missing', status: 404 });
  });

  test('a repository that has another name by now: the old name is denied, and no call follows it', async () => {
    const repo = await create();
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    const [owner = '', name = ''] = repo.slug.split('/');
    await repo.must('bot', 'PATCH', '', { name: `${name}-renamed` });
    const renamed = new RepoDriver(subject(), `${owner}/${name}-renamed`);
    const moved = { kind: 'denied', status: subject().facts.formerNameStatus, effectUnknown: false };
    await expect(repo.forge.readBranchTip('main')).rejects.toMatchObject(moved);
    await expect(repo.forge.listOpenPullRequests()).rejects.toMatchObject(moved);
    await expect(repo.forge.createBranch('x', tip)).rejects.toMatchObject(moved);
    await expect(repo.forge.deleteBranch('x')).rejects.toMatchObject(moved);
    expect(await renamed.forge.readBranchTip('main')).toBe(tip);
    expect(await renamed.forge.readBranchTip('x')).toBeNull();
    await renamed.must('bot', 'PATCH', '', { name });
    expect(await repo.forge.readBranchTip('main')).toBe(tip);
  });

  test('a repository keeps its id under another name, and each of its pull requests shows it', async () => {
    const repo = await create();
    const id = await repo.forge.readRepoId();
    const { pr } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    const other = await create();
    expect(typeof id).toBe('number');
    expect(await other.forge.readRepoId()).not.toBe(id);
    const [owner = '', name = ''] = repo.slug.split('/');
    await repo.must('bot', 'PATCH', '', { name: `${name}-renamed` });
    const renamed = new RepoDriver(subject(), `${owner}/${name}-renamed`);
    expect(await renamed.forge.readRepoId()).toBe(id);
    expect(await renamed.forge.readPullRequest(pr)).toMatchObject({ repoId: id });
    expect((await renamed.forge.listOpenPullRequests()).map(({ repoId }) => repoId)).toEqual([id]);
    await renamed.must('bot', 'PATCH', '', { name });
  });

  needs('reader')(
    'a former name is hidden with the repository on Forgejo, and redirects all the same on Gitea',
    async () => {
      const repo = await create();
      const [owner = '', name = ''] = repo.slug.split('/');
      const reader = repo.connect({ as: 'reader' });
      await repo.must('bot', 'DELETE', `/collaborators/${repo.loginOf('reader')}`);
      await repo.must('bot', 'PATCH', '', { name: `${name}-renamed` });
      await expect(reader.readBranchTip('main')).rejects.toMatchObject(
        subject().facts.hidesFormerNames
          ? { kind: 'missing', status: 404 }
          : { kind: 'denied', status: subject().facts.formerNameStatus },
      );
      const renamed = new RepoDriver(subject(), `${owner}/${name}-renamed`);
      const hidden = renamed.connect({ as: 'reader' });
      await expect(hidden.readBranchTip('main')).rejects.toMatchObject({ kind: 'missing', status: 404 });
      await renamed.must('bot', 'PATCH', '', { name });
    },
  );

  test('an archived repository is read, takes statuses, and no other write; each pull request shows it', async () => {
    const repo = await create();
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await repo.must('bot', 'PATCH', '', { archived: true });
    const archived = { kind: 'archived', status: 423 };
    await expect(repo.forge.createBranch('x', head)).rejects.toMatchObject(archived);
    await expect(repo.forge.deleteBranch('one')).rejects.toMatchObject(archived);
    const patch = await renderPatch([
      { path: 'a.txt', from: null, to: (await listFiles(repo.forge, head))[0] ?? null },
    ]);
    const request = { branch: 'main', newBranch: 'y', patch, message: 'm' };
    await expect(repo.forge.applyPatch(request)).rejects.toMatchObject(archived);
    const post = { state: 'error', context: 'mq', description: 'archived', targetUrl: null } as const;
    await repo.forge.postStatus(head, post);
    expect(await repo.forge.readPullRequest(pr)).toMatchObject({
      headSha: head,
      state: 'open',
      isArchived: true,
    });
    expect(await repo.forge.listOpenPullRequests()).toMatchObject([{ number: pr, isArchived: true }]);
    await repo.must('bot', 'PATCH', '', { archived: false });
    expect(await repo.forge.createBranch('x', head)).toBe(true);
    expect((await repo.forge.readPullRequest(pr)).isArchived).toBeUndefined();
  });

  test('each pull request shows the merge styles that its repository allows', async () => {
    const repo = await create();
    const { pr } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await repo.must('bot', 'PATCH', '', { allow_squash_merge: false });
    const { allowedStyles } = await repo.forge.readPullRequest(pr);
    expect(allowedStyles).toContain('merge');
    expect(allowedStyles).not.toContain('squash');
    expect(await repo.forge.listOpenPullRequests()).toMatchObject([{ number: pr, allowedStyles }]);
    await repo.must('bot', 'PATCH', '', { allow_squash_merge: true });
    expect((await repo.forge.readPullRequest(pr)).allowedStyles).toContain('squash');
  });

  test('a repository whose pull requests are switched off is read, and lists none', async () => {
    const repo = await create();
    const { pr, head } = await repo.openPull('bot', 'one', { 'a.txt': 'a\n' });
    await repo.must('bot', 'PATCH', '', { has_pull_requests: false });
    const off = { kind: 'missing', status: 404, call: 'GET pulls' };
    await expect(repo.forge.listOpenPullRequests()).rejects.toMatchObject(off);
    await expect(repo.forge.readPullRequest(pr)).rejects.toMatchObject({ kind: 'missing', status: 404 });
    expect(await repo.forge.readBranchTip('one')).toBe(head);
    await repo.must('bot', 'PATCH', '', { has_pull_requests: true });
    expect(await repo.forge.listOpenPullRequests()).toMatchObject([{ number: pr, headSha: head }]);
  });

  needs('reader')('reading is not writing', async () => {
    const repo = await create();
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    const forge = repo.connect({ as: 'reader' });
    expect(await forge.readBranchTip('main')).toBe(tip);
    await expect(forge.createBranch('x', tip)).rejects.toMatchObject({ kind: 'denied', status: 403 });
    const post = { state: 'success', context: 'mq', description: '', targetUrl: null } as const;
    await expect(forge.postStatus(tip, post)).rejects.toMatchObject({ kind: 'denied', status: 403 });
    expect(await repo.forge.readStatuses(tip)).toEqual([]);
  });

  needs('scoped')('a token without the scope is denied, and the forge says which one it lacks', async () => {
    const repo = await create();
    const tip = (await repo.forge.readBranchTip('main')) ?? '';
    const forge = repo.connect({ token: subject().access.scopedToken ?? '' });
    expect(await forge.readBranchTip('main')).toBe(tip);
    const lacks = (...missingScopes: readonly string[]) => ({ kind: 'denied', status: 403, missingScopes });
    await expect(forge.createBranch('x', tip)).rejects.toMatchObject(lacks('write:repository'));
    await expect(forge.readBotLogin()).rejects.toMatchObject(lacks('read:user'));
    await expect(forge.readTimeline(1)).rejects.toMatchObject(lacks('read:issue'));
    const { access } = subject();
    const open = createForgeAccountOpener({ send: access.send, clock: { now: () => Date.now() } });
    const lackedBy = (token: string) => open(access.instanceUrl, new Secret(token)).readMissingScopes();
    expect(await lackedBy(access.scopedToken ?? '')).toEqual(BOT_SCOPES.map(({ scope }) => scope));
    expect(await lackedBy(clientTokenOf(access, 'bot'))).toEqual([]);
  });
}
