import { ForgeError } from '#core/ports/forge.ts';
import { readAllPages } from './paging.ts';
import { readBody } from './read-body.ts';
import { Assignees, DeployKeys, Permission } from './schema.ts';
import type { ForgeTransport } from './transport.ts';

const MAY_WRITE: readonly string[] = ['write', 'admin', 'owner'];

/**
 * May this account write to the repository? Those who can be given work may write to some part of it, members of teams
 * among them; the list is read once. Of others an administrator can ask the forge itself: a site's administrator is in
 * no list. A member of a team that may write issues and nothing else counts as a writer.
 */
export function createWriterReader(transport: ForgeTransport): (login: string) => Promise<boolean> {
  let writers: ReadonlySet<string> | null = null;
  return async (login) => {
    if (login === '') return false;
    writers ??= await listAssignees(transport);
    return writers.has(login.toLowerCase()) || (await isWriterItself(transport, login));
  };
}

async function listAssignees(transport: ForgeTransport): Promise<ReadonlySet<string>> {
  const path = [...transport.repoPath, 'assignees'];
  const call = { method: 'GET', label: 'GET assignees', path } as const;
  const rows = readBody(Assignees, call, await transport.request(call));
  return new Set(rows.map(({ login }) => login.toLowerCase()));
}

/** The forge tells an administrator only; a user who is gone is 404. */
async function isWriterItself(transport: ForgeTransport, login: string): Promise<boolean> {
  const path = [...transport.repoPath, 'collaborators', login, 'permission'];
  const call = { method: 'GET', label: 'GET collaborators/{user}/permission', path } as const;
  const answer = await transport.exchange(call);
  if (answer.isJson && (answer.status === 403 || answer.status === 404)) return false;
  if (answer.status !== 200) throw transport.failure(call, answer);
  return MAY_WRITE.includes(readBody(Permission, call, answer).permission);
}

/**
 * Is there, or may there be, a deploy key that writes? What it pushes is shown as a push of the owner of the repository.
 * Only administrators may ask.
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
