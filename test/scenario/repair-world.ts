import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { ProvisioningRecord } from '#core/domain/set-up/provisioning.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { readActivity } from '#core/services/reads/read-activity.ts';
import { type RepairDeps, repairSetup, wishRepairs } from '#core/services/set-up/repair-setup.ts';
import { createLookingEngine } from '#core/services/wakes/idle-look.ts';
import { lookForWork } from '../../engine-container/src/idle/idle-look.ts';
import { FakeSecretBox } from '../fakes/secret-box.ts';
import { QueueWorld, REPO, TICK_MS } from './queue-world.ts';

export const WEBHOOK_URL = 'https://mq.example/api/v1/webhooks/forge';
const HOOK = {
  id: 1,
  url: `${WEBHOOK_URL}?r=abc`,
  isJson: true,
  active: true,
  branchFilter: '*',
  events: ['push', 'pull_request', 'issue_comment', 'release'],
};
const PROVISIONING: ProvisioningRecord = {
  webhook: 'registered',
  protection: { kind: 'required', ruleName: 'main', reasons: [] },
  strayContexts: [],
  lastProvisionedAt: 0,
};
export const SET_UP: Partial<ManagedRepo> = {
  provisioning: PROVISIONING,
  protectionRequested: true,
  repairSetup: true,
  ciGate: { status: 'verified', url: null, setupPr: null, probe: null },
};
const NO_LOG = { info: () => {}, warn: () => {}, error: () => {} };

/** Worker, idle look, engine, and the function that sets repositories up. */
export class RepairWorld extends QueueWorld {
  readonly looks: number[] = [];
  readonly #box = new FakeSecretBox();

  get setUp(): RepairDeps {
    const { store, queue, clock, ids } = this;
    return {
      store,
      queue,
      clock,
      ids,
      log: NO_LOG,
      secrets: this.#box,
      webhookUrl: WEBHOOK_URL,
      queueName: DEFAULT_SERVICE_NAME,
      openForge: this.opener(() => this.named.admin),
    };
  }

  override get dispatch() {
    const { store, clock } = this;
    const plain = super.dispatch;
    const looker = {
      look: async (request: Parameters<typeof lookForWork>[2]) => {
        const before = this.forge.calls().length;
        const answer = await lookForWork(this.named.forge, clock, request);
        this.looks.push(this.forge.calls().length - before);
        return answer;
      },
    };
    return {
      ...plain,
      engine: createLookingEngine({ store, looker, clock, log: NO_LOG }, plain.engine, REPO),
    };
  }

  override async afterLook(repo: ManagedRepo): Promise<void> {
    const repairs = { ask: async (id: string) => void (await repairSetup(this.setUp, id)) };
    await wishRepairs({ store: this.store, repairs, clock: this.clock, log: NO_LOG }, repo);
  }

  async told() {
    const { store, clock } = this;
    const parts = {
      store,
      clock,
      leases: store,
      log: NO_LOG,
      queueName: DEFAULT_SERVICE_NAME,
      planLimits: PLAN_LIMITS,
    };
    const [repo] = (await readActivity(parts, this.repo.tenantId, null, null)).repos;
    if (repo === undefined) throw new Error('the API tells of no repository');
    return repo;
  }

  writes(): readonly string[] {
    const labels = ['POST hooks', 'POST branch_protections', 'PATCH branch_protections/{name}'];
    return this.forge.calls().flatMap(({ call }) => (labels.includes(call) ? [call] : []));
  }
}

export async function givenRepairWorld(changes: Partial<ManagedRepo> = {}): Promise<RepairWorld> {
  const world = new RepairWorld({ ...SET_UP, ...changes });
  world.stepMs = 30_000;
  await world.open();
  await world.forge.setHooks([HOOK]);
  await world.start();
  await world.pass(TICK_MS);
  return world;
}

export async function requiresQueue({ forge }: RepairWorld): Promise<boolean> {
  const rule = await forge.forge.readProtection('main');
  return rule?.requiredContexts.includes(DEFAULT_SERVICE_NAME) === true;
}

/** Nothing reports the status that is asked for instead, so that nothing lands past the queue. */
export async function removeContext({ forge }: RepairWorld): Promise<void> {
  await forge.setProtection({ requiredContexts: ['lint'] });
}

/** A person undoes each repair for so long. */
export async function undoRepairs(world: RepairWorld, ms: number): Promise<void> {
  const end = world.clock.now() + ms;
  while (world.clock.now() < end) {
    if (await requiresQueue(world)) await removeContext(world);
    await world.pass(3 * TICK_MS);
  }
}
