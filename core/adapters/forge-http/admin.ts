import type { ForgeAdmin } from '#core/ports/forge-admin.ts';
import { deleteBranch, readBranchTip } from './branches.ts';
import { commitFile, listFolder } from './contents.ts';
import { createGateReader } from './gate/gate.ts';
import { createHook, deleteHook, listHooks } from './hooks.ts';
import { readProtection } from './protection.ts';
import { findRefInTheWay } from './refs.ts';
import { readRepo, readRepoId, readVersion } from './repos.ts';
import { createRule, editRule, listRules } from './rules.ts';
import { cancelAutoMerge, findOpenPull, listBranches, openPull } from './setup-pulls.ts';
import { readStatusHistory } from './statuses.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Calls that set a repository up. They include no status writer, so the API may have them (A6). */
export function createForgeAdmin(transport: ForgeTransport): ForgeAdmin {
  const readGate = createGateReader(transport);
  return {
    readVersion: () => readVersion(transport),
    readRepo: () => readRepo(transport),
    readRepoId: () => readRepoId(transport),
    readBranchTip: (branch) => readBranchTip(transport, branch),
    listHooks: () => listHooks(transport),
    createHook: (spec) => createHook(transport, spec),
    deleteHook: (id) => deleteHook(transport, id),
    readProtection: (base) => readProtection(transport, base),
    listRules: () => listRules(transport),
    createRule: (fields) => createRule(transport, fields),
    editRule: (name, fields) => editRule(transport, name, fields),
    listFolder: (path, branch) => listFolder(transport, path, branch),
    commitFile: (commit) => commitFile(transport, commit),
    listBranches: (max) => listBranches(transport, max),
    findRefInTheWay: (branches) => findRefInTheWay(transport, branches),
    deleteBranch: (branch) => deleteBranch(transport, branch),
    findOpenPull: (base, head) => findOpenPull(transport, base, head),
    openPull: (pull) => openPull(transport, pull),
    listStatusHistory: (sha) => readStatusHistory(transport, sha),
    readGate: (sha, branch, workflowFile) => readGate({ sha, branch, file: workflowFile }),
    cancelAutoMerge: (pr) => cancelAutoMerge(transport, pr),
  };
}
