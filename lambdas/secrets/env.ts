import { CommonEnv } from '#core/contracts/env.ts';

export const SecretsEnv = CommonEnv;
