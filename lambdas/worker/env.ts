import {
  CommonEnv,
  EnvCount,
  EnvPort,
  EnvText,
  EnvUrl,
  FleetEnv,
  VaultEnv,
} from '#core/contracts/internal/env.ts';
import { PlanEnv } from '#core/contracts/tenants/billing-config.ts';

export const WorkerEnv = CommonEnv.extend(FleetEnv.shape)
  .extend(PlanEnv.shape)
  .extend(VaultEnv.shape)
  .extend({
    TABLE_NAME: EnvText,
    WAKE_QUEUE_URL: EnvUrl,
    DELAYED_WAKE_QUEUE_URL: EnvUrl,
    ENGINE_PORT: EnvPort,
    /** Wakes that are answered at once, by all instances together. */
    WORKERS_MAX: EnvCount,
    CONTAINER_SECRET_ID: EnvText,
    /** Function that looks at a forge in the engine's place. */
    IDLE_LOOK_FUNCTION: EnvText,
    /** Function that sets repositories up, and puts back what drifted. */
    SET_UP_FUNCTION: EnvText,
    /** `queue_name` of every reconcile request (D-91). */
    QUEUE_NAME: EnvText,
  });
