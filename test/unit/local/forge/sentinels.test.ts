import { readFileSync } from 'node:fs';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { viewProvisioning } from '#core/domain/set-up/provisioning.ts';
import { provisionRepo } from '#core/services/set-up/provisioning.ts';
import { lookForWork } from '../../../../engine-container/src/idle/idle-look.ts';
import { faultBySentinel, judgeBySentinel, SENTINEL_NAMES } from '../../../../local/forge/sentinels.ts';
import { startLocalIdentity } from '../../../../local/identity/provider.ts';
import { givenConnection, givenRepo } from '../../../builders/managed-repo.ts';
import { createAbstractForge } from '../../../fakes/abstract-forge/index.ts';
import { createMemoryStore } from '../../../fakes/memory-store.ts';
import { FakeSecretBox } from '../../../fakes/secret-box.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const RUN = { branch: 'mq/main/staging', sha: 'a'.repeat(40) };
const verdictOf = (...files: string[]) => judgeBySentinel(new Map(files.map((file) => [file, ''])), RUN);
const faultOf = (path: string) => faultBySentinel({ method: 'GET', path })?.status ?? null;

test('a file decides what the gate comes to; without one it passes', () => {
  expect(verdictOf('README.md')).toBe('success');
  expect(verdictOf('README.md', 'broken')).toBe('failure');
  expect(verdictOf('sentinel/is-cancelled')).toBe('cancelled');
  expect(verdictOf('sentinel/never-starts')).toBe('never');
});

test('the name of a repository decides what the forge refuses, and of that one only', () => {
  expect(faultOf('/api/v1/repos/acme/sentinel-unreachable/pulls?state=open')).toBe(503);
  expect(faultOf('/api/v1/repos/acme/sentinel-denied')).toBe(403);
  expect(faultOf('/api/v1/repos/acme/sentinel-no-admin/pulls')).toBeNull();
  expect(faultOf('/api/v1/repos/acme/sentinel-no-admin/hooks')).toBe(403);
  expect(faultOf('/api/v1/repos/acme/sentinel-no-admin/branch_protections/main')).toBe(403);
  expect(faultOf('/api/v1/repos/acme/app/hooks')).toBeNull();
  expect(faultOf('/api/v1/user/repos')).toBeNull();
});

const README = readFileSync('local/README.md', 'utf8');

test('the list for people names every sentinel there is, and none that there is not', () => {
  const named = new Set(README.match(/`(?:sentinel[/-][a-z-]+|broken)`/g)?.map((name) => name.slice(1, -1)));
  expect([...named].sort()).toEqual([...SENTINEL_NAMES].sort());
});

/** A repository of such a name, woken by webhook, whose gate is verified: what its set-up comes to. */
async function setUpOf(name: string) {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, slug: `acme/${name}` });
  forge.fault = (call) => faultBySentinel(call);
  const store = createMemoryStore({ clock });
  const ciGate = { status: 'verified', url: null, setupPr: null, probe: null } as const;
  const repo = givenRepo({ slug: `acme/${name}`, wakeupMode: 'webhook', protectionRequested: true, ciGate });
  await store.createTenant(repo.tenantId, clock.now());
  await store.createConnection(givenConnection());
  await store.createRepo(repo, null);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  let ids = 0;
  const result = await provisionRepo(
    {
      store,
      clock,
      log,
      secrets: new FakeSecretBox(),
      queueName: DEFAULT_SERVICE_NAME,
      ids: { uuid: () => `id-${ids++}` },
      webhookUrl: 'https://mq.example/hook',
      openForge: async () => ({ kind: 'open', forge: forge.admin }),
    },
    repo,
  );
  const { webhook, protection } = viewProvisioning(result.repo);
  const look = await lookForWork(forge.forge, clock, {
    baseBranch: 'main',
    statusContext: DEFAULT_SERVICE_NAME,
    repoId: null,
    setUp: null,
    memory: null,
  });
  return [webhook.status, protection.status, look.kind === 'failed' ? look.fault : 'seen'];
}

test.each([
  ['app', ['configured', 'configured', 'seen']],
  ['sentinel-no-admin', ['needs_admin', 'needs_admin', 'seen']],
  ['sentinel-flaky-admin', ['error', 'error', 'seen']],
  ['sentinel-denied', ['needs_admin', 'needs_admin', 'forge_access_denied']],
  ['sentinel-unreachable', ['error', 'error', 'forge_unreachable']],
  ['sentinel-garbage', ['error', 'error', 'forge_unreachable']],
])('a repository called %s comes to %j', async (name, states) => {
  expect(await setUpOf(name)).toEqual(states);
});

test.each([
  ['person@example.test', 200],
  ['expired@example.test', 403],
  ['unverifiable@example.test', 500],
])('the session of %s is answered with %i', async (email, status) => {
  const identity = await startLocalIdentity({});
  try {
    identity.addUser({ email, password: 'x' });
    const signed = await fetch(`${identity.url}/auth/v1/token?grant_type=password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: 'x' }),
    });
    const { access_token: token } = (await signed.json()) as { access_token: string };
    const seen = await fetch(`${identity.url}/auth/v1/user`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(seen.status).toBe(status);
  } finally {
    await identity.stop();
  }
});
