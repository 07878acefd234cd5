import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { BackportForge } from '#core/ports/backport.ts';
import { type BackportDeps, carryLandings, wishBackports } from '#core/services/pulls/backport.ts';
import { saveRepo } from '#core/services/repos/save-repo.ts';
import { openBackportPlanner } from '../../engine-container/src/staging/plan-backport.ts';
import { QueueWorld, REPO, TICK_MS } from './queue-world.ts';
import { givenScheduled } from './stories.ts';

const NO_LOG = { info: () => {}, warn: () => {}, error: () => {} };
const MINUTE_MS = 60_000;

/** Worker, engine, and the function that carries landings to other branches. */
export class BackportWorld extends QueueWorld {
  /** Times that the worker has asked for landings to be carried. */
  asked = 0;

  /** What the function that carries sees; a test puts another one here for a forge that misbehaves. */
  get backports(): BackportForge {
    return this.named.backports;
  }

  set backports(backports: BackportForge) {
    const { forge, admin } = this.named;
    this.named = { forge, admin, backports };
  }

  get carrying(): BackportDeps {
    const { store, clock } = this;
    return {
      store,
      clock,
      log: NO_LOG,
      queueName: DEFAULT_SERVICE_NAME,
      openPlanner: openBackportPlanner,
      openBackports: this.opener(() => this.backports),
    };
  }

  /** As the platform does: a function that fails leaves the rest to the next look. */
  async carry(): Promise<void> {
    await carryLandings(this.carrying, REPO).catch(() => undefined);
  }

  override async afterLook(repo: ManagedRepo): Promise<void> {
    const ask = async (): Promise<void> => {
      this.asked += 1;
      await this.carry();
    };
    await wishBackports({ store: this.store, backports: { ask }, clock: this.clock, log: NO_LOG }, repo);
  }

  async change(changes: Partial<ManagedRepo>): Promise<void> {
    await saveRepo(this.store, await this.row(), () => changes);
  }

  async row(): Promise<ManagedRepo> {
    const repo = await this.store.getRepo(REPO);
    if (repo === null) throw new Error('the repo is gone');
    return repo;
  }

  /** A pull request with these labels lands. */
  async land(name: string, labels: readonly string[], content?: string): Promise<number> {
    const pr = await givenScheduled(this.forge, name, content);
    for (const label of labels) await this.forge.setLabel(pr, label, true, 'dev');
    await this.start();
    await this.pass(20 * MINUTE_MS, { until: async () => this.forge.isMerged(pr) });
    return pr;
  }

  async ticks(count: number): Promise<void> {
    await this.pass(count * TICK_MS);
  }
}

/** The branch `v15` stands where the base began. */
export async function givenBackportWorld(changes: Partial<ManagedRepo> = {}): Promise<BackportWorld> {
  const world = new BackportWorld({ backports: true, ...changes });
  world.stepMs = 10_000;
  await world.open();
  await world.forge.pushBranch('v15', await world.forge.tip('main'));
  return world;
}
