import type {
  BranchProtection,
  CommitStatus,
  GateReading,
  PullRequest,
  Review,
} from '#core/domain/forge/forge.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { known } from '#core/domain/result.ts';
import type { FocusView, PullRequestView, Snapshot } from '../../engine-container/src/queue/snapshot.ts';
import { givenRepo } from './managed-repo.ts';
import { BASE, headOf } from './queue-record.ts';

/** Long after everything that the builders of records date. */
export const NOW = 10_000_000;

/** An open pull request to the base, up to date with it. */
export function givenPull(number: number, changes: Partial<PullRequest> = {}): PullRequest {
  return {
    number,
    title: `Change ${number}`,
    state: 'open',
    draft: false,
    mergeable: true,
    merged: false,
    mergeCommitSha: null,
    mergeBase: BASE.sha,
    baseRef: 'main',
    baseTip: BASE.sha,
    headRef: `branch-${number}`,
    headSha: headOf(number),
    fromFork: false,
    agit: false,
    author: 'dev',
    updatedAt: 0,
    ...changes,
  };
}

/** Scheduled on its head, no review, no status. */
export function givenView(
  number: number,
  {
    pull,
    ...changes
  }: Partial<Omit<PullRequestView, 'pull'>> & { readonly pull?: Partial<PullRequest> } = {},
): PullRequestView {
  return {
    pull: givenPull(number, pull),
    schedule: known({ kind: 'bound', id: number, at: number, by: 'dev' }),
    reviews: known([]),
    statuses: known([]),
    opensAnother: known(null),
    ...changes,
  };
}

/** One look at a pull request that is about to land, or that is awaited. */
export function givenFocus(
  number: number,
  { pull, ...changes }: Partial<Omit<FocusView, 'pull'>> & { readonly pull?: Partial<PullRequest> } = {},
): FocusView {
  return {
    pull: givenPull(number, pull),
    schedule: known({ kind: 'bound', id: number, at: number, by: 'dev' }),
    opensAnother: known(null),
    merge: null,
    strangeTip: null,
    ...changes,
  };
}

/** The rule asks for the status of the queue and for nothing else. */
export function givenRule(changes: Partial<BranchProtection> = {}): BranchProtection {
  return {
    scope: 'full',
    ruleName: 'main',
    statusCheckEnabled: true,
    requiredContexts: [DEFAULT_SERVICE_NAME],
    requiredApprovals: 0,
    blockOnRejectedReviews: false,
    blockOnOfficialReviewRequests: false,
    blockOnOutdatedBranch: false,
    ignoreStaleApprovals: false,
    dismissStaleApprovals: false,
    directPushAllowed: false,
    ...changes,
  };
}

/** An official approval of this head. */
export function givenReview(head: string, changes: Partial<Review> = {}): Review {
  return {
    id: 1,
    user: 'reviewer',
    state: 'approved',
    official: true,
    stale: false,
    dismissed: false,
    commit: head,
    at: NOW,
    ...changes,
  };
}

export function givenStatus(changes: Partial<CommitStatus> = {}): CommitStatus {
  return {
    context: DEFAULT_SERVICE_NAME,
    state: 'success',
    description: '',
    creator: 'mq-bot',
    createdAt: 1,
    ...changes,
  };
}

export function givenFinishedRun(
  verdict: Extract<GateReading, { kind: 'finished' }>['verdict'],
): GateReading {
  return { kind: 'finished', verdict, runId: 'run-new', url: 'https://forge.example/runs/new' };
}

/** A look at everything, in which nothing is scheduled. */
export function givenSnapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    now: NOW,
    fence: 1,
    repo: givenRepo(),
    queueName: DEFAULT_SERVICE_NAME,
    full: true,
    botLogin: known('mq-bot'),
    ids: Array.from({ length: 20 }, (_, index) => `id-${index}`),
    base: known(BASE),
    protection: known(givenRule()),
    pulls: known([]),
    readings: [],
    focus: new Map(),
    gates: new Map(),
    ...changes,
  };
}
