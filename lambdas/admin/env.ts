import { EnvText, SurfaceEnv } from '#core/contracts/internal/env.ts';

export const AdminEnv = SurfaceEnv.extend({ ADMIN_KEY_SECRET_ID: EnvText, CONTAINER_SECRET_ID: EnvText });
