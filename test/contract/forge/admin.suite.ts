import { createForgeAccount } from '#core/adapters/forge-http/account.ts';
import { createForgeAdmin } from '#core/adapters/forge-http/admin.ts';
import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import { createForgeTransport } from '#core/adapters/forge-http/wire/transport.ts';
import { differingFields, fieldsOfClone, fieldsOfNewRule } from '#core/domain/forge/branch-rule.ts';
import { parseForgeVersion, workflowFolders } from '#core/domain/forge/forge-version.ts';
import type { ForgeAdmin } from '#core/ports/forge-admin.ts';
import { Secret } from '#core/secret.ts';
import { givenHeldLease } from '../../builders/held-lease.ts';
import {
  type Actor,
  clientTokenOf,
  type ForgeSubject,
  listFiles,
  type Needs,
  RepoDriver,
} from './subject.ts';

const SUCCESS = { state: 'success', context: 'mq', targetUrl: null } as const;
const HOOK_URL = 'https://queue.example.org/api/v1/webhooks/forge?r=one';

function transportOf(repo: RepoDriver, as: Actor = 'bot', token?: string) {
  const { access } = repo.subject;
  return createForgeTransport({
    instanceUrl: access.instanceUrl,
    slug: repo.slug,
    token: new Secret(token ?? clientTokenOf(access, as)),
    send: access.send,
    clock: { now: () => Date.now() },
  });
}

const adminOf = (repo: RepoDriver, as: Actor = 'bot', token?: string): ForgeAdmin =>
  createForgeAdmin(transportOf(repo, as, token));

/** Hooks, rules, files, set-up pull requests: what only setting a repository up calls. */
/** Gitea before 1.26 leaves the settings of merges as they are where a PATCH does not name this one. */
const WITH_PULLS = { has_pull_requests: true };

export function adminSuite(subject: () => ForgeSubject, needs: Needs): void {
  const create = async (files: Readonly<Record<string, string>> = {}) => {
    const repo = await RepoDriver.create(subject(), files);
    return { repo, admin: adminOf(repo) };
  };

  test('the version tells forge and number', async () => {
    const { repo, admin } = await create();
    const told = await repo.until(
      () => admin.readVersion(),
      (version) => version !== null,
    );
    expect(told?.kind).toBe(subject().workflowDir.startsWith('.forgejo') ? 'forgejo' : 'gitea');
    expect(told?.major).toBeGreaterThan(0);
    expect(told === null ? [] : workflowFolders(told)[0]).toBe(subject().workflowDir);
  });

  test('a repository and what the bot may do with it', async () => {
    const { repo, admin } = await create();
    expect(await admin.readRepoId()).toBe(await repo.forge.readRepoId());
    expect(await admin.readRepo()).toMatchObject({
      fullName: repo.slug,
      defaultBranch: 'main',
      archived: false,
      isMirror: false,
      isAdmin: true,
      canPush: true,
    });
    expect((await admin.readRepo()).allowedStyles).toEqual(expect.arrayContaining(['merge', 'squash']));
  });

  test('repositories that the bot reaches, with the styles that they allow and what their merge button does', async () => {
    const { repo } = await create();
    const seen = async () =>
      (await createForgeAccount(transportOf(repo)).listRepos()).find(
        ({ fullName }) => fullName === repo.slug,
      );
    expect(await seen()).toMatchObject({ defaultBranch: 'main', defaultMergeStyle: 'merge' });
    await repo.must('bot', 'PATCH', '', {
      ...WITH_PULLS,
      default_merge_style: 'squash',
      allow_rebase: false,
    });
    expect(await seen()).toMatchObject({ mergeStyles: ['merge', 'squash'], defaultMergeStyle: 'squash' });
    // A style that the queue does not know.
    await repo.must('bot', 'PATCH', '', { ...WITH_PULLS, default_merge_style: 'rebase-merge' });
    expect(await seen()).toMatchObject({ defaultMergeStyle: null });
  });

  needs('person')('a person who is no administrator', async () => {
    const { repo } = await create();
    const admin = adminOf(repo, 'person');
    expect(await admin.readRepo()).toMatchObject({ isAdmin: false, canPush: true });
    const spec = { url: HOOK_URL, secret: new Secret('s'), events: ['push'] };
    await expect(admin.createHook(spec)).rejects.toMatchObject({ kind: 'denied', status: 403 });
    await expect(admin.listRules()).rejects.toMatchObject({ kind: 'denied', status: 403 });
    expect(await admin.readProtection('main')).toBeNull();
    await repo.must('bot', 'POST', '/branch_protections', {
      rule_name: 'main',
      enable_status_check: true,
      status_check_contexts: ['mq'],
    });
    expect(await admin.readProtection('main')).toMatchObject({ scope: 'summary', requiredContexts: ['mq'] });
    expect(await admin.listBranches(10)).toMatchObject([{ name: 'main', isProtected: true }]);
    await expect(admin.listHooks()).rejects.toMatchObject({ kind: 'denied', status: 403 });
    await expect(admin.createRule({ rule_name: 'main' })).rejects.toMatchObject({ kind: 'denied' });
  });

  test('a hook: made, listed without its secret, deleted twice', async () => {
    const { repo, admin } = await create();
    expect(await admin.listHooks()).toEqual([]);
    const events = ['push', 'pull_request', 'issue_comment', 'no_such_event'];
    const hook = await admin.createHook({ url: HOOK_URL, secret: new Secret('hush-hush'), events });
    expect(hook).toMatchObject({ url: HOOK_URL, isJson: true, active: true, branchFilter: '*' });
    expect(hook.events).toEqual(expect.arrayContaining(['push', 'pull_request', 'issue_comment']));
    expect(hook.events).not.toContain('no_such_event');
    const [listed] = await admin.listHooks();
    // Gitea tells the events of one hook in another order each time.
    expect({ ...listed, events: [...(listed?.events ?? [])].sort() }).toEqual({
      ...hook,
      events: [...hook.events].sort(),
    });
    expect(JSON.stringify(await repo.must('bot', 'GET', '/hooks'))).not.toContain('hush-hush');
    await admin.deleteHook(hook.id);
    await admin.deleteHook(hook.id);
    expect(await admin.listHooks()).toEqual([]);
  });

  test('a hook with a URL that is none: rejected, or taken as it is where the version does not look', async () => {
    const { admin } = await create();
    const spec = { url: 'not a url', secret: new Secret('s'), events: ['push'] };
    const { hookWithoutAddressStatus: status } = subject().facts;
    if (status === 201) expect(await admin.createHook(spec)).toMatchObject({ url: 'not a url' });
    else await expect(admin.createHook(spec)).rejects.toMatchObject({ kind: 'rejected', status });
    expect(await admin.listHooks()).toHaveLength(status === 201 ? 1 : 0);
  });

  test('two hooks of one URL stand side by side; the forge does not tell them apart', async () => {
    const { admin } = await create();
    const spec = { url: HOOK_URL, secret: new Secret('s'), events: ['push'] };
    await admin.createHook(spec);
    await admin.createHook(spec);
    expect((await admin.listHooks()).map((hook) => hook.url)).toEqual([HOOK_URL, HOOK_URL]);
  });

  test('an edit of a rule leaves every other field as it was', async () => {
    const { repo, admin } = await create();
    await repo.must('bot', 'POST', '/branch_protections', {
      rule_name: 'main',
      enable_push: true,
      required_approvals: 2,
      block_on_rejected_reviews: true,
      dismiss_stale_approvals: true,
      protected_file_patterns: 'secrets/**;*.pem',
      enable_merge_whitelist: true,
      merge_whitelist_usernames: [repo.loginOf('bot')],
      status_check_contexts: ['ci/unit'],
    });
    const [before] = await admin.listRules();
    if (before === undefined) throw new Error('no rule');
    expect(before).toMatchObject({ name: 'main', directPushAllowed: true, blockOnOutdatedBranch: false });
    const fields = { enable_status_check: true, status_check_contexts: ['ci/unit', 'mq'] };
    const edited = await admin.editRule('main', fields);
    const [after] = await admin.listRules();
    expect(after).toEqual(edited);
    expect(after).toMatchObject({ statusCheckEnabled: true, contexts: ['ci/unit', 'mq'] });
    expect(differingFields(before.raw, after?.raw ?? {})).toEqual([]);
  });

  test('a new rule, a second one of that name, and a rule that is not there', async () => {
    const { admin } = await create();
    const made = await admin.createRule(fieldsOfNewRule('main', ['mq']));
    expect(made).toMatchObject({
      name: 'main',
      statusCheckEnabled: true,
      contexts: ['mq'],
      directPushAllowed: false,
    });
    const again = admin.createRule(fieldsOfNewRule('main', ['mq']));
    await expect(again).rejects.toMatchObject({ kind: 'denied', status: 403 });
    const lost = admin.editRule('elsewhere', { enable_status_check: true });
    await expect(lost).rejects.toMatchObject({ kind: 'missing', status: 404 });
  });

  test('a rule whose name has a slash is edited under its escaped name', async () => {
    const { admin } = await create();
    await admin.createRule(fieldsOfNewRule('release/1', ['mq']));
    const edited = await admin.editRule('release/1', { status_check_contexts: ['mq', 'x'] });
    expect(edited.contexts).toEqual(['mq', 'x']);
  });

  test('a clone of a pattern has every field of it and governs the branch', async () => {
    const { repo, admin } = await create();
    await repo.must('bot', 'POST', '/branch_protections', {
      rule_name: 'ma*',
      required_approvals: 1,
      block_on_official_review_requests: true,
      unprotected_file_patterns: 'docs/**',
    });
    const [pattern] = await admin.listRules();
    if (pattern === undefined) throw new Error('no rule');
    const clone = await admin.createRule(fieldsOfClone(pattern, 'main', ['mq']));
    expect(differingFields(pattern.raw, clone.raw)).toEqual([]);
    expect((await repo.forge.readProtection('main'))?.ruleName).toBe('main');
    const told = (await repo.must('bot', 'GET', '/branches/main')).effective_branch_protection_name;
    expect(told).toBe('main');
  });

  test('a folder is listed, a file and an absent one are none', async () => {
    const { admin } = await create({ 'a/b/one.txt': '1', 'a/b/two.txt': '2', 'a/b/c/deep.txt': '3' });
    const files = (await admin.listFolder('a/b', 'main')) ?? [];
    expect(files.map((file) => file.path).sort()).toEqual(['a/b/one.txt', 'a/b/two.txt']);
    expect(files[0]?.blob).toMatch(/^[0-9a-f]{40}$/);
    expect(await admin.listFolder('a/b/one.txt', 'main')).toBeNull();
    expect(await admin.listFolder('a/x', 'main')).toBeNull();
    expect(await admin.listFolder('a/b', 'no-such-branch')).toBeNull();
    // A name that finds files need not be a branch.
    for (const ref of [await admin.readBranchTip('main'), 'HEAD'])
      expect(await admin.listFolder('a/b', ref ?? '')).toHaveLength(2);
    expect(await admin.readBranchTip('HEAD')).toBeNull();
  });

  test('one file as one commit on a new branch; the base stands', async () => {
    const { repo, admin } = await create();
    const tip = await admin.readBranchTip('main');
    const commit = {
      branch: 'main',
      newBranch: 'mq/main/verify-1',
      path: 'deep/in/file name é.txt',
      content: 'zwölf\n',
      message: 'probe',
    };
    const made = await admin.commitFile(commit);
    expect(made.parents).toEqual([tip]);
    expect(await admin.readBranchTip('main')).toBe(tip);
    expect(await admin.readBranchTip('mq/main/verify-1')).toBe(made.sha);
    const paths = (await listFiles(repo.forge, made.sha)).map((entry) => entry.path);
    expect(paths).toContain('deep/in/file name é.txt');
    await expect(admin.commitFile(commit)).rejects.toMatchObject({ kind: 'rejected', status: 422 });
    const taken = admin.commitFile({ ...commit, newBranch: 'other', path: 'README.md' });
    await expect(taken).rejects.toMatchObject({ kind: 'rejected', status: 422 });
    expect(await admin.readBranchTip('other')).toBeNull();
  });

  test('branches with the time of their commit', async () => {
    const { admin } = await create();
    const commit = { branch: 'main', path: 'x', content: 'x', message: 'x' };
    const made = await admin.commitFile({ ...commit, newBranch: 'side' });
    const branches = await admin.listBranches(100);
    expect(branches.map((branch) => branch.name).sort()).toEqual(['main', 'side']);
    const side = branches.find((branch) => branch.name === 'side');
    expect(side?.tip).toBe(made.sha);
    expect(side?.committedAt).toBeGreaterThan(0);
    expect(await admin.listBranches(1)).toHaveLength(1);
    await admin.deleteBranch('side');
    await admin.deleteBranch('side');
    expect((await admin.listBranches(100)).map((branch) => branch.name)).toEqual(['main']);
  });

  test('a set-up pull request is opened, found while it is open, and not opened twice', async () => {
    const { repo, admin } = await create();
    const pull = { base: 'main', head: 'setup-mq-gate', title: 'Set up', body: 'text' };
    const { absentHeadStatus: status } = subject().facts;
    const refused = { kind: status === 404 ? 'missing' : 'unreachable', status };
    await expect(admin.openPull(pull)).rejects.toMatchObject(refused);
    await admin.commitFile({ branch: 'main', newBranch: pull.head, path: 'x', content: 'x', message: 'x' });
    expect(await admin.findOpenPull('main', pull.head)).toBeNull();
    const opened = await admin.openPull(pull);
    expect(opened.url).toMatch(/^https?:\/\//);
    expect(await admin.findOpenPull('main', pull.head)).toEqual(opened);
    expect(await admin.findOpenPull('next', pull.head)).toBeNull();
    await expect(admin.openPull(pull)).rejects.toMatchObject({ kind: 'rejected', status: 409 });
    await repo.must('bot', 'PATCH', `/pulls/${opened.number}`, { state: 'closed' });
    expect(await admin.findOpenPull('main', pull.head)).toBeNull();
  });

  test('a scheduled merge is taken back once', async () => {
    const { repo, admin } = await create();
    const { pr } = await repo.openPull('bot', 'topic', { x: '1' });
    await repo.until(
      () => repo.forge.readPullRequest(pr),
      (view) => view.mergeable,
    );
    expect(await admin.cancelAutoMerge(pr)).toBe('not_scheduled');
    await admin.createRule(fieldsOfNewRule('main', ['mq']));
    await repo.until(
      () => repo.forge.readPullRequest(pr),
      (view) => view.mergeable,
    );
    await repo.merge('bot', pr, { Do: 'squash', merge_when_checks_succeed: true });
    expect(await admin.cancelAutoMerge(pr)).toBe('cancelled');
    expect(await admin.cancelAutoMerge(pr)).toBe('not_scheduled');
    expect((await repo.forge.readTimeline(pr)).entries.map((entry) => entry.kind)).toEqual(
      expect.arrayContaining(['scheduled', 'cancelled']),
    );
    expect(await admin.cancelAutoMerge(4711)).toBe('not_scheduled');
  });

  test('asked whether a schedule stands: it does, there is none, and one of its own asking is taken back', async () => {
    const { repo, admin } = await create();
    const { pr, head } = await repo.openPull('bot', 'topic', { x: '1' });
    await admin.createRule(fieldsOfNewRule('main', ['mq']));
    const mergeable = () =>
      repo.until(
        () => repo.forge.readPullRequest(pr),
        (view) => view.mergeable,
      );
    const schedule = () =>
      repo.must('bot', 'POST', `/pulls/${pr}/merge`, { Do: 'squash', merge_when_checks_succeed: true });
    // A check of conflicts that is still to end makes it unknown.
    const probe = (id: number) =>
      repo.until(
        () => repo.forge.probeSchedule(pr, head, id),
        (found) => found !== 'unknown',
      );
    const entries = async () =>
      (await repo.forge.readTimeline(pr)).entries.filter((entry) =>
        ['scheduled', 'cancelled'].includes(entry.kind),
      );
    await mergeable();
    await schedule();
    const [own] = await entries();
    expect(await probe(own?.id ?? 0)).toBe('scheduled');
    // The entry in question is a push that renewed it.
    expect(await probe((own?.id ?? 0) + 1)).toBe('scheduled');
    expect(await entries()).toHaveLength(1);
    await admin.cancelAutoMerge(pr);
    expect(await probe(own?.id ?? 0)).toBe('lost');
    expect((await entries()).map((entry) => entry.kind)).toEqual([
      'scheduled',
      'cancelled',
      'scheduled',
      'cancelled',
    ]);
    expect(await admin.cancelAutoMerge(pr)).toBe('not_scheduled');
    await schedule();
    // Newer than the one in question, and the bot's: made by an attempt that died.
    expect(await probe(own?.id ?? 0)).toBe('lost');
    expect(await admin.cancelAutoMerge(pr)).toBe('not_scheduled');
    // A head that is not the recorded one is not asked about.
    const before = await entries();
    expect(await repo.forge.probeSchedule(pr, 'f'.repeat(40), own?.id ?? 0)).toBe('unknown');
    expect(await entries()).toEqual(before);
    await schedule();
    // An attempt that died, and then the pull request was closed: its schedule is found and taken back all the same.
    await repo.must('bot', 'PATCH', `/pulls/${pr}`, { state: 'closed' });
    expect(await repo.forge.probeSchedule(pr, head, own?.id ?? 0)).toBe('unknown');
    expect(await admin.cancelAutoMerge(pr)).toBe('not_scheduled');
    expect((await repo.forge.readPullRequest(pr)).merged).toBe(false);
  });

  test.each([
    ['one style forbidden, the recorded head green', { allow_fast_forward_only_merge: false }, false],
    ['one style forbidden, another head pushed and green', { allow_fast_forward_only_merge: false }, true],
    ['every style allowed, the recorded head green', {}, false],
    ['every style allowed, another head pushed and green', {}, true],
  ])('a schedule of our asking lands nothing meanwhile: %s', async (_name, styles, isPushed) => {
    const { repo, admin } = await create();
    await repo.must('bot', 'PATCH', '', { ...WITH_PULLS, ...styles });
    const { pr, head } = await repo.openPull('bot', 'topic', { x: '1' });
    // The base goes on, so that the head is not on top of it.
    await repo.commit('bot', { 'other.txt': '1' });
    await admin.createRule(fieldsOfNewRule('main', ['mq']));
    await repo.until(
      () => repo.forge.readPullRequest(pr),
      (view) => view.mergeable,
    );
    const { access } = subject();
    // A person pushes, and a person's success comes, between the client's question and its taking back.
    const cut = createEngineForge(givenHeldLease(), {
      instanceUrl: access.instanceUrl,
      slug: repo.slug,
      token: new Secret(access.tokens.bot?.token ?? ''),
      clock: { now: () => Date.now() },
      send: async (request) => {
        const answer = await access.send(request);
        if (request.method === 'POST' && request.url.endsWith('/merge') && answer.status === 201) {
          const at = isPushed ? await repo.commit('bot', { y: '1' }, { branch: 'topic' }) : head;
          if (isPushed) await subject().wait();
          await repo.forge.postStatus(at, { ...SUCCESS, description: '' });
          for (let look = 0; look < 5; look += 1) await subject().wait();
        }
        return answer;
      },
    });
    // Refused, and so unknown, until the forge has checked it against the base that went on.
    await repo.until(
      () => cut.probeSchedule(pr, head, 0),
      (found) => found === 'lost',
    );
    expect((await repo.forge.readPullRequest(pr)).merged).toBe(false);
    expect(await admin.cancelAutoMerge(pr)).toBe('not_scheduled');
  });

  test('the merge list of a rule', async () => {
    const { repo } = await create();
    const merge_whitelist_usernames = [repo.loginOf('bot')];
    await repo.must('bot', 'POST', '/branch_protections', {
      rule_name: 'main',
      enable_merge_whitelist: true,
      merge_whitelist_usernames,
    });
    expect(await repo.forge.readProtection('main')).toMatchObject({ mergeList: merge_whitelist_usernames });
    await repo.must('bot', 'PATCH', '/branch_protections/main', { enable_merge_whitelist: false });
    expect(await repo.forge.readProtection('main')).not.toHaveProperty('mergeList');
  });

  needs('scoped')('a token without the scope is denied each of it', async () => {
    const { repo, admin } = await create();
    const weak = adminOf(repo, 'bot', subject().access.scopedToken ?? '');
    expect(parseForgeVersion('15.0.3+gitea-1.22.0')).toEqual({
      kind: 'forgejo',
      major: 15,
      minor: 0,
      patch: 3,
    });
    const spec = { url: HOOK_URL, secret: new Secret('s'), events: ['push'] };
    await expect(weak.createHook(spec)).rejects.toMatchObject({ kind: 'denied', status: 403 });
    await expect(weak.createRule({ rule_name: 'main' })).rejects.toMatchObject({ kind: 'denied' });
    await expect(weak.deleteBranch('main')).rejects.toMatchObject({ kind: 'denied' });
    expect(await admin.listHooks()).toEqual([]);
    expect(await admin.listRules()).toEqual([]);
  });
}
