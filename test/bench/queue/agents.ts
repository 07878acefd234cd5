import { measure, percentile } from './measure.ts';
import { type PlannedPullRequest, planPullRequests, type Scenario } from './workload.ts';

/** The account of `SymbolicForge` that is a program. */
const AGENT = 'agent';
const PEOPLE = ['ann', 'bob', 'eve', 'joe', 'kim', 'lee', 'max', 'pat', 'sam', 'zoe'] as const;
const HOUR_MINUTES = 60;
const HOUR_MS = HOUR_MINUTES * 60_000;

export interface AgentsOptions {
  readonly fanout: number;
  readonly seeds: readonly number[];
  readonly hours: number;
  /** People are there so much longer before the agent begins; only those who come after that are counted. */
  readonly leadHours?: number;
  readonly peoplePerHour: number;
  readonly agentsPerHour: number;
  /** Times that the agent schedules each head that failed again, ten minutes apart. */
  readonly loops: number;
  /** All have one author: no author is told apart, and the order is that of the schedules. */
  readonly isOneAuthor?: boolean;
  /** Setting `bot_queued_max`; 0: no limit. */
  readonly botQueuedMax?: number;
}

/** Waits of people in gate durations, all seeds together. */
export interface AgentsRow {
  readonly fanout: number;
  readonly people: number;
  readonly agents: number;
  readonly people_p50_without: number | null;
  readonly people_p95_without: number | null;
  readonly people_p50: number | null;
  readonly people_p95: number | null;
  readonly agents_p50: number | null;
  readonly agents_p95: number | null;
  readonly runs_without: number;
  readonly runs: number;
  /** Heads that the agent scheduled again as they were, and runs with one of them in their tree. */
  readonly scheduled_again: number;
  readonly runs_again: number;
  readonly unproven: number;
  readonly lost: number;
}

const PEOPLE_PLAN: Omit<Scenario, 'n' | 'arrivals'> = {
  name: 'people',
  p: 0.03,
  ci: { kind: 'fixed', D: 10 },
};
const AGENTS_PLAN: Omit<Scenario, 'n' | 'arrivals'> = { ...PEOPLE_PLAN, name: 'agents', p: 0.06 };

function planOf(
  plan: Omit<Scenario, 'n' | 'arrivals'>,
  perHour: number,
  hours: number,
  seed: number,
): readonly PlannedPullRequest[] {
  const rate = (perHour * plan.ci.D) / HOUR_MINUTES;
  return planPullRequests({ ...plan, n: perHour * hours, arrivals: { kind: 'poisson', rate } }, seed);
}

/** The same pull requests of people twice, seed by seed: alone, and beside those of one agent. */
export function measureAgents(options: AgentsOptions): AgentsRow {
  const { fanout, seeds, hours, peoplePerHour, agentsPerHour, loops, isOneAuthor = false } = options;
  const { botQueuedMax = 0, leadHours = 0 } = options;
  const waits = { before: [] as number[], people: [] as number[], agents: [] as number[] };
  const sum = { people: 0, agents: 0, before: 0, runs: 0, told: 0, again: 0, unproven: 0, lost: 0 };
  for (const seed of seeds) {
    const people = planOf(PEOPLE_PLAN, peoplePerHour, hours + leadHours, seed).map((each, index) => ({
      ...each,
      author: PEOPLE[index % PEOPLE.length] ?? 'ann',
    }));
    const agents = planOf(AGENTS_PLAN, agentsPerHour, hours, seed + 500).map((each) => ({
      ...each,
      number: each.number + people.length,
      arrivesAtMs: each.arrivesAtMs + leadHours * HOUR_MS,
      author: AGENT,
    }));
    const all = [...people, ...agents].sort((a, b) => a.arrivesAtMs - b.arrivesAtMs);
    const planned = isOneAuthor ? all.map((each) => ({ ...each, author: AGENT })) : all;
    const scenario: Scenario = { ...PEOPLE_PLAN, n: all.length, arrivals: { kind: 'once' }, botQueuedMax };
    const shared = { scenario, fanout, seed, cold: false };
    const loop = { author: AGENT, everyMinutes: 10, times: loops };
    const [before, beside] = [
      measure({ ...shared, planned: people }),
      measure({ ...shared, planned, ...(isOneAuthor ? {} : { loop }) }),
    ];
    const counted = new Set(
      people.filter((each) => each.arrivesAtMs >= leadHours * HOUR_MS).map(({ number }) => number),
    );
    for (const [number, wait] of before.landedAfter) if (counted.has(number)) waits.before.push(wait);
    for (const [number, wait] of beside.landedAfter)
      if (number > people.length) waits.agents.push(wait);
      else if (counted.has(number)) waits.people.push(wait);
    sum.people += counted.size;
    sum.agents += agents.length;
    sum.before += before.runs;
    sum.runs += beside.runs;
    sum.told += beside.toldAgain;
    sum.again += beside.runsAgain;
    sum.unproven += beside.unproven + beside.red;
    sum.lost += beside.lost;
  }
  return {
    fanout,
    people: sum.people,
    agents: sum.agents,
    people_p50_without: percentile(waits.before, 0.5),
    people_p95_without: percentile(waits.before, 0.95),
    people_p50: percentile(waits.people, 0.5),
    people_p95: percentile(waits.people, 0.95),
    agents_p50: percentile(waits.agents, 0.5),
    agents_p95: percentile(waits.agents, 0.95),
    runs_without: sum.before,
    runs: sum.runs,
    scheduled_again: sum.told,
    runs_again: sum.again,
    unproven: sum.unproven,
    lost: sum.lost,
  };
}
