import * as z from 'zod';

/** Values that functions get from the stack; each surface picks what it needs. */
export const EnvText = z.string().min(1);
export const EnvUrl = z.url();
export const EnvLogLevel = z.enum(['debug', 'info', 'warn', 'error']);
export const EnvCount = z.coerce.number().int().min(1);
export const EnvPort = z.coerce.number().int().min(1).max(65_535);

/** In every function. */
export const CommonEnv = z.object({ LOG_LEVEL: EnvLogLevel });
