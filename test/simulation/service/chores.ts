import type { RepoId } from '#core/domain/ids.ts';
import { GLANCE_TIMEOUT_MS, LOOK_TIMEOUT_MS } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { REPAIR_EVERY_MS, REPAIRS_A_DAY_MAX } from '#core/domain/set-up/repair.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import type { GlanceAnswer, GlanceRequest, LookAnswer, LookRequest } from '#core/ports/idle-look.ts';
import type { DueGlance, EnginePort, WakeQueue } from '#core/ports/system.ts';
import { carryLandings } from '#core/services/pulls/backport.ts';
import { repairSetup } from '#core/services/set-up/repair-setup.ts';
import { answerGlance } from '#core/services/wakes/answer-glance.ts';
import { createLookingEngine } from '#core/services/wakes/idle-look.ts';
import { glanceAt } from '../../../engine-container/src/idle/glance-at-forge.ts';
import { lookForWork } from '../../../engine-container/src/idle/idle-look.ts';
import { openBackportPlanner } from '../../../engine-container/src/staging/plan-backport.ts';
import { FakeSecretBox } from '../../fakes/secret-box.ts';
import { Crash, forgeOn, type Machine, storeOn } from '../../support/machine.ts';
import type { Host } from './hosts.ts';
import { openToken, type Parts, type Settled, settle } from './parts.ts';

/** The functions beside the engine: repairs, backports, and looks at what seems to be idle. */
export class Chores {
  readonly #parts: Parts;
  readonly #queueOn: (machine: Machine) => WakeQueue;

  constructor(parts: Parts, queueOn: (machine: Machine) => WakeQueue) {
    this.#parts = parts;
    this.#queueOn = queueOn;
  }

  /** The function that sets repositories up; the platform tries one that died no second time here. */
  async repair(repoId: RepoId): Promise<void> {
    const forge = this.#parts.forges.get(repoId);
    if (forge === undefined) return;
    const host = this.#parts.hosts.newHost();
    const machine = this.#parts.hosts.machineOn(host);
    await settle(this.#parts.witness, async () => {
      const { store, ids } = this.#parts;
      const kinds = await repairSetup(
        {
          store,
          ids,
          log: this.#parts.log,
          secrets: new FakeSecretBox(),
          clock: this.#parts.hosts.clockOf(host),
          webhookUrl: 'https://queue.example/hook',
          queueName: DEFAULT_SERVICE_NAME,
          queue: this.#queueOn(machine),
          openForge: async () => ({ kind: 'open', forge: onMachine(machine, forge.admin) }),
        },
        repoId,
      );
      const tries = (await store.getRepo(repoId))?.repairs ?? [];
      if (kinds.length > 0) this.#parts.witness.sometimes(`a repair is ${tries.at(-1)?.result}`);
      const isHasty = tries.some(({ at }, index) => at - (tries[index - 1]?.at ?? 0) < REPAIR_EVERY_MS);
      if (isHasty || tries.length > REPAIRS_A_DAY_MAX)
        this.#parts.witness.violate(`${repoId}: repaired too often`);
    });
  }

  /** The function that carries landings. Functions of several looks may be at work on one repository at once. */
  async carry(repoId: RepoId): Promise<void> {
    const forge = this.#parts.forges.get(repoId);
    if (forge === undefined) return;
    const host = this.#parts.hosts.newHost();
    const machine = this.#parts.hosts.machineOn(host);
    await settle(this.#parts.witness, async () => {
      const carried = await carryLandings(
        {
          store: this.#parts.store,
          log: this.#parts.log,
          clock: this.#parts.hosts.clockOf(host),
          queueName: DEFAULT_SERVICE_NAME,
          openPlanner: openBackportPlanner,
          openBackports: async () => ({ kind: 'open', forge: onMachine(machine, forge.backports) }),
        },
        repoId,
      );
      for (const { result } of carried.flatMap(({ backports }) => backports))
        this.#parts.witness.sometimes(`a backport ends as ${result}`);
    });
  }

  /** Of the same worker: two calls of the forge by the function of idle looks. */
  async glance(glance: DueGlance): Promise<Settled> {
    const host = this.#parts.hosts.newHost();
    const machine = this.#parts.hosts.machineOn(host);
    const settled = await settle(this.#parts.witness, async () => {
      const result = await answerGlance(
        {
          store: storeOn(machine, this.#parts.store),
          vault: {
            open: (owner) => machine.io('vault open', async () => openToken(this.#parts, owner.tenantId)),
          },
          looker: { glance: (request) => this.#glanceAt(glance.repoId, request) },
          queue: this.#queueOn(machine),
          clock: this.#parts.hosts.clockOf(host),
          log: this.#parts.log,
          planLimits: PLAN_LIMITS,
        },
        glance,
      );
      this.#parts.witness.sometimes(`glance ${result}`);
      this.#parts.witness.note(`${glance.repoId} glance ${glance.step}: ${result}`);
    });
    return host.dead ? 'died' : settled;
  }

  async #glanceAt(repoId: RepoId, request: GlanceRequest): Promise<GlanceAnswer> {
    const forge = this.#parts.forges.get(repoId);
    if (forge === undefined || forge.slug !== request.repoSlug)
      throw new Error(`a glance at ${request.repoSlug} in the name of ${repoId}`);
    const late = this.#parts.clock.sleep(GLANCE_TIMEOUT_MS).then((): GlanceAnswer => ({ kind: 'failed' }));
    const machine = this.#parts.hosts.machineOn(this.#parts.hosts.newHost());
    return Promise.race([glanceAt(forgeOn(machine, forge.forge), request), late]);
  }

  /** As the worker has it: a look by a function of its own before the engine is asked. */
  lookingEngine(engine: EnginePort, repoId: RepoId, host: Host): EnginePort {
    const machine = this.#parts.hosts.machineOn(host);
    const store = storeOn(machine, this.#parts.store);
    return createLookingEngine(
      {
        store,
        looker: { look: (request) => this.#lookIdle(repoId, request) },
        clock: this.#parts.hosts.clockOf(host),
        log: this.#parts.log,
      },
      {
        ...engine,
        // A failed look is caught by the service; of a dead machine nothing is sent.
        reconcile: (request, order) =>
          host.dead ? Promise.reject(new Crash()) : engine.reconcile(request, order),
      },
      repoId,
    );
  }

  async #lookIdle(repoId: RepoId, request: LookRequest): Promise<LookAnswer> {
    const forge = this.#parts.forges.get(repoId);
    if (forge === undefined || forge.slug !== request.repoSlug)
      throw new Error(`an idle look at ${request.repoSlug} in the name of ${repoId}`);
    const host = this.#parts.hosts.newHost();
    const failed = async (afterMs: number): Promise<never> => {
      await this.#parts.clock.sleep(afterMs);
      throw new Error('the idle look failed');
    };
    const answer = await Promise.race([
      lookForWork(
        forgeOn(this.#parts.hosts.machineOn(host), forge.forge),
        this.#parts.hosts.clockOf(host),
        request,
      ).catch((error: unknown) => (error instanceof Crash ? failed(0) : Promise.reject(error))),
      failed(LOOK_TIMEOUT_MS),
    ]);
    this.#parts.witness.sometimes(`idle look ${answer.kind}`);
    return answer;
  }
}

/** Each call of this client may be the last thing that its machine does. */
function onMachine<Port extends object>(machine: Machine, port: Port): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
      if (name === 'then') return undefined;
      return (...values: unknown[]) => machine.io(`forge ${String(name)}`, () => call.apply(target, values));
    },
  });
}
