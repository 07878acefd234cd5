import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { parsePlanLimits, parseSoldPrices } from '../core/contracts/tenants/billing-config.ts';
import { WORKERS_MAX } from '../core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '../core/domain/queue/queue-names.ts';
import type { EngineNetworkProps } from './constructs/engine-network.ts';
import type { EngineSize } from './constructs/engine-service.ts';
import {
  HostList,
  IdentityAddress,
  NetworkBlock,
  PublicAddress,
  RateFactor,
  WITHOUT_SECRETS,
} from './stage-values.ts';

/** Largest value of an advanced parameter. */
const AUTHORITY_BYTES_MAX = 8_192;

const STAGES = ['dev', 'prod'] as const;

const ENGINE_CPUS = ['256', '512', '1024', '2048', '4096'] as const;

/** Context keys are always strings; an empty one counts as absent. */
const text = z.string().trim();
/** A text that `parse` accepts. It stays text, because the functions parse it again. */
const checked = (
  parse: (given: string) => { readonly ok: true } | { readonly ok: false; readonly fault: string },
) =>
  text
    .superRefine((given, context) => {
      const parsed = parse(given);
      if (!parsed.ok) context.addIssue({ code: 'custom', message: parsed.fault });
    })
    .default('');
/** Path of the runbook in the repository of the service. */
const RUNBOOK = 'docs/runbook.md';

const Context = z.object({
  stage: z.enum(STAGES, `must be one of: ${STAGES.join(', ')}`).default('dev'),
  serviceName: text
    .regex(/^[a-z][a-z0-9-]{0,19}$/, 'must be 1 to 20 of a-z, 0-9 and -, starting with a letter')
    .default(DEFAULT_SERVICE_NAME),
  engineImage: text.min(1).optional(),
  engineCpu: z.enum(ENGINE_CPUS, `must be one of: ${ENGINE_CPUS.join(', ')}`).default('256'),
  engineMemoryMb: text.regex(/^\d{3,5}$/, 'must be a number of MB').default('512'),
  engineTasks: text.regex(/^([1-9]|1\d|20)$/, 'must be 1 to 20').default('1'),
  workersMax: text.regex(/^([2-9]|[1-9]\d{1,2}|1000)$/, 'must be 2 to 1000').default(String(WORKERS_MAX)),
  tickMemoryMb: z.enum(['256', '512', '1024', '1792'], 'must be one of: 256, 512, 1024, 1792').default('256'),
  forgeAllowHosts: HostList.default(''),
  forgeCaFile: text.min(1).optional(),
  vpcId: text.regex(/^vpc-[0-9a-f]{8,17}$/, 'must be the id of a VPC').optional(),
  vpcSubnetIds: text
    .regex(
      /^subnet-[0-9a-f]{8,17}(,subnet-[0-9a-f]{8,17})+$/,
      'must be two or more ids of subnets, separated by commas',
    )
    .optional(),
  vpcCidr: NetworkBlock.default('10.0.0.0/16'),
  vpcZones: text
    .regex(
      /^([a-z]+(?:-[a-z]+)+-\d[a-z]),(?!\1$)[a-z]+(-[a-z]+)+-\d[a-z]$/,
      'must be two zones, separated by a comma',
    )
    .optional(),
  queueMetrics: z.enum(['true', 'false'], 'must be true or false').default('false'),
  evidenceKey: z.enum(['true', 'false'], 'must be true or false').default('false'),
  confirmBounce: z.enum(['always', 'adaptive'], 'must be always or adaptive').default('adaptive'),
  identityUrl: IdentityAddress.optional(),
  identityApiKey: text.default(''),
  identitySharedSecret: z.enum(['true', 'false'], 'must be true or false').default('false'),
  signUp: z.enum(['open', 'closed'], 'must be open or closed').default('closed'),
  publicUrl: PublicAddress.optional(),
  analyticsKey: text.default(''),
  legacyForgeRepos: z.enum(['true', 'false'], 'must be true or false').default('false'),
  legacyCredentials: z.enum(['true', 'false'], 'must be true or false').default('false'),
  rateFactor: RateFactor.default('1'),
  paymentsPrices: checked(parseSoldPrices),
  paymentsApiUrl: z
    .url({ protocol: /^https?$/, error: 'must be the address of the payment provider' })
    .default('https://api.stripe.com'),
  planLimits: checked(parsePlanLimits),
  notificationFrom: z.email('must be an e-mail address').optional(),
  emailApiUrl: z.url({ protocol: /^https$/, error: 'must be the address of a mail provider' }).optional(),
  alarmEmail: z.email('must be an e-mail address').optional(),
  runbookUrl: z
    .url({ protocol: /^https?$/, error: 'must be the address of docs/runbook.md' })
    .default(RUNBOOK),
  adminEmail: z.email('must be an e-mail address').optional(),
  keyVersion: text.regex(/^[1-9]$/, 'must be 1 to 9').default('1'),
  oldestKeyVersion: text.regex(/^[1-9]$/, 'must be 1 to 9').default('1'),
  domainName: text
    .regex(/^(?=.{4,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'must be a host name in lower case')
    .optional(),
  certificateArn: text
    .regex(/^arn:aws:acm:us-east-1:\d{12}:certificate\/.+$/, 'must be the ARN of a certificate in us-east-1')
    .optional(),
  hostedZoneId: text.regex(/^Z[A-Z0-9]{5,31}$/, 'must be the id of a hosted zone').optional(),
  waf: z.enum(['true', 'false'], 'must be true or false').default('false'),
  webAclArn: text
    .regex(/^arn:aws:wafv2:us-east-1:\d{12}:global\/webacl\/.+$/, 'must be the ARN of a global web ACL')
    .optional(),
  monthlyBudgetUsd: text.regex(/^[1-9]\d{0,5}$/, 'must be whole dollars from 1 to 999999').optional(),
  owner: text.regex(/^[\w .@+-]{1,64}$/, 'must be 1 to 64 letters, digits, spaces or . @ + - _').optional(),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'], 'must be one of: debug, info, warn, error')
    .default('info'),
  nag: z.enum(['true', 'false'], 'must be true or false').default('false'),
});

export interface MailConfig {
  /** Verified sender of notifications; absent = no mail is sent. */
  readonly from: string | undefined;
  /** Base address of a mail provider's API; absent = SES sends. */
  readonly apiUrl: string | undefined;
}

/** The values that differ between deployments. The only reader of `-c key=value` is `parseStageConfig`. */
export interface StageConfig {
  readonly stage: (typeof STAGES)[number];
  /** `<service_name>` of the contract: status context, queue name, gate file (D-91). */
  readonly serviceName: string;
  /** Prebuilt engine image; absent = built from `dist/engine` at deploy time. */
  readonly engineImage: string | undefined;
  readonly engineSize: EngineSize;
  /** Wakes that are answered at the same time. */
  readonly workersMax: number;
  readonly tickMemoryMb: number;
  /** Forges that may be at a private address: `host` or `host:port`, comma separated. */
  readonly forgeAllowHosts: string;
  /** Our own public names, comma separated: no tenant may name one as its forge or chat. */
  readonly ownHosts: string;
  /** PEM of a private authority that signs for those forges; empty = public ones only. */
  readonly forgeCaPem: string;
  readonly network: EngineNetworkProps;
  readonly confirmBounce: 'always' | 'adaptive';
  /** Figures of the queues go to CloudWatch, which has its price (lib/cost.ts). */
  readonly queueMetrics: boolean;
  /** Makes the key that signs statements of landings, which has its price (lib/cost.ts). */
  readonly evidenceKey: boolean;
  /** A provider that speaks the GoTrue contract; absent = a Cognito user pool of this stack (D-93). */
  readonly identityUrl: string | undefined;
  /** Public key of that provider; empty: it wants none. */
  readonly identityApiKey: string;
  /** `true`: the provider signs with a shared secret although it publishes keys. */
  readonly identitySharedSecret: 'true' | 'false';
  /** `closed`: accounts are made by invitation alone. */
  readonly signUp: 'open' | 'closed';
  /** Address of this service for people and forges, without trailing slash; absent = the gateway's own address. */
  readonly publicUrl: string | undefined;
  /** Public key of the analytics service; empty = no telemetry. */
  readonly analyticsKey: string;
  /** `true` switches the listing without authentication on (D-21). */
  readonly legacyForgeRepos: 'true' | 'false';
  /** Credentials of the formats v1 and v2 are opened (A97). */
  readonly legacyCredentials: boolean;
  /** Multiplies every rate limit (D-52). */
  readonly rateFactor: string;
  /** Price ids of the payment provider by tier and kind; empty = nothing is sold. */
  readonly paymentsPrices: string;
  readonly paymentsApiUrl: string;
  /** Quotas and rights of plans, over the defaults (D-53). */
  readonly planLimits: string;
  readonly mail: MailConfig;
  readonly alarmEmail: string | undefined;
  /** Address of docs/runbook.md for operators; without one the alarms name the file. */
  readonly runbookUrl: string;
  /** E-mail address that Cognito invites as the first administrator. */
  readonly adminEmail: string | undefined;
  /** The credential key that seals from now on, and the oldest that may still open (docs/operate.md). */
  readonly keyVersion: number;
  readonly oldestKeyVersion: number;
  /** Domain name of the operator; absent = the distribution's. */
  readonly domain:
    | { readonly name: string; readonly certificateArn: string; readonly hostedZoneId: string | undefined }
    | undefined;
  /** Makes a web ACL; only in us-east-1, elsewhere name one by `webAclArn`. */
  readonly waf: boolean;
  readonly webAclArn: string | undefined;
  /** Mail to `alarmEmail` when a month costs more; absent = no budget. */
  readonly monthlyBudgetUsd: number | undefined;
  /** Value of the tag `owner`. */
  readonly owner: string | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Data, keys and the stack itself survive `cdk destroy`. */
  readonly retainData: boolean;
  readonly logRetentionDays: number;
  readonly runNag: boolean;
}

/** Keys that belong to the tools, not to us: feature flags, look-ups, and what the CLI keeps for itself. */
const FOREIGN_KEY = /[@:/]|^(acknowledged-issue-numbers|cli-telemetry|notices)$/;

/** `context`: everything that `-c`, `cdk.json` and the environment gave. Throws with every fault and its cure. */
export function parseStageConfig(context: Readonly<Record<string, unknown>>): StageConfig {
  const known = Object.keys(Context.shape);
  const given = Object.fromEntries(
    Object.entries(context).filter(
      ([key, value]) => known.includes(key) && value !== undefined && value !== '',
    ),
  );
  const parsed = Context.safeParse(given);
  const faults = [
    ...Object.keys(context)
      .filter((key) => !known.includes(key) && !FOREIGN_KEY.test(key))
      .map((key) => `-c ${key}: is not known; known are ${known.join(', ')}`),
    ...(parsed.error?.issues ?? []).map((issue) => {
      const key = String(issue.path[0]);
      const shown = issue.message === WITHOUT_SECRETS ? '' : `=${String(given[key])}`;
      return `-c ${key}${shown}: ${issue.message}`;
    }),
    ...findConflicts(given),
  ];
  const forgeCaPem = readAuthority(given.forgeCaFile, faults);
  if (faults.length > 0 || !parsed.success) throw new Error(`context is not valid\n  ${faults.join('\n  ')}`);
  const { domainName, certificateArn, hostedZoneId, nag, forgeCaFile: _, ...others } = parsed.data;
  const { vpcId, vpcSubnetIds, vpcCidr, vpcZones, ...placed } = others;
  const { notificationFrom, emailApiUrl, engineCpu, engineMemoryMb, engineTasks, ...rest } = placed;
  const isProd = rest.stage === 'prod';
  return {
    engineImage: undefined,
    identityUrl: undefined,
    alarmEmail: undefined,
    adminEmail: undefined,
    webAclArn: undefined,
    owner: undefined,
    ...rest,
    domain:
      domainName === undefined || certificateArn === undefined
        ? undefined
        : { name: domainName, certificateArn, hostedZoneId },
    mail: { from: notificationFrom ?? defaultSender(emailApiUrl, domainName), apiUrl: emailApiUrl },
    engineSize: { cpu: Number(engineCpu), memoryMb: Number(engineMemoryMb), tasks: Number(engineTasks) },
    network: {
      own:
        vpcId === undefined || vpcSubnetIds === undefined
          ? undefined
          : { vpcId, subnetIds: vpcSubnetIds.split(',') },
      cidr: vpcCidr,
      zones: vpcZones?.split(','),
    },
    workersMax: Number(rest.workersMax),
    tickMemoryMb: Number(rest.tickMemoryMb),
    queueMetrics: rest.queueMetrics === 'true',
    evidenceKey: rest.evidenceKey === 'true',
    waf: rest.waf === 'true',
    legacyCredentials: rest.legacyCredentials === 'true',
    keyVersion: Number(rest.keyVersion),
    oldestKeyVersion: Number(rest.oldestKeyVersion),
    monthlyBudgetUsd: rest.monthlyBudgetUsd === undefined ? undefined : Number(rest.monthlyBudgetUsd),
    publicUrl: rest.publicUrl?.replace(/\/+$/, ''),
    ownHosts: findOwnHosts(domainName, rest.publicUrl).join(','),
    forgeCaPem,
    retainData: isProd,
    logRetentionDays: isProd ? 90 : 14,
    runNag: nag === 'true',
  };
}

function readAuthority(file: unknown, faults: string[]): string {
  if (typeof file !== 'string') return '';
  if (!existsSync(file)) faults.push(`-c forgeCaFile=${file}: is not there`);
  const pem = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (pem !== '' && !pem.includes('BEGIN CERTIFICATE')) faults.push(`-c forgeCaFile=${file}: is no PEM file`);
  if (Buffer.byteLength(pem) > AUTHORITY_BYTES_MAX)
    faults.push(`-c forgeCaFile=${file}: has more than ${AUTHORITY_BYTES_MAX} bytes; name the roots alone`);
  return pem;
}

/** Sender of mails where none is named: with a chosen provider an address of the service's own domain. */
function defaultSender(apiUrl: string | undefined, domainName: string | undefined): string | undefined {
  return apiUrl === undefined || domainName === undefined ? undefined : `mergeyard@${domainName}`;
}

/** Names under which the service itself is reached over https, which is all that it ever calls. */
function findOwnHosts(domainName: string | undefined, publicUrl: string | undefined): readonly string[] {
  const urls = [
    ...(domainName === undefined ? [] : [`https://${domainName}`]),
    ...(publicUrl === undefined ? [] : [publicUrl]),
  ];
  const hosts = urls.map((url) => new URL(url)).filter(({ protocol }) => protocol === 'https:');
  return [...new Set(hosts.map(({ hostname }) => hostname))];
}

/** Keys that mean nothing, or two things, without or beside another. */
function findConflicts(given: Readonly<Record<string, unknown>>): string[] {
  const needs = (key: string, other: string): string[] =>
    given[key] !== undefined && given[other] === undefined ? [`-c ${key}: needs -c ${other} too`] : [];
  const excludes = (key: string, other: string): string[] =>
    given[key] !== undefined && given[other] !== undefined
      ? [`-c ${key}: cannot be given with -c ${other}`]
      : [];
  return [
    ...(Number(given.oldestKeyVersion ?? 1) > Number(given.keyVersion ?? 1)
      ? ['-c oldestKeyVersion: cannot be above keyVersion']
      : []),
    ...findSizeFault(String(given.engineCpu ?? '256'), Number(given.engineMemoryMb ?? 512)),
    ...needs('vpcId', 'vpcSubnetIds'),
    ...needs('vpcSubnetIds', 'vpcId'),
    ...excludes('vpcCidr', 'vpcId'),
    ...excludes('vpcZones', 'vpcId'),
    ...needs('domainName', 'certificateArn'),
    ...needs('certificateArn', 'domainName'),
    ...needs('hostedZoneId', 'domainName'),
    ...needs('monthlyBudgetUsd', 'alarmEmail'),
    ...(given.domainName === undefined ? needs('emailApiUrl', 'notificationFrom') : []),
    ...excludes('adminEmail', 'identityUrl'),
    ...(given.waf === 'true' ? excludes('webAclArn', 'waf') : []),
  ];
}

/**
 * Memory that goes with a CPU on Fargate, in MB: least, most and step (AWS, "Amazon ECS task definition parameters for Fargate",
 * task size). The least CPU has 512 beside the steps.
 */
const ENGINE_MEMORY: Readonly<Record<string, readonly [number, number, number]>> = {
  '256': [1024, 2048, 1024],
  '512': [1024, 4096, 1024],
  '1024': [2048, 8192, 1024],
  '2048': [4096, 16_384, 1024],
  '4096': [8192, 30_720, 1024],
};

/** The platform refuses a task whose CPU and memory do not go together. */
function findSizeFault(cpu: string, memoryMb: number): string[] {
  const range = ENGINE_MEMORY[cpu];
  if (range === undefined || (cpu === '256' && memoryMb === 512)) return [];
  const [least, most, step] = range;
  if (memoryMb >= least && memoryMb <= most && memoryMb % step === 0) return [];
  const also = cpu === '256' ? '512, or ' : '';
  return [
    `-c engineMemoryMb: beside engineCpu=${cpu} must be ${also}${least} to ${most} in steps of ${step}`,
  ];
}
