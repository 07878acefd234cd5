import { CommonEnv } from '#core/contracts/internal/env.ts';

export const SecretsEnv = CommonEnv;
