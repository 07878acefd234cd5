import {
  DUE_TOLERANCE_MS,
  GLANCE_EVERY_MS,
  IDLE_DUE_DELAY_MS,
  LEASE_HELD_DELAY_MS,
  TICK_CONCURRENCY_MAX,
  TICK_INTERVAL_MS,
  TICK_REPOS_MAX,
  TICK_SENDS_MS,
} from '#core/domain/limits.ts';
import { mayBegin, type OngoingReconcile, sectionOf } from '#core/domain/wakes/fairness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { Agenda } from './agenda.ts';

/** What a deployment is given; the keys of the stage. */
export interface Deployment {
  readonly repos: number;
  readonly workersMax: number;
  readonly engineTasks: number;
  readonly engineVcpu: number;
  readonly tickMemoryMb: number;
}

/** Ways in which the service was built, for comparison with what it is. @default as it is */
export interface Build {
  readonly tickReposMax?: number;
  /** All reconciles are noted in one row, however many workers there are. */
  readonly oneSection?: boolean;
}

export interface Figures {
  /** Seconds between two looks at one repository: half of all, 99 of 100, and the longest. */
  readonly p50S: number;
  readonly p99S: number;
  readonly longestS: number;
  readonly looks: number;
  readonly reconciles: number;
  readonly glances: number;
  /** Wakes that found the share of their tenant, forge or kind used up. */
  readonly crowded: number;
  readonly workersBusy: number;
  readonly engineCpuPercent: number;
  /** Of the time, in which the fullest row of ongoing reconciles is being written. */
  readonly runsRowPercent: number;
  /** Of what one partition takes, by the fullest partition of due marks. */
  readonly dueMarksPercent: number;
  readonly tickSendsS: number;
}

/** A fifth of the repositories have work, as a team of `lib/cost.ts` has: 20 looks for each of 1,000 landings a month. */
const ACTIVE_SHARE = 0.2;
const ACTIVE_LOOK_EVERY_MS = 200_000;
const TENANT_REPOS = 5;
/** The largest forge has so much of all; the others have fifty each. */
const LARGEST_HOST_SHARE = 0.5;
const HOST_REPOS = 50;
const IDLE_LOOK_MS = 900;
const RECONCILE_MS = 10_000;
/** A worker that waits for two calls of a forge. */
const GLANCE_MS = 500;
/** Of one vCPU, with some thirty calls of a forge over TLS. Assumed, not measured in a cloud. */
const RECONCILE_CPU_MS = 300;
/** Of a worker that is sent back because its share is used up. */
const CROWDED_MS = 60;
const CALLS_PER_SEND = 3;
const CALL_MS = 10;
/** CPU of one call of an SDK, on a whole one; a function has one whole at 1,769 MB. */
const CALL_CPU_MS = 1.5;
const WHOLE_CPU_MB = 1_769;
/** AWS, "Best practices for designing and using partition keys effectively in DynamoDB": 1,000 write units of 1 KB a second. */
const PARTITION_WRITES_PER_S = 1_000;
/** An entry of the row of all runs: two uuids of 36, a host, and names of its fields. */
const RUN_ENTRY_BYTES = 230;
/** Read, and write under the condition that it is as it was read: workers of one row come one after the other. */
const ROW_ROUND_MS = 2 * 5;
const DUE_SHARDS = 16;
/** A mark that moves in the index is taken out and put in. */
const WRITES_PER_MARK = 2;

interface Repo {
  readonly run: OngoingReconcile;
  readonly isActive: boolean;
  dueAt: number;
  lookedAt: number;
  /** A wake for later is on its way; a second one would find that it is of before. */
  isPlanned: boolean;
  isQueued: boolean;
  isRunning: boolean;
  /** Counts its looks: a glance of before the newest is dropped. */
  looks: number;
}

/** The row of some of the ongoing reconciles. */
interface Section {
  readonly running: Map<number, OngoingReconcile>;
  freeAt: number;
  busyMs: number;
}

type Event =
  | { readonly kind: 'tick' }
  | { readonly kind: 'wake'; readonly index: number }
  | { readonly kind: 'planned'; readonly index: number }
  | { readonly kind: 'glance'; readonly index: number; readonly look: number }
  | { readonly kind: 'glanced'; readonly index: number; readonly look: number }
  | { readonly kind: 'end'; readonly index: number; readonly ran: boolean };

/** `glance`: after the look of this number; null: a wake. */
interface Message {
  readonly index: number;
  readonly glance: number | null;
}

/** Plays ticks, wakes, workers and the engine in virtual time. Deterministic for a seed. */
export function playDispatch(deployment: Deployment, minutes: number, build: Build = {}, seed = 1): Figures {
  const seeded = new SeededRandom(seed);
  const random = (): number => seeded.next();
  const repos = makeRepos(deployment.repos, random);
  const agenda = new Agenda<Event>();
  const queue: Message[] = [];
  let queueHead = 0;
  const running = new Set<number>();
  const sections = new Map<number, Section>();
  const sectionOfRepo = (index: number) => {
    const { section, workers } = build.oneSection
      ? { section: 0, workers: deployment.workersMax }
      : sectionOf(repos[index]?.run.repoId ?? '', deployment.workersMax);
    const found = sections.get(section) ?? { running: new Map(), freeAt: 0, busyMs: 0 };
    sections.set(section, found);
    return { workers, section: found };
  };
  let engineRuns = 0;
  const gaps: number[] = [];
  const endsAt = minutes * 60_000;
  // What the first ticks do to a service that begins at once is no figure of a service that runs.
  const countedFrom = Math.min(3 * TICK_INTERVAL_MS, endsAt / 3);
  const sum = {
    looks: 0,
    reconciles: 0,
    glances: 0,
    crowded: 0,
    busyMs: 0,
    cpuMs: 0,
    marks: 0,
    tickSendsMs: 0,
  };
  /** When a write of the row of a section is done: it takes one after the other, and its partition so many bytes a second. */
  const writeRow = (section: Section, now: number): number => {
    const units = Math.max(1, Math.ceil(((section.running.size + 1) * RUN_ENTRY_BYTES) / 1_024));
    const takesMs = Math.max(ROW_ROUND_MS, (units * 1_000) / PARTITION_WRITES_PER_S);
    section.freeAt = Math.max(section.freeAt, now) + takesMs;
    section.busyMs += takesMs;
    return section.freeAt;
  };
  const enqueue = (index: number): void => {
    const repo = repos[index];
    if (repo === undefined || repo.isQueued) return;
    repo.isQueued = true;
    queue.push({ index, glance: null });
  };
  const plan = (index: number, at: number): void => {
    const repo = repos[index] as Repo;
    if (repo.isPlanned) return;
    repo.isPlanned = true;
    agenda.add(at, { kind: 'planned', index });
  };
  const cpu = deployment.engineTasks * deployment.engineVcpu;
  const begin = (index: number, now: number): void => {
    const repo = repos[index] as Repo;
    repo.isQueued = false;
    repo.isRunning = true;
    const { section, workers } = sectionOfRepo(index);
    const isAllowed = mayBegin([...section.running.values()], repo.run, workers);
    running.add(index);
    if (!isAllowed) {
      sum.crowded += 1;
      agenda.add(now + CROWDED_MS, { kind: 'end', index, ran: false });
      repo.dueAt = now + IDLE_DUE_DELAY_MS;
      plan(index, now + LEASE_HELD_DELAY_MS);
      return;
    }
    const startsAt = writeRow(section, now);
    section.running.set(index, repo.run);
    const usesEngine = repo.isActive;
    if (usesEngine) engineRuns += 1;
    const stretch = usesEngine ? Math.max(1, (engineRuns * RECONCILE_CPU_MS) / RECONCILE_MS / cpu) : 1;
    const lastsMs = usesEngine
      ? RECONCILE_MS * (0.5 + random()) * stretch
      : IDLE_LOOK_MS * (0.6 + 0.8 * random());
    if (usesEngine) {
      sum.reconciles += 1;
      sum.cpuMs += RECONCILE_CPU_MS;
    }
    sum.looks += 1;
    repo.looks += 1;
    if (now >= countedFrom) gaps.push(startsAt - Math.max(repo.lookedAt, 0));
    repo.lookedAt = startsAt;
    const until = startsAt + lastsMs;
    sum.busyMs += until - now;
    repo.dueAt = until + IDLE_DUE_DELAY_MS;
    sum.marks += WRITES_PER_MARK;
    agenda.add(until, { kind: 'end', index, ran: true });
    if (repo.isActive) agenda.add(until + GLANCE_EVERY_MS, { kind: 'glance', index, look: repo.looks });
    if (repo.isActive) plan(index, until + ACTIVE_LOOK_EVERY_MS * (0.5 + random()));
  };
  const glance = (index: number, look: number, now: number): void => {
    const repo = repos[index] as Repo;
    if (repo.isRunning || repo.looks !== look) return;
    repo.isRunning = true;
    running.add(index);
    sum.glances += 1;
    const lastsMs = GLANCE_MS * (0.6 + 0.8 * random());
    sum.busyMs += lastsMs;
    agenda.add(now + lastsMs, { kind: 'glanced', index, look });
  };
  const takeNext = (now: number): void => {
    while (running.size < deployment.workersMax && queueHead < queue.length) {
      const { index, glance: look } = queue[queueHead] as Message;
      queueHead += 1;
      if (look !== null) glance(index, look, now);
      else if (repos[index]?.isRunning) {
        // Its group is busy: it comes when that wake is done.
        (repos[index] as Repo).isQueued = false;
        plan(index, now + 1_000);
      } else begin(index, now);
    }
  };
  const tick = (now: number): void => {
    const due = [...repos.keys()]
      .filter((index) => (repos[index] as Repo).dueAt <= now + DUE_TOLERANCE_MS)
      .sort((a, b) => (repos[a] as Repo).dueAt - (repos[b] as Repo).dueAt)
      .slice(0, build.tickReposMax ?? TICK_REPOS_MAX);
    const perSendMs = sendMs(deployment.tickMemoryMb);
    due.forEach((index, place) => {
      if (place * perSendMs < TICK_SENDS_MS) agenda.add(now + place * perSendMs, { kind: 'wake', index });
    });
    sum.tickSendsMs = Math.max(sum.tickSendsMs, Math.min(TICK_SENDS_MS, due.length * perSendMs));
    agenda.add(now + TICK_INTERVAL_MS, { kind: 'tick' });
  };

  agenda.add(0, { kind: 'tick' });
  for (let next = agenda.take(); next !== null && next.at < endsAt; next = agenda.take()) {
    const { at, what } = next;
    if (what.kind === 'tick') tick(at);
    else if (what.kind === 'wake') enqueue(what.index);
    else if (what.kind === 'glance') queue.push({ index: what.index, glance: what.look });
    else if (what.kind === 'glanced') {
      running.delete(what.index);
      (repos[what.index] as Repo).isRunning = false;
      agenda.add(at + GLANCE_EVERY_MS, { ...what, kind: 'glance' });
    } else if (what.kind === 'planned') {
      (repos[what.index] as Repo).isPlanned = false;
      enqueue(what.index);
    } else {
      // It was never noted there if it was sent back.
      if (what.ran) {
        const { section } = sectionOfRepo(what.index);
        writeRow(section, at);
        section.running.delete(what.index);
        if (repos[what.index]?.isActive) engineRuns -= 1;
      }
      running.delete(what.index);
      (repos[what.index] as Repo).isRunning = false;
    }
    takeNext(at);
  }
  // One that was not looked at since counts as late as it is by now.
  for (const { lookedAt } of repos)
    if (endsAt - lookedAt > 2 * TICK_INTERVAL_MS) gaps.push(endsAt - Math.max(0, lookedAt));
  gaps.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round((gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))] ?? 0) / 1_000);
  const seconds = endsAt / 1_000;
  return {
    p50S: at(0.5),
    p99S: at(0.99),
    longestS: at(1),
    looks: sum.looks,
    reconciles: sum.reconciles,
    glances: sum.glances,
    crowded: sum.crowded,
    workersBusy: Math.round(sum.busyMs / endsAt),
    engineCpuPercent: Math.round((100 * sum.cpuMs) / (endsAt * cpu)),
    runsRowPercent: Math.round(
      (100 * Math.max(...[...sections.values()].map(({ busyMs }) => busyMs))) / endsAt,
    ),
    dueMarksPercent: Math.round((100 * sum.marks) / DUE_SHARDS / (seconds * PARTITION_WRITES_PER_S)),
    tickSendsS: Math.round(sum.tickSendsMs / 1_000),
  };
}

/** Of one repository: what the calls take, or what they take of the CPU, whichever is longer. */
function sendMs(memoryMb: number): number {
  const waitingMs = (CALLS_PER_SEND * CALL_MS) / TICK_CONCURRENCY_MAX;
  const cpuMs = (CALLS_PER_SEND * CALL_CPU_MS) / Math.min(1, memoryMb / WHOLE_CPU_MB);
  return Math.max(waitingMs, cpuMs);
}

function makeRepos(count: number, random: () => number): readonly Repo[] {
  const onLargest = Math.round(count * LARGEST_HOST_SHARE);
  return Array.from({ length: count }, (_, index) => ({
    run: {
      id: `${index}`,
      repoId: `${index}`,
      tenantId: `tenant-${Math.floor(index / TENANT_REPOS)}`,
      host: index < onLargest ? 'largest' : `host-${Math.floor(index / HOST_REPOS)}`,
      standing: 'proven',
    },
    isActive: random() < ACTIVE_SHARE,
    // They were enrolled at different times.
    dueAt: -random() * TICK_INTERVAL_MS,
    lookedAt: -1,
    isPlanned: false,
    isQueued: false,
    isRunning: false,
    looks: 0,
  }));
}
