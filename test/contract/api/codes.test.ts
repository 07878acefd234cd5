import { randomUUID } from 'node:crypto';
import { ERROR_TABLE, type ErrorCode } from '#core/contracts/errors.ts';
import { API_TOKENS_MAX, AUTHOR_LOGINS_MAX } from '#core/domain/api-limits.ts';
import type { BranchRule } from '#core/domain/forge/branch-rule.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { SignerError } from '#core/ports/signer.ts';
import { StoreError } from '#core/ports/store.ts';
import { type Answer, ApiWorld, FORGE_TOKEN, TENANT_A, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';
import { BillingWorld } from '../../support/billing-world.ts';
import { givePerson } from '../../support/forge-person.ts';
import { giveHistory } from '../../support/given-history.ts';
import { BOT } from '../../support/scripted-accounts.ts';
import { makeWorkingForge } from '../../support/working-forge.ts';

const REPOS = '/api/v1/user/repos';
const CONNECTIONS = '/api/v1/connections';
const CONNECTION = { instance_url: 'https://git.example.org', token: FORGE_TOKEN, bot_login: BOT };

const RULE_OVER_QUEUE_BRANCHES: BranchRule = {
  name: 'mq/**',
  priority: 1,
  createdAt: 0,
  statusCheckEnabled: false,
  contexts: [],
  blockOnOutdatedBranch: false,
  directPushAllowed: false,
  bypassAllowed: false,
  filesPushable: false,
  raw: {},
};

type Drive = (world: ApiWorld) => Promise<Answer>;

const as = (world: ApiWorld) => world.as(TOKEN_A);

const failing = (world: ApiWorld, ...labels: readonly string[]): void => {
  world.store.beforeCall = (label) => {
    if (labels.includes(label)) throw new StoreError('unavailable', label);
  };
};

/** Sells plans through the provider's stand-in; closed at the end of the test. */
async function selling(use: (billing: BillingWorld) => Promise<Answer>): Promise<Answer> {
  const billing = await BillingWorld.open();
  try {
    return await use(billing);
  } finally {
    await billing.close();
  }
}

async function onRepo(world: ApiWorld, rest: string, body?: unknown): Promise<Answer> {
  const { repo } = await world.enroll(TENANT_A, { wakeupMode: 'webhook' });
  return as(world)('POST', `${REPOS}/${repo.id}/${rest}`, body);
}

async function switchOff(world: ApiWorld, meanwhile: (repoId: string) => unknown): Promise<Answer> {
  const { repo } = await world.enroll(TENANT_A);
  await meanwhile(repo.id);
  return as(world)('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: false });
}

async function deliver(
  world: ApiWorld,
  change: { readonly secret?: string; readonly held?: boolean },
): Promise<Answer> {
  const { repo } = await world.enroll(TENANT_A, { wakeupMode: 'webhook' });
  if (change.held === true) await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
  const body = JSON.stringify({
    action: 'opened',
    number: 1,
    sender: { login: 'dev' },
    pull_request: { number: 1, head: { sha: 'a'.repeat(40) }, base: { ref: 'main' } },
    repository: { full_name: repo.slug, html_url: `${repo.instanceUrl}/${repo.slug}` },
  });
  return world.call('POST', '/api/v1/webhooks/forge', {
    headers: {
      'x-forgejo-event': 'pull_request',
      'x-hub-signature-256': world.signHook(body, change.secret),
    },
    body,
  });
}

const TOKENS = '/api/v1/tokens';
const TOKEN = { name: 'ci', expires_in_days: 1, scopes: [{ scope: 'read', repo_ids: null }] };
const makeToken = async (world: ApiWorld): Promise<string> =>
  (await as(world)('POST', TOKENS, TOKEN)).json.token;

/** A pull request is scheduled by `dev`, as changed. A forge token is the name of its person. */
async function enqueue(
  world: ApiWorld,
  change: { token?: string | null; number?: number; head?: string; isProtected?: boolean; isMerged?: true },
): Promise<Answer> {
  const { repo } = await world.enroll(TENANT_A);
  const { forge, pr, head } = await givePerson(world, repo);
  if (change.isProtected === false) await forge.removeProtection();
  if (change.isMerged === true) await forge.mergeByHand(pr);
  const { token = 'developer', number = pr } = change;
  return world.call('PUT', `${REPOS}/${repo.id}/pulls/${number}/queue`, {
    token: TOKEN_A,
    body: { head: change.head ?? head },
    headers: token === null ? {} : { 'x-forge-token': token },
  });
}

/** One request per code: the router answers it, and nothing of ours is replaced. */
const DRIVES: Readonly<Record<ErrorCode, Drive>> = {
  unauthorized: (world) => world.call('GET', REPOS, { headers: { authorization: 'Basic eDp5' } }),
  missing_auth: (world) => world.call('GET', REPOS),
  not_authenticated: (world) => world.call('GET', '/api/v1/me'),
  invalid_key: (world) => world.call('GET', '/api/v1/admin/stats', { headers: { 'x-admin-key': 'wrong' } }),
  invalid_token: (world) => world.call('GET', REPOS, { token: 'a.b.c' }),
  session_required: async (world) => world.call('GET', CONNECTIONS, { token: await makeToken(world) }),
  insufficient_scope: async (world) => {
    const token = await makeToken(world);
    return world.call('POST', `${REPOS}/${randomUUID()}/resume`, { token });
  },
  token_limit_exceeded: async (world) => {
    for (let nth = 0; nth < API_TOKENS_MAX; nth += 1) await makeToken(world);
    return as(world)('POST', TOKENS, TOKEN);
  },
  auth_unavailable: (world) => {
    world.identity.available = false;
    return as(world)('GET', REPOS);
  },
  method_not_allowed: (world) => as(world)('PUT', REPOS),
  not_found: (world) => as(world)('DELETE', `${REPOS}/${randomUUID()}`),
  connection_not_found: async (world) => {
    const { repo, connection } = await world.enroll(TENANT_A, { wakeupMode: 'webhook' });
    await world.store.markConnectionDeleting(TENANT_A, connection.id);
    return as(world)('POST', `${REPOS}/${repo.id}/provision`);
  },
  invalid_body: (world) => as(world)('POST', CONNECTIONS, '{'),
  invalid_field: (world) => as(world)('POST', CONNECTIONS, { ...CONNECTION, instance_url: 'http://x' }),
  missing_fields: (world) => as(world)('POST', CONNECTIONS, {}),
  invalid_tier: (world) => as(world)('POST', '/api/v1/billing/checkout', { tier: 'gold' }),
  already_on_tier: async (world) => {
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
    return as(world)('POST', '/api/v1/billing/change-plan', { tier: 'pro' });
  },
  confirm_mismatch: (world) => as(world)('POST', '/api/v1/tenant/offboard', { confirm: 'x' }),
  forge_error: async (world) => {
    const { connection } = await world.enroll(TENANT_A);
    world.forge.repos = new ForgeError('denied', 'x', 403);
    return as(world)('POST', `${CONNECTIONS}/${connection.id}/discover`);
  },
  payment_required: async (world) => {
    const { connection } = await world.enroll(TENANT_A);
    await world.clock.advance(1);
    const second = await world.enroll(
      TENANT_A,
      { slug: 'acme/second', instanceUrl: connection.instanceUrl, createdAt: world.clock.now() },
      { id: connection.id },
    );
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'past_due' });
    return as(world)('POST', `${REPOS}/${second.repo.id}/reconcile`);
  },
  repo_limit_exceeded: async (world) => {
    const { connection } = await world.enroll(TENANT_A);
    return as(world)('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/next' });
  },
  repo_already_managed: async (world) => {
    await world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
    const { repo, connection } = await world.enroll(TENANT_A);
    return as(world)('POST', REPOS, { connection_id: connection.id, repo_slug: repo.slug });
  },
  status_context_taken: async (world) => {
    await world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
    const { repo, connection } = await world.enroll(TENANT_A);
    return as(world)('POST', REPOS, {
      connection_id: connection.id,
      repo_slug: repo.slug,
      base_branch: 'v15',
      status_context: repo.statusContext,
    });
  },
  connection_identity_already_used: async (world) => {
    await world.as(TOKEN_B)('POST', CONNECTIONS, CONNECTION);
    return as(world)('POST', CONNECTIONS, CONNECTION);
  },
  queue_locked: (world) =>
    switchOff(world, (id) => world.store.acquireLease(id, 'worker', 'reconcile', 60_000)),
  queue_not_ready: async (world) => {
    const { repo } = await world.enroll(TENANT_A, { queueEnabled: false, dueAt: null });
    return as(world)('POST', `${REPOS}/${repo.id}/reconcile`);
  },
  ci_gate_exists: (world) => {
    world.forge.setUp = makeWorkingForge(true);
    return onRepo(world, 'ci-gate/setup-pr');
  },
  ci_gate_missing: (world) => {
    world.forge.setUp = makeWorkingForge(false);
    return onRepo(world, 'ci-gate/verify');
  },
  gate_untold: (world) => {
    world.forge.setUp = {
      ...makeWorkingForge(true),
      readVersion: async () => ({ kind: 'gitea', major: 1, minor: 22, patch: 6 }),
    };
    return onRepo(world, 'ci-gate/verify');
  },
  queue_branches_ruled: (world) => {
    world.forge.setUp = {
      ...makeWorkingForge(true),
      listRules: async () => [RULE_OVER_QUEUE_BRANCHES],
      commitFile: () => Promise.reject(new ForgeError('denied', 'POST contents/{path}', 403)),
    };
    return onRepo(world, 'ci-gate/verify');
  },
  branch_name_taken: (world) => {
    world.forge.setUp = {
      ...makeWorkingForge(true),
      findRefInTheWay: async () => ({ kind: 'branch', name: 'mq' }),
      commitFile: () => Promise.reject(new ForgeError('unreachable', 'POST contents/{path}', 500)),
    };
    return onRepo(world, 'ci-gate/verify');
  },
  base_missing: (world) => {
    world.forge.setUp = { ...makeWorkingForge(false), readBranchTip: async () => null };
    return onRepo(world, 'ci-gate/setup-pr');
  },
  subscription_exists: () =>
    selling(async (billing) => {
      await billing.buy('pro');
      return billing.ask('checkout', { tier: 'team' });
    }),
  no_active_subscription: (world) => as(world)('POST', '/api/v1/billing/change-plan', { tier: 'pro' }),
  subscription_state_mismatch: () =>
    selling(async (billing) => {
      billing.provider.world.addItem(await billing.buy('pro'), 'price_local_pro');
      return billing.ask('change-plan', { tier: 'team' });
    }),
  forge_access_denied: (world) => {
    world.forge.fault = new ForgeError('denied', 'any', 403);
    return onRepo(world, 'ci-gate/verify');
  },
  schedules_not_cancelled: async (world) => {
    const { repo } = await world.enroll(TENANT_A);
    await giveHistory(world, repo);
    world.forge.cancelFault = new ForgeError('denied', 'DELETE pulls/{n}/merge', 403);
    return as(world)('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: false });
  },
  forge_token_required: (world) => enqueue(world, { token: null }),
  forge_token_refused: (world) => enqueue(world, { token: 'expired-token' }),
  forge_token_of_bot: (world) => enqueue(world, { token: BOT }),
  forge_token_of_job: (world) => enqueue(world, { token: 'forgejo-actions' }),
  pull_not_open: (world) => enqueue(world, { number: 4711 }),
  pull_merged: (world) => enqueue(world, { isMerged: true }),
  head_moved: (world) => enqueue(world, { head: 'f'.repeat(40) }),
  branch_not_protected: (world) => enqueue(world, { isProtected: false }),
  schedule_refused: (world) => enqueue(world, { token: 'mere-reader' }),
  rate_limited: async (world) => {
    for (let nth = 0; nth < 60; nth += 1) await as(world)('POST', '/api/v1/user/queue/ws/ticket');
    return as(world)('POST', '/api/v1/user/queue/ws/ticket');
  },
  db_error: (world) => {
    failing(world, 'listRepos');
    return as(world)('GET', REPOS);
  },
  failed_to_create_connection: (world) => {
    failing(world, 'createConnection');
    return as(world)('POST', CONNECTIONS, CONNECTION);
  },
  connection_rotation_failed: async (world) => {
    await as(world)('POST', CONNECTIONS, CONNECTION);
    failing(world, 'updateConnection');
    return as(world)('POST', CONNECTIONS, CONNECTION);
  },
  decryption_error: (world) => {
    world.vault.failing = 'open';
    return onRepo(world, 'provision');
  },
  forge_unreachable: (world) => onRepo(world, 'ci-gate/verify'),
  payments_error: () =>
    selling((billing) => {
      billing.provider.behave('failing');
      return billing.ask('checkout', { tier: 'pro' });
    }),
  queue_lock_failed: (world) => switchOff(world, () => failing(world, 'acquireLease')),
  realtime_unavailable: (world) => {
    failing(world, 'saveTicket');
    return as(world)('POST', '/api/v1/user/queue/ws/ticket');
  },
  billing_unavailable: (world) => {
    failing(world, 'loadPlan');
    return as(world)('GET', '/api/v1/billing/me');
  },
  author_login_limit: async (world) => {
    const prove = (host: number) =>
      world.call('PUT', '/api/v1/author-notices', {
        token: TOKEN_A,
        headers: { 'x-forge-token': 'token-of-a-person' },
        body: { instance_url: `https://f${host}.example.org`, email: 'a@example.org', topics: ['landed'] },
      });
    for (let host = 0; host < AUTHOR_LOGINS_MAX; host += 1) await prove(host);
    return prove(AUTHOR_LOGINS_MAX);
  },
  evidence_not_configured: (world) => world.call('GET', '/api/v1/evidence/key'),
  signing_unavailable: (world) => {
    const no = () => Promise.reject(new SignerError());
    world.signer = { readPublicKey: no, sign: no };
    return world.call('GET', '/api/v1/evidence/key');
  },
  payments_not_configured: (world) => as(world)('POST', '/api/v1/billing/checkout', { tier: 'pro' }),
  connection_limit_exceeded: async (world) => {
    await as(world)('POST', CONNECTIONS, CONNECTION);
    return as(world)('POST', CONNECTIONS, { ...CONNECTION, instance_url: 'https://two.example.org' });
  },
  forbidden: (world) => as(world)('GET', '/api/v1/admin/stats'),
  second_factor_required: (world) => {
    world.identity.signIn('canary.session.boss', TENANT_A, true);
    world.identity.withholdAdmin('canary.session.boss', 'not_in_session');
    return world.as('canary.session.boss')('GET', '/api/v1/admin/stats');
  },
  gone: (world) => world.call('GET', '/readyz'),
  upgrade_required: (world) => world.call('GET', '/api/v1/user/queue/ws'),
  invalid_signature: (world) => deliver(world, { secret: 'another' }),
  lease_held: (world) => deliver(world, { held: true }),
  internal_error: (world) => {
    failing(world, 'findRepoForHook');
    return deliver(world, {});
  },
};

describe('every code of the contract’s table is answered by the router', () => {
  test.each(Object.keys(DRIVES) as ErrorCode[])('%s', async (code) => {
    const answer = await DRIVES[code](new ApiWorld());
    const { status, retryable, message }: (typeof ERROR_TABLE)[ErrorCode] = ERROR_TABLE[code];
    expect([answer.code, answer.status]).toEqual([code, status]);
    expect(answer.json.error.retryable ?? false).toBe(retryable);
    expect(Object.keys(answer.json)).toEqual(['error']);
    if (message === '') expect(answer.json).toEqual({ error: { code } });
    else expect(answer.json.error.message.length).toBeGreaterThan(10);
  });
});
