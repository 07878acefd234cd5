import type { ForgeReader } from '#core/ports/forge.ts';
import { readBlob } from './blobs.ts';
import { readBranchTip } from './branches.ts';
import { listChangedFiles } from './changed-files.ts';
import { listChangesSince, listNewCommits, listOwnCommits, readCommit, readTreeId } from './commits.ts';
import { countDependencies } from './dependencies.ts';
import { createGateReader } from './gate/gate.ts';
import { readRunnerLabels } from './gate/run-jobs.ts';
import { listOwnHooks } from './hooks.ts';
import { readKeptHead } from './kept-head.ts';
import { readProtection } from './protection.ts';
import {
  listMergedPullRequests,
  listOpenPullRequests,
  listTouchedPullRequests,
  readPullRequest,
} from './pulls.ts';
import { findNamesake, findRefInTheWay, hasTag } from './refs.ts';
import { readRepo, readRepoId, readVersion } from './repos.ts';
import { listReviews } from './reviews.ts';
import { readStatuses, readStatusHistory } from './statuses.ts';
import { createTeamBook, createTeamReader } from './teams.ts';
import { readTimeline } from './timeline.ts';
import { readTree } from './trees.ts';
import { readBotLogin } from './users.ts';
import type { ForgeTransport } from './wire/transport.ts';
import { createWriterReader, hasWritingKey } from './write-rights.ts';

export function createForgeReader(transport: ForgeTransport): ForgeReader {
  const readGate = createGateReader(transport);
  const teams = createTeamBook(transport);
  return {
    readBotLogin: () => readBotLogin(transport),
    readWriteRight: createWriterReader(transport, teams),
    listTeamMembers: createTeamReader(teams),
    readRepoId: () => readRepoId(transport),
    readAllowedStyles: async () => (await readRepo(transport)).allowedStyles,
    hasWritingKey: () => hasWritingKey(transport),
    listOwnHooks: () => listOwnHooks(transport),
    readVersion: () => readVersion(transport),
    readBranchTip: (branch) => readBranchTip(transport, branch),
    findRefInTheWay: (branches) => findRefInTheWay(transport, branches),
    hasTag: (name) => hasTag(transport, name),
    findNamesake: (branch) => findNamesake(transport, branch),
    readKeptHead: (pr) => readKeptHead(transport, pr),
    readCommit: (sha) => readCommit(transport, sha),
    readTreeId: (sha) => readTreeId(transport, sha),
    readTree: (id, depth) => readTree(transport, id, depth),
    readBlob: (id, bytesMax) => readBlob(transport, id, bytesMax),
    listOpenPullRequests: () => listOpenPullRequests(transport),
    listTouchedPullRequests: () => listTouchedPullRequests(transport),
    listMergedPullRequests: () => listMergedPullRequests(transport),
    readPullRequest: (pr) => readPullRequest(transport, pr),
    readTimeline: (pr, question) => readTimeline(transport, pr, question),
    listReviews: (pr) => listReviews(transport, pr),
    listChangedFiles: (pr) => listChangedFiles(transport, pr),
    countDependencies: (pr) => countDependencies(transport, pr),
    readProtection: (base) => readProtection(transport, base),
    readStatuses: (sha) => readStatuses(transport, sha),
    listStatusHistory: (sha) => readStatusHistory(transport, sha),
    readGate: (sha, branch, workflowFile, startedBy) =>
      readGate({ sha, branch, file: workflowFile }, startedBy),
    readRunnerLabels: (runId) => readRunnerLabels(transport, runId),
    listOwnCommits: (base, head) => listOwnCommits(transport, base, head),
    listNewCommits: (base, of) => listNewCommits(transport, base, of),
    listChangesSince: (head, base) => listChangesSince(transport, head, base),
  };
}
