import { differingFields } from '#core/domain/forge/branch-rule.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { viewProvisioning } from '#core/domain/set-up/provisioning.ts';
import { changeStatusContext, provisionRepo, setProtection } from '#core/services/set-up/provisioning.ts';
import { contextsOf, create, givenRules, rulesOf, statusOf, VERIFIED } from './set-up-stories.ts';

jest.setTimeout(60_000);

describe.each(['fj11', 'fj15', 'gt126'] as const)('branch rule on %s', (profile) => {
  test('opt-in before the gate is verified: recorded, nothing is written (D-67)', async () => {
    const { world, repo } = await givenRules(profile, [], {
      ciGate: { ...VERIFIED.ciGate, status: 'missing' },
    });
    const result = await setProtection(world.deps, repo, true);
    expect(result.kind).toBe('done');
    expect(result.repo.protectionRequested).toBe(true);
    expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'awaiting_ci_gate', id: null });
    expect(world.takeWrites()).toEqual([]);
    await world.change(VERIFIED);
    const later = await provisionRepo(world.deps, await world.repo());
    expect(statusOf(later.repo).protection).toBe('configured');
  });

  test('a base branch that is not on the forge: no rule is made for it, and the words say so', async () => {
    const { world, repo } = await givenRules(profile);
    world.fake.knobs.fault = ({ path }) => (path.endsWith('/branches/main') ? { status: 404 } : null);
    const result = await setProtection(world.deps, repo, true);
    expect(result.kind).toBe('forge_unreachable');
    expect(viewProvisioning(result.repo).protection).toMatchObject({
      status: 'error',
      detail: expect.stringMatching(/^base_missing: /),
    });
    expect(await rulesOf(world)).toEqual([]);
  });

  test('no rule: a new one that fails closed', async () => {
    const { world, repo } = await givenRules(profile);
    const result = await setProtection(world.deps, repo, true);
    expect(viewProvisioning(result.repo).protection).toEqual({
      status: 'configured',
      id: 'main',
      detail: null,
      required: true,
    });
    const [rule] = await rulesOf(world);
    expect(rule).toMatchObject({
      rule_name: 'main',
      enable_push: false,
      enable_status_check: true,
      status_check_contexts: ['mq'],
      [profile === 'gt126' ? 'block_admin_merge_override' : 'apply_to_admins']: true,
    });
  });

  test('a rule of its own: our context once, every other field byte for byte (A80)', async () => {
    const { world, repo } = await givenRules(profile, [
      {
        rule_name: 'main',
        enable_push: true,
        enable_push_whitelist: true,
        push_whitelist_usernames: ['dev'],
        enable_status_check: true,
        status_check_contexts: ['ci/unit', 'ci/lint'],
        required_approvals: 2,
        block_on_rejected_reviews: true,
        dismiss_stale_approvals: true,
        ignore_stale_approvals: true,
        block_on_official_review_requests: true,
        enable_merge_whitelist: true,
        merge_whitelist_usernames: ['dev'],
        enable_approvals_whitelist: true,
        approvals_whitelist_username: ['dev'],
        require_signed_commits: true,
        protected_file_patterns: 'secrets/**',
        unprotected_file_patterns: 'docs/**',
      },
    ]);
    const [before] = await rulesOf(world);
    const result = await setProtection(world.deps, repo, true);
    const [after, ...others] = await rulesOf(world);
    expect(others).toEqual([]);
    expect(after?.status_check_contexts).toEqual(['ci/unit', 'ci/lint', 'mq']);
    expect(differingFields(before ?? {}, after ?? {})).toEqual([]);
    expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'configured', id: 'main' });
    expect(viewProvisioning(result.repo).protection.detail).toMatch(/^direct_push_allowed/);
    world.takeWrites();
    await provisionRepo(world.deps, result.repo);
    expect(world.takeWrites()).toEqual([]);
  });

  test('a rule of another branch that asks for our status too is told, with the way out (D-17)', async () => {
    const rule = { enable_status_check: true, status_check_contexts: ['mq'] };
    const { world, repo } = await givenRules(profile, [
      { rule_name: 'main', ...rule },
      { rule_name: 'release/*', ...rule },
    ]);
    const result = await setProtection(world.deps, repo, true);
    expect(viewProvisioning(result.repo).protection).toMatchObject({
      status: 'configured',
      detail: expect.stringMatching(/^context_required_elsewhere: .* mq\/main/),
    });
  });

  test('our context twice in the rule becomes once', async () => {
    const { world, repo } = await givenRules(profile, [
      { rule_name: 'main', enable_status_check: true, status_check_contexts: ['mq', 'ci', 'mq'] },
    ]);
    await setProtection(world.deps, repo, true);
    expect(await contextsOf(world, 'main')).toEqual(['mq', 'ci']);
  });

  test('a pattern governs: a rule of the base’s own, equal in every other field, and other branches keep theirs', async () => {
    const { world, repo } = await givenRules(profile, [
      { rule_name: 'm*', required_approvals: 1, block_on_rejected_reviews: true },
    ]);
    const [before] = await rulesOf(world);
    const result = await setProtection(world.deps, repo, true);
    expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'configured', id: 'main' });
    const rules = await rulesOf(world);
    const pattern = rules.find((rule) => rule.rule_name === 'm*') ?? {};
    const own = rules.find((rule) => rule.rule_name === 'main') ?? {};
    expect(pattern).toEqual(before);
    expect(differingFields(pattern, own)).toEqual([]);
    const branch = await world.api('GET', '/branches/main');
    expect(branch).toMatchObject({
      effective_branch_protection_name: 'main',
      status_check_contexts: ['mq'],
      required_approvals: 1,
    });
  });

  test.each([
    ['block_on_outdated_branch', [{ rule_name: 'main', block_on_outdated_branch: true }], 'error'],
    [
      'foreign_pattern',
      [{ rule_name: 'main', enable_status_check: true, status_check_contexts: ['m?'] }],
      'error',
    ],
    ['all_statuses_required', [{ rule_name: 'main', enable_status_check: true }], 'error'],
    ['staging_protected', [{ rule_name: '**' }], 'needs_admin'],
  ])('refused with its reason, nothing written: %s', async (reason, rules, status) => {
    const { world, repo } = await givenRules(profile, rules);
    const before = await rulesOf(world);
    const result = await setProtection(world.deps, repo, true);
    expect(result.kind).toBe('forge_unreachable');
    const { protection } = viewProvisioning(result.repo);
    expect(protection).toMatchObject({ status, id: null });
    expect(protection.detail).toMatch(new RegExp(`^${reason}: `));
    expect(world.takeWrites()).toEqual([]);
    expect(await rulesOf(world)).toEqual(before);
  });

  test('opting out writes nothing to the forge and leaves the rule (A80)', async () => {
    const { world, repo } = await givenRules(profile);
    const on = await setProtection(world.deps, repo, true);
    world.takeWrites();
    const before = await rulesOf(world);
    const off = await setProtection(world.deps, on.repo, false);
    expect(statusOf(off.repo).protection).toBe('not_requested');
    await provisionRepo(world.deps, off.repo);
    expect(world.takeWrites()).toEqual([]);
    expect(await rulesOf(world)).toEqual(before);
  });

  test('opting out forgets nothing of the rule that was just written, until another context is asked for', async () => {
    const { world, repo } = await givenRules(profile, []);
    const seen = { at: world.clock.now(), reasons: ['rule_missing'] } as const;
    await world.clock.advance(1_000);
    const on = await setProtection(world.deps, repo, true);
    const off = await setProtection(world.deps, on.repo, false);
    expect(viewProvisioning(off.repo, seen).protection).toEqual({
      status: 'not_requested',
      id: null,
      detail: null,
      required: true,
    });
    const other = await changeStatusContext(world.deps, off.repo, 'other');
    expect(viewProvisioning(other.repo).protection.required).toBeNull();
    world.fake.knobs.fault = () => ({ status: 502, html: true });
    const again = await setProtection(world.deps, other.repo, true);
    expect(statusOf(again.repo).protection).toBe('error');
  });

  test('a forge that is down: 502, the opt-in is kept, the next attempt finishes it', async () => {
    const { world, repo } = await givenRules(profile);
    world.fake.knobs.fault = () => ({ status: 502, html: true });
    const result = await setProtection(world.deps, repo, true);
    expect(result.kind).toBe('forge_unreachable');
    expect(result.repo.protectionRequested).toBe(true);
    world.fake.knobs.fault = () => null;
    expect(statusOf((await provisionRepo(world.deps, result.repo)).repo).protection).toBe('configured');
  });

  test('a person edits the rule between our reading and our write: their edit is kept, ours is in, it is said', async () => {
    const { world, repo } = await givenRules(profile, [
      { rule_name: 'main', enable_status_check: true, status_check_contexts: ['ci'] },
    ]);
    let edited = false;
    const racing = {
      ...world.deps,
      openForge: async (of: ManagedRepo) => {
        const opened = await world.deps.openForge(of);
        if (opened.kind !== 'open') return opened;
        const { forge } = opened;
        const editRule: typeof forge.editRule = async (name, fields) => {
          if (!edited) await world.api('PATCH', '/branch_protections/main', { required_approvals: 3 });
          edited = true;
          return forge.editRule(name, fields);
        };
        return { kind: 'open' as const, forge: { ...forge, editRule } };
      },
    };
    const result = await setProtection(racing, repo, true);
    expect(result.repo.provisioning.protection).toMatchObject({
      kind: 'required',
      reasons: ['rule_changed_meanwhile'],
    });
    expect((await rulesOf(world))[0]).toMatchObject({
      required_approvals: 3,
      status_check_contexts: ['ci', 'mq'],
    });
  });
});

describe('a forge that puts new rules last (Gitea 1.23)', () => {
  const pattern = { rule_name: 'm*', required_approvals: 1 };

  test('the clone is put level with its pattern, where a plain name goes first', async () => {
    const world = await create({ profile: 'gt126' });
    await world.api('POST', '/branch_protections', pattern);
    await world.api('PATCH', '/branch_protections/m*', { priority: 0 });
    const result = await setProtection(world.deps, await world.change(VERIFIED), true);
    expect(world.takeWrites()).toEqual(['POST branch_protections', 'PATCH branch_protections/{name}']);
    expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'configured', id: 'main' });
    expect(await world.api('GET', '/branches/main')).toMatchObject({
      effective_branch_protection_name: 'main',
    });
  });

  /** `[a-z0-9_-]*` is a class of four parts there, and was read as a list of characters. */
  test('a class in front of the base’s own rule is not taken for a rule of other branches', async () => {
    const world = await create({ profile: 'gt126' });
    const own = { rule_name: 'main', enable_status_check: true, status_check_contexts: ['mq'] };
    await world.api('POST', '/branch_protections', { rule_name: '[a-z0-9_-]*', required_approvals: 1 });
    await world.api('POST', '/branch_protections', own);
    const before = await rulesOf(world);
    const result = await setProtection(world.deps, await world.change(VERIFIED), true);
    const { protection } = viewProvisioning(result.repo);
    expect([protection.status, protection.detail]).toEqual(['error', expect.stringMatching(/^rule_unclear/)]);
    expect(await rulesOf(world)).toEqual(before);
  });

  test('a class over the branches of the queue is told', async () => {
    const world = await create({ profile: 'gt126' });
    await world.api('POST', '/branch_protections', { rule_name: '[a-z0-9]*/**' });
    const result = await setProtection(world.deps, await world.change(VERIFIED), true);
    expect(viewProvisioning(result.repo).protection.detail).toMatch(/^staging_protected/);
  });

  test('a plain rule of the owner’s own behind the pattern is not touched', async () => {
    const world = await create({ profile: 'gt126' });
    await world.api('POST', '/branch_protections', pattern);
    await world.api('POST', '/branch_protections', { rule_name: 'main', required_approvals: 5 });
    const before = await rulesOf(world);
    const result = await setProtection(world.deps, await world.change(VERIFIED), true);
    expect(viewProvisioning(result.repo).protection.detail).toMatch(/^rule_unclear/);
    expect(await rulesOf(world)).toEqual(before);
  });
});

test('a rule that blocks outdated branches but asks for our context already is flagged, not refused (D-14)', async () => {
  const world = await create();
  const fields = { enable_status_check: true, status_check_contexts: ['mq'], block_on_outdated_branch: true };
  await world.api('POST', '/branch_protections', { rule_name: 'main', ...fields });
  const result = await setProtection(world.deps, await world.change(VERIFIED), true);
  expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'configured', id: 'main' });
  expect(viewProvisioning(result.repo).protection.detail).toMatch(/^block_on_outdated_branch/);
  expect(world.takeWrites()).toEqual([]);
});

test.each<[string, Partial<ManagedRepo>, readonly MergeStyle[], boolean]>([
  [
    'auto-merge in a style that the forge forbids',
    { automerge: true, mergeStyle: 'squash' },
    ['merge'],
    true,
  ],
  ['a forge that only fast-forwards', { automerge: false }, [], true],
  ['a forge that allows another style, which people may choose', { automerge: false }, ['merge'], false],
])('%s is said where nothing would land (D-19)', async (_case, changes, allowedStyles, isSaid) => {
  const world = await create();
  const repo = await world.change({ ...VERIFIED, ...changes });
  const forbidding = {
    ...world.deps,
    openForge: async (of: ManagedRepo) => {
      const opened = await world.deps.openForge(of);
      if (opened.kind !== 'open') return opened;
      const { forge } = opened;
      const readRepo: typeof forge.readRepo = async () => ({ ...(await forge.readRepo()), allowedStyles });
      return { kind: 'open' as const, forge: { ...forge, readRepo } };
    },
  };
  const result = await setProtection(forbidding, repo, true);
  const { detail } = viewProvisioning(result.repo).protection;
  expect(detail?.startsWith('merge_style_not_allowed') ?? false).toBe(isSaid);
});

test('people who may bypass the rule are told, and stay on its list (Gitea 1.27)', async () => {
  const world = await create({ profile: 'gt127' });
  const fields = { enable_status_check: true, status_check_contexts: ['mq'] };
  const list = { enable_bypass_allowlist: true, bypass_allowlist_usernames: ['dev'] };
  await world.api('POST', '/branch_protections', { rule_name: 'main', ...fields, ...list });
  const result = await setProtection(world.deps, await world.change(VERIFIED), true);
  expect(viewProvisioning(result.repo).protection.detail).toMatch(/^bypass_allowed/);
  expect(world.takeWrites()).toEqual([]);
});

test('files that are pushed past the rule are told, and stay named in it', async () => {
  const world = await create();
  const fields = { enable_status_check: true, status_check_contexts: ['mq'] };
  const rule = { rule_name: 'main', ...fields, unprotected_file_patterns: 'docs/**' };
  await world.api('POST', '/branch_protections', rule);
  const result = await setProtection(world.deps, await world.change(VERIFIED), true);
  expect(viewProvisioning(result.repo).protection.detail).toMatch(/^unprotected_files: /);
  expect(world.takeWrites()).toEqual([]);
});
