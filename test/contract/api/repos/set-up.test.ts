import type { BranchRule } from '#core/domain/forge/branch-rule.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { ForgeAdmin } from '#core/ports/forge-admin.ts';
import { StoreError } from '#core/ports/store.ts';
import { type ApiWorld, TENANT_A } from '../../../support/api-world.ts';
import { makeWorkingForge } from '../../../support/working-forge.ts';
import { givenTeams, REPOS } from './given-teams.ts';

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;
beforeEach(async () => {
  ({ world, a } = await givenTeams());
});

describe('provision, protect, gate', () => {
  test('a token with too few scopes is told which one it lacks, by each call that meets it', async () => {
    const { repo, connection } = await world.enroll(TENANT_A);
    const at = (rest: string) => `${REPOS}/${repo.id}/${rest}`;
    const lacking = new ForgeError('denied', 'any', 403, null, false, ['write:repository']);
    const words = 'it lacks the scope write:repository.';
    world.forge.fault = lacking;
    world.forge.repos = lacking;
    world.forge.access = lacking;
    const discover = await a('POST', `/api/v1/connections/${connection.id}/discover`);
    const enroll = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/other' });
    const answers = [
      discover,
      enroll,
      await a('POST', at('ci-gate/setup-pr')),
      await a('POST', at('ci-gate/verify')),
    ];
    for (const answer of answers) expect(answer.json.error.message).toContain(words);
    expect(discover.json.error.message).toMatch(/^forge answered 403 Forbidden\. /);
    await world.store.saveReconcileOutcome(repo, {
      ranAt: 1,
      ok: false,
      errorCode: 'forge_access_denied',
      missingScopes: ['read:issue'],
    });
    const [shown] = (await a('GET', REPOS)).json;
    expect(shown.reconcile).toMatchObject({
      error_code: 'forge_access_denied',
      error: 'The forge refused the token of the bot: it lacks the scope read:issue.',
    });
    await world.store.saveReconcileOutcome(repo, {
      ranAt: 2,
      ok: false,
      errorCode: 'forge_access_denied',
      refusal: 'archived',
    });
    const [archived] = (await a('GET', REPOS)).json;
    expect(archived.reconcile.error).toMatch(
      /^The repository is archived on the forge, .* switch its queue off\.$/,
    );
  });

  test.each(['verify', 'setup-pr'])(
    'a quota of the forge is told by %s as what it is, and accuses no token',
    async (call) => {
      const { repo } = await world.enroll(TENANT_A, { wakeupMode: 'webhook' });
      world.forge.setUp = {
        ...makeWorkingForge(call === 'verify'),
        commitFile: () => Promise.reject(new ForgeError('denied', 'POST contents/{path}', 413)),
      };
      const answer = await a('POST', `${REPOS}/${repo.id}/ci-gate/${call}`);
      expect([answer.status, answer.code]).toEqual([502, 'forge_unreachable']);
      expect(answer.json.error.message).toMatch(/^The owner of the repository is over a quota of the forge/);
    },
  );

  test('codes of the services reach the caller as they are', async () => {
    const { repo } = await world.enroll(TENANT_A, { wakeupMode: 'webhook' });
    const at = (rest: string) => `${REPOS}/${repo.id}/${rest}`;
    expect((await a('POST', at('provision'))).json.provisioning.webhook).toEqual({ status: 'error' });
    world.forge.fault = new ForgeError('denied', 'any', 403);
    expect(await a('POST', at('ci-gate/verify'))).toMatchObject({ status: 422, code: 'forge_access_denied' });
    expect(await a('POST', at('ci-gate/setup-pr'))).toMatchObject({
      status: 422,
      code: 'forge_access_denied',
    });
    world.forge.fault = new ForgeError('unreachable', 'any', null);
    expect(await a('POST', at('ci-gate/verify'))).toMatchObject({ status: 502, code: 'forge_unreachable' });
    expect(await a('POST', at('protect'), { enabled: 'yes' })).toMatchObject({
      status: 400,
      code: 'invalid_field',
    });
    expect(await a('POST', at('protect'), {})).toMatchObject({ status: 400, code: 'missing_fields' });
    expect(await a('POST', at('protect'), { enabled: false })).toMatchObject({
      status: 200,
      json: { protection_requested: false, provisioning: { protection: { status: 'not_requested' } } },
    });
    world.vault.failing = 'open';
    for (const rest of ['provision', 'ci-gate/verify', 'ci-gate/setup-pr']) {
      expect(await a('POST', at(rest))).toMatchObject({ status: 500, code: 'decryption_error' });
    }
  });

  test('without its connection: connection_not_found', async () => {
    const { repo, connection } = await world.enroll(TENANT_A, { wakeupMode: 'webhook' });
    await world.store.markConnectionDeleting(TENANT_A, connection.id);
    for (const rest of ['provision', 'ci-gate/verify', 'ci-gate/setup-pr', 'reconcile']) {
      expect(await a('POST', `${REPOS}/${repo.id}/${rest}`)).toMatchObject({
        status: 404,
        code: 'connection_not_found',
      });
    }
  });

  describe('protect', () => {
    const VERIFIED = {
      ciGate: { status: 'verified', url: null, setupPr: null, probe: null },
    } as const satisfies Partial<ManagedRepo>;
    const protect = async (enabled: boolean, changes: Partial<ManagedRepo> = VERIFIED) => {
      const { repo } = await world.enroll(TENANT_A, changes);
      const answer = await a('POST', `${REPOS}/${repo.id}/protect`, { enabled });
      const [shown] = (await a('GET', REPOS)).json;
      return { answer, stored: await world.store.getRepo(repo.id), shown: shown.provisioning.protection };
    };
    const ruleOf = (fields: Partial<BranchRule> = {}): BranchRule => ({
      name: 'main',
      priority: null,
      createdAt: 1,
      statusCheckEnabled: true,
      contexts: ['mq'],
      blockOnOutdatedBranch: false,
      directPushAllowed: false,
      bypassAllowed: false,
      filesPushable: false,
      raw: {},
      ...fields,
    });

    test('200: the rule asks for the context', async () => {
      world.forge.setUp = { listRules: async () => [ruleOf()] };
      const { answer, stored } = await protect(true);
      expect([answer.status, answer.json.protection_requested]).toEqual([200, true]);
      expect(answer.json.provisioning.protection).toEqual({
        status: 'configured',
        id: 'main',
        detail: null,
        required: true,
      });
      expect(stored?.protectionRequested).toBe(true);
    });

    test('what waits for the rule is looked at at once', async () => {
      world.forge.setUp = { listRules: async () => [ruleOf()] };
      const { repo } = await world.enroll(TENANT_A, VERIFIED);
      const woken = async () => ((await world.store.getRepo(repo.id))?.wakeSeq ?? 0) - repo.wakeSeq;
      expect((await a('POST', `${REPOS}/${repo.id}/protect`, { enabled: true })).status).toBe(200);
      expect(await woken()).toBe(1);
      expect((await a('POST', `${REPOS}/${repo.id}/provision`)).status).toBe(200);
      expect(await woken()).toBe(2);
    });

    test('a gate that has become verified is looked at at once, one that was stays as it is', async () => {
      world.forge.setUp = makeWorkingForge(true);
      const { repo } = await world.enroll(TENANT_A);
      const woken = async () => ((await world.store.getRepo(repo.id))?.wakeSeq ?? 0) - repo.wakeSeq;
      const verify = async () => {
        const { json } = await a('POST', `${REPOS}/${repo.id}/ci-gate/verify`);
        return [json.ci_gate?.status, await woken()];
      };
      expect([await verify(), await verify()]).toEqual([
        ['verified', 1],
        ['verified', 1],
      ]);
    });

    test('200: before the gate is verified it is only recorded', async () => {
      world.forge.setUp = { listRules: async () => [] };
      const { answer } = await protect(true, {});
      expect([answer.status, answer.json.provisioning.protection.status]).toEqual([200, 'awaiting_ci_gate']);
    });

    test('200: opting out asks the forge nothing', async () => {
      const { answer, stored } = await protect(false, { ...VERIFIED, protectionRequested: true });
      expect([answer.status, answer.json.protection_requested]).toEqual([200, false]);
      expect(stored?.protectionRequested).toBe(false);
    });

    test.each<[string, Partial<ForgeAdmin>, string, RegExp | null]>([
      ['does not answer', {}, 'error', null],
      [
        'refuses the bot',
        { listRules: () => Promise.reject(new ForgeError('denied', 'GET branch_protections', 403)) },
        'needs_admin',
        /may not edit branch rules/,
      ],
      [
        'refuses the edit',
        {
          listRules: async () => [ruleOf({ contexts: ['ci'] })],
          readBranchTip: async () => 'a'.repeat(40),
          editRule: () => Promise.reject(new ForgeError('denied', 'PATCH branch_protections', 403)),
        },
        'needs_admin',
        /may not edit branch rules/,
      ],
      [
        'has a rule that must not be edited',
        { listRules: async () => [ruleOf({ contexts: ['ci'], blockOnOutdatedBranch: true })] },
        'error',
        /block_on_outdated_branch/,
      ],
      [
        'protects the staging branches',
        { listRules: async () => [ruleOf({ name: '**' })] },
        'needs_admin',
        /staging_protected/,
      ],
    ])(
      '502 when the forge %s: the opt-in is recorded, and shown as what it is',
      async (_name, setUp, status, words) => {
        world.forge.setUp = setUp;
        const { answer, stored, shown } = await protect(true);
        expect([answer.status, answer.code, answer.json.error.retryable]).toEqual([
          502,
          'forge_unreachable',
          true,
        ]);
        if (words !== null) expect(answer.json.error.message).toMatch(words);
        expect(stored?.protectionRequested).toBe(true);
        expect(shown.status).toBe(status);
      },
    );

    test.each([
      ['connection_not_found', 404],
      ['decryption_error', 500],
      ['db_error', 500],
    ])('%s is %i', async (code, status) => {
      const { repo, connection } = await world.enroll(TENANT_A, VERIFIED);
      world.forge.setUp = { listRules: async () => [ruleOf()] };
      if (code === 'connection_not_found') await world.store.markConnectionDeleting(TENANT_A, connection.id);
      if (code === 'decryption_error') world.vault.failing = 'open';
      let updates = 0;
      world.store.beforeCall = (label) => {
        updates += label === 'updateRepo' ? 1 : 0;
        // The forge has changed by then, and it cannot be recorded.
        if (code === 'db_error' && updates > 1) throw new StoreError('unavailable', label);
      };
      const answer = await a('POST', `${REPOS}/${repo.id}/protect`, { enabled: true });
      expect([answer.status, answer.code]).toEqual([status, code]);
    });
  });

  test('the template is YAML to copy, and fails until its stub is replaced', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const answer = await a('GET', `${REPOS}/${repo.id}/ci-gate/template`);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/yaml; charset=utf-8',
      'content-disposition': 'inline; filename="mq-gate.yaml"',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.text).toContain("- 'mq/**'");
    expect(answer.text).toContain('exit 1');
  });
});
