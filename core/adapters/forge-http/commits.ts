import { keyOfPaths } from '#core/contracts/paths-key.ts';
import type { Commit } from '#core/domain/forge/forge.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { FORGE_PAGE_SIZE_MAX } from '#core/domain/limits.ts';
import { AnswerTooLarge, type ChangedCommit, type CommitLink } from '#core/ports/forge.ts';
import { readAllPages } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { ChangedRow, CommitRow, HistoryRow, nullableList, TreeHead } from './wire/schema.ts';
import { type ForgeAnswer, type ForgeTransport, unusable } from './wire/transport.ts';

/** Leaves out the diff statistics, signature checks and file lists that the forge would compute for nothing. */
const BARE = { stat: 'false', verification: 'false', files: 'false' } as const;

const HistoryRows = nullableList(HistoryRow);
const ChangedRows = nullableList(ChangedRow);

export async function readCommit(transport: ForgeTransport, sha: CommitSha): Promise<Commit> {
  const call = {
    method: 'GET',
    label: 'GET git/commits/{sha}',
    path: [...transport.repoPath, 'git', 'commits', sha],
    query: BARE,
  } as const;
  const row = readBody(CommitRow, call, await transport.request(call));
  const told = row.commit.tree.sha;
  return {
    sha: row.sha,
    tree: told === row.sha ? await readTreeId(transport, row.sha) : told,
    parents: row.parents.map((parent) => parent.sha),
    message: row.commit.message,
  };
}

/**
 * Tree of a commit. The commit call of every Forgejo and Gitea has the commit in the place of its tree, and so has the
 * tree call when it is asked by commit. Peeled with git's own `^{tree}` it returns the tree.
 */
export async function readTreeId(transport: ForgeTransport, sha: CommitSha): Promise<TreeHash> {
  const call = {
    method: 'GET',
    label: 'GET git/trees/{sha}^{tree}',
    path: [...transport.repoPath, 'git', 'trees', `${sha}^{tree}`],
    query: { per_page: 1 },
  } as const;
  const answer = await transport.request(call);
  const tree = readBody(TreeHead, call, answer).sha;
  // A tree is never its own commit: this forge does not peel. No tree is better than a wrong one, it proves landings.
  if (tree === sha) throw unusable(call, answer.status);
  return tree;
}

/** Commits of `head` that `base` does not have. */
export async function listOwnCommits(
  transport: ForgeTransport,
  base: CommitSha,
  head: CommitSha,
): Promise<readonly CommitLink[]> {
  return toLinks(await listCommits(transport, head, base));
}

/** The newest commits of a branch or below a commit, the tip first. */
export async function listNewCommits(
  transport: ForgeTransport,
  base: CommitSha,
  of: string,
): Promise<readonly CommitLink[]> {
  const call = listCall(transport, of, base);
  const query = { ...call.query, page: 1, limit: FORGE_PAGE_SIZE_MAX };
  return toLinks(readBody(HistoryRows, call, await transport.request({ ...call, query })));
}

/**
 * Commits of `base` that `head` does not have, with the key of the paths that each changes; null for one that changes more files
 * than are read of one answer.
 */
export async function listChangesSince(
  transport: ForgeTransport,
  head: CommitSha,
  base: CommitSha,
): Promise<readonly ChangedCommit[]> {
  const call = listCall(transport, base, head);
  const asked = { ...call, query: { ...call.query, files: 'true' } };
  // Page by page: the names of all files of a long history are no longer needed then.
  const readRows = (answer: ForgeAnswer) => readBody(ChangedRows, asked, answer).map(toChanged);
  try {
    return await readAllPages(transport, asked, readRows);
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error;
  }
  const rows = await readAllPages(transport, asked, readRows, { leavesOutLarge: true });
  const told = new Map(rows.map((row) => [row.sha, row]));
  const links = toLinks(await listCommits(transport, base, head));
  return links.map((link) => told.get(link.sha) ?? { ...link, pathsKey: null });
}

function toChanged({ files, ...row }: ChangedRow): ChangedCommit {
  const paths = files?.map(({ filename }) => filename);
  return { ...toLink(row), pathsKey: paths === undefined ? null : keyOfPaths(paths) };
}

function toLinks(rows: readonly HistoryRow[]): readonly CommitLink[] {
  return rows.map(toLink);
}

function toLink({ sha, parents }: HistoryRow): CommitLink {
  return { sha, parents: parents.map((parent) => parent.sha) };
}

async function listCommits(
  transport: ForgeTransport,
  of: CommitSha,
  not: CommitSha,
): Promise<readonly HistoryRow[]> {
  const call = listCall(transport, of, not);
  return readAllPages(transport, call, (answer) => readBody(HistoryRows, call, answer));
}

function listCall(transport: ForgeTransport, of: string, not: CommitSha) {
  return {
    method: 'GET',
    label: 'GET commits?not',
    path: [...transport.repoPath, 'commits'],
    query: { ...BARE, sha: of, not },
  } as const;
}
