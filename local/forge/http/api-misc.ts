import { convertRepo, convertUser } from '../convert/entities.ts';
import type { MergeStyle } from '../model.ts';
import { accessOf, slugOf } from '../world.ts';
import { type Call, callerOf, ok, PAGE_SIZE_MAX, paged, REPO, Refusal, type Route, route } from './router.ts';

const MISC = { scope: 'misc', access: 'none' } as const;

/** Own repositories and those one was added to; public ones of others are not listed. */
function listOwnRepos(call: Call) {
  const { world } = call;
  const login = callerOf(call);
  const rows = world.state.repos.filter(
    (repo) => repo.owner === login || repo.collaborators[login] !== undefined,
  );
  const { page, headers } = paged(call, rows, '/api/v1/user/repos');
  return ok(
    page.map((repo) => convertRepo(world, repo, login)),
    headers,
  );
}

function searchRepos(call: Call) {
  const { world } = call;
  const wanted = (call.query.get('q') ?? '').toLowerCase();
  const rows = world.state.repos.filter(
    (repo) => accessOf(world, repo, call.user) !== 'none' && slugOf(repo).toLowerCase().includes(wanted),
  );
  const { page, headers } = paged(call, rows, '/api/v1/repos/search');
  return ok({ ok: true, data: page.map((repo) => convertRepo(world, repo, call.user)) }, headers);
}

const STYLE_FLAGS: readonly (readonly [string, MergeStyle])[] = [
  ['allow_merge_commits', 'merge'],
  ['allow_rebase', 'rebase'],
  ['allow_rebase_explicit', 'rebase-merge'],
  ['allow_squash_merge', 'squash'],
  ['allow_fast_forward_only_merge', 'fast-forward-only'],
  ['allow_manual_merge', 'manually-merged'],
];

/**
 * Changes what the body names of: name, allowed styles, `default_merge_style`, `archived`, `has_pull_requests`,
 * `default_delete_branch_after_merge`, `autodetect_manual_merge`.
 */
function editRepo(call: Call) {
  const { body, repo, world } = call;
  for (const [flag, style] of STYLE_FLAGS) {
    if (typeof body[flag] !== 'boolean') continue;
    const others = repo.allowedStyles.filter((allowed) => allowed !== style);
    repo.allowedStyles = body[flag] === true ? [...others, style] : others;
  }
  if (typeof body.name === 'string' && body.name !== '' && body.name !== repo.name) {
    repo.formerNames = [...(repo.formerNames ?? []), repo.name];
    repo.name = body.name;
  }
  const style = STYLE_FLAGS.find(([, each]) => each === body.default_merge_style)?.[1];
  if (style !== undefined) repo.defaultMergeStyle = style;
  if (typeof body.archived === 'boolean') repo.archived = body.archived;
  if (typeof body.has_pull_requests === 'boolean') repo.pullsOff = !body.has_pull_requests;
  if (typeof body.default_delete_branch_after_merge === 'boolean')
    repo.deleteBranchAfterMerge = body.default_delete_branch_after_merge;
  if (typeof body.autodetect_manual_merge === 'boolean')
    repo.autodetectsMerges = body.autodetect_manual_merge;
  world.store.changed();
  return ok(convertRepo(world, repo, call.user));
}

export const MISC_ROUTES: readonly Route[] = [
  route('GET', '/api/v1/version', (call) => ok({ version: call.world.profile.version }), MISC),
  route(
    'GET',
    '/api/forgejo/v1/version',
    (call) => {
      if (call.world.profile.kind !== 'forgejo') throw new Refusal(404, 'Not Found');
      return ok({ version: call.world.profile.version });
    },
    MISC,
  ),
  route(
    'GET',
    '/api/v1/settings/api',
    () =>
      ok({
        max_response_items: PAGE_SIZE_MAX,
        default_paging_num: 30,
        default_git_trees_per_page: 1000,
        default_max_blob_size: 10_485_760,
      }),
    MISC,
  ),
  route('GET', '/api/v1/user', (call) => ok(convertUser(call.world, callerOf(call))), {
    scope: 'user',
    access: 'none',
  }),
  route('GET', '/api/v1/user/repos', listOwnRepos, { scope: 'repository', access: 'none' }),
  route('GET', '/api/v1/repos/search', searchRepos, { access: 'none' }),
  route('GET', REPO, (call) => ok(convertRepo(call.world, call.repo, call.user))),
  route('PATCH', REPO, editRepo, { access: 'admin', whenArchived: true }),
];
