import { BURIED_WIND_DOWN_MS } from '#core/domain/limits.ts';
import { contextForBase, DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { Secret } from '#core/secret.ts';
import { deleteRepo } from '#core/services/repos/delete-repo.ts';
import { wakeNow } from '#core/services/wakes/send-wakes.ts';
import { acceptForgeWebhook } from '#core/services/webhooks/accept-forge-webhook.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import { createMemoryStore } from '../../fakes/memory-store.ts';
import { FakeSecretBox } from '../../fakes/secret-box.ts';
import { FakeWakeQueue } from '../../fakes/wake-queue.ts';
import { CONNECTION, givenPostedSuccess, type QueueWorld, REPO } from '../../scenario/queue-world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import type { Scenes } from '../scene-stage.ts';
import { Signer } from '../service/signer.ts';

/** Scenes about decision 0192: one tenant manages several branches of a repository. */

const RELEASE = 'release';
const RELEASE_CONTEXT = contextForBase(DEFAULT_SERVICE_NAME, RELEASE);
const SECOND = '55555555-5555-4555-8555-555555555555';
const MINUTE_MS = 60_000;

const givenSecond = (changes: Partial<ManagedRepo> = {}): ManagedRepo =>
  givenRepo({
    id: SECOND,
    connectionId: CONNECTION,
    baseBranch: RELEASE,
    statusContext: RELEASE_CONTEXT,
    ...changes,
  });

/** A success of the first cannot be taken back, and its record is deleted: it stands for as long as the forge refuses. */
async function givenBuriedFirst(): Promise<QueueWorld> {
  const { world, pr } = await givenPostedSuccess();
  const { headSha } = await world.forge.pull(pr);
  world.forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(`/statuses/${headSha}`) ? { status: 503 } : null;
  await world.forge.pushBranch(RELEASE, await world.forge.tip('main'));
  await deleteRepo(world.deletion, world.repo.tenantId, REPO);
  return world;
}

async function begin(world: QueueWorld, second: ManagedRepo): Promise<void> {
  await world.store.createRepo({ ...second, dueAt: world.clock.now() }, 2);
  await wakeNow({ store: world.store, queue: world.queue, clock: world.clock }, SECOND);
}

/** A record that is wound down keeps no other branch from landing. */
async function landBesideBurial(): Promise<readonly string[]> {
  const world = await givenBuriedFirst();
  await world.forge.protectBranch(RELEASE, { requiredContexts: [RELEASE_CONTEXT] });
  const files = { 'src/r.txt': 'r\n' };
  const pr = await world.forge.openPullRequest({ branch: 'r', files, base: RELEASE });
  world.forge.mergeBehaviour = () => ({ kind: 'now' });
  await world.forge.schedule(pr, 'squash');
  await world.clock.advance(30_000);
  await begin(world, givenSecond());
  await world.pass(10 * MINUTE_MS);
  if ((await world.store.getRepo(REPO)) === null) return ['the scene did not come about'];
  return world.forge.isMerged(pr) ? [] : ['a branch waits for the end of another one'];
}

/** … and the next record of its branch, or of its context, begins only after it. */
function waitForBurial(changes: Partial<ManagedRepo>): () => Promise<readonly string[]> {
  return async () => {
    const world = await givenBuriedFirst();
    let isAtWork = false;
    const acquire = world.store.acquireLease.bind(world.store);
    world.store.acquireLease = async (id, ...rest) => {
      if (id === SECOND && (await world.store.getRepo(REPO)) !== null) isAtWork = true;
      return acquire(id, ...rest);
    };
    await begin(world, givenSecond(changes));
    await world.pass(Math.min(2 * MINUTE_MS, BURIED_WIND_DOWN_MS));
    return isAtWork ? ['two records of one branch or context are at work at once'] : [];
  };
}

async function createTwo() {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  const first = givenRepo({
    id: REPO,
    connectionId: CONNECTION,
    wakeupMode: 'webhook',
    dueAt: null,
    hookId: 'hook-1',
    webhookSecret: new Secret(await new FakeSecretBox().seal(ownerOf(REPO), 'hook-secret')),
  });
  await store.createTenant(first.tenantId, clock.now());
  await store.createConnection(givenConnection({ id: CONNECTION }));
  await store.createRepo(first, null);
  return { clock, store, first };
}

const ownerOf = (repoId: string) =>
  ({ tenantId: givenRepo().tenantId, repoId, purpose: 'webhook-secret' }) as const;

/** One hook serves both: an event of the second branch wakes its queue, also once the branch whose hook it was is gone. */
function tellSecondBranch(isFirstGone: boolean): () => Promise<readonly string[]> {
  return async () => {
    const { clock, store, first } = await createTwo();
    await store.createRepo(givenSecond({ wakeupMode: 'webhook', dueAt: null }), null);
    if (isFirstGone) {
      const gone = await store.getRepo(REPO);
      if (gone === null) return ['the scene did not come about'];
      await store.buryRepo(gone);
    }
    const queue = new FakeWakeQueue(clock);
    const text = JSON.stringify({
      ref: `refs/heads/${RELEASE}`,
      sender: { login: 'dev' },
      repository: { full_name: first.slug, html_url: `${first.instanceUrl}/${first.slug}` },
    });
    const { bytes, signature } = new Signer().sign(text, new Secret('hook-secret'));
    const seenBefore = (await store.getRepo(SECOND))?.wakeSeq;
    await acceptForgeWebhook(
      {
        store,
        leases: store,
        queue,
        clock,
        queueName: DEFAULT_SERVICE_NAME,
        secrets: new FakeSecretBox(),
        planLimits: PLAN_LIMITS,
      },
      { body: bytes, signature, eventType: 'push', deliveryId: 'one', hookId: undefined },
    ).catch(() => 'refused');
    const isTold = (await store.getRepo(SECOND))?.wakeSeq !== seenBefore;
    return isTold ? [] : ['an event of a branch does not wake its queue'];
  };
}

/** In whatever case of letters, and at a change of the settings as well. */
async function takeContextOfAnother(): Promise<readonly string[]> {
  const { store } = await createTwo();
  const taken = givenSecond({ statusContext: DEFAULT_SERVICE_NAME.toUpperCase() });
  const problems: string[] = [];
  if ((await store.createRepo(taken, null)) === 'created')
    problems.push('two branches are enrolled under one context');
  const second = givenSecond({ id: '66666666-6666-4666-8666-666666666666', baseBranch: 'next' });
  await store.createRepo(second, null);
  const stored = await store.getRepo(second.id);
  if (stored === null) return ['the scene did not come about'];
  const changed = await store
    .updateRepo({ ...stored, statusContext: DEFAULT_SERVICE_NAME.toUpperCase() })
    .catch(() => 'refused');
  return changed === 'refused' ? problems : [...problems, 'a branch takes the context of another'];
}

export const BRANCH_SCENES = {
  'a branch takes the context of another': takeContextOfAnother,
  'a branch lands while the record of another is wound down': landBesideBurial,
  'a branch is enrolled again under another context': waitForBurial({ baseBranch: 'main' }),
  'another branch is enrolled under the context of one that is wound down': waitForBurial({
    statusContext: DEFAULT_SERVICE_NAME,
  }),
  'an event tells of the second branch': tellSecondBranch(false),
  'an event tells of the second branch when the first is gone': tellSecondBranch(true),
} satisfies Scenes;
