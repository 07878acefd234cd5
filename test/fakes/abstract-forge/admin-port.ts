import type { BranchRule } from '#core/domain/forge/branch-rule.ts';
import type { BranchProtection } from '#core/domain/forge/forge.ts';
import type { ForgeAdmin } from '#core/ports/forge-admin.ts';
import { type Call, exchange, Refusal } from './exchange.ts';
import { startChecksOfBase } from './refs.ts';
import { defaultRule, type World } from './world.ts';

type Fields = Readonly<Record<string, unknown>>;
type SetUpCalls = Pick<
  ForgeAdmin,
  | 'listHooks'
  | 'createHook'
  | 'deleteHook'
  | 'listRules'
  | 'createRule'
  | 'editRule'
  | 'readRepo'
  | 'readRepoId'
  | 'readBranchTip'
>;

const call = (method: Call['method'], label: string): Call => ({
  method,
  path: label,
  label: `${method} ${label}`,
});

/** The forge as the function that sets repositories up sees it: hooks and branch rules. Every other call is an error. */
export function createAdminPort(world: World): ForgeAdmin {
  const calls: SetUpCalls = {
    listHooks: async () => exchange(world, call('GET', 'hooks'), () => hooksOf(world)),
    createHook: async ({ url, events }) =>
      exchange(world, call('POST', 'hooks'), () => {
        const id = world.nextId;
        world.nextId += 1;
        const made = { id, url, isJson: true, active: true, branchFilter: '*', events };
        world.hooks = [...hooksOf(world), made];
        return made;
      }),
    deleteHook: async (id) =>
      exchange(world, call('DELETE', 'hooks/{id}'), () => {
        world.hooks = hooksOf(world).filter((hook) => hook.id !== id);
      }),
    listRules: async () =>
      exchange(world, call('GET', 'branch_protections'), () =>
        [...world.rules].map(([branch, rule], index) => viewRule(branch, rule, index)),
      ),
    createRule: async (fields) =>
      exchange(world, call('POST', 'branch_protections'), () =>
        write(world, String(fields.rule_name), fields),
      ),
    editRule: async (name, fields) =>
      exchange(world, call('PATCH', 'branch_protections/{name}'), () => write(world, name, fields)),
    readBranchTip: async (branch) =>
      exchange(world, call('GET', 'branches/{branch}'), () => world.branches.get(branch) ?? null),
    readRepoId: async () => exchange(world, call('GET', 'repo'), () => world.repoId),
    readRepo: async () =>
      exchange(world, call('GET', ''), () => ({
        fullName: world.slug,
        defaultBranch: world.base,
        archived: false,
        isMirror: false,
        hasActions: true,
        isAdmin: world.switches.botIsAdmin,
        canPush: true,
        allowedStyles: null,
      })),
  };
  return new Proxy(calls as ForgeAdmin, {
    get(target, name) {
      const known = Reflect.get(target, name) as unknown;
      if (known === undefined && name !== 'then') throw new Error(`no ${String(name)} in this fake`);
      return known;
    },
  });
}

function hooksOf(world: World) {
  if (!world.switches.botIsAdmin || world.hooks === null) throw new Refusal(403);
  return world.hooks;
}

function viewRule(branch: string, rule: BranchProtection, index: number): BranchRule {
  return {
    name: branch,
    priority: null,
    createdAt: index,
    statusCheckEnabled: rule.statusCheckEnabled,
    contexts: rule.requiredContexts,
    blockOnOutdatedBranch: rule.blockOnOutdatedBranch,
    directPushAllowed: rule.directPushAllowed,
    bypassAllowed: rule.bypassAllowed === true,
    filesPushable: rule.filesPushable === true,
    raw: { required_approvals: rule.requiredApprovals },
  };
}

function write(world: World, branch: string, fields: Fields): BranchRule {
  if (!world.switches.botIsAdmin) throw new Refusal(403);
  const rule = {
    ...(world.rules.get(branch) ?? defaultRule(branch)),
    ...(fields.enable_status_check === undefined
      ? {}
      : { statusCheckEnabled: fields.enable_status_check === true }),
    ...(fields.status_check_contexts === undefined
      ? {}
      : { requiredContexts: fields.status_check_contexts as readonly string[] }),
  };
  world.rules.set(branch, rule);
  startChecksOfBase(world, branch);
  return viewRule(branch, rule, 0);
}
