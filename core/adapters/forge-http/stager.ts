import type { ForgeStager } from '#core/ports/forge.ts';
import { createBranch, deleteBranch } from './branches.ts';
import { applyPatch } from './diffpatch.ts';
import { cancelGateRun } from './gate/cancel-run.ts';
import type { LeasedTransport } from './wire/transport.ts';
import { writeFiles } from './write-files.ts';

export function createForgeStager(transport: LeasedTransport): ForgeStager {
  return {
    applyPatch: (request) => applyPatch(transport, request),
    writeFiles: (request) => writeFiles(transport, request),
    createBranch: (branch, at) => createBranch(transport, branch, at),
    deleteBranch: (branch) => deleteBranch(transport, branch),
    cancelGateRun: (runId) => cancelGateRun(transport, runId),
  };
}
