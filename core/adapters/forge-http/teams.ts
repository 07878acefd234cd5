import { CODE_UNIT, WRITING_PERMISSIONS } from '../../domain/forge/write-permission.ts';
import { readAllPages } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { TeamMembers, Teams } from './wire/schema.ts';
import type { ForgeTransport } from './wire/transport.ts';

export interface Team {
  readonly id: number;
  readonly name: string;
  /** The right that it gives to everything; `none` also for a team whose rights differ from part to part. */
  readonly permission: string;
  /** Whether its members may push to branches of the repository. */
  readonly writesCode: boolean;
}

/** The teams of the organization that owns the repository. What was read is kept: a client lives for one reconcile. */
export interface TeamBook {
  /** Teams of the organization; null: the repository belongs to a person. */
  teams(): Promise<readonly Team[] | null>;
  /**
   * Logins of the members. Null: the bot may not see them; that takes the scope `read:organization` and a place in the
   * team or among the owners (`routers/api/v1/api.go` of both forges: `reqTeamMembership`).
   */
  members(id: number): Promise<readonly string[] | null>;
}

export function createTeamBook(transport: ForgeTransport): TeamBook {
  let teams: readonly Team[] | null | undefined;
  const members = new Map<number, readonly string[] | null>();
  return {
    teams: async () => {
      if (teams === undefined) teams = await listTeams(transport);
      return teams;
    },
    members: async (id) => {
      const earlier = members.get(id);
      if (earlier !== undefined) return earlier;
      const listed = await listMembers(transport, id);
      members.set(id, listed);
      return listed;
    },
  };
}

/**
 * Reads the members of a team by its name, without case. Empty: the owner has no such team with a right here. Null: the
 * bot may not see who is in it.
 */
export function createTeamReader(book: TeamBook): (team: string) => Promise<readonly string[] | null> {
  return async (name) => {
    const team = (await book.teams())?.find((each) => each.name.toLowerCase() === name.toLowerCase());
    return team === undefined ? [] : book.members(team.id);
  };
}

/** Lists the teams of the repository; null: the owner is no organization, for which the forge answers 405. */
async function listTeams(transport: ForgeTransport): Promise<readonly Team[] | null> {
  const call = { method: 'GET', label: 'GET teams', path: [...transport.repoPath, 'teams'] } as const;
  const answer = await transport.exchange(call);
  if (answer.isJson && answer.status === 405) return null;
  if (answer.status !== 200) throw transport.failure(call, answer);
  return readBody(Teams, call, answer).map(({ id, name, permission, units_map: units }) => ({
    id,
    name,
    permission,
    writesCode: WRITING_PERMISSIONS.includes(units?.[CODE_UNIT] ?? ''),
  }));
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
