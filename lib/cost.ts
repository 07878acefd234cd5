/** Resources of a template by type, as far as a price depends on them. */
export type ResourceCounts = Readonly<Record<string, number>>;

export interface CostLine {
  readonly what: string;
  /** USD a month while nothing happens. */
  readonly usd: number;
  /** False: not while the engine sleeps. */
  readonly alwaysOn: boolean;
  readonly basis: string;
}

const HOURS = 730;
/** us-east-1, list prices without free tiers unless the line says so. Other regions differ by up to a third. */
const PRICES = {
  fargateArmVcpuHour: 0.03238,
  fargateArmGbHour: 0.00356,
  publicIpv4Hour: 0.005,
  kmsKey: 1,
  privateZone: 0.5,
  secret: 0.4,
  alarm: 0.1,
  alarmsFree: 10,
  dashboard: 3,
  dashboardsFree: 3,
  webAcl: 5,
  webAclRule: 1,
  /** Five pollers that each ask every 20 seconds, 0.50 per million. */
  queuePolling: 0.33,
  /** About one gigabyte: ticks, health checks, start-ups. */
  logs: 0.5,
} as const;
const ENGINE_VCPU = 0.25;
const ENGINE_GB = 0.5;
const WEB_ACL_RULES = 3;

/** What an unused deployment costs a month, line by line. */
export function estimateIdleCost(counts: ResourceCounts): readonly CostLine[] {
  const count = (type: string): number => counts[type] ?? 0;
  const tasks = count('AWS::ECS::Service');
  const beyond = (type: string, free: number): number => Math.max(0, count(type) - free);
  const lines: readonly CostLine[] = [
    {
      what: 'engine task',
      usd: tasks * HOURS * (ENGINE_VCPU * PRICES.fargateArmVcpuHour + ENGINE_GB * PRICES.fargateArmGbHour),
      alwaysOn: false,
      basis: `${tasks} x ${ENGINE_VCPU} vCPU and ${ENGINE_GB} GB on ARM64`,
    },
    {
      what: 'its public address',
      usd: tasks * HOURS * PRICES.publicIpv4Hour,
      alwaysOn: false,
      basis: `${tasks} IPv4 address`,
    },
    {
      what: 'credential key',
      usd: count('AWS::KMS::Key') * PRICES.kmsKey,
      alwaysOn: true,
      basis: `${count('AWS::KMS::Key')} KMS key; up to 2 more once its material has rotated twice`,
    },
    {
      what: 'private name of the engine',
      usd: count('AWS::ServiceDiscovery::PrivateDnsNamespace') * PRICES.privateZone,
      alwaysOn: true,
      basis: 'one private hosted zone',
    },
    {
      what: 'secrets',
      usd: count('AWS::SecretsManager::Secret') * PRICES.secret,
      alwaysOn: true,
      basis: `${count('AWS::SecretsManager::Secret')} in Secrets Manager`,
    },
    {
      what: 'alarms',
      // An alarm on an expression is charged for each metric in it.
      usd: beyond('alarm metrics', PRICES.alarmsFree) * PRICES.alarm,
      alwaysOn: true,
      basis: `${count('AWS::CloudWatch::Alarm')} of ${count('alarm metrics')} metrics, ${PRICES.alarmsFree} of them free`,
    },
    {
      what: 'dashboards',
      usd: beyond('AWS::CloudWatch::Dashboard', PRICES.dashboardsFree) * PRICES.dashboard,
      alwaysOn: true,
      basis: `${count('AWS::CloudWatch::Dashboard')}, ${PRICES.dashboardsFree} free`,
    },
    {
      what: 'waiting at queues',
      usd: count('queue mappings') * PRICES.queuePolling,
      alwaysOn: true,
      basis: `${count('queue mappings')} queues polled; the first million requests of an account are free`,
    },
    { what: 'logs', usd: PRICES.logs, alwaysOn: true, basis: 'about one gigabyte' },
    {
      what: 'rules at the edge',
      usd: count('AWS::WAFv2::WebACL') * (PRICES.webAcl + WEB_ACL_RULES * PRICES.webAclRule),
      alwaysOn: true,
      basis: `${count('AWS::WAFv2::WebACL')} web ACL (-c waf=true)`,
    },
    {
      what: 'table, API, socket, distribution, functions, sign-in',
      usd: 0,
      alwaysOn: true,
      basis: 'paid by use',
    },
  ];
  return lines.filter((line) => line.usd > 0 || line.basis === 'paid by use');
}

export function sumUsd(lines: readonly CostLine[]): number {
  return lines.reduce((sum, line) => sum + line.usd, 0);
}
