import { readFileSync } from 'node:fs';
import * as z from 'zod';

export const STAGES = ['dev', 'prod'] as const;

/** Context keys are always strings; an empty one counts as absent. */
const text = z.string().trim();
const Context = z.object({
  stage: z.enum(STAGES, `must be one of: ${STAGES.join(', ')}`).default('dev'),
  serviceName: text
    .regex(/^[a-z][a-z0-9-]{0,19}$/, 'must be 1 to 20 of a-z, 0-9 and -, starting with a letter')
    .default('mq'),
  engineImage: text.min(1).optional(),
  forgeAllowHosts: text
    .regex(/^[A-Za-z0-9.:[\],-]*$/, 'must be host or host:port, separated by commas')
    .default(''),
  forgeCaFile: text.min(1).optional(),
  identityUrl: z
    .url({ protocol: /^https?$/, error: 'must be the address of an identity provider' })
    .optional(),
  identityApiKey: text.default(''),
  publicUrl: z.url({ protocol: /^https?$/, error: 'must be the public address of this service' }).optional(),
  analyticsKey: text.default(''),
  legacyForgeRepos: z.enum(['true', 'false'], 'must be true or false').default('false'),
  rateFactor: text.regex(/^\d{1,6}(\.\d+)?$/, 'must be a number').default('1'),
  alarmEmail: z.email('must be an e-mail address').optional(),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'], 'must be one of: debug, info, warn, error')
    .default('info'),
  nag: z.enum(['true', 'false'], 'must be true or false').default('false'),
});

/** What differs between deployments. The only reader of `-c key=value` is `parseStageConfig`. */
export interface StageConfig {
  readonly stage: (typeof STAGES)[number];
  /** `<service_name>` of the contract: status context, queue name, gate file (D-91). */
  readonly serviceName: string;
  /** Prebuilt engine image; absent = built from `dist/engine` at deploy time. */
  readonly engineImage: string | undefined;
  /** Forges that may be at a private address: `host` or `host:port`, comma separated. */
  readonly forgeAllowHosts: string;
  /** PEM of a private authority that signs for those forges; empty = public ones only. */
  readonly forgeCaPem: string;
  /** A provider that speaks the GoTrue contract; absent = a Cognito user pool of this stack (D-93). */
  readonly identityUrl: string | undefined;
  /** Its public key, if it wants one. */
  readonly identityApiKey: string;
  /** Where people and forges reach this service, without trailing slash; absent = the gateway's own address. */
  readonly publicUrl: string | undefined;
  /** Public key of the analytics service; empty = no telemetry. */
  readonly analyticsKey: string;
  /** `true` switches the listing without authentication on (D-21). */
  readonly legacyForgeRepos: 'true' | 'false';
  /** Multiplies every rate limit (D-52). */
  readonly rateFactor: string;
  readonly alarmEmail: string | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Data, keys and the stack itself survive `cdk destroy`. */
  readonly retainData: boolean;
  readonly logRetentionDays: number;
  readonly runNag: boolean;
}

export function parseStageConfig(readContext: (key: string) => unknown): StageConfig {
  const given = Object.fromEntries(
    Object.keys(Context.shape)
      .map((key) => [key, readContext(key)])
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = Context.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const key = String(issue.path[0]);
      return `-c ${key}=${String(given[key])}: ${issue.message}`;
    });
    throw new Error(`context is not valid\n  ${faults.join('\n  ')}`);
  }
  const { stage, nag, engineImage, alarmEmail, forgeCaFile, identityUrl, publicUrl, ...rest } = parsed.data;
  const isProd = stage === 'prod';
  return {
    ...rest,
    stage,
    engineImage,
    alarmEmail,
    identityUrl,
    publicUrl: publicUrl?.replace(/\/+$/, ''),
    forgeCaPem: forgeCaFile === undefined ? '' : readFileSync(forgeCaFile, 'utf8'),
    retainData: isProd,
    logRetentionDays: isProd ? 90 : 14,
    runNag: nag === 'true',
  };
}
