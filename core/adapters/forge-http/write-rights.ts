import type { WriteRight } from '#core/domain/forge/forge.ts';
import { WRITING_PERMISSIONS } from '#core/domain/forge/write-permission.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { Team, TeamBook } from './teams.ts';
import { readAllPages } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { Assignees, DeployKeys, Permission } from './wire/schema.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Login that both forges show for an account that was deleted, in lower case; no account can have it. */
const DELETED_ACCOUNT = 'ghost';

const ADMINISTERS: readonly string[] = ['admin', 'owner'];

/** The forge's word about one account, which only an administrator is told; `gone`: it has no such account, `hidden`: the bot may not ask. */
type Answer = { readonly kind: 'gone' | 'hidden' } | { readonly kind: 'mode'; readonly mode: string };

/**
 * The right of an account to write the code of this repository. The list of those who can be given work is read once, and says it
 * all where the repository belongs to a person, whom that list holds then. In that of an organization are also those
 * who only read, by a team: its teams say who may write code, and an administrator can ask the forge about one account.
 */
export function createWriterReader(
  transport: ForgeTransport,
  book: TeamBook,
): (login: string) => Promise<WriteRight> {
  let listed: ReadonlySet<string> | null = null;
  const owner = transport.repoPath[1]?.toLowerCase() ?? '';
  return async (login) => {
    if (login === '' || login.toLowerCase() === DELETED_ACCOUNT) return 'no';
    listed ??= await listAssignees(transport);
    const isListed = listed.has(login.toLowerCase());
    const teams = listed.has(owner) ? null : await book.teams();
    if (isListed && (teams ?? []).every(({ writesCode }) => writesCode)) return 'yes';
    const answer = await askForge(transport, login);
    const verdict = teams === null ? judgeAnswer(answer) : await judgeInTeams(answer, teams, book, login);
    return verdict ?? (isListed ? 'listed' : 'unlisted');
  };
}

/** Right by the answer about the account, which is complete in the repository of a person. Null: it says nothing. */
function judgeAnswer(answer: Answer): 'yes' | 'no' | null {
  if (answer.kind === 'hidden') return null;
  return answer.kind === 'mode' && WRITING_PERMISSIONS.includes(answer.mode) ? 'yes' : 'no';
}

/**
 * Right in the repository of an organization. The answer about the account covers administrators, collaborators, and
 * members of teams with one right to everything; members of other teams are looked for in those teams. Null: not known.
 */
async function judgeInTeams(
  answer: Answer,
  teams: readonly Team[],
  book: TeamBook,
  login: string,
): Promise<'yes' | 'no' | null> {
  if (answer.kind === 'gone') return 'no';
  const mode = answer.kind === 'mode' ? answer.mode : null;
  if (mode !== null && ADMINISTERS.includes(mode)) return 'yes';
  const writes = mode !== null && WRITING_PERMISSIONS.includes(mode);
  // A team may write issues and nothing else, and its members are said to write all the same.
  if (
    writes &&
    teams.every(({ permission, writesCode }) => writesCode || !WRITING_PERMISSIONS.includes(permission))
  )
    return 'yes';
  const shown: readonly string[] = mode === null ? [] : WRITING_PERMISSIONS;
  const unshown = teams.filter(({ permission, writesCode }) => writesCode && !shown.includes(permission));
  const place = await findIn(unshown, book, login);
  if (place === true) return 'yes';
  return place === false && mode !== null && !writes ? 'no' : null;
}

/**
 * Whether the account is in one of these teams. Null: the members of some are hidden, and it is in none of the others.
 */
async function findIn(teams: readonly Team[], book: TeamBook, login: string): Promise<boolean | null> {
  let place: false | null = false;
  for (const { id } of teams) {
    const members = await book.members(id);
    if (members === null) place = null;
    else if (members.some((each) => each.toLowerCase() === login.toLowerCase())) return true;
  }
  return place;
}

async function listAssignees(transport: ForgeTransport): Promise<ReadonlySet<string>> {
  const path = [...transport.repoPath, 'assignees'];
  const call = { method: 'GET', label: 'GET assignees', path } as const;
  const rows = readBody(Assignees, call, await transport.request(call));
  return new Set(rows.map(({ login }) => login.toLowerCase()));
}

/** Asks the forge about one account; only an administrator is told. A user who is gone is 404. */
async function askForge(transport: ForgeTransport, login: string): Promise<Answer> {
  const path = [...transport.repoPath, 'collaborators', login, 'permission'];
  const call = { method: 'GET', label: 'GET collaborators/{user}/permission', path } as const;
  const answer = await transport.exchange(call);
  if (answer.isJson && answer.status === 403) return { kind: 'hidden' };
  if (answer.isJson && answer.status === 404) return { kind: 'gone' };
  if (answer.status !== 200) throw transport.failure(call, answer);
  return { kind: 'mode', mode: readBody(Permission, call, answer).permission };
}

/**
 * Whether there is, or may be, a deploy key that writes. What it pushes is shown as a push of the owner of the
 * repository. Only administrators may ask.
 */
export async function hasWritingKey(transport: ForgeTransport): Promise<boolean> {
  const call = { method: 'GET', label: 'GET keys', path: [...transport.repoPath, 'keys'] } as const;
  try {
    const rows = await readAllPages(transport, call, (answer) => readBody(DeployKeys, call, answer));
    return rows.some((row) => row !== null && !row.read_only);
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'denied' || error.kind === 'missing')) return true;
    throw error;
  }
}
