import type { ForgeStager } from '#core/ports/forge.ts';
import { cancelGateRun } from './actions.ts';
import { createBranch, removeBranch } from './branches.ts';
import { applyPatch } from './diffpatch.ts';
import type { LeasedTransport } from './transport.ts';

export function createForgeStager(transport: LeasedTransport): ForgeStager {
  return {
    applyPatch: (request) => applyPatch(transport, request),
    createBranch: (branch, at) => createBranch(transport, branch, at),
    deleteBranch: (branch) => removeBranch(transport, branch),
    cancelGateRun: (runId) => cancelGateRun(transport, runId),
  };
}
