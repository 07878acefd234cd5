import { convertListed, convertPull, convertReview, convertTimelineEntry } from '../convert/entities.ts';
import { MERGE_STYLES, type MergeStyle, type PullRecord } from '../model.ts';
import { cancelSchedule, scheduleMerge } from '../world/automerge.ts';
import { requestDelayedCheck } from '../world/checks.ts';
import { markMerged } from '../world/marked-merge.ts';
import { checkMergeable, mergePull, type Unmergeable } from '../world/merge.ts';
import { ruleFor } from '../world/protection.ts';
import { closePull, commentOnPull, openPull, renamePull, reopenPull } from '../world/pulls.ts';
import { retargetPull } from '../world/retarget.ts';
import { deleteReview, dismissReview, submitReview } from '../world/reviews.ts';
import { findRepo, gitOf, hasAccess, slugOf } from '../world.ts';
import {
  type Call,
  callerOf,
  created,
  flagField,
  NO_CONTENT,
  ok,
  paged,
  pageOf,
  pullOf,
  REPO,
  Refusal,
  type Route,
  route,
  textField,
} from './router.ts';

function listPulls(call: Call) {
  const { world, repo } = call;
  const state = call.query.get('state') ?? 'open';
  const filter = world.profile.pullBaseFilter;
  const base = filter === null ? null : call.query.get(filter);
  const poster = call.query.get('poster');
  const pulls = repo.pulls.filter(
    (pull) =>
      (state === 'all' || pull.state === state) &&
      (base === null || base === '' || pull.base === base) &&
      (poster === null || pull.author === poster),
  );
  const orders: Record<string, (a: PullRecord, b: PullRecord) => number> = {
    oldest: (a, b) => a.createdAt - b.createdAt || a.id - b.id,
    recentupdate: (a, b) => b.updatedAt - a.updatedAt || b.id - a.id,
    leastupdate: (a, b) => a.updatedAt - b.updatedAt || a.id - b.id,
  };
  pulls.sort(orders[call.query.get('sort') ?? ''] ?? ((a, b) => b.createdAt - a.createdAt || b.id - a.id));
  const { page, headers } = paged(call, pulls, `/api/v1/repos/${slugOf(repo)}/pulls`);
  // An entry whose conversion failed is null.
  const rows = page.map((pull) =>
    world.knobs.nullPulls.has(pull.index) ? null : convertListed(world, repo, pull, call.user),
  );
  return ok(rows, headers);
}

function getPull(call: Call) {
  const { world, repo, user } = call;
  const pull = pullOf(call);
  requestDelayedCheck(world, repo, pull);
  return ok(convertPull(world, repo, pull, user));
}

async function createPull(call: Call) {
  const { world, repo } = call;
  const head = textField(call, 'head');
  const base = textField(call, 'base');
  if (head === '' || base === '') throw new Refusal(422, '[Head]: Required');
  const colon = head.indexOf(':');
  const owner = colon < 0 ? repo.owner : head.slice(0, colon);
  const headRepo =
    owner === repo.owner
      ? repo
      : (world.state.repos.find((each) => each.owner === owner && each.forkOf === repo.id) ??
        findRepo(world, owner, repo.name));
  if (headRepo === undefined) throw new Refusal(404, "The target couldn't be found.");
  const headBranch = head.slice(colon + 1);
  if (gitOf(world, headRepo).tip(headBranch) === null)
    throw new Refusal(world.profile.absentHeadStatusCode, "The target couldn't be found.");
  const outcome = await openPull(world, repo, {
    headRepo,
    headBranch,
    base,
    title: textField(call, 'title'),
    body: textField(call, 'body'),
    author: callerOf(call),
  });
  if (outcome.ok) return created(convertPull(world, repo, outcome.pull, call.user));
  if (outcome.reason === 'same') throw new Refusal(422, 'Invalid PullRequest: There are no changes');
  if (outcome.reason === 'exists') throw new Refusal(409, 'pull request already exists for these targets');
  throw new Refusal(404, "The target couldn't be found.");
}

async function editPull(call: Call) {
  const { world, repo } = call;
  const pull = pullOf(call);
  const user = callerOf(call);
  if (pull.author !== user && !hasAccess(world, repo, user, 'write')) throw new Refusal(403, 'forbidden');
  const title = textField(call, 'title');
  if (title !== '') renamePull(world, repo, pull, title, user);
  if (typeof call.body.body === 'string') pull.body = call.body.body;
  const base = textField(call, 'base');
  if (base !== '') {
    const result = await retargetPull(world, repo, pull, base, user);
    if (result === 'missing') throw new Refusal(404, "The target couldn't be found.");
    if (result === 'exists') throw new Refusal(409, 'pull request already exists for these targets');
  }
  const state = textField(call, 'state');
  if (state !== '') {
    if (pull.merged)
      throw new Refusal(412, 'cannot change state of this pull request, it was already merged');
    if (state === 'closed') closePull(world, repo, pull, user);
    if (state === 'open' && !(await reopenPull(world, repo, pull, user))) {
      throw new Refusal(412, 'cannot reopen: a branch is gone');
    }
  }
  return created(convertPull(world, repo, pull, call.user));
}

/** Without `page` the whole timeline, on Gitea from 1.26 on its first page; an empty one is `null`. */
function listTimeline(call: Call) {
  const pull = pullOf(call);
  const since = Date.parse(call.query.get('since') ?? '');
  const before = Date.parse(call.query.get('before') ?? '');
  let rows = pull.timeline.filter(
    (entry) => !(entry.at < since) && (Number.isNaN(before) || entry.at < before),
  );
  if (call.world.profile.pagesTimelines || Number(call.query.get('page') ?? '') > 0) {
    const { page, limit } = pageOf(call);
    rows = rows.slice((page - 1) * limit, page * limit);
  }
  const entries = rows.map((entry) => convertTimelineEntry(call.world, call.repo, pull, entry));
  return ok(entries.length === 0 ? null : entries, { 'X-Total-Count': String(entries.length) });
}

function listReviews(call: Call) {
  const pull = pullOf(call);
  const rows = pull.reviews.map((review) => convertReview(call.world, call.repo, pull, review));
  if (call.query.get('page') === null) return ok(rows, { 'X-Total-Count': String(rows.length) });
  const { page, headers } = paged(
    call,
    rows,
    `/api/v1/repos/${slugOf(call.repo)}/pulls/${pull.index}/reviews`,
  );
  return ok(page, headers);
}

function createReview(call: Call) {
  const pull = pullOf(call);
  const verdicts = {
    APPROVED: 'approve',
    APPROVE: 'approve',
    REQUEST_CHANGES: 'reject',
    COMMENT: 'comment',
  } as const;
  const event = textField(call, 'event');
  if (!(event in verdicts)) throw new Refusal(422, 'review event is not known');
  const verdict = verdicts[event as keyof typeof verdicts];
  const review = submitReview(call.world, call.repo, pull, callerOf(call), verdict, textField(call, 'body'));
  if (review === null) throw new Refusal(422, 'approve your own pull is not allowed');
  return ok(convertReview(call.world, call.repo, pull, review));
}

function dismiss(call: Call) {
  const pull = pullOf(call);
  const review = pull.reviews.find((each) => each.id === Number(call.params.id));
  if (review === undefined) throw new Refusal(404, "The target couldn't be found.");
  dismissReview(call.world, call.repo, pull, review, callerOf(call), textField(call, 'message'));
  return ok(convertReview(call.world, call.repo, pull, review));
}

function removeReview(call: Call) {
  const pull = pullOf(call);
  const review = pull.reviews.find((each) => each.id === Number(call.params.id));
  if (review === undefined) throw new Refusal(404, "The target couldn't be found.");
  deleteReview(pull, review);
  return NO_CONTENT;
}

function comment(call: Call) {
  const body = textField(call, 'body');
  if (body === '') throw new Refusal(422, '[Body]: Required');
  const id = commentOnPull(call.world, call.repo, pullOf(call), callerOf(call), body);
  return created({ id, body });
}

const WORDS: Readonly<Record<Exclude<Unmergeable, object>, readonly [number, string]>> = {
  merged: [405, 'The PR is already merged'],
  closed: [404, "The target couldn't be found."],
  not_allowed: [405, 'User not allowed to merge PR'],
  draft: [405, 'Work in progress PRs cannot be merged'],
  not_mergeable: [405, 'Please try again later'],
};

function refuseUnmergeable(why: Unmergeable): never {
  if (typeof why === 'object') throw new Refusal(405, why.blocked);
  const [status, message] = WORDS[why];
  throw new Refusal(status, message);
}

async function mergeOrSchedule(call: Call) {
  const { world, repo } = call;
  const pull = pullOf(call);
  const doer = callerOf(call);
  const style = textField(call, 'Do') as MergeStyle;
  if (!MERGE_STYLES.includes(style)) throw new Refusal(422, '[Do]: Required');
  if (style === 'manually-merged') return mark(call);
  const request = {
    style,
    doer,
    title: textField(call, 'MergeTitleField'),
    message: textField(call, 'MergeMessageField'),
    deleteBranch: (call.body.delete_branch_after_merge as boolean | undefined) ?? defaultDelete(call),
  };
  if (flagField(call, 'merge_when_checks_succeed')) {
    const why = checkMergeable(world, repo, pull, doer, 'schedule');
    // The one reason that no version has an answer for.
    if (typeof why === 'object' && why !== null) throw new Refusal(500, why.blocked);
    if (why !== null) refuseUnmergeable(why);
    if (scheduleMerge(world, repo, pull, request) === 'already') {
      throw new Refusal(409, 'pull request is already scheduled to be auto merged when checks succeed');
    }
    return { status: 201 };
  }
  const rule = ruleFor(world, repo, pull.base);
  const mayForce =
    flagField(call, 'force_merge') &&
    hasAccess(world, repo, doer, 'admin') &&
    rule?.applies_to_admins !== true;
  const why = checkMergeable(world, repo, pull, doer, mayForce ? 'force' : 'manual');
  if (why !== null) refuseUnmergeable(why);
  const expected = textField(call, 'head_commit_id');
  if (expected !== '' && expected !== pull.headSha) throw new Refusal(409, 'head out of date');
  const outcome = await mergePull(world, repo, pull, request);
  if (outcome.ok) return { status: 200 };
  if (outcome.reason === 'style_forbidden')
    throw new Refusal(405, `${style} is not allowed an allowed merge style`);
  throw new Refusal(409, outcome.reason === 'conflict' ? 'merge conflict' : 'merge push out of date');
}

/** Nothing but the right to merge is asked for. */
async function mark(call: Call) {
  const { world, repo } = call;
  const pull = pullOf(call);
  const doer = callerOf(call);
  const why = checkMergeable(world, repo, pull, doer, 'mark');
  if (why !== null) refuseUnmergeable(why);
  const refusal = await markMerged(world, repo, pull, { doer, commit: textField(call, 'MergeCommitID') });
  if (refusal === 'wrong_commit') throw new Refusal(409, 'Wrong commit ID');
  if (refusal !== null) throw new Refusal(405, 'manually-merged is not allowed an allowed merge style');
  return { status: 200 };
}

/** Newer Gitea falls back to the repository's setting where the field is left out. */
function defaultDelete(call: Call): boolean {
  return call.world.profile.kind === 'gitea' && call.repo.deleteBranchAfterMerge;
}

function cancel(call: Call) {
  const result = cancelSchedule(call.world, call.repo, pullOf(call), callerOf(call));
  if (result === 'none') throw new Refusal(404, "The target couldn't be found.");
  if (result === 'forbidden')
    throw new Refusal(403, 'user has no permission to cancel the scheduled auto merge');
  return NO_CONTENT;
}

async function listFiles(call: Call) {
  const { repo, world } = call;
  const pull = pullOf(call);
  const git = gitOf(world, repo);
  const out = await git.diff(pull.mergeBase ?? pull.headSha, pull.headSha, ['--name-status', '-M', '-z']);
  const fields = out.split('\0');
  const words: Record<string, string> = {
    A: 'added',
    M: 'modified',
    D: 'deleted',
    R: 'renamed',
    C: 'copied',
  };
  const files: { filename: string; previous_filename?: string; status: string }[] = [];
  for (let at = 0; at + 1 < fields.length; ) {
    const kind = fields[at]?.[0] ?? 'M';
    const first = fields[at + 1] ?? '';
    const moved = kind === 'R' || kind === 'C';
    const status = words[kind] ?? 'changed';
    files.push(
      moved
        ? { filename: fields[at + 2] ?? '', previous_filename: first, status }
        : { filename: first, status },
    );
    at += moved ? 3 : 2;
  }
  const { page, headers } = paged(call, files, `/api/v1/repos/${slugOf(repo)}/pulls/${pull.index}/files`);
  return ok(page, headers);
}

const getMerged = (call: Call) => {
  if (!pullOf(call).merged) throw new Refusal(404, "The target couldn't be found.");
  return NO_CONTENT;
};

const PULL = `${REPO}/pulls/:n`;

export const PULL_ROUTES: readonly Route[] = [
  route('GET', `${REPO}/pulls`, listPulls),
  route('POST', `${REPO}/pulls`, createPull, { access: 'read' }),
  route('GET', PULL, getPull),
  route('PATCH', PULL, editPull, { access: 'read' }),
  route('GET', `${PULL}/files`, listFiles),
  route('GET', `${PULL}/merge`, getMerged),
  route('POST', `${PULL}/merge`, mergeOrSchedule, { access: 'read' }),
  route('DELETE', `${PULL}/merge`, cancel, { access: 'read' }),
  route('GET', `${PULL}/reviews`, listReviews),
  route('POST', `${PULL}/reviews`, createReview, { access: 'read' }),
  route('DELETE', `${PULL}/reviews/:id`, removeReview),
  route('POST', `${PULL}/reviews/:id/dismissals`, dismiss),
  route('GET', `${REPO}/issues/:n/timeline`, listTimeline, { scope: 'issue' }),
  route('POST', `${REPO}/issues/:n/comments`, comment, { scope: 'issue', access: 'read' }),
];
