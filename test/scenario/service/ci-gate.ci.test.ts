import { randomUUID } from 'node:crypto';
import { parseForgeVersion } from '#core/domain/forge/forge-version.ts';
import { gateTemplate } from '#core/domain/forge/gate-workflow.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { openSetupPull } from '#core/services/set-up/ci-gate.ts';
import { verifyCiGate } from '#core/services/set-up/verify-ci-gate.ts';
import { readWorkflow, startsOnPush } from '../../../local/forge/actions/workflow-file.ts';
import { readYaml } from '../../../local/forge/actions/yaml.ts';
import { BOT } from '../../../local/forge/fake-forge.ts';
import { openSetUpWorld, type SetUpWorld } from '../../support/set-up-world.ts';

jest.setTimeout(60_000);

const open: SetUpWorld[] = [];
afterEach(async () => {
  for (const world of open.splice(0)) await world.close();
});
async function create(options: Parameters<typeof openSetUpWorld>[0] = {}): Promise<SetUpWorld> {
  const world = await openSetUpWorld(options);
  open.push(world);
  return world;
}

const GATE = '.forgejo/workflows/mq-gate.yaml';
const withGate = { [GATE]: gateTemplate('mq', null) };
const branchesOf = async (world: SetUpWorld) =>
  (await world.api('GET', '/branches')).map((branch) => branch.name);
const tipOf = async (world: SetUpWorld) =>
  ((await world.api('GET', '/branches/main')) as unknown as { commit: { id: string } }).commit.id;
const HIDDEN = [
  ['the forge', { status: 403 }],
  ['a page of a proxy', { status: 403, html: true }],
  ['a page that is not found', { status: 404, html: true }],
] as const;
/** Calls that setting up a gate may make: no merge, no status, no write to a rule. */
const SETUP_WRITES = ['DELETE branches/{branch}', 'POST contents/{path}', 'POST pulls'];
const VERIFY_WRITES = ['DELETE branches/{branch}', 'POST contents/{path}'];
const later = async (world: SetUpWorld, ms: number) => {
  await world.clock.advance(ms);
  await world.fake.settle();
};

describe('the template', () => {
  test.each([
    ['1.26.3', { contents: 'read' }],
    ['1.25.5', undefined],
    ['15.0.3+gitea-1.22.0', undefined],
    ['16.0.0+gitea-1.22.0', undefined],
    [null, undefined],
  ])('for %s it has the key `permissions` only where the forge heeds it', (version, permissions) => {
    const text = gateTemplate('mq', version === null ? null : parseForgeVersion(version));
    expect((readYaml(text) as Record<string, unknown>).permissions).toEqual(permissions);
    expect(text).toContain('code of a fork runs here too');
    expect(text).toContain(
      'No "concurrency" group: gate runs of different batches may cancel each other, or wait',
    );
  });

  test.each(['mq', 'queue'])('for a queue named %s: fails closed, posts nothing (A8)', (name) => {
    const text = gateTemplate(name, null);
    const yaml = readYaml(text) as Record<string, Record<string, unknown>>;
    expect(Object.keys(yaml.on ?? {})).toEqual(['push']);
    const workflow = readWorkflow(`${name}-gate.yaml`, text);
    expect(workflow.name).toBe(`${name}-gate`);
    expect(workflow.jobs).toHaveLength(1);
    const [job] = workflow.jobs;
    expect(job?.steps.map((step) => step.uses ?? 'run')).toEqual(['actions/checkout@v4', 'run']);
    expect(job?.steps.at(-1)?.run).toMatch(/^exit 1$/m);
    expect(text.replace(/^\s*#.*$/gm, '')).not.toMatch(/statuses|secrets|token|write/i);
    for (const branch of [`${name}/main/staging`, `${name}/main/verify-1`, `${name}/release/1/staging`]) {
      expect(startsOnPush(workflow, branch)).toBe(true);
    }
    for (const branch of ['main', `setup-${name}-gate-main`, `${name}-work/main/1`, 'other/main/staging']) {
      expect(startsOnPush(workflow, branch)).toBe(false);
    }
  });
});

describe('setup pull request', () => {
  test.each([
    ['fj15', {}, '.forgejo/workflows'],
    ['fj15', { '.gitea/workflows/ci.yml': 'on: push\n' }, '.gitea/workflows'],
    ['fj15', { '.github/workflows/ci.yml': 'on: push\n' }, '.github/workflows'],
    [
      'fj15',
      { '.forgejo/workflows/ci.yml': 'on: push\n', '.github/workflows/ci.yml': 'on: push\n' },
      '.forgejo/workflows',
    ],
    ['gt126', {}, '.gitea/workflows'],
    ['gt126', { '.forgejo/workflows/ci.yml': 'on: push\n' }, '.gitea/workflows'],
    ['gt126', { '.github/workflows/ci.yml': 'on: push\n' }, '.github/workflows'],
  ] as const)(
    'on %s beside %j it goes to %s, and nothing else is written (A79)',
    async (profile, files, folder) => {
      const world = await create({ profile, files });
      const tip = await tipOf(world);
      const result = await openSetupPull(world.deps, await world.repo());
      if (result.kind !== 'open') throw new Error(result.code);
      expect(result.repo.ciGate).toEqual({
        status: 'setup_pr_open',
        url: result.pull.url,
        setupPr: result.pull.number,
        probe: null,
      });
      expect(result.pull.url).toMatch(/^https:\/\/.*\/acme\/app\/pulls\/\d+$/);
      const pull = await world.api('GET', `/pulls/${result.pull.number}`);
      expect(pull).toMatchObject({
        state: 'open',
        head: { ref: 'setup-mq-gate' },
        base: { ref: 'main' },
      });
      const files2 = await world.api('GET', `/contents/${folder}/mq-gate.yaml?ref=setup-mq-gate`);
      expect(Buffer.from(String(files2.content), 'base64').toString()).toBe(
        gateTemplate('mq', parseForgeVersion(world.fake.profile.version)),
      );
      expect(await tipOf(world)).toBe(tip);
      expect(new Set(world.takeWrites())).toEqual(new Set(SETUP_WRITES));
      const timeline = await world.api('GET', `/issues/${result.pull.number}/timeline`);
      expect(JSON.stringify(timeline ?? [])).not.toContain('pull_scheduled_merge');
    },
  );

  test('a second call returns the open one; a closed one is opened anew (A77)', async () => {
    const world = await create();
    const first = await openSetupPull(world.deps, await world.repo());
    world.takeWrites();
    const second = await openSetupPull(world.deps, await world.repo());
    if (first.kind !== 'open' || second.kind !== 'open') throw new Error('not open');
    expect(second.pull).toEqual(first.pull);
    expect(world.takeWrites()).toEqual([]);
    await world.api('PATCH', `/pulls/${first.pull.number}`, { state: 'closed' });
    const third = await openSetupPull(world.deps, await world.repo());
    if (third.kind !== 'open') throw new Error('not open');
    expect(third.pull.number).toBeGreaterThan(first.pull.number);
  });

  test('the set-up of one branch leaves that of another branch, and what its owner pushed there', async () => {
    const world = await create();
    await world.api('POST', '/branches', { new_branch_name: 'v15', old_branch_name: 'main' });
    const main = await world.repo();
    const v15 = { ...main, id: randomUUID(), baseBranch: 'v15', statusContext: 'mq/v15' };
    await world.enroll(v15);
    const first = await openSetupPull(world.deps, main);
    if (first.kind !== 'open') throw new Error(first.code);
    const { head } = (await world.api('GET', `/pulls/${first.pull.number}`)) as unknown as {
      head: { ref: string };
    };
    const mine = { content: Buffer.from('make test\n').toString('base64'), message: 'our command' };
    await world.api('POST', '/contents/test.sh', { ...mine, branch: head.ref });
    const second = await openSetupPull(world.deps, v15);
    if (second.kind !== 'open') throw new Error(second.code);
    expect(second.pull.number).not.toBe(first.pull.number);
    expect(await world.api('GET', `/pulls/${second.pull.number}`)).toMatchObject({ base: { ref: 'v15' } });
    expect(await world.api('GET', `/pulls/${first.pull.number}`)).toMatchObject({ state: 'open' });
    expect(await world.api('GET', `/contents/test.sh?ref=${head.ref}`)).toMatchObject({ path: 'test.sh' });
    const again = await openSetupPull(world.deps, await world.repo());
    expect(again).toMatchObject({ kind: 'open', pull: first.pull });
  });

  test('a forge that tells of no gate run: nothing is written, neither by the set-up nor by verify; a gate by statuses is tried', async () => {
    const world = await create();
    const openForge: typeof world.deps.openForge = async (repo) => {
      const opened = await world.deps.openForge(repo);
      if (opened.kind !== 'open') return opened;
      const readVersion = async () => parseForgeVersion('1.22.6');
      return { ...opened, forge: { ...opened.forge, readVersion } };
    };
    const deps = { ...world.deps, openForge };
    const before = await world.repo();
    const refused = { kind: 'failed', code: 'gate_untold' };
    expect(await openSetupPull(deps, before)).toEqual(refused);
    expect(await verifyCiGate(deps, before)).toEqual(refused);
    expect(world.takeWrites()).toEqual([]);
    expect(await world.repo()).toEqual(before);
    const byStatuses = { ...before, gate: 'statuses' as const };
    expect((await verifyCiGate(deps, byStatuses)).kind).toBe('verified_or_not');
  });

  test('a base that is not on the forge is no forge that does not answer', async () => {
    const world = await create();
    const gone = { ...(await world.repo()), baseBranch: 'gone' };
    expect(await openSetupPull(world.deps, gone)).toEqual({ kind: 'failed', code: 'base_missing' });
    const verified = await verifyCiGate(world.deps, gone);
    expect(verified).toMatchObject({ kind: 'failed', code: 'ci_gate_missing' });
    const [file] = 'checks' in verified ? (verified.checks ?? []) : [];
    expect(file).toMatchObject({ check: 'gate_file', fix: expect.stringMatching(/^Create that branch/) });
    expect(world.takeWrites()).toEqual([]);
    world.fake.knobs.fault = () => ({ status: 404 });
    expect(await openSetupPull(world.deps, gone)).toEqual({ kind: 'failed', code: 'forge_unreachable' });
  });

  test.each(['mq-gate.yaml', 'mq-gate.yml'])('a base that has %s is never overwritten', async (file) => {
    const world = await create({ files: { [`.forgejo/workflows/${file}`]: 'on: push\n' } });
    const before = await world.repo();
    const result = await openSetupPull(world.deps, before);
    expect(result).toEqual({ kind: 'failed', code: 'ci_gate_exists' });
    expect(world.takeWrites()).toEqual([]);
    expect(await world.repo()).toEqual(before);
  });

  test.each([
    ['a revoked token', { status: 401 }, 'forge_access_denied'],
    ['a token without the right', { status: 403 }, 'forge_access_denied'],
    ['500 with an empty message', { status: 500 }, 'forge_unreachable'],
    ['HTML of a proxy', { status: 403, html: true }, 'forge_unreachable'],
    ['429', { status: 429 }, 'forge_unreachable'],
    ['an archived repository', { status: 423 }, 'forge_unreachable'],
  ])('%s when the file is written: the stored state is as before', async (_name, fault, code) => {
    const world = await create();
    const before = await world.repo();
    world.fake.knobs.fault = ({ method, path }) =>
      method === 'POST' && path.includes('/contents/') ? fault : null;
    expect(await openSetupPull(world.deps, before)).toEqual({ kind: 'failed', code });
    expect((await world.repo()).ciGate).toEqual(before.ciGate);
  });

  test.each(HIDDEN)('a version that is hidden by %s keeps it from nothing', async (_name, fault) => {
    const world = await create();
    world.fake.knobs.fault = ({ path }) => (path.endsWith('/version') ? fault : null);
    expect((await openSetupPull(world.deps, await world.repo())).kind).toBe('open');
  });

  test('a lost answer to the opening finds the one that was opened', async () => {
    const world = await create();
    world.fake.knobs.fault = ({ method, path }) =>
      method === 'POST' && path.endsWith('/pulls') ? { status: 502, html: true, when: 'after' } : null;
    const result = await openSetupPull(world.deps, await world.repo());
    expect(result.kind).toBe('open');
    expect(await world.api('GET', '/pulls')).toHaveLength(1);
  });
});

describe.each(['fj11', 'fj15', 'gt125', 'gt126'] as const)('verify on %s', (profile) => {
  const folder = profile.startsWith('gt') ? '.gitea/workflows' : '.forgejo/workflows';
  const begin = (
    files: Readonly<Record<string, string>> = { [`${folder}/mq-gate.yaml`]: gateTemplate('mq', null) },
  ) => create({ profile, files });

  test('no file: 409, no probe, nothing saved', async () => {
    const world = await begin({});
    const before = await world.repo();
    expect(await verifyCiGate(world.deps, before)).toMatchObject({ kind: 'failed', code: 'ci_gate_missing' });
    expect(world.takeWrites()).toEqual([]);
    expect(await world.repo()).toEqual(before);
  });

  test('no file: that is one failing check with its step, and the five others are looked at all the same', async () => {
    const world = await begin({});
    const result = await verifyCiGate(world.deps, await world.repo());
    const checks = 'checks' in result ? (result.checks ?? []) : [];
    expect(checks[0]).toEqual({
      check: 'gate_file',
      state: 'missing',
      says: 'The branch "main" has the gate workflow.',
      fix: 'Open the setup pull request on the setup page, put your test command into its workflow, merge it, then verify again.',
    });
    expect(checks.slice(1).map(({ check, state }) => [check, state])).toEqual([
      ['required_check', 'missing'],
      ['no_foreign_pattern', 'ok'],
      ['own_branches_free', 'ok'],
      ['no_way_past', 'missing'],
      ['wake', expect.stringMatching(/^(ok|unknown)$/)],
    ]);
  });

  test.each(HIDDEN)('a version that is hidden by %s keeps it from nothing', async (_name, fault) => {
    const world = await begin();
    world.fake.knobs.fault = ({ path }) => (path.endsWith('/version') ? fault : null);
    expect((await verifyCiGate(world.deps, await world.repo())).kind).toBe('verified_or_not');
  });

  test.each(['mq', 'mq/main'])(
    'a branch called %s leaves no room for the probe: told as that, and over once it is gone',
    async (name) => {
      const world = await begin();
      await world.api('POST', '/branches', { new_branch_name: name, old_branch_name: 'main' });
      const before = await world.repo();
      expect(await verifyCiGate(world.deps, before)).toEqual({ kind: 'failed', code: 'branch_name_taken' });
      expect((await world.repo()).ciGate).toEqual(before.ciGate);
      await world.api('DELETE', `/branches/${encodeURIComponent(name)}`);
      expect((await verifyCiGate(world.deps, before)).kind).toBe('verified_or_not');
    },
  );

  test('a rule over the branches of the queue is no refusal of the token: the check that fails says so, with its step', async () => {
    const world = await begin();
    await world.api('POST', '/branch_protections', { rule_name: 'mq/**', enable_push: false });
    const before = await world.repo();
    const result = await verifyCiGate(world.deps, before);
    expect(result).toMatchObject({ kind: 'failed', code: 'queue_branches_ruled' });
    const checks = 'checks' in result ? (result.checks ?? []) : [];
    expect(checks.find(({ check }) => check === 'own_branches_free')).toMatchObject({
      state: 'missing',
      fix: expect.stringContaining('"mq/"'),
    });
    expect((await world.repo()).ciGate).toEqual(before.ciGate);
  });

  test.each([
    ['401', { status: 401 }, 'forge_access_denied'],
    ['403', { status: 403 }, 'forge_access_denied'],
    ['404', { status: 404 }, 'ci_gate_missing'],
    ['500', { status: 500 }, 'forge_unreachable'],
    ['HTML with 404', { status: 404, html: true }, 'forge_unreachable'],
    ['429', { status: 429 }, 'forge_unreachable'],
  ])('reading the file answered with %s: no probe, nothing saved (A78)', async (_name, fault, code) => {
    const world = await begin();
    const before = await world.repo();
    world.fake.knobs.fault = ({ path }) => (path.includes('/contents') ? fault : null);
    expect(await verifyCiGate(world.deps, before)).toMatchObject({ kind: 'failed', code });
    expect(world.takeWrites()).toEqual([]);
    expect(await world.repo()).toEqual(before);
  });

  test('a bot that may not read Actions is told that, and no fault of its token', async () => {
    const world = await begin();
    const before = await world.repo();
    world.fake.knobs.fault = ({ path }) => (path.includes('/actions/') ? { status: 403 } : null);
    let result = await verifyCiGate(world.deps, before);
    if (result.kind === 'verified_or_not') result = await verifyCiGate(world.deps, await world.repo());
    expect(result).toEqual({ kind: 'failed', code: 'forge_access_denied', refusal: 'actions_hidden' });
  });

  test('a probe: one commit on an isolated ref, gone once its run is seen; success verifies; nothing else is written (A79)', async () => {
    const world = await begin();
    const tip = await tipOf(world);
    const first = await verifyCiGate(world.deps, await world.repo());
    expect(first).toMatchObject({ kind: 'verified_or_not', probe: { state: 'pending' } });
    const waiting = (await world.repo()).ciGate;
    expect(waiting.status).toBe('awaiting_validation');
    expect(waiting.probe?.branch).toMatch(/^mq\/main\/verify-[0-9a-f]{8}$/);
    expect(await branchesOf(world)).toEqual(['main']);
    expect(await tipOf(world)).toBe(tip);
    expect([...world.takeWrites()].sort()).toEqual(VERIFY_WRITES);
    const [run] = world.fake.controlFor('acme/app').runs();
    expect(run).toMatchObject({ sha: waiting.probe?.sha, branch: waiting.probe?.branch });
    const second = await verifyCiGate(world.deps, await world.repo());
    expect(second).toMatchObject({ probe: { state: 'pending', sha: waiting.probe?.sha } });
    expect(world.takeWrites()).toEqual([]);
    await later(world, 60_000);
    const third = await verifyCiGate(world.deps, await world.repo());
    expect(third).toMatchObject({ probe: { state: 'success', sha: waiting.probe?.sha } });
    expect((await world.repo()).ciGate).toMatchObject({ status: 'verified', probe: null });
    expect((await world.repo()).ciGate.url).toMatch(/\/actions\/runs\//);
    expect(world.takeWrites()).toEqual([]);
  });

  test('the verdict of a probe does not count for a gate that the owner chose while it was read', async () => {
    const world = await begin();
    await verifyCiGate(world.deps, await world.repo());
    await later(world, 60_000);
    const read = await world.repo();
    const ciGate = { ...read.ciGate, status: 'awaiting_validation' as const, probe: null };
    await world.change({ gate: 'statuses', gateContexts: ['ci'], gateAuthors: ['robot'], ciGate });
    await verifyCiGate(world.deps, read);
    expect((await world.repo()).ciGate).toEqual(ciGate);
  });

  test('each of the five things is checked: in full for an administrator, and unknown where the bot may not read', async () => {
    const seen = async (access: 'admin' | 'write', rules: readonly string[]) => {
      const world = await create({ access, files: withGate });
      await world.change({ statusContext: 'mq' });
      for (const rule_name of rules)
        await world.api('POST', '/branch_protections', {
          rule_name,
          enable_push: false,
          enable_status_check: true,
          status_check_contexts: ['mq'],
        });
      const result = await verifyCiGate(world.deps, await world.repo());
      if (result.kind === 'failed') throw new Error(result.code);
      return result.checks.map(({ state }) => state).join(' ');
    };
    expect(await seen('admin', ['main', 'mq-work/**'])).toBe('ok ok missing ok ok');
    expect(await seen('write', ['main'])).toBe('ok ok unknown unknown ok');
  });

  test('a failing probe stays failed until a new one is made by the next call', async () => {
    const world = await begin();
    world.fake.knobs.judge = () => 'failure';
    await verifyCiGate(world.deps, await world.repo());
    await later(world, 60_000);
    expect(await verifyCiGate(world.deps, await world.repo())).toMatchObject({ probe: { state: 'failure' } });
    expect((await world.repo()).ciGate.status).toBe('failed');
    world.fake.knobs.judge = () => 'success';
    await verifyCiGate(world.deps, await world.repo());
    expect((await world.repo()).ciGate.status).toBe('awaiting_validation');
    await later(world, 60_000);
    expect(await verifyCiGate(world.deps, await world.repo())).toMatchObject({ probe: { state: 'success' } });
    expect(world.fake.controlFor('acme/app').runs()).toHaveLength(2);
  });

  test('a probe whose run was cancelled proves nothing; the next call makes another', async () => {
    const world = await begin();
    world.fake.knobs.judge = () => 'cancelled';
    const first = await verifyCiGate(world.deps, await world.repo());
    await later(world, 60_000);
    world.fake.knobs.judge = () => 'success';
    const second = await verifyCiGate(world.deps, await world.repo());
    if (first.kind === 'failed' || second.kind === 'failed') throw new Error('failed');
    expect(second.probe.state).toBe('pending');
    expect(second.probe.sha).not.toBe(first.probe.sha);
    expect((await world.repo()).ciGate.status).toBe('awaiting_validation');
  });

  test('a pending run leaves a verified gate verified; a failing one takes it back', async () => {
    const world = await begin();
    await verifyCiGate(world.deps, await world.repo());
    await later(world, 60_000);
    await verifyCiGate(world.deps, await world.repo());
    const verified = (await world.repo()).ciGate;
    world.fake.knobs.judge = () => 'failure';
    await verifyCiGate(world.deps, await world.repo());
    expect((await world.repo()).ciGate).toMatchObject({ status: 'verified', url: verified.url });
    await later(world, 60_000);
    await verifyCiGate(world.deps, await world.repo());
    expect((await world.repo()).ciGate.status).toBe('failed');
  });

  test('no run within ten seconds: the ref goes all the same, the state stays, the next call probes anew', async () => {
    const world = await begin();
    world.fake.knobs.judge = () => 'never';
    const begun = world.clock.now();
    const result = await verifyCiGate(world.deps, await world.repo());
    expect(result).toMatchObject({ probe: { state: 'pending' } });
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(10_000);
    expect(world.clock.now() - begun).toBeLessThan(12_000);
    expect(await branchesOf(world)).toEqual(['main']);
    world.fake.knobs.judge = () => 'success';
    await verifyCiGate(world.deps, await world.repo());
    await later(world, 60_000);
    expect(await verifyCiGate(world.deps, await world.repo())).toMatchObject({ probe: { state: 'success' } });
  });
});

describe('verify of a gate by statuses', () => {
  const CHOSEN = { gateContexts: ['ci/build', 'ci/test'], gateAuthors: ['dev'] };
  const begin = async (changes: Partial<ManagedRepo>) => {
    const world = await create();
    await world.change({ gate: 'statuses', ...changes });
    const control = world.fake.controlFor('acme/app');
    const verify = async () => {
      const result = await verifyCiGate(world.deps, await world.repo());
      if (result.kind === 'failed') throw new Error(result.code);
      return result;
    };
    const { probe } = await verify();
    const say = (context: string, state: string, author = 'dev') =>
      control.postStatusAs(author, probe.sha, context, state);
    return { world, probe, verify, say };
  };

  test('one probe shows which contexts answer, for every choice of authors; its branch stays until a verdict', async () => {
    const { world, probe, verify, say } = await begin({});
    await say('ci/build', 'pending');
    await say('ci/build', 'success');
    await say('ci/test', 'success');
    expect((await verify()).probe).toEqual({
      sha: probe.sha,
      state: 'pending',
      contexts: [
        { context: 'ci/build', author: 'dev', state: 'success' },
        { context: 'ci/test', author: 'dev', state: 'success' },
      ],
    });
    expect(await branchesOf(world)).toHaveLength(2);
    await world.change(CHOSEN);
    expect((await verify()).probe).toMatchObject({ sha: probe.sha, state: 'success' });
    expect((await world.repo()).ciGate.status).toBe('verified');
    expect(await branchesOf(world)).toEqual(['main']);
  });

  test('what another account says verifies nothing, and one context that fails is a failed gate', async () => {
    const { world, verify, say } = await begin(CHOSEN);
    for (const context of CHOSEN.gateContexts) await say(context, 'success', BOT);
    expect((await verify()).probe.state).toBe('pending');
    await say('ci/build', 'success');
    await say('ci/test', 'failure');
    expect((await verify()).probe.state).toBe('failure');
    expect((await world.repo()).ciGate.status).toBe('failed');
  });
});

describe('verify', () => {
  test('runs of other commits, branches and files are no evidence', async () => {
    const world = await create({
      files: { ...withGate, '.forgejo/workflows/other.yml': 'on: push\njobs: {a: {}}\n' },
    });
    world.fake.knobs.judge = () => 'never';
    await verifyCiGate(world.deps, await world.repo());
    world.fake.knobs.judge = () => 'success';
    await world.fake.controlFor('acme/app').pushToBase({ 'x.txt': '1' });
    await later(world, 120_000);
    expect(
      world.fake
        .controlFor('acme/app')
        .runs()
        .some((run) => run.state === 'success'),
    ).toBe(true);
    const result = await verifyCiGate(world.deps, await world.repo());
    expect(result).toMatchObject({ probe: { state: 'pending' } });
    expect((await world.repo()).ciGate.status).toBe('awaiting_validation');
  });

  test('a gate file that changed since the probe needs a probe of its own', async () => {
    const world = await create({ files: withGate });
    await verifyCiGate(world.deps, await world.repo());
    const old = (await world.repo()).ciGate.probe?.sha;
    await world.fake.controlFor('acme/app').pushToBase({ [GATE]: `${gateTemplate('mq', null)}# edited\n` });
    await later(world, 60_000);
    const result = await verifyCiGate(world.deps, await world.repo());
    if (result.kind === 'failed') throw new Error(result.code);
    expect(result.probe.sha).not.toBe(old);
    expect(result.probe.state).toBe('pending');
  });

  test('leftovers older than an hour are swept, younger ones and other branches stay', async () => {
    const world = await create({ files: withGate });
    const leave = async (branch: string) =>
      world.api('POST', `/contents/${branch.replaceAll('/', '-')}.txt`, {
        branch: 'main',
        new_branch: branch,
        content: '',
        message: 'left [skip ci]',
      });
    await leave('mq/main/verify-old');
    await leave('mq/next/verify-old');
    await leave('topic');
    await later(world, 59 * 60_000);
    await leave('mq/main/verify-young');
    await later(world, 2 * 60_000);
    await verifyCiGate(world.deps, await world.repo());
    expect((await branchesOf(world)).sort()).toEqual([
      'main',
      'mq/main/verify-young',
      'mq/next/verify-old',
      'topic',
    ]);
  });

  test.each([
    ['401', { status: 401 }, 'forge_access_denied'],
    ['500', { status: 500 }, 'forge_unreachable'],
  ])('the runs of the probe answered with %s: a code, and the ref goes', async (_name, fault, code) => {
    const world = await create({ files: withGate });
    world.fake.knobs.fault = ({ path }) => (path.includes('/actions/') ? fault : null);
    expect(await verifyCiGate(world.deps, await world.repo())).toEqual({ kind: 'failed', code });
    expect(await branchesOf(world)).toEqual(['main']);
    const stored = (await world.repo()).ciGate;
    expect(await verifyCiGate(world.deps, await world.repo())).toEqual({ kind: 'failed', code });
    expect((await world.repo()).ciGate).toEqual(stored);
    world.fake.knobs.fault = () => null;
    await later(world, 61_000);
    expect(await verifyCiGate(world.deps, await world.repo())).toMatchObject({ kind: 'verified_or_not' });
  });

  test('verified with the rule asked for: it is written now (D-67)', async () => {
    const world = await create({ files: withGate });
    await world.change({ protectionRequested: true });
    await verifyCiGate(world.deps, await world.repo());
    expect(await world.api('GET', '/branch_protections')).toEqual([]);
    await later(world, 60_000);
    const result = await verifyCiGate(world.deps, await world.repo());
    if (result.kind === 'failed') throw new Error(result.code);
    expect(result.repo.provisioning.protection).toMatchObject({ kind: 'required', ruleName: 'main' });
    expect((await world.api('GET', '/branch_protections'))[0]).toMatchObject({
      status_check_contexts: ['mq'],
    });
  });

  test('verified, but the rule cannot be written: verified all the same', async () => {
    const world = await create({ files: withGate });
    await world.change({ protectionRequested: true });
    await verifyCiGate(world.deps, await world.repo());
    await later(world, 60_000);
    world.fake.knobs.fault = ({ path }) => (path.includes('branch_protections') ? { status: 500 } : null);
    const result = await verifyCiGate(world.deps, await world.repo());
    if (result.kind === 'failed') throw new Error(result.code);
    expect(result.repo.ciGate.status).toBe('verified');
    expect(result.repo.provisioning.protection.kind).toBe('failed');
  });

  test('a connection that is gone and a store that does not answer are values', async () => {
    const world = await create({ files: withGate });
    const repo: ManagedRepo = await world.repo();
    world.failStore('updateRepo', 1);
    expect(await verifyCiGate(world.deps, repo)).toEqual({ kind: 'failed', code: 'db_error' });
    expect(await branchesOf(world)).toEqual(['main']);
    const gone = { ...repo, connectionId: 'no-such' };
    expect(await verifyCiGate(world.deps, gone)).toEqual({ kind: 'failed', code: 'connection_not_found' });
    expect(await openSetupPull(world.deps, gone)).toEqual({ kind: 'failed', code: 'connection_not_found' });
  });
});
