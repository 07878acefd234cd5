import type { Commit } from '#core/domain/forge/forge.ts';
import { readBody } from './read-body.ts';
import { CommitAnswer } from './schema.ts';
import type { ForgeAnswer, ForgeCall } from './transport.ts';

/** The commit that a call made. Throws `ForgeError` for an answer that tells of none. */
export function readMadeCommit(call: ForgeCall, answer: ForgeAnswer): Commit {
  const { commit } = readBody(CommitAnswer, call, answer);
  return {
    sha: commit.sha,
    tree: commit.tree.sha,
    parents: commit.parents.map((parent) => parent.sha),
    message: commit.message,
  };
}
