import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { viewProvisioning } from '#core/domain/set-up/provisioning.ts';
import type { ProfileName } from '../../../local/forge/profiles.ts';
import { openSetUpWorld, type SetUpWorld } from '../../support/set-up-world.ts';

const open: SetUpWorld[] = [];
afterEach(async () => {
  for (const world of open.splice(0)) await world.close();
});

/** Closed at the end of its test. */
export async function create(options: Parameters<typeof openSetUpWorld>[0] = {}): Promise<SetUpWorld> {
  const world = await openSetUpWorld(options);
  open.push(world);
  return world;
}

export const VERIFIED = { ciGate: { status: 'verified', url: null, setupPr: null, probe: null } } as const;
export const statusOf = (repo: ManagedRepo) => {
  const view = viewProvisioning(repo);
  return { webhook: view.webhook.status, protection: view.protection.status };
};
export const rulesOf = (world: SetUpWorld) => world.api('GET', '/branch_protections');
export const contextsOf = async (world: SetUpWorld, name: string) =>
  (await rulesOf(world)).find((rule) => rule.rule_name === name)?.status_check_contexts;

/** A repository whose gate is verified, on a forge with these branch rules. */
export async function givenRules(
  profile: ProfileName,
  rules: readonly object[] = [],
  changes: Partial<ManagedRepo> = {},
) {
  const world = await create({ profile });
  for (const rule of rules) await world.api('POST', '/branch_protections', rule);
  const repo = await world.change({ ...VERIFIED, ...changes });
  return { world, repo };
}
