import { readAllPages } from './paging.ts';
import { readBody } from './read-body.ts';
import { TeamMembers, Teams } from './schema.ts';
import type { ForgeTransport } from './transport.ts';

/**
 * Logins of a team of the organization that owns the repository. Empty: it has no such team with a right here. Null: the bot
 * may not see who is in it, which takes the scope `read:organization` and a place in the team or among the owners
 * (`routers/api/v1/api.go` of both forges: `reqTeamMembership`). The teams of the repository are read once.
 */
export function createTeamReader(
  transport: ForgeTransport,
): (team: string) => Promise<readonly string[] | null> {
  let teams: ReadonlyMap<string, number> | null = null;
  return async (team) => {
    teams ??= await listTeams(transport);
    const id = teams.get(team.toLowerCase());
    return id === undefined ? [] : listMembers(transport, id);
  };
}

/** By name. The forge answers 405 where the owner is no organization. */
async function listTeams(transport: ForgeTransport): Promise<ReadonlyMap<string, number>> {
  const call = { method: 'GET', label: 'GET teams', path: [...transport.repoPath, 'teams'] } as const;
  const answer = await transport.exchange(call);
  if (answer.isJson && answer.status === 405) return new Map();
  if (answer.status !== 200) throw transport.failure(call, answer);
  return new Map(readBody(Teams, call, answer).map(({ id, name }) => [name.toLowerCase(), id]));
}

async function listMembers(transport: ForgeTransport, id: number): Promise<readonly string[] | null> {
  const call = {
    method: 'GET',
    label: 'GET teams/{id}/members',
    path: ['teams', String(id), 'members'],
  } as const;
  const first = await transport.exchange({ ...call, query: { page: 1, limit: 1 } });
  if (first.isJson && (first.status === 403 || first.status === 404)) return null;
  const rows = await readAllPages(transport, call, (answer) => readBody(TeamMembers, call, answer));
  return rows.flatMap((row) => (row === null ? [] : [row.login]));
}
