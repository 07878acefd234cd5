import type { Commit } from '#core/domain/forge/forge.ts';
import { readBody } from './read-body.ts';
import { CommitAnswer } from './schema.ts';
import type { ForgeAnswer, ForgeCall, ForgeTransport } from './transport.ts';

/** Sends a call that makes a commit. Throws `ForgeError`. */
export async function makeCommit(transport: ForgeTransport, call: ForgeCall): Promise<Commit> {
  const answer = await transport.exchange(call);
  if (answer.status !== 201) throw transport.failure(call, answer);
  return readMadeCommit(call, answer);
}

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
