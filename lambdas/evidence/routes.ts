import { AppError } from '#core/contracts/errors.ts';
import type { ApiHandlers } from '#core/http/api-call.ts';
import {
  type EvidenceDeps,
  exportEvidence,
  readEvidenceKey,
} from '#core/services/evidence/export-evidence.ts';

/** Signed statements of landings. What is signed is read here, never taken from the caller. */
export function createEvidenceRoutes(deps: EvidenceDeps): ApiHandlers<'evidence'> {
  return {
    readPullEvidence: async ({ tenantId, id, number }) => {
      if (!/^[1-9]\d{0,8}$/.test(number)) throw new AppError('not_found');
      return { status: 200, body: await exportEvidence(deps, tenantId, id, { pr: Number(number) }) };
    },
    readCommitEvidence: async ({ tenantId, id, query }) => ({
      status: 200,
      body: await exportEvidence(deps, tenantId, id, { mergeCommit: query.commit }),
    }),
    readEvidenceKey: async () => ({ status: 200, body: await readEvidenceKey(deps) }),
  };
}
