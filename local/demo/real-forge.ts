import { randomBytes } from 'node:crypto';
import { parseForgeVersion, workflowFolders } from '#core/domain/forge/forge-version.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ForgeTokens, RealForge } from '../forge-account.ts';
import { Person } from './people.ts';
import { baseFiles, gateFile } from './project.ts';

/** A repository that was made for the story on a forge that is not the demo's own. */
export interface RealRepo {
  readonly slug: string;
  /** Opens, pushes, schedules. */
  readonly author: Person;
  /** Administrator of the repository; the queue's account. */
  readonly bot: Person;
  /** Takes it from the forge again. */
  remove(): Promise<void>;
}

/** The accounts as `openRepo` has them, with whatever a killed story has left. */
export function knownRepo(forge: RealForge, tokens: ForgeTokens, slug: string): RealRepo {
  const as = (token: string) => new Person({ url: forge.url, token }, slug);
  return {
    slug,
    author: as(tokens.author),
    bot: as(tokens.bot),
    remove: () => as(tokens.owner).deleteRepo(),
  };
}

/**
 * A fresh repository of the owner with the project and its rule. `gate`: the files of its gate; null = a workflow in the
 * folder that this forge reads.
 */
export async function createRealRepo(
  forge: RealForge,
  tokens: ForgeTokens,
  gate: Readonly<Record<string, string>> | null,
): Promise<RealRepo> {
  const as = (token: string, slug = 'nobody/nothing') => new Person({ url: forge.url, token }, slug);
  const logins = {
    owner: await as(tokens.owner).login(),
    bot: await as(tokens.bot).login(),
    author: await as(tokens.author).login(),
  };
  const version = parseForgeVersion(await as(tokens.owner).version());
  if (version === null) throw new Error(`${forge.url} says it is neither Forgejo nor Gitea`);
  const name = `corner-shop-${randomBytes(3).toString('hex')}`;
  const slug = `${logins.owner}/${name}`;
  const repo = knownRepo(forge, tokens, slug);
  const owner = as(tokens.owner, slug);
  await owner.createRepo(name);
  try {
    if (logins.bot !== logins.owner) await owner.addCollaborator(logins.bot, 'admin');
    if (logins.author !== logins.owner && logins.author !== logins.bot)
      await owner.addCollaborator(logins.author, 'write');
    await owner.commitFiles('main', baseFiles(gate ?? gateFile(workflowFolders(version)[0] ?? '')), false);
    await owner.requireStatus(DEFAULT_SERVICE_NAME);
    return repo;
  } catch (error) {
    await repo.remove();
    throw error;
  }
}
