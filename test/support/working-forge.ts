import type { BranchRule } from '#core/domain/forge/branch-rule.ts';
import { DEFAULT_SERVICE_NAME, gateFileName } from '#core/domain/queue/queue-names.ts';
import type { ForgeAdmin } from '#core/ports/forge-admin.ts';

const SHA = 'a'.repeat(40);

/** A forge on which every step of setting up succeeds. `withGate`: the base has the gate file. */
export function makeWorkingForge(withGate: boolean): Partial<ForgeAdmin> {
  const hooks: Awaited<ReturnType<ForgeAdmin['createHook']>>[] = [];
  const rules: BranchRule[] = [];
  return {
    readVersion: async () => ({ kind: 'forgejo', major: 15, minor: 0, patch: 0 }),
    readRepo: async () => ({
      fullName: 'acme/app',
      defaultBranch: 'main',
      archived: false,
      isMirror: false,
      hasActions: true,
      isAdmin: true,
      canPush: true,
      allowedStyles: null,
    }),
    readBranchTip: async () => SHA,
    listHooks: async () => hooks,
    readProtection: async () => null,
    listRules: async () => rules,
    listFolder: async (path) =>
      withGate ? [{ path: `${path}/${gateFileName(DEFAULT_SERVICE_NAME)}`, blob: 'b'.repeat(40) }] : null,
    commitFile: async ({ message }) => ({ sha: SHA, tree: 'c'.repeat(40), parents: [], message }),
    listBranches: async () => [],
    findRefInTheWay: async () => null,
    deleteBranch: async () => true,
    findOpenPull: async () => null,
    openPull: async () => ({ number: 7, url: 'https://git.example.org/acme/app/pulls/7' }),
    readGate: async () => ({ kind: 'finished', verdict: 'success', runId: '1', url: null }),
  };
}
