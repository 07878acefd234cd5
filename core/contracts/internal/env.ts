import * as z from 'zod';

/** Values that functions get from the stack; each surface picks what it needs. */
export const EnvText = z.string().min(1);
export const EnvUrl = z.url();
const EnvLogLevel = z.enum(['debug', 'info', 'warn', 'error']);
export const EnvCount = z.coerce.number().int().min(1);
export const EnvPort = z.coerce.number().int().min(1).max(65_535);

/** In every function. */
export const CommonEnv = z.object({ LOG_LEVEL: EnvLogLevel });

/** Set, but possibly to nothing. */
export const EnvOptionalText = z.string();
export const EnvFlag = z.enum(['true', 'false']).transform((text) => text === 'true');
const EnvFactor = z.coerce.number().min(0.01);

/** Who the identity provider is (D-93). Its keys are public: every browser has them. */
const IdentityEnv = z.object({
  IDENTITY_KIND: z.enum(['gotrue', 'cognito']),
  IDENTITY_URL: EnvUrl,
  IDENTITY_API_KEY: EnvOptionalText,
  /** GoTrue signs with a shared secret although it publishes keys. */
  IDENTITY_SHARED_SECRET: EnvFlag,
  COGNITO_USER_POOL_ID: EnvOptionalText,
  COGNITO_CLIENT_ID: EnvOptionalText,
});
export type IdentitySettings = z.infer<typeof IdentityEnv>;

/** In every function that the gateway calls. */
export const EdgeEnv = z.object({
  /** Without this stamp of the distribution a request is answered by nothing; empty: none is asked for. */
  REQUIRED_STAMP: EnvOptionalText,
});

/** In every function that limits its callers. */
export const RateEnv = EdgeEnv.extend({
  TABLE_NAME: EnvText,
  /** Multiplies every rate limit (D-52). */
  RATE_FACTOR: EnvFactor,
  /** The header value that the distribution adds to its requests; empty: nothing stands in front that is to be believed. */
  EDGE_STAMP: EnvOptionalText,
});

/** In every function that answers people. */
export const SurfaceEnv = CommonEnv.extend(IdentityEnv.shape).extend(RateEnv.shape);

/** In every function that seals or opens credentials. */
export const VaultEnv = z.object({
  CREDENTIAL_KEY_ID: EnvText,
  CREDENTIAL_KEY_VERSION: EnvCount,
  /** Static key of credentials of format v1; empty: neither v1 nor v2 is opened (A97). */
  LEGACY_KEY_SECRET_ID: EnvOptionalText,
});
export type VaultSettings = z.infer<typeof VaultEnv>;

/** Where the tasks of the engine are switched on and off. */
export const FleetEnv = z.object({
  ENGINE_CLUSTER: EnvText,
  ENGINE_SERVICE: EnvText,
  /** Tasks of an engine that is up. */
  ENGINE_TASKS: EnvCount,
});

/** Tells which forges may be at private addresses. */
export const OutboundHostsEnv = z.object({
  FORGE_ALLOW_HOSTS: EnvOptionalText,
  /** Our own public names, which no tenant may have us call. */
  FORGE_DENY_HOSTS: EnvOptionalText,
});

/** Also where a function reads who signs for them; empty: public authorities alone. */
export const OutboundEnv = OutboundHostsEnv.extend({ FORGE_CA_PARAMETER: EnvOptionalText });

/** The environment of the idle look: a forge and a token come with each request. */
export const IdleLookEnv = CommonEnv.extend(OutboundEnv.shape);
