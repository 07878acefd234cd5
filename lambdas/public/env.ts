import { CommonEnv } from '#core/contracts/env.ts';

export const PublicEnv = CommonEnv;
