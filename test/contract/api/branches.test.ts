import { randomUUID } from 'node:crypto';
import { ApiWorld, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';

const REPOS = '/api/v1/user/repos';

describe('several branches of one repository', () => {
  let world: ApiWorld;
  beforeEach(async () => {
    world = new ApiWorld();
    for (const id of [TENANT_A, TENANT_B]) await world.store.savePlan(id, { tier: 'team', status: 'active' });
  });

  /** `acme/app` on `main` under `mq`, and how a further branch of it is asked for. */
  async function begin() {
    const hookId = randomUUID();
    const { repo, connection } = await world.enroll(TENANT_A, { hookId, wakeupMode: 'webhook' });
    const add = (fields: Readonly<Record<string, unknown>>) =>
      world.as(TOKEN_A)('POST', REPOS, { connection_id: connection.id, repo_slug: repo.slug, ...fields });
    return { repo, connection, hookId, add };
  }

  test('a further branch gets a context that names it, and both are shown', async () => {
    const { repo, add } = await begin();
    const made = await add({ base_branch: 'v15' });
    expect([made.status, made.json.base_branch, made.json.status_context]).toEqual([201, 'v15', 'mq/v15']);
    const shown = await world.as(TOKEN_A)('GET', REPOS);
    expect(shown.json.map((each: { id: string }) => each.id).sort()).toEqual([repo.id, made.json.id].sort());
    await world.as(TOKEN_A)('PATCH', `${REPOS}/${repo.id}`, { status_context: 'gate' });
    expect((await add({ base_branch: 'v14' })).json.status_context).toBe('mq');
  });

  test('a context that another branch has is 409 with whose it is, at enrollment and afterwards (A124)', async () => {
    const { repo, add } = await begin();
    const refused = await add({ base_branch: 'v15', status_context: 'MQ' });
    expect([refused.status, refused.json.error]).toMatchObject([
      409,
      { code: 'status_context_taken', existing_managed_repo_id: repo.id },
    ]);
    const made = await add({ base_branch: 'v15' });
    const path = `${REPOS}/${made.json.id}`;
    const changed = await world.as(TOKEN_A)('PATCH', path, { status_context: 'mq', batch_target: 7 });
    expect([changed.status, changed.code]).toEqual([409, 'status_context_taken']);
    expect(await world.store.getRepo(made.json.id)).toMatchObject({
      statusContext: 'mq/v15',
      batchTarget: 0,
    });
    const kept = await world.as(TOKEN_A)('PATCH', path, { status_context: 'mq/v15', batch_target: 7 });
    expect([kept.status, kept.json.batch_target]).toEqual([200, 7]);
  });

  test('branches that are enrolled at the same time without a context get one each', async () => {
    await begin();
    const connection_id = (await world.enroll(TENANT_A, { slug: 'acme/lib' })).connection.id;
    const ask = (base_branch: string) =>
      world.as(TOKEN_A)('POST', REPOS, { connection_id, repo_slug: 'acme/new', base_branch });
    const made = await Promise.all(['v13', 'v14', 'v15'].map(ask));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    const contexts = made.map(({ json }) => json.status_context);
    expect(contexts.filter((context) => context === 'mq')).toHaveLength(1);
    expect(new Set(contexts).size).toBe(3);
  });

  test.each(['mq', 'mq-work', 'mq/main', 'mq-work/x'])(
    'a base called %s is refused: git holds it beside none of the branches of the queue',
    async (base_branch) => {
      const { add } = await begin();
      const refused = await add({ base_branch, status_context: 'own' });
      expect([refused.status, refused.code, refused.json.error.field]).toEqual([
        400,
        'invalid_field',
        'base_branch',
      ]);
      expect((await add({ base_branch: `${base_branch.replace('/', '-')}-1` })).status).toBe(201);
    },
  );

  test('a context of a deleted branch that is still being wound down is not free yet', async () => {
    const { repo, add } = await begin();
    const made = await add({ base_branch: 'v15' });
    await world.store.buryRepo(repo);
    const path = `${REPOS}/${made.json.id}`;
    const changed = await world.as(TOKEN_A)('PATCH', path, { status_context: 'mq' });
    expect([changed.code, changed.json.error.existing_managed_repo_id]).toEqual([
      'status_context_taken',
      repo.id,
    ]);
  });

  test('the same branch twice is 409, and so is any branch for another tenant', async () => {
    const { repo, connection, add } = await begin();
    const twice = await add({ base_branch: 'main', status_context: 'other' });
    expect([twice.status, twice.json.error]).toMatchObject([
      409,
      { code: 'repo_already_managed', existing_managed_repo_id: repo.id, existing_tenant_id: TENANT_A },
    ]);
    const other = await world.enroll(
      TENANT_B,
      { slug: 'acme/theirs', instanceUrl: connection.instanceUrl },
      { botUsername: 'b-bot', verifiedAt: 1 },
    );
    await world.store.updateRepo({ ...repo, verifiedAt: 1 });
    const theirs = await world.as(TOKEN_B)('POST', REPOS, {
      connection_id: other.connection.id,
      repo_slug: repo.slug,
      base_branch: 'v15',
    });
    expect([theirs.status, theirs.code]).toEqual([409, 'repo_already_managed']);
  });

  test.each(['main/next', 'main/next/1'])('git cannot hold %s below main: it is 400', async (base_branch) => {
    const { add } = await begin();
    const refused = await add({ base_branch });
    expect([refused.status, refused.json.error.field]).toEqual([400, 'base_branch']);
  });

  describe('one webhook', () => {
    const deliver = async (hookId: string, repo: { slug: string; instanceUrl: string }, base: string) => {
      const body = JSON.stringify({
        action: 'opened',
        number: 1,
        pull_request: { number: 1, base: { ref: base } },
        repository: { full_name: repo.slug, html_url: `${repo.instanceUrl}/${repo.slug}` },
      });
      const headers = {
        'x-forgejo-event': 'pull_request',
        'x-hub-signature-256': world.signHook(body),
        'x-forgejo-delivery': randomUUID(),
      };
      const path = '/api/v1/webhooks/forge';
      return (await world.call('POST', path, { headers, body, query: { r: hookId } })).status;
    };
    const wakesOf = async (id: string) => (await world.store.getRepo(id))?.wakeSeq;

    test('serves all branches: each is woken by what is its own', async () => {
      const { repo, hookId, add } = await begin();
      const made = await add({ base_branch: 'v15' });
      await world.store.updateRepo({
        ...((await world.store.getRepo(made.json.id)) ?? repo),
        wakeupMode: 'webhook',
      });
      const before = [await wakesOf(repo.id), await wakesOf(made.json.id)];
      expect(await deliver(hookId, repo, 'v15')).toBe(200);
      expect([await wakesOf(repo.id), await wakesOf(made.json.id)]).toEqual([
        before[0],
        Number(before[1]) + 1,
      ]);
      expect(await deliver(hookId, repo, 'main')).toBe(200);
      expect(await wakesOf(repo.id)).toBe(Number(before[0]) + 1);
    });

    test('goes on for the branches that stay when the one it was made for is deleted', async () => {
      const { repo, hookId, add } = await begin();
      const made = await add({ base_branch: 'v15' });
      await world.store.updateRepo({
        ...((await world.store.getRepo(made.json.id)) ?? repo),
        wakeupMode: 'webhook',
      });
      expect((await world.as(TOKEN_A)('DELETE', `${REPOS}/${repo.id}`)).status).toBe(204);
      const before = Number(await wakesOf(made.json.id));
      expect(await deliver(hookId, repo, 'v15')).toBe(200);
      expect(await wakesOf(made.json.id)).toBe(before + 1);
    });
  });
});
