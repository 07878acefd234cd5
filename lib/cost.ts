/** Resources of a template by type, as far as a price depends on them. */
export type ResourceCounts = Readonly<Record<string, number>>;

/**
 * `asleep`: no queue is switched on. `idle`: queues are, in `TEAM_REPOS` repositories, and nothing is scheduled. `busy`: one
 * team works in these. `running`: as `idle`, with an engine that never sleeps, because a forge is reached by it alone.
 */
export const COST_STATES = ['asleep', 'idle', 'busy', 'running'] as const;
export type CostState = (typeof COST_STATES)[number];

/** USD a month in each state. */
export interface CostLine extends Readonly<Record<CostState, number>> {
  readonly what: string;
  readonly basis: string;
}

const HOURS = 730;
/** List prices of us-east-1, in USD. Free tiers that never end are taken off where they have a name here. */
const PRICES = {
  fargateArmVcpuHour: 0.03238,
  fargateArmGbHour: 0.00356,
  publicIpv4Hour: 0.005,
  kmsKey: 1,
  secret: 0.4,
  alarm: 0.1,
  alarmsFree: 10,
  // For each hour in which it has a value, as a month of them.
  customMetric: 0.3,
  dashboard: 3,
  dashboardsFree: 3,
  webAcl: 5,
  webAclRule: 1,
  queueRequest: 0.5e-6,
  queueRequestsFree: 1_000_000,
  logsGb: 0.5,
  lambdaArmGbSecond: 1.33334e-5,
  lambdaRequest: 0.2e-6,
  lambdaGbSecondsFree: 400_000,
  lambdaRequestsFree: 1_000_000,
  tableWrite: 0.625e-6,
  tableRead: 0.125e-6,
  keyRequest: 3e-6,
} as const;
const WEB_ACL_RULES = 4;
/** Calls of a month with which Lambda polls one queue: five pollers that each ask every 20 seconds. */
const POLLS_PER_QUEUE = (5 * HOURS * 3600) / 20;
const TICKS = HOURS * 12;
/** Log of one invocation, in GB: start, report and a line or two. */
const LOG_GB_PER_RUN = 2e-6;

/** The team that the states are about. */
const TEAM_REPOS = 5;
/**
 * Hours of a month in which the engine is up: ten hours with scheduled pull requests on 22 days, and the hour after
 * each.
 */
const TEAM_ENGINE_HOURS = 22 * 11;
/**
 * Glances of a month: in each repository nine between two ticks of the hours above, and some 250 in each night until it
 * is quiet.
 */
const TEAM_GLANCES = TEAM_REPOS * (TEAM_ENGINE_HOURS * 12 * 9 + 22 * 250);
/** Reconciles of a month: 1,000 pull requests landed, 20 looks at each. */
const TEAM_RECONCILES = 20_000;

/**
 * Price of the table for one wake. Written: wake, lease, outcome, and due mark with its index. Read: repository, plan,
 * connection, and the state of the queue.
 */
const TABLE_PER_WAKE = 11 * PRICES.tableWrite + 12 * PRICES.tableRead;
const QUEUE_PER_WAKE = 3 * PRICES.queueRequest;
const LOG_PER_WAKE = 2 * LOG_GB_PER_RUN * PRICES.logsGb;

/**
 * Usage and price of one piece of work: the usage of its functions, of which a part is free, and the price of the rest.
 */
interface Work {
  readonly gbSeconds: number;
  readonly runs: number;
  readonly usd: number;
}
/** An idle look: the worker that waits for it, and the look. */
const IDLE_LOOK: Work = {
  gbSeconds: 0.25 * (0.9 + 0.7),
  runs: 2,
  usd: TABLE_PER_WAKE + QUEUE_PER_WAKE + PRICES.keyRequest + LOG_PER_WAKE,
};
/** A reconcile: a worker that waits ten seconds for the engine, which stores a dozen steps. */
const RECONCILE: Work = {
  gbSeconds: 0.25 * 10,
  runs: 1,
  usd: TABLE_PER_WAKE + 36 * PRICES.tableWrite + QUEUE_PER_WAKE + PRICES.keyRequest + LOG_PER_WAKE,
};
/**
 * A glance: the forwarder, the worker that waits for two calls of a forge, and the function that makes them. Nothing is
 * written.
 */
const GLANCE: Work = {
  gbSeconds: 0.25 * (0.05 + 0.5 + 0.35),
  runs: 3,
  usd: 8 * PRICES.tableRead + 2 * QUEUE_PER_WAKE + PRICES.keyRequest + 3 * LOG_GB_PER_RUN * PRICES.logsGb,
};

/** Price in USD of the functions for all work of a month. */
function functionsUsd(month: readonly (readonly [times: number, Work])[]): number {
  const sum = (of: (work: Work) => number): number =>
    month.reduce((total, [times, work]) => total + times * of(work), 0);
  const gbSeconds = sum((work) => work.gbSeconds) - PRICES.lambdaGbSecondsFree;
  const runs = sum((work) => work.runs) - PRICES.lambdaRequestsFree;
  return Math.max(0, gbSeconds) * PRICES.lambdaArmGbSecond + Math.max(0, runs) * PRICES.lambdaRequest;
}

/** The sizes of a deployment that are paid by time. */
export interface DeploymentSize {
  /** Virtual CPUs of one task of the engine. */
  readonly vcpu: number;
  readonly gb: number;
  /** Tasks of an engine that is up. */
  readonly tasks: number;
  /** Memory of the tick function, in GB. */
  readonly tickGb: number;
}

/** The cost of a deployment for a month, line by line. `sizes` are those of the template. */
export function estimateCost(counts: ResourceCounts, sizes: DeploymentSize): readonly CostLine[] {
  const count = (type: string): number => counts[type] ?? 0;
  const beyond = (type: string, free: number): number => Math.max(0, count(type) - free);
  const always = (usd: number) => ({ asleep: usd, idle: usd, busy: usd, running: usd });
  const perEngineHour = (usd: number) => ({
    asleep: 0,
    idle: 0,
    busy: usd * TEAM_ENGINE_HOURS,
    running: usd * HOURS,
  });
  const sealing = count('AWS::KMS::Key') - count('signing keys');
  const tasks = count('AWS::ECS::Service') * sizes.tasks;
  const addresses = count('services with addresses') * sizes.tasks;
  const tick: Work = {
    // A second of it waits for dead wakes.
    gbSeconds: sizes.tickGb * 1.3,
    runs: 1,
    usd: 16 * PRICES.tableRead + LOG_GB_PER_RUN * PRICES.logsGb,
  };
  const looks = TEAM_REPOS * TICKS;
  const looksUsd = looks * IDLE_LOOK.usd;
  const quiet = [
    [TICKS, tick],
    [looks, IDLE_LOOK],
  ] as const;
  const polls = count('queue mappings') * POLLS_PER_QUEUE;
  const lines: readonly CostLine[] = [
    {
      what: 'engine task',
      ...perEngineHour(tasks * (sizes.vcpu * PRICES.fargateArmVcpuHour + sizes.gb * PRICES.fargateArmGbHour)),
      basis: `${tasks} of ${sizes.vcpu} vCPU and ${sizes.gb} GB on ARM64, ${TEAM_ENGINE_HOURS} hours when busy`,
    },
    {
      what: 'its public address',
      ...perEngineHour(addresses * PRICES.publicIpv4Hour),
      basis: `${addresses} IPv4, as long as the task`,
    },
    {
      what: 'credential key',
      ...always(sealing * PRICES.kmsKey),
      basis: `${sealing} KMS key; up to 2 more once its material has rotated twice`,
    },
    {
      what: 'evidence key',
      // A signature costs 0.15 for ten thousand (AWS, "AWS KMS pricing": asymmetric requests but RSA 2048).
      ...always(count('signing keys') * PRICES.kmsKey),
      basis: `${count('signing keys')} KMS key that signs (-c evidenceKey=true); its material does not rotate`,
    },
    {
      what: 'secrets',
      ...always(count('AWS::SecretsManager::Secret') * PRICES.secret),
      basis: `${count('AWS::SecretsManager::Secret')} in Secrets Manager`,
    },
    {
      what: 'alarms',
      // An alarm on an expression is charged for each metric in it.
      ...always(beyond('alarm metrics', PRICES.alarmsFree) * PRICES.alarm),
      basis: `${count('AWS::CloudWatch::Alarm')} of ${count('alarm metrics')} metrics, ${PRICES.alarmsFree} of them free`,
    },
    {
      what: 'figures of the queues',
      // The engine alone writes them: asleep there are none.
      ...perEngineHour((count('queue metrics') * PRICES.customMetric) / HOURS),
      basis: `${count('queue metrics')} custom metrics, by the hour (-c queueMetrics=true)`,
    },
    {
      what: 'dashboards',
      ...always(beyond('AWS::CloudWatch::Dashboard', PRICES.dashboardsFree) * PRICES.dashboard),
      basis: `${count('AWS::CloudWatch::Dashboard')}, ${PRICES.dashboardsFree} free`,
    },
    {
      what: 'waiting at queues',
      ...always(Math.max(0, polls - PRICES.queueRequestsFree) * PRICES.queueRequest),
      basis: `${count('queue mappings')} queues polled; a million requests are free each month`,
    },
    {
      what: 'ticks',
      ...always(TICKS * tick.usd),
      basis: 'one every five minutes',
    },
    {
      what: 'idle looks',
      asleep: 0,
      idle: looksUsd,
      busy: looksUsd,
      running: looksUsd,
      basis: `${TEAM_REPOS} repositories, every five minutes`,
    },
    {
      what: 'glances',
      asleep: 0,
      idle: 0,
      busy: TEAM_GLANCES * GLANCE.usd,
      running: 0,
      basis: `${TEAM_GLANCES}, every half minute where something happened within the hour`,
    },
    {
      what: 'reconciles',
      asleep: 0,
      idle: 0,
      busy: TEAM_RECONCILES * RECONCILE.usd,
      running: 0,
      basis: `${TEAM_RECONCILES} of ten seconds when busy`,
    },
    {
      what: 'functions',
      asleep: functionsUsd([[TICKS, tick]]),
      idle: functionsUsd(quiet),
      busy: functionsUsd([...quiet, [TEAM_GLANCES, GLANCE], [TEAM_RECONCILES, RECONCILE]]),
      running: functionsUsd(quiet),
      basis: 'beyond 400,000 GB-seconds and a million runs, which are free each month',
    },
    {
      what: 'rules at the edge',
      ...always(count('AWS::WAFv2::WebACL') * (PRICES.webAcl + WEB_ACL_RULES * PRICES.webAclRule)),
      basis: `${count('AWS::WAFv2::WebACL')} web ACL (-c waf=true)`,
    },
    {
      what: 'API, socket, distribution, sign-in, storage',
      ...always(0),
      basis: 'paid by use: less than 0.50 for one team',
    },
  ];
  return lines.filter((line) => line.running + line.busy > 0 || line.basis.startsWith('paid by use'));
}

/**
 * Price in USD a month of engine, looks, glances and reconciles, for a service of any size (`npm run scale`). All other
 * costs are small beside it.
 */
export function estimateScale(
  engine: { readonly vcpu: number; readonly tasks: number },
  perHour: { readonly looks: number; readonly glances: number; readonly reconciles: number },
): number {
  // Twice as many GB as vCPU: the least that goes with them.
  const taskHour =
    engine.vcpu * (PRICES.fargateArmVcpuHour + 2 * PRICES.fargateArmGbHour) + PRICES.publicIpv4Hour;
  const month = [
    [HOURS * perHour.looks, IDLE_LOOK],
    [HOURS * perHour.glances, GLANCE],
    [HOURS * perHour.reconciles, RECONCILE],
  ] as const;
  const work = month.reduce((sum, [times, { usd }]) => sum + times * usd, 0);
  return HOURS * engine.tasks * taskHour + work + functionsUsd(month);
}

export function sumUsd(lines: readonly CostLine[], state: CostState): number {
  return lines.reduce((sum, line) => sum + line[state], 0);
}
