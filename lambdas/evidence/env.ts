import { EnvOptionalText, SurfaceEnv } from '#core/contracts/internal/env.ts';

export const EvidenceEnv = SurfaceEnv.extend({
  /** The asymmetric key that signs statements; empty: this deployment signs none. */
  EVIDENCE_KEY_ID: EnvOptionalText,
});
