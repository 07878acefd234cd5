import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { type AbstractForge, createAbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { givenProject } from '../scenario/stories.ts';
import { createSeededRandom } from '../support/seeded-random.ts';
import { SimClock } from '../support/sim-clock.ts';
import { NO_ODDS, type Odds } from './odds.ts';
import type { Witness } from './service/hosts.ts';
import { SimService } from './service/service.ts';

export const TENANT = 'tenant-1';
export const CONNECTION = '00000001-0000-4000-8000-000000000000';

/** The service of the lives over repositories of one owner, at rest until a scene makes trouble. */
export class Fleet {
  readonly clock = new SimClock();
  readonly forges: AbstractForge[] = [];
  readonly seen = new Set<string>();
  readonly problems: string[] = [];
  onCall: (label: string) => void = () => undefined;
  readonly service: SimService;

  private constructor(odds: Partial<Odds>) {
    const witness: Witness = {
      note: () => undefined,
      violate: (what) => this.problems.push(what),
      sometimes: (what) => this.seen.add(what),
      seen: (label, struck) => (struck === 'no' ? this.onCall(label) : this.seen.add(struck)),
      afterReconcile: () => undefined,
      halted: () => undefined,
    };
    this.service = new SimService(this.clock, createSeededRandom(1), { ...NO_ODDS, ...odds }, witness);
  }

  static async start(repos: number, odds: Partial<Odds> = {}): Promise<Fleet> {
    const fleet = new Fleet(odds);
    const { store } = fleet.service;
    await store.createTenant(TENANT, 0);
    await store.createConnection(givenConnection({ id: CONNECTION, tenantId: TENANT }));
    for (let index = 1; index <= repos; index += 1) await fleet.#manage(`repo-${index}`, `acme/app-${index}`);
    fleet.service.startTicks();
    return fleet;
  }

  async #manage(id: string, slug: string): Promise<void> {
    const dueAt = this.clock.now();
    const forge = createAbstractForge({ clock: this.clock, slug });
    await this.service.store.createRepo(
      givenRepo({ id, slug, tenantId: TENANT, connectionId: CONNECTION, dueAt, enabledAt: 0 }),
      null,
    );
    await givenProject(forge);
    this.service.forges.set(id, forge);
    this.forges.push(forge);
  }

  get landed(): number {
    return this.forges.reduce((sum, forge) => sum + forge.merges().length, 0);
  }

  async wakeAll(): Promise<void> {
    for (const id of this.service.forges.keys()) await this.service.wakeNow(id);
  }

  pass(ms: number): Promise<void> {
    return this.clock.runUntil(this.clock.now() + ms);
  }
}
