import { readProtection } from '#core/adapters/forge-http/protection.ts';
import { openScripted } from '../../../../support/open-scripted.ts';
import { sha } from '../../../../support/scripted-forge.ts';

function rule(name: string, change: object = {}) {
  return {
    rule_name: name,
    branch_name: name,
    created_at: '2026-01-01T00:00:00Z',
    enable_push: false,
    enable_status_check: true,
    status_check_contexts: ['mq'],
    required_approvals: 2,
    block_on_rejected_reviews: true,
    block_on_official_review_requests: false,
    block_on_outdated_branch: false,
    dismiss_stale_approvals: false,
    ignore_stale_approvals: true,
    ...change,
  };
}

async function ruleFor(base: string, rules: readonly unknown[] | null): Promise<string | null> {
  const { transport } = openScripted(() => ({ json: rules }));
  const protection = await readProtection(transport, base);
  return protection === null ? null : protection.ruleName;
}

const later = { created_at: '2026-01-02T00:00:00Z' };

describe('the rule that governs', () => {
  test.each([
    ['no rule', 'main', [], null],
    ['no list', 'main', null, null],
    ['a rule of another branch', 'main', [rule('next')], null],
    ['its own rule', 'main', [rule('next'), rule('main')], 'main'],
    ['a plain name in another case', 'main', [rule('MAIN')], 'MAIN'],
    ['a pattern', 'release/1', [rule('release/*')], 'release/*'],
    ['a pattern that stops at the slash', 'release/1/2', [rule('release/*')], null],
    ['a pattern with case', 'Release/1', [rule('release/*')], null],
    ['a plain name before an older pattern', 'main', [rule('**'), rule('main', later)], 'main'],
    ['the older of two patterns', 'main', [rule('m*', later), rule('*n')], '*n'],
    ['a null row', 'main', [null, rule('main')], 'main'],
    ['the old name of the field', 'main', [{ ...rule('main'), rule_name: undefined }], 'main'],
    [
      'priority before the plain name',
      'main',
      [rule('main', { priority: 2 }), rule('*', { priority: 1 })],
      '*',
    ],
    [
      'the plain name at equal priority',
      'main',
      [rule('*', { priority: 1 }), rule('main', { priority: 1, ...later })],
      'main',
    ],
  ])('%s', async (_name, base, rules, expected) => {
    expect(await ruleFor(base, rules)).toBe(expected);
  });
});

describe('a pattern that versions of the forge read differently', () => {
  const first = rule('[a-z0-9_-]*', { priority: 1, enable_status_check: false });
  const rules = [rule('main', { priority: 5 }), first];
  const openAs = (change: object, all: readonly unknown[] = rules) =>
    openScripted((request) =>
      request.path === '/branch_protections'
        ? { json: all }
        : { json: { name: 'main', commit: { id: sha(1) }, protected: true, ...change } },
    );

  test.each(['[a-z0-9_-]*', 'main'])('the rule that the forge says it obeys governs: %s', async (obeyed) => {
    const { transport } = openAs({ effective_branch_protection_name: obeyed });
    expect(await readProtection(transport, 'main')).toMatchObject({
      ruleName: obeyed,
      statusCheckEnabled: obeyed === 'main',
    });
  });

  test('it obeys none', async () => {
    const { transport } = openAs({ protected: false, effective_branch_protection_name: '' }, [first]);
    expect(await readProtection(transport, 'main')).toBeNull();
  });

  test.each(['next', ''])('it names one that was not listed: nothing is known (%j)', async (obeyed) => {
    const { transport } = openAs({ effective_branch_protection_name: obeyed });
    await expect(readProtection(transport, 'main')).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test('it is not asked where a rule goes first that all of them read alike', async () => {
    const { transport, seen } = openAs({}, [rule('ma*', { priority: 0 }), ...rules]);
    expect(await readProtection(transport, 'main')).toMatchObject({ ruleName: 'ma*' });
    expect(seen.map((request) => request.path)).toEqual(['/branch_protections']);
  });
});

test('every field of the rule', async () => {
  const { transport, seen } = openScripted(() => ({
    json: [rule('main', { status_check_contexts: null, enable_push: true })],
  }));
  expect(await readProtection(transport, 'main')).toEqual({
    scope: 'full',
    ruleName: 'main',
    statusCheckEnabled: true,
    requiredContexts: [],
    requiredApprovals: 2,
    blockOnRejectedReviews: true,
    blockOnOfficialReviewRequests: false,
    blockOnOutdatedBranch: false,
    ignoreStaleApprovals: true,
    dismissStaleApprovals: false,
    directPushAllowed: true,
  });
  expect(seen.map((request) => request.path)).toEqual(['/branch_protections']);
});

test.each([
  ['people', { bypass_allowlist_usernames: ['ann'] }, true],
  ['a team', { bypass_allowlist_teams: ['release'] }, true],
  ['no account', { bypass_allowlist_usernames: null, bypass_allowlist_teams: [] }, undefined],
  [
    'people, switched off',
    { bypass_allowlist_usernames: ['ann'], enable_bypass_allowlist: false },
    undefined,
  ],
])('a list of those who may bypass the rule (Gitea 1.27) that names %s', async (_name, list, expected) => {
  const row = rule('main', { enable_bypass_allowlist: true, ...list });
  const { transport } = openScripted(() => ({ json: [row] }));
  expect((await readProtection(transport, 'main'))?.bypassAllowed).toBe(expected);
});

test.each([
  ['docs/**', true],
  [' ; docs/** ;', true],
  [' ; ', undefined],
  ['', undefined],
])('files that are pushed past the rule: %j', async (unprotected_file_patterns, expected) => {
  const { transport } = openScripted(() => ({ json: [rule('main', { unprotected_file_patterns })] }));
  expect((await readProtection(transport, 'main'))?.filesPushable).toBe(expected);
});

describe('a bot that is no administrator', () => {
  const branch = (change: object) => ({
    name: 'main',
    commit: { id: sha(1) },
    protected: true,
    required_approvals: 1,
    enable_status_check: true,
    status_check_contexts: ['mq', 'ci'],
    user_can_push: false,
    user_can_merge: true,
    effective_branch_protection_name: '',
    ...change,
  });
  const openAs = (status: number, change: object) =>
    openScripted((request) =>
      request.path === '/branch_protections'
        ? {
            status,
            json: {
              message: 'user should be an owner or a collaborator with admin write of a repository',
              url: 'x',
            },
          }
        : { json: branch(change) },
    ).transport;

  test.each([403, 404])('sees the summary (%i)', async (status) => {
    expect(await readProtection(openAs(status, {}), 'main')).toEqual({
      scope: 'summary',
      ruleName: null,
      statusCheckEnabled: true,
      requiredContexts: ['mq', 'ci'],
      requiredApprovals: 1,
      blockOnRejectedReviews: false,
      blockOnOfficialReviewRequests: false,
      blockOnOutdatedBranch: false,
      ignoreStaleApprovals: false,
      dismissStaleApprovals: false,
      directPushAllowed: false,
    });
  });

  test('sees that there is no rule', async () => {
    const unprotected = { protected: false, status_check_contexts: null, user_can_push: true };
    expect(await readProtection(openAs(403, unprotected), 'main')).toBeNull();
  });

  test('with a token that is refused altogether is denied', async () => {
    await expect(readProtection(openAs(401, {}), 'main')).rejects.toMatchObject({
      kind: 'denied',
      status: 401,
    });
  });

  test('behind a firewall that answers 403 with a page learns nothing', async () => {
    const { transport, seen } = openScripted(() => ({ status: 403, text: '<html>', type: 'text/html' }));
    await expect(readProtection(transport, 'main')).rejects.toMatchObject({
      kind: 'unreachable',
      status: 403,
    });
    expect(seen).toHaveLength(1);
  });
});

test.each([[true], [false]])('does the rule ask for signed commits: %s', async (isAsked) => {
  const json = [rule('main', { require_signed_commits: isAsked })];
  const read = await readProtection(openScripted(() => ({ json })).transport, 'main');
  expect(read?.requiresSigned === true).toBe(isAsked);
});

test.each([
  ['no list', { enable_merge_whitelist: false, merge_whitelist_teams: ['leads'] }, {}],
  ['accounts', { merge_whitelist_usernames: ['ann'], merge_whitelist_teams: null }, { mergeList: ['ann'] }],
  [
    'teams as well',
    { merge_whitelist_usernames: ['ann'], merge_whitelist_teams: ['leads'] },
    { mergeList: ['ann'], mergeTeams: ['leads'] },
  ],
  ['teams alone', { merge_whitelist_teams: ['leads'] }, { mergeList: [], mergeTeams: ['leads'] }],
])('who may merge: %s', async (_what, change, expected) => {
  const json = [rule('main', { enable_merge_whitelist: true, ...change })];
  const { mergeList, mergeTeams } =
    (await readProtection(openScripted(() => ({ json })).transport, 'main')) ?? {};
  expect({ ...(mergeList && { mergeList }), ...(mergeTeams && { mergeTeams }) }).toEqual(expected);
});
