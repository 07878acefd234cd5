import type { RepoId } from '#core/domain/ids.ts';
import type { HoldSettings } from '#core/domain/repos/pause.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { ForgeAdmin } from '#core/ports/forge-admin.ts';
import type { SocketSender } from '#core/ports/realtime.ts';
import { deleteConnection } from '#core/services/connections/delete-connection.ts';
import { endSockets } from '#core/services/realtime/realtime.ts';
import { buryRepo } from '#core/services/repos/delete-repo.ts';
import { offboardTenant } from '#core/services/tenants/offboard.ts';
import { stopQueue } from '#core/services/wind-down/stop-queue.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { CI_CONTEXTS } from '../fakes/abstract-forge/pipeline-statuses.ts';
import { dailyWindow } from '../support/freeze-windows.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { SimClock } from '../support/sim-clock.ts';
import type { Managed } from './managed.ts';
import type { Witness } from './service/hosts.ts';
import type { SimService } from './service/service.ts';

/** Names and patterns that come to the same contexts. */
const GATE_CONTEXT_LISTS: [readonly string[], readonly string[]] = [CI_CONTEXTS, ['ci/woodpecker/push/*']];

/** A hold of a life, which lasts two hours at most. */
const UNPAID_MS = 60 * 60_000;

/** A pause with an end, in a life of two hours at most. */
const PAUSED_MS = 40 * 60_000;

/** A freeze window begins within so much of the time at which it is set; the minute of its end is not part of it. */
const FREEZE_AHEAD_MS = 30 * 60_000;
const FROZEN_MS = 30 * 60_000;
/** Zones without summer time, and how far their clocks are ahead. */
const ZONES: [readonly [string, number], ...(readonly [string, number])[]] = [
  ['UTC', 0],
  ['Asia/Kolkata', 5.5 * 60 * 60_000],
  ['America/Phoenix', -7 * 60 * 60_000],
];

/** A status that nothing reports. */
const LINT = 'lint';

const ASKED_AGAIN_MS = 10 * 60_000;

const socketOf = (tenantId: string): string => `socket-of-${tenantId}`;

/** Changes that owners make to the settings of their repositories, as the API makes them. */
export class Settings {
  /** Tenants that were offboarded. */
  readonly left = new Set<string>();
  /** Sockets that the gateway was told to close. */
  readonly #closed = new Set<string>();
  readonly #sender: SocketSender = {
    post: async () => 'sent',
    close: async (socketId) => void this.#closed.add(socketId),
  };
  readonly #service: SimService;
  readonly #clock: SimClock;
  readonly #random: SeededRandom;
  readonly #witness: Witness;

  constructor(service: SimService, clock: SimClock, random: SeededRandom, witness: Witness) {
    this.#service = service;
    this.#clock = clock;
    this.#random = random;
    this.#witness = witness;
  }

  /** One change by an owner. */
  async change(managed: Managed, all: readonly Managed[]): Promise<void> {
    const random = this.#random;
    const repo = await this.#service.store.getRepo(managed.id);
    if (repo === null || repo.tombstone) return;
    const kind = random.int(12);
    this.#witness.note(`${managed.id} settings ${kind}`);
    if (!repo.queueEnabled) return this.switchOn(managed);
    if (kind < 3) await this.#save(managed.id, { bisectFanout: random.pick([1, 2, 4, 16]) });
    // Of a life with another CI only, so that all other lives stay as they are.
    else if (kind === 3 && repo.gate === 'statuses')
      await this.#save(managed.id, {
        gateContexts: random.pick(GATE_CONTEXT_LISTS),
        gateTimeoutMinutes: random.pick([0, 20, null]),
      });
    else if (kind < 5)
      await this.#save(managed.id, {
        batchLingerSeconds: random.pick([0, 60, 300]),
        batchTarget: random.int(4),
      });
    else if (kind < 7) await this.#changeContext(managed, repo);
    else if (kind < 11) await this.#switchOff(managed, repo);
    else if (random.chance(0.3)) await this.#delete(managed, repo);
    // Without a draw of its own, so that all other lives stay as they are.
    else if (this.#clock.now() % 4 === 0) await this.#leave(repo, all);
  }

  /** An owner pauses, drains or resumes, as the API stores it. */
  async hold(managed: Managed): Promise<void> {
    const random = this.#random;
    const since = this.#clock.now();
    const until = random.chance(0.5) ? since + random.int(PAUSED_MS) : null;
    const kind = random.pick(['pause', 'drain', 'resume'] as const);
    const reason = random.chance(0.5) ? 'audit' : null;
    const pause = kind === 'resume' ? null : { kind, reason, since, until };
    this.#witness.note(`${managed.id} ${kind}`);
    await this.#hold(managed, { pause });
  }

  /** An owner sets a freeze window that begins soon or has begun, as clocks of one zone show it, or takes all away. */
  async freeze(managed: Managed): Promise<void> {
    const random = this.#random;
    const [freezeTimeZone, offsetMs] = random.pick(ZONES);
    const since = this.#clock.now() + offsetMs - FREEZE_AHEAD_MS / 2 + random.int(FREEZE_AHEAD_MS);
    const window = dailyWindow(since, since + 60_000 + random.int(FROZEN_MS), 'close');
    const freezeWindows = random.chance(0.3) ? [] : [window];
    this.#witness.note(`${managed.id} freezes from ${window.from} to ${window.to} ${freezeTimeZone}`);
    this.#witness.sometimes(freezeWindows.length > 0 ? 'a freeze window is set' : 'freeze windows go');
    await this.#hold(managed, { freezeWindows, freezeTimeZone });
  }

  /** A person asks for another status in place of the queue's, or takes it off again; the queue's may be back by then. */
  async editRule({ id, forge }: Managed): Promise<void> {
    const repo = await this.#service.store.getRepo(id);
    const rule = await forge.forge.readProtection(forge.base).catch(() => null);
    if (repo === null || rule === null) return;
    const isDrifted = rule.requiredContexts.includes(LINT);
    this.#witness.note(`${id} ${isDrifted ? 'a person restores the rule' : 'a person edits the rule'}`);
    if (isDrifted && rule.requiredContexts.includes(repo.statusContext))
      this.#witness.sometimes('a repaired rule is restored by a person');
    await forge.setProtection({ requiredContexts: [isDrifted ? repo.statusContext : LINT] });
  }

  async restoreRule({ id, forge }: Managed): Promise<void> {
    const repo = await this.#service.store.getRepo(id);
    if (repo !== null) await forge.setProtection({ requiredContexts: [repo.statusContext] });
  }

  /** A queue that stays paused lands nothing, and the judges ask for landings. */
  async resume(managed: Managed): Promise<void> {
    await this.#hold(managed, { pause: null, freezeWindows: [] });
  }

  async #hold({ id, watch }: Managed, changes: Partial<HoldSettings>): Promise<void> {
    await this.#save(id, changes);
    const repo = await this.#service.store.getRepo(id);
    watch?.hold(repo);
    const stored = repo?.pause ?? null;
    this.#witness.sometimes(stored === null ? 'resumed' : `held by a ${stored.kind}`);
    const wakeSeq = await this.#service.store.markDue(id, this.#clock.now());
    if (wakeSeq !== null) this.#service.send(id, wakeSeq);
  }

  async #delete(managed: Managed, repo: ManagedRepo): Promise<void> {
    managed.deleted = true;
    this.#witness.sometimes('repository deleted');
    await buryRepo(this.#services(), repo);
  }

  /** One change while a success of this repository stands. */
  async interrupt(managed: Managed, all: readonly Managed[]): Promise<void> {
    const random = this.#random;
    const repo = await this.#service.store.getRepo(managed.id);
    if (repo === null || repo.tombstone || !repo.queueEnabled) return;
    const kind = random.int(16);
    this.#witness.note(`${managed.id} interrupted ${kind}`);
    if (kind < 6) await this.#switchOff(managed, repo);
    else if (kind < 10) await this.#changeContext(managed, repo);
    else if (kind < 14) await this.#stopPaying(repo);
    else if (kind === 14) await this.#delete(managed, repo);
    else if (random.chance(0.5)) await this.#deleteConnection(repo, all);
    else await this.#leave(repo, all);
  }

  /** The credential and everything under it. */
  async #deleteConnection({ tenantId, connectionId }: ManagedRepo, all: readonly Managed[]): Promise<void> {
    for (const each of all) each.deleted = true;
    this.#witness.sometimes('connection deleted');
    await deleteConnection(this.#services(), tenantId, connectionId);
  }

  /** Nothing is left of who left, at the latest when its owner asks once more. */
  async checkLeft(): Promise<void> {
    const { store } = this.#service;
    for (const tenantId of this.left) {
      if ((await store.listRepos(tenantId)).length > 0) continue;
      if ((await store.loadTenant(tenantId)) === null) this.#witness.sometimes('tenant erased');
      else await this.#service.settle(() => offboardTenant(this.#offboarding(), tenantId, tenantId));
      await endSockets({ ...this.#services(), store, sender: this.#sender }, tenantId);
      if (!this.#closed.has(socketOf(tenantId)))
        this.#witness.violate(`${tenantId}: left with an open socket`);
      if (store.dump().includes(`"${tenantId}"`)) this.#witness.violate(`${tenantId}: left, and not erased`);
    }
  }

  #offboarding() {
    return { ...this.#services(), openPayments: async () => null };
  }

  /** The subscription lapses for a while: what is beyond the free allowance is held (A107). */
  async #stopPaying({ tenantId }: ManagedRepo): Promise<void> {
    const { store } = this.#service;
    await store.savePlan(tenantId, { tier: 'pro', status: 'past_due' });
    this.#witness.sometimes('held for payment');
    this.#clock.after(this.#random.int(UNPAID_MS), () => this.pay(tenantId));
  }

  async pay(tenantId: string): Promise<void> {
    if (this.left.has(tenantId)) return;
    await this.#service.store.savePlan(tenantId, { tier: 'pro', status: 'active' });
  }

  async switchOn({ id, watch }: Managed): Promise<void> {
    watch?.goOn();
    await this.#save(id, { queueEnabled: true, enabledAt: this.#clock.now(), dueAt: this.#clock.now() });
    this.#witness.sometimes('switched on');
  }

  #services() {
    const { store, ids } = this.#service;
    return {
      store,
      leases: store,
      ids,
      queue: { sendWake: async (id: RepoId, wakeSeq: number) => this.#service.send(id, wakeSeq) },
      clock: {
        now: () => this.#clock.now(),
        monotonic: () => this.#clock.now(),
        sleep: (ms: number) => this.#clock.sleep(ms),
      },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    };
  }

  async #save(
    id: RepoId,
    changes: Partial<ManagedRepo>,
    options?: { readonly lastLook: boolean },
  ): Promise<void> {
    const repo = await this.#service.store.getRepo(id);
    if (repo === null || repo.tombstone) return;
    await this.#service.store.updateRepo({ ...repo, ...changes, updatedAt: this.#clock.now() }, options);
  }

  /** By the API's own code (D-24), on a machine like any other. What it cannot confirm leaves the queue on. */
  async #switchOff({ id, forge }: Managed, repo: ManagedRepo): Promise<void> {
    const store = this.#service.storeOfApi();
    const openForge = async () => ({ kind: 'open' as const, forge: openAdmin(forge) });
    const deps = { ...this.#services(), store, leases: store, openForge };
    const storeOff = async (): Promise<ManagedRepo> => {
      await this.#save(id, { queueEnabled: false }, { lastLook: true });
      return repo;
    };
    const asked = await this.#service.settle(() => stopQueue(deps, repo, storeOff));
    if (asked === 'done' && (await this.#service.store.getRepo(id))?.queueEnabled === false)
      this.#witness.sometimes('switched off');
  }

  /** Everything of a tenant goes. Its request may end before that is done; then its owner asks again. */
  async #leave({ tenantId }: Pick<ManagedRepo, 'tenantId'>, all: readonly Managed[]): Promise<void> {
    const { store } = this.#service;
    for (const each of all) {
      if ((await store.getRepo(each.id))?.tenantId === tenantId) each.deleted = true;
    }
    this.#witness.sometimes('tenant left');
    if (!this.left.has(tenantId))
      await store.addSocket(tenantId, socketOf(tenantId), Number.MAX_SAFE_INTEGER);
    this.left.add(tenantId);
    await this.#service.settle(() => offboardTenant(this.#offboarding(), tenantId, tenantId));
    if ((await store.loadTenant(tenantId)) === null) return;
    this.#witness.sometimes('a tenant that leaves asks again');
    this.#clock.after(ASKED_AGAIN_MS, () => this.#leave({ tenantId }, all));
  }

  async #changeContext({ id, forge, contexts }: Managed, repo: ManagedRepo): Promise<void> {
    const context = contexts[repo.statusContext === contexts[0] ? 1 : 0];
    // The service changes nothing that it cannot ask the forge for: the rule has gone along with the base.
    if (!(await forge.branches()).includes(forge.base)) return;
    await forge.setProtection({ requiredContexts: [context] });
    await this.#save(id, { statusContext: context });
    this.#witness.sometimes('context changed');
  }
}

/** The one call that switching off makes: a merge that is scheduled is taken back, and one that is not is fine. */
function openAdmin(forge: AbstractForge): ForgeAdmin {
  const admin: Pick<ForgeAdmin, 'cancelAutoMerge'> = {
    async cancelAutoMerge(pr) {
      if (!forge.isScheduled(pr)) return 'not_scheduled';
      await forge.cancelSchedule(pr);
      return 'cancelled';
    },
  };
  return admin as ForgeAdmin;
}
