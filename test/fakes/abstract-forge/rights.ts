import type { WriteRight } from '#core/domain/forge/forge.ts';
import type { World } from './world.ts';

/** The accounts of the tokens of jobs, by which nothing is merged. */
export const JOB_ACCOUNTS: ReadonlySet<string> = new Set(['gitea-actions', 'forgejo-actions']);

export function mayWrite({ readers, lenders }: World, login: string): boolean {
  if (!readers.has(login)) return true;
  return [...lenders.values()].some(({ members, code }) => code === 'write' && members.includes(login));
}

/** What the client of a real forge would find out of it: the list of assignees, the teams, and what an administrator is told. */
export function viewWriteRight(world: World, login: string): WriteRight {
  const { readers, lenders, switches } = world;
  if (!readers.has(login)) return 'yes';
  const teams = [...lenders.values()];
  const writers = teams.filter(({ code }) => code === 'write');
  if (writers.some(({ hidden, members }) => hidden !== true && members.includes(login))) return 'yes';
  if (switches.botIsAdmin && writers.every(({ hidden }) => hidden !== true)) return 'no';
  return teams.some(({ members }) => members.includes(login)) ? 'listed' : 'unlisted';
}
