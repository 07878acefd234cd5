import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { Envelope, openEnvelope, readPublicKey } from '#core/contracts/evidence/dsse.ts';
import { LandingStatement } from '#core/contracts/evidence/evidence.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { type Signer, SignerError } from '#core/ports/signer.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import { givenObligations, givenQueueView } from '../../builders/told-queue.ts';
import { ApiWorld, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const signer: Signer = {
  readPublicKey: async () => ({ pem: PEM }),
  sign: async (bytes) => sign('sha256', bytes, privateKey),
};
const id = (digit: string): string => digit.repeat(40);
const LANDED_AT = Date.UTC(2026, 10, 23);
const receipt = (changes: Partial<Receipt>): Receipt => ({
  baseBefore: id('0'),
  head: id('1'),
  stagedSha: id('a'),
  gatedTree: id('2'),
  tree: id('2'),
  runUrl: 'https://forge.example.org/run/1',
  mergeCommit: id('3'),
  landedAt: LANDED_AT,
  ...changes,
});

async function givenLanding(changes: Partial<Receipt> = {}) {
  const world = new ApiWorld();
  world.signer = signer;
  const { repo } = await world.enroll(TENANT_A);
  await world.enroll(TENANT_B);
  const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 1_000);
  if (grant === 'held') throw new Error('held');
  const at = world.clock.now();
  const action = { action: 'landed', stagingSha: id('a'), gateVerdict: 'success' } as const;
  const row = givenNodeRow({
    id: randomUUID(),
    tenantId: repo.tenantId,
    repoId: repo.id,
    repoSlug: repo.slug,
    prs: [7, 8],
    stagingSha: id('a'),
    gateVerdict: 'success',
    outcome: 'success',
    phase: null,
    createdAt: at,
    resolvedAt: at,
    actions: [
      {
        ...action,
        pr: 7,
        cursor: 0,
        receipt: receipt({ tree: id('4'), mergeCommit: id('5'), head: id('6') }),
      },
      { ...action, pr: 8, cursor: 1, receipt: receipt({ baseBefore: id('5'), ...changes }) },
    ],
  });
  const write = {
    document: {},
    expectedVersion: null,
    batches: [row],
    events: [],
    told: { view: givenQueueView(), obligations: givenObligations() },
  };
  await world.store.saveQueue(
    grantHeldLease(repo.id, grant, () => 0, 1),
    repo,
    write,
  );
  await world.store.releaseLease(repo.id, grant);
  return { world, repo, path: `/api/v1/user/repos/${repo.id}` };
}

function open(json: unknown): LandingStatement {
  const key = readPublicKey(PEM);
  const payload = key === null ? null : openEnvelope(Envelope.parse(json), key);
  if (payload === null) throw new Error('not signed by this key');
  return LandingStatement.parse(JSON.parse(payload.toString()));
}

describe('the signed statement of a landing', () => {
  test('says which tree, heads, gate run, verdict and merge commit, and who scheduled', async () => {
    const { world, path, repo } = await givenLanding({ scheduledBy: 'ada', approvedBy: ['bob'] });
    const { status, json } = await world.as(TOKEN_A)('GET', `${path}/pulls/8/evidence`);
    expect(status).toBe(200);
    expect(open(json)).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [
        { name: 'merge', digest: { gitCommit: id('3') } },
        { name: 'tree', digest: { gitTree: id('2') } },
      ],
      predicateType: 'urn:mergeyard:landing:v1',
      predicate: {
        repository: { forge: repo.instanceUrl, name: repo.slug, base_branch: repo.baseBranch },
        pull_request: { number: 8, head: id('1'), scheduled_by: 'ada', approved_by: ['bob'] },
        merge: {
          commit: id('3'),
          tree: id('2'),
          base_before: id('5'),
          landed_at: '2026-11-23T00:00:00.000Z',
        },
        gate: {
          verdict: 'success',
          commit: id('a'),
          tree: id('2'),
          own_run: false,
          run_url: 'https://forge.example.org/run/1',
          pull_requests: [
            { number: 7, head: id('6') },
            { number: 8, head: id('1') },
          ],
        },
        batch: { run_id: 'run-1', node_id: 'r' },
      },
    });
  });

  test('is found by the merge commit as by the pull request, and says null where nothing is known', async () => {
    const { world, path } = await givenLanding();
    const ask = world.as(TOKEN_A);
    const byCommit = await ask('GET', `${path}/evidence`, undefined, { query: { commit: id('3') } });
    const byPull = await ask('GET', `${path}/pulls/8/evidence`);
    expect(open(byCommit.json)).toEqual(open(byPull.json));
    expect(open(byPull.json).predicate.pull_request.scheduled_by).toBeNull();
    expect(open(byPull.json).predicate.pull_request.approved_by).toBeNull();
  });

  test('is verified with the key, which is public', async () => {
    const { world, path } = await givenLanding();
    const key = await world.call('GET', '/api/v1/evidence/key');
    const { json } = await world.as(TOKEN_A)('GET', `${path}/pulls/7/evidence`);
    expect(key.json).toMatchObject({ public_key: PEM, keyid: json.signatures[0].keyid });
  });

  test('of another tenant, or of no landing, is as absent as one that never was', async () => {
    const { world, path } = await givenLanding();
    const answers = [
      await world.as(TOKEN_B)('GET', `${path}/pulls/8/evidence`),
      await world.as(TOKEN_A)('GET', `${path}/pulls/9/evidence`),
      await world.as(TOKEN_A)('GET', `${path}/pulls/x/evidence`),
      await world.as(TOKEN_A)('GET', `${path}/evidence`, undefined, { query: { commit: id('9') } }),
    ];
    expect(answers.map(({ status, code }) => [status, code])).toEqual(answers.map(() => [404, 'not_found']));
  });

  test.each([
    ['missing_fields', {}],
    ['invalid_field', { commit: 'main' }],
  ])('without the full id of a commit it is %s', async (code, query) => {
    const { world, path } = await givenLanding();
    const answer = await world.as(TOKEN_A)('GET', `${path}/evidence`, undefined, { query });
    expect([answer.status, answer.code]).toEqual([400, code]);
  });

  test('a deployment without a key, and a key service that is away, say so', async () => {
    const { world, path } = await givenLanding();
    world.signer = { ...signer, sign: () => Promise.reject(new SignerError()) };
    expect((await world.as(TOKEN_A)('GET', `${path}/pulls/8/evidence`)).code).toBe('signing_unavailable');
    const off = await givenLanding();
    off.world.signer = null;
    expect((await off.world.as(TOKEN_A)('GET', `${off.path}/pulls/8/evidence`)).code).toBe(
      'evidence_not_configured',
    );
    expect((await off.world.call('GET', '/api/v1/evidence/key')).code).toBe('evidence_not_configured');
  });
});
