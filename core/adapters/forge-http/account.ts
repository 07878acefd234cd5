import * as z from 'zod';
import { BOT_SCOPES, type BotScope, type TokenScope } from '#core/domain/forge/token-scopes.ts';
import { MERGE_STYLES } from '#core/domain/repos/merge-style.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { ForgeAccount, OpenForgeAccount, SeenRepo } from '#core/ports/forge-account.ts';
import type { Clock } from '#core/ports/system.ts';
import type { HttpSend } from '../http-guard/http-send.ts';
import { readStyles } from './repos.ts';
import { readBotLogin } from './users.ts';
import { readMissingScopes } from './wire/missing-scopes.ts';
import { readAllPages } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { createForgeTransport, type ForgeCall, type ForgeTransport } from './wire/transport.ts';

/** Repository of a transport for calls of an account, which name none. */
const NO_REPOSITORY = '-/-';

const Repo = z.object({
  full_name: z.string(),
  name: z.string(),
  owner: z.object({ login: z.string() }),
  html_url: z.string(),
  private: z.boolean(),
  default_branch: z.string(),
  // Absent where the pull request unit is not readable.
  allow_merge_commits: z.boolean().nullish(),
  allow_squash_merge: z.boolean().nullish(),
  allow_rebase: z.boolean().nullish(),
  default_merge_style: z.enum(MERGE_STYLES).nullish().catch(null),
});
const Repos = z.array(Repo.nullable());

export function createForgeAccountOpener(deps: {
  readonly send: HttpSend;
  readonly clock: Pick<Clock, 'now'>;
}): OpenForgeAccount {
  return (instanceUrl, token, timeoutMs) =>
    createForgeAccount(
      createForgeTransport({
        instanceUrl,
        token,
        slug: NO_REPOSITORY,
        send: deps.send,
        clock: deps.clock,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      }),
    );
}

export function createForgeAccount(transport: ForgeTransport): ForgeAccount {
  return {
    readBotLogin: () => readBotLogin(transport),
    listRepos: () => listRepos(transport),
    readMissingScopes: () => readMissing(transport),
  };
}

/** One call for each scope. A forge checks the scope before it looks for the repository, which does not exist. */
function probesOf({ repoPath }: ForgeTransport): Readonly<Record<BotScope, ForgeCall>> {
  return {
    'write:repository': {
      method: 'POST',
      label: 'POST branches',
      path: [...repoPath, 'branches'],
      body: { new_branch_name: 'none' },
    },
    'read:issue': {
      method: 'GET',
      label: 'GET issues/{n}/timeline',
      path: [...repoPath, 'issues', '1', 'timeline'],
    },
    'read:user': { method: 'GET', label: 'GET user', path: ['user'] },
  };
}

async function readMissing(transport: ForgeTransport): Promise<readonly TokenScope[]> {
  const probes = probesOf(transport);
  // At once: a forge that is silent keeps a person waiting for one time-out and not for three.
  const lacks = async (scope: BotScope): Promise<boolean> => {
    const answer = await transport.exchange(probes[scope]).catch(passOverSilence);
    return answer !== null && readMissingScopes(answer).length > 0;
  };
  const scopes = BOT_SCOPES.map(({ scope }) => scope);
  const found = await Promise.all(scopes.map(lacks));
  return scopes.filter((_scope, index) => found[index] === true);
}

function passOverSilence(error: unknown): null {
  if (error instanceof ForgeError) return null;
  throw error;
}

/** Repositories that the owner of the token can reach. */
async function listRepos(transport: ForgeTransport): Promise<readonly SeenRepo[]> {
  const call = { method: 'GET', label: 'GET user/repos', path: ['user', 'repos'] } as const;
  const rows = await readAllPages(transport, call, (answer) => readBody(Repos, call, answer));
  return rows.flatMap((row) =>
    row === null
      ? []
      : [
          {
            fullName: row.full_name,
            name: row.name,
            owner: row.owner.login,
            htmlUrl: row.html_url,
            isPrivate: row.private,
            defaultBranch: row.default_branch,
            mergeStyles: readStyles(row),
            defaultMergeStyle: row.default_merge_style ?? null,
          },
        ],
  );
}
