import type { RepoId } from '#core/domain/ids.ts';
import { LANDING_TIMEOUT_MS, TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import { BACKPORT_EVENTS_MAX } from '#core/domain/pulls/backport.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { givenConnection } from '../builders/managed-repo.ts';
import type { JournalEntry } from '../fakes/abstract-forge/world.ts';
import { createSeededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { SimClock } from '../support/sim-clock.ts';
import { Archives } from './archives.ts';
import { judgeBackports, judgeCarried } from './backports.ts';
import { entryOfBranch, viewOfBranch } from './branch-view.ts';
import { gatherCrowd } from './crowd.ts';
import { drawOdds } from './draw-odds.ts';
import { drawRepo } from './draw-repo.ts';
import { FAMILIES, type Family, PROMPT, UNGUARDED } from './families.ts';
import { describeEntry, ForgeHooks } from './forge-hooks.ts';
import { drawForge, setFaults, setRareTroubles } from './forge-troubles.ts';
import { giveHistory } from './history.ts';
import { Judge } from './judge.ts';
import { LifeLog } from './life-log.ts';
import type { Managed } from './managed.ts';
import { healMood, setMood } from './moods.ts';
import { NO_ODDS, type Odds, type Trouble } from './odds.ts';
import { RELEASE } from './plot.ts';
import { Project } from './project.ts';
import { Rest } from './rest.ts';
import { TEAMS } from './rules.ts';
import type { Witness } from './service/hosts.ts';
import { SimService } from './service/service.ts';
import { Settings } from './settings.ts';
import { EXEMPTING_LABEL, Watch } from './watch.ts';

/** Parts that can be left out of a failing life to make it smaller. */
export interface Limits {
  readonly pulls?: number;
  readonly without?: readonly Trouble[];
  readonly hours?: number;
}

export interface Verdict {
  readonly seed: number;
  readonly family: Family;
  readonly steps: number;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly sometimes: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
  readonly labelsFaulted: ReadonlySet<string>;
  readonly labelsCrashed: ReadonlySet<string>;
}

/** One seeded life of a service and its repositories, then everything heals and must come to the right rest. */
export async function simulate(
  seed: number,
  family: Family,
  limits: Limits = {},
  keepTrace = false,
): Promise<Verdict> {
  const life = new Life(seed, family, limits, keepTrace);
  await life.run();
  const { steps, violations, trace, sometimesSeen: sometimes, labels, labelsFaulted, labelsCrashed } = life;
  return { seed, family, steps, violations, trace, sometimes, labels, labelsFaulted, labelsCrashed };
}

const HOUR_MS = 3_600_000;
const HOURS_MAX = 2;
const PULLS_MAX = 8;
const CROWD_PULLS_MAX = 20;
/** From a success to what comes between it and its merge. */
const INTERRUPTED_WITHIN_MS = 40_000;
/** Ten minutes of a landing, and as long as it takes to be looked at on a forge that fails … */
const STANDING_MS_MAX = 17 * 60_000;
/** … so often: a store that fails may keep every look from happening. */
const STANDING_LOOKS_MIN = 3;
const BOT = 'mq-bot';
const OWN_RUNS_CHANCE = 0.3;
/** For how long a forge sends the events of gates: always, never, or until it stops. */
const GATE_EVENTS_MS = [Number.POSITIVE_INFINITY, 0, 40 * 60_000] as const;
const EVENT_FAMILIES: readonly Family[] = ['people', 'other_ci', 'drifts', 'rules'];

class Life extends LifeLog implements Witness {
  readonly #seed: number;
  readonly #family: Family;
  readonly #limits: Limits;
  readonly #odds: Odds;
  /** As drawn: healing changes the ones in force. */
  readonly #odds0: Readonly<Odds>;
  readonly #clock: SimClock;
  readonly #service: SimService;
  readonly #world: SeededRandom;
  readonly #faults: SeededRandom;
  readonly #people: SeededRandom;
  /** For events that were added later: a stream of their own leaves the old seeds unchanged. */
  readonly #rare: SeededRandom;
  /** Another one for the plots and moods that came after that. */
  readonly #plots: SeededRandom;
  readonly #settings: Settings;
  readonly #archives: Archives;
  readonly #rest: Rest;
  readonly #managed: Managed[] = [];
  /** Two branches of one repository are managed. */
  readonly #sharesForge: boolean;
  /** The CI runs on every branch, and what has passed on a head may count. */
  readonly #runsOnHeads: boolean;
  readonly #hooks: ForgeHooks;

  constructor(seed: number, family: Family, limits: Limits, keepTrace: boolean) {
    const clock = new SimClock();
    super(clock, keepTrace);
    this.#clock = clock;
    this.#seed = seed;
    this.#family = family;
    this.#limits = limits;
    // A stream of its own for each concern: leaving one trouble out changes nothing in the others.
    const stream = (index: number) => createSeededRandom((seed * 64 + FAMILIES.indexOf(family)) * 8 + index);
    this.#world = stream(1);
    this.#faults = stream(2);
    this.#people = stream(3);
    this.#odds = drawOdds(family, stream(0));
    for (const trouble of limits.without ?? []) this.#odds[trouble] = 0;
    this.#odds0 = { ...this.#odds };
    this.#rare = stream(5);
    this.#plots = stream(6);
    this.#sharesForge = family === 'two_branches';
    this.#runsOnHeads = family === 'own_runs' || (this.#sharesForge && stream(7).chance(OWN_RUNS_CHANCE));
    this.#service = new SimService(this.#clock, stream(4), this.#odds, this);
    this.#settings = new Settings(this.#service, this.#clock, this.#people, this);
    this.#archives = new Archives(this.#clock, this.#people, this, this.#odds0);
    this.#rest = new Rest(this.#service, this.#clock, this, family, this.#odds.skewMs, (managed) =>
      this.#settings.switchOn(managed),
    );
    // The others keep the lives that their seeds had.
    const gateEventsMs = EVENT_FAMILIES.includes(family)
      ? stream(7).pick(GATE_EVENTS_MS)
      : Number.POSITIVE_INFINITY;
    this.#hooks = new ForgeHooks({
      service: this.#service,
      clock,
      managed: this.#managed,
      sharesForge: this.#sharesForge,
      bot: BOT,
      gateEventsMs,
      sometimes: (what) => this.sometimes(what),
    });
  }

  get steps(): number {
    return this.#service.steps;
  }

  async run(): Promise<void> {
    const isFleet = this.#family === 'fleet' || this.#family === 'outages';
    const hasTwo = this.#family === 'interrupted' || this.#sharesForge;
    const repos = isFleet ? 2 + this.#world.int(2) : hasTwo ? 2 : 1;
    for (let index = 1; index <= repos; index += 1) await this.#manage(index);
    this.#service.startTicks();
    const hours = Math.min(this.#limits.hours ?? HOURS_MAX, 0.3 + this.#world.next() * (HOURS_MAX - 0.3));
    const end = this.#clock.now() + hours * HOUR_MS;
    this.#planActs('peoplePerHour', end, () => this.#act());
    this.#planActs('settingsPerHour', end, () => this.#settings.change(this.#pickManaged(), this.#managed));
    this.#planActs('pausesPerHour', end, () => this.#settings.hold(this.#pickManaged()));
    this.#planActs('freezesPerHour', end, () => this.#settings.freeze(this.#pickManaged()));
    this.#planActs('driftsPerHour', end, () => this.#settings.editRule(this.#pickManaged()));
    this.#planActs('archivesPerHour', end, () => this.#archives.archive(this.#pickManaged()));
    this.#planActs('renamesPerHour', end, () => this.#archives.rename(this.#pickManaged()));
    this.#planActs('labelsPerHour', end, () => this.#label());
    this.#planActs('recordLostPerHour', end, () => this.#loseRecord());
    this.#planActs('throttlesPerHour', end, async () => this.#service.throttleStore());
    this.#planActs('engineDiesPerHour', end, async () => this.#service.engine.kill());
    this.#planActs('hidesPerHour', end, async () => this.#service.hideRepo(this.#pickManaged().id));
    await this.#clock.runUntil(end, () => this.violations.length === 0);
    if (this.violations.length === 0) await this.#heal();
  }

  // Witness

  /** A landed tree was not the proven one: nothing may land any more. */
  halted(repoId: RepoId): void {
    this.#find(repoId)?.watch?.halt();
  }

  async afterReconcile(repoId: RepoId, looked: boolean): Promise<void> {
    const managed = this.#find(repoId);
    if (managed === undefined) return;
    managed.judge.read();
    const now = this.#clock.now();
    if (looked) managed.lookedAt.unshift(now);
    managed.lookedAt.length = Math.min(managed.lookedAt.length, STANDING_LOOKS_MIN);
    const since = managed.lookedAt[STANDING_LOOKS_MIN - 1];
    if (PROMPT.includes(this.#family) && since !== undefined) {
      const isGone = (sha: string) => managed.project.isDone(sha);
      const latest = Math.min(now - STANDING_MS_MAX, since - LANDING_TIMEOUT_MS);
      managed.judge.readStanding(now, latest, isGone);
    }
    for (const what of managed.judge.violations.splice(0)) this.violate(`${repoId}: ${what}`);
  }

  // World

  async #manage(index: number): Promise<void> {
    const id = `repo-${index}`;
    const further = index > 1 && this.#sharesForge ? this.#managed[0] : undefined;
    const { repo, contexts, rules } = drawRepo({
      id,
      index,
      seed: this.#seed,
      family: this.#family,
      odds: this.#odds0,
      first: further,
      sharesForge: this.#sharesForge,
      runsOnHeads: this.#runsOnHeads,
      dueAt: this.#clock.now(),
      world: this.#world,
      people: this.#people,
    });
    const { tenantId } = repo;
    const { forge, gatePath } = await this.#openForge(repo, further);
    if (rules !== undefined) for (const [name, members] of TEAMS) await forge.setTeam(name, members);
    const { store } = this.#service;
    await store.createTenant(tenantId, 0);
    await store.createConnection(
      givenConnection({ id: repo.connectionId, tenantId, botUsername: `${BOT}-${tenantId}` }),
    );
    await store.createRepo(repo, null);
    if (this.#family === 'steady') await giveHistory(store, repo);
    const project = new Project(
      forge,
      { world: this.#world, gate: this.#faults, people: this.#people, plots: this.#plots },
      () => this.#service.odds,
      {
        family: this.#family,
        style: repo.mergeStyle,
        pullsMax: this.#limits.pulls ?? (this.#odds0.oneAuthor > 0 ? CROWD_PULLS_MAX : PULLS_MAX),
        gatePath,
        gatesHeads: this.#runsOnHeads,
        ...(this.#sharesForge ? { elsewhere: () => this.#pullsElsewhere(id) } : {}),
        now: () => this.#clock.now(),
        note: (line) => this.note(`${id} ${line}`),
        sometimes: (what) => this.sometimes(what),
      },
    );
    const judge = new Judge(forge, {
      bot: BOT,
      contexts,
      sharesForge: this.#sharesForge,
      baseIsProtected: !UNGUARDED.includes(this.#family),
      headsProve: this.#runsOnHeads,
      mayLeakBranches: () => this.#service.store.recordsLostOf(id) > 0,
    });
    const mergesOtherwise = this.#odds.otherTrees > 0;
    const managed: Managed = {
      id,
      forge,
      gatePath,
      contexts,
      judge,
      project,
      deleted: false,
      mergesOtherwise,
      lookedAt: [],
      ...(rules === undefined ? {} : { rules }),
    };
    managed.watch = new Watch(managed, BOT, store, () => this.#clock.now(), this);
    this.#managed.push(managed);
    this.#service.forges.set(id, forge);
    await project.begin();
    const { crowd, rowBytes } = this.#odds0;
    if (crowd > 0) managed.crowd = await gatherCrowd(forge, crowd, this.#plots, project.prs);
    if (crowd > 1_000) this.sometimes('a crowd of thousands');
    if (rowBytes > 0) store.documentBytesMax = rowBytes;
    if (further === undefined) setRareTroubles(forge, this.#family, this.#service.odds, this.#rare);
  }

  /** A forge of its own, or that of the first branch of the same repository. */
  async #openForge(
    repo: ManagedRepo,
    further: Managed | undefined,
  ): Promise<Pick<Managed, 'forge' | 'gatePath'>> {
    const { id, slug, baseBranch, statusContext } = repo;
    if (further !== undefined) {
      await further.forge.pushBranch(baseBranch, further.forge.tipOfBase());
      const forge = viewOfBranch(further.forge, baseBranch);
      await forge.setProtection({ requiredContexts: [statusContext] });
      return { forge, gatePath: further.gatePath };
    }
    const { forge, gatePath } = drawForge(this.#family, this.#world, this.#plots, {
      clock: this.#clock,
      slug,
      bot: BOT,
      runsOnHeads: this.#runsOnHeads,
      onEntry: (entry) => this.#onEntry(id, entry),
    });
    setFaults(id, forge, this.#faults, this.#plots, this.#service, this, (each) => this.#find(each));
    setMood(forge, this.#odds, this.#plots);
    return { forge, gatePath };
  }

  #pullsElsewhere(id: RepoId): readonly number[] {
    return this.#managed.flatMap((each) => (each.id === id ? [] : each.project.prs));
  }

  #find(id: RepoId): Managed | undefined {
    return this.#managed.find((managed) => managed.id === id);
  }

  #onEntry(id: RepoId, entry: JournalEntry): void {
    if (this.keepsTrace) this.note(`${id} ${describeEntry(entry)}`);
    const managed = this.#find(id);
    managed?.watch?.read(entry);
    if (this.#sharesForge) this.#managed[1]?.watch?.read(entryOfBranch(entry, RELEASE));
    if (managed !== undefined && entry.kind === 'status' && entry.state === 'success')
      this.#interrupt(managed, entry.sha, entry.creator);
    this.#hooks.tell(id, entry);
  }

  /** Something comes between this success and its merge. */
  #interrupt(managed: Managed, head: string, by: string): void {
    const odds = this.#service.odds.interrupt;
    const random = this.#people;
    if (odds === 0 || by !== BOT || !random.chance(odds)) return;
    this.#clock.after(random.int(INTERRUPTED_WITHIN_MS), async () => {
      // Nothing would end a hold that begins after everything has healed.
      if (this.#service.odds.interrupt === 0) return;
      if (random.chance(0.5)) await this.#settings.interrupt(managed, this.#managed);
      else await managed.project.interrupt(head);
    });
  }

  #planActs(rate: keyof Odds & `${string}PerHour`, end: number, act: () => Promise<void>): void {
    const perHour = this.#odds[rate];
    if (perHour <= 0) return;
    const random = this.#people;
    for (let at = this.#clock.now(); ; ) {
      at += Math.round(-Math.log(1 - random.next()) * (HOUR_MS / perHour));
      if (at >= end) return;
      this.#clock.after(at - this.#clock.now(), act);
    }
  }

  /** A person, named or not, says how urgent a pull request is, or is not any more. */
  async #label(): Promise<void> {
    const { forge, project } = this.#pickManaged();
    const random = this.#people;
    const open = project.prs.filter((pr) => !forge.isMerged(pr));
    if (open.length === 0) return;
    const pr = open[random.int(open.length)] ?? 0;
    const isFrozen = this.#odds0.freezesPerHour > 0;
    const name = isFrozen ? EXEMPTING_LABEL : random.pick(['incident', 'high', 'low'] as const);
    const isOn = random.chance(0.7);
    const user = random.pick(['oncall', 'stranger'] as const);
    this.note(`${user} ${isOn ? 'labels' : 'unlabels'} #${pr} ${name}`);
    if (isOn) this.sometimes(`label ${name} of ${user}`);
    await forge.setLabel(pr, name, isOn, user);
  }

  /** A32: the engine sets an unreadable record aside and finds everything out again. */
  async #loseRecord(): Promise<void> {
    const { id, watch } = this.#pickManaged();
    if (this.#service.store.peekRecord(id) === null) return;
    watch?.loseRecord();
    this.note(`${id} record becomes unreadable`);
    this.sometimes('record lost');
    this.#service.store.loseRecord(id);
  }

  #pickManaged(): Managed {
    return this.#people.pick(this.#managed as [Managed, ...Managed[]]);
  }

  async #act(): Promise<void> {
    const managed = this.#pickManaged();
    // The forge's pages offer nothing there, and a push is refused.
    if (this.#archives.isAway(managed)) return;
    await managed.project.act();
    this.#hooks.send(managed.id, 'pull_request', {
      action: 'edited',
      pull_request: { base: { ref: managed.forge.base } },
      sender: { login: 'dev' },
    });
  }

  // End

  async #judgeBackports({ id, forge }: Managed): Promise<void> {
    const { store } = this.#service;
    const repo = await store.getRepo(id);
    if (repo === null) return;
    const events = await store.listOwnEvents(repo, BACKPORT_EVENTS_MAX);
    const carried = judgeCarried(forge, repo, events, this.#clock.now());
    for (const what of [...judgeBackports(forge, BOT), ...carried]) this.violate(`${id}: ${what}`);
  }

  async #heal(): Promise<void> {
    this.note('--- heals ---');
    Object.assign(this.#service.odds, NO_ODDS);
    this.#service.engine.replaceContainer();
    if (this.#family === 'interrupted') await this.#settings.pay('tenant-1');
    if (this.#odds0.driftsPerHour > 0)
      for (const each of this.#managed) await this.#settings.restoreRule(each);
    if (this.#odds0.archivesPerHour > 0)
      for (const each of this.#managed) {
        await this.#archives.unarchive(each);
        await this.#archives.renameBack(each);
      }
    if (this.#odds0.pausesPerHour > 0 || this.#odds0.freezesPerHour > 0)
      for (const managed of this.#managed) await this.#settings.resume(managed);
    this.#service.store.indexLagMs = 0;
    this.#service.store.documentBytesMax = Number.POSITIVE_INFINITY;
    for (const { forge } of this.#managed) healMood(forge);
    // Calls still under way may take as long as the longest pause, delay and late delivery.
    const hasLateOnes =
      this.#odds0.pause > 0 ||
      this.#odds0.lateMs > 0 ||
      this.#odds0.hookLate > 0 ||
      this.#odds0.engineLost > 0;
    await this.#clock.runUntil(this.#clock.now() + (hasLateOnes ? 0.6 : 0.2) * HOUR_MS);
    for (const managed of this.#managed) {
      const { project } = managed;
      if (managed.deleted) continue;
      await project.heal();
      const paused = await project.pause();
      if (paused.length > 0) await this.#clock.runUntil(this.#clock.now() + 2 * TICK_INTERVAL_MS);
      await project.resume(paused);
    }
    await this.#rest.reach(this.#managed);
    for (const managed of this.#managed) await this.#rest.check(managed);
    if (this.#odds0.backports > 0) for (const managed of this.#managed) await this.#judgeBackports(managed);
    await this.#settings.checkLeft();
  }
}
