import { convertCommit, type Json } from '../convert/entities.ts';
import type { CommitObject } from '../git/objects.ts';
import type { Repository } from '../git/repository.ts';
import type { RepoRecord } from '../model.ts';
import { isOnMergeList, mayPush, ruleFor } from '../world/protection.ts';
import { pushBranch } from '../world/pushes.ts';
import { gitOf, hasAccess, slugOf, timestamp, type World } from '../world.ts';
import {
  type Call,
  callerOf,
  created,
  flagField,
  NO_CONTENT,
  ok,
  paged,
  REPO,
  Refusal,
  type Route,
  route,
  textField,
} from './router.ts';

/** The default of both forges. */
const BLOB_BYTES_MAX = 10 * 1024 * 1024;
const TREES_PER_PAGE_MAX = 1000;
/** Of a name that a call gives a branch; git itself knows no such limit. */
const BRANCH_CHARS_MAX = 100;

async function convertBranch(
  world: World,
  repo: RepoRecord,
  name: string,
  commit: CommitObject,
  viewer: string | null,
): Promise<Json> {
  const rule = ruleFor(world, repo, name);
  const author = { name: commit.author.name, email: commit.author.email, username: '' };
  return {
    name,
    commit: {
      id: commit.id,
      message: commit.message,
      url: `${world.rootUrl()}/${slugOf(repo)}/commit/${commit.id}`,
      author,
      committer: author,
      verification: null,
      timestamp: timestamp(commit.committer.at),
      added: null,
      removed: null,
      modified: null,
    },
    protected: rule !== null,
    required_approvals: rule?.required_approvals ?? 0,
    enable_status_check: rule?.enable_status_check ?? false,
    status_check_contexts: rule?.status_check_contexts ?? [],
    user_can_push: viewer !== null && mayPush(world, repo, name, viewer),
    user_can_merge:
      viewer !== null &&
      (rule?.enable_merge_whitelist === true
        ? isOnMergeList(rule, repo, viewer)
        : hasAccess(world, repo, viewer, 'write')),
    effective_branch_protection_name: hasAccess(world, repo, viewer, 'admin') ? (rule?.rule_name ?? '') : '',
  };
}

/** May a call name a branch so in its body? */
export function mayNameBranch(name: string): boolean {
  return isBranchName(name) && name.length <= BRANCH_CHARS_MAX;
}

export function isBranchName(name: string): boolean {
  if (name === '') return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids them in ref names.
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|^\/|^-/.test(name)) return false;
  return !name.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock'));
}

export function isHalfMade(repo: RepoRecord, branch: string): boolean {
  return repo.halfMade?.includes(branch) === true;
}

async function listBranches(call: Call) {
  const git = gitOf(call.world, call.repo);
  const known = (await git.branches()).filter(({ name }) => !isHalfMade(call.repo, name));
  const { page, headers } = paged(call, known, `/api/v1/repos/${slugOf(call.repo)}/branches`);
  const rows: Json[] = [];
  for (const { name, sha } of page) {
    rows.push(await convertBranch(call.world, call.repo, name, await git.mustCommit(sha), call.user));
  }
  return ok(rows, headers);
}

async function getBranch(call: Call) {
  const git = gitOf(call.world, call.repo);
  const name = call.params.branch ?? '';
  const sha = isBranchName(name) && !isHalfMade(call.repo, name) ? git.tip(name) : null;
  if (sha === null) throw new Refusal(404, "The target couldn't be found.");
  return ok(await convertBranch(call.world, call.repo, name, await git.mustCommit(sha), call.user));
}

async function createBranch(call: Call) {
  const { world, repo } = call;
  const git = gitOf(world, repo);
  const name = textField(call, 'new_branch_name');
  if (!mayNameBranch(name)) throw new Refusal(422, '[]: NewBranchName');
  const from = textField(call, 'old_ref_name') || textField(call, 'old_branch_name') || repo.defaultBranch;
  const names = (await git.branches()).map((branch) => branch.name);
  if (names.includes(name)) throw new Refusal(409, 'The branch already exists.');
  if (names.some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))) {
    throw new Refusal(409, 'The branch already exists.');
  }
  if (git.ref(`refs/tags/${name}`) !== null)
    throw new Refusal(409, 'The branch with the same tag already exists.');
  const sha = await git.resolve(from);
  if (sha === null) {
    if (/^[0-9a-f]{40}$/.test(from) || from.startsWith('refs/'))
      throw new Refusal(500, 'object does not exist');
    throw new Refusal(404, 'The old branch does not exist');
  }
  const result = await pushBranch(world, repo, {
    branch: name,
    before: null,
    after: sha,
    pusher: callerOf(call),
  });
  if (result === 'protected') throw new Refusal(500, 'branch is protected');
  if (result !== 'pushed') throw new Refusal(409, 'The branch already exists.');
  return created(await convertBranch(world, repo, name, await git.mustCommit(sha), call.user));
}

async function deleteBranch(call: Call) {
  const { world, repo } = call;
  const name = call.params.branch ?? '';
  const before = isBranchName(name) ? gitOf(world, repo).tip(name) : null;
  if (before === null && world.profile.kind === 'forgejo') throw new Refusal(500, 'object does not exist');
  if (before === null) throw new Refusal(404, "The target couldn't be found.");
  if (name === repo.defaultBranch) throw new Refusal(403, 'can not delete default branch');
  const result = await pushBranch(world, repo, { branch: name, before, after: null, pusher: callerOf(call) });
  if (result === 'protected') throw new Refusal(403, 'branch protected');
  return NO_CONTENT;
}

async function updateBranch(call: Call) {
  const { world, repo } = call;
  if (!world.profile.refUpdateApi) throw new Refusal(404, 'Not Found');
  const git = gitOf(world, repo);
  const name = call.params.branch ?? '';
  const before = isBranchName(name) ? git.tip(name) : null;
  const after = await git.resolve(textField(call, 'new_commit_id'));
  if (before === null || after === null) throw new Refusal(404, "The target couldn't be found.");
  const lease = textField(call, 'old_commit_id');
  if (lease !== '' && lease !== before) throw new Refusal(422, 'branch was updated in the meantime');
  const force = flagField(call, 'force');
  const result = await pushBranch(
    world,
    repo,
    { branch: name, before, after, pusher: callerOf(call) },
    { force },
  );
  if (result === 'protected') throw new Refusal(403, 'hook declined');
  if (result !== 'pushed') throw new Refusal(422, 'update is not a fast forward');
  return NO_CONTENT;
}

async function getTree(call: Call) {
  const { world, repo } = call;
  const git = gitOf(world, repo);
  const sha = call.params.sha ?? '';
  const isId = /^[0-9a-f]{40}$/.test(sha);
  const peeled = /^(.+)\^\{tree\}$/.exec(sha)?.[1];
  const id = peeled !== undefined ? await git.treeOf(peeled) : isId ? sha : await git.resolve(sha);
  const recursive = ['1', 'true'].includes(call.query.get('recursive') ?? '');
  const entries = id === null ? null : await git.listTree(id, recursive);
  if (id === null || entries === null) throw new Refusal(400, `sha not found: ${sha}`);
  const perPage = Math.min(
    Number(call.query.get('per_page') ?? '') || TREES_PER_PAGE_MAX,
    TREES_PER_PAGE_MAX,
  );
  const page = Math.max(1, Number(call.query.get('page') ?? '') || 1);
  const url = `${world.rootUrl()}/api/v1/repos/${slugOf(repo)}/git`;
  return ok({
    sha: id,
    url: `${url}/trees/${id}`,
    tree: entries.slice((page - 1) * perPage, page * perPage).map((entry) => ({
      ...entry,
      url: entry.type === 'commit' ? '' : `${url}/${entry.type}s/${entry.sha}`,
    })),
    truncated: entries.length > perPage,
    page,
    total_count: entries.length,
  });
}

async function getCommit(call: Call) {
  const git = gitOf(call.world, call.repo);
  const id = await git.resolve(call.params.sha ?? '');
  if (id === null) throw new Refusal(404, "The target couldn't be found.");
  return ok(convertCommit(call.world, call.repo, await git.mustCommit(id)));
}

function getTag(call: Call) {
  const name = call.params.tag ?? '';
  const sha = gitOf(call.world, call.repo).ref(`refs/tags/${name}`);
  if (sha === null) throw new Refusal(404, "The target couldn't be found.");
  return ok({ name, id: sha, commit: { sha } });
}

async function createTag(call: Call) {
  const git = gitOf(call.world, call.repo);
  const name = textField(call, 'tag_name');
  const sha = await git.resolve(textField(call, 'target'));
  if (sha === null) throw new Refusal(404, 'target not found');
  if (git.ref(`refs/tags/${name}`) !== null) throw new Refusal(409, 'tag already exists');
  await git.setRef(`refs/tags/${name}`, sha);
  return created({ name, id: sha, commit: { sha } });
}

async function listCommits(call: Call) {
  const { world, repo } = call;
  const git = gitOf(world, repo);
  const start = await git.resolve(call.query.get('sha') ?? repo.defaultBranch);
  if (start === null) throw new Refusal(404, "The target couldn't be found.");
  const not = call.query.get('not');
  const excluded = not === null ? null : await git.resolve(not);
  // As git fails on it: seen on gt126.
  if (not !== null && excluded === null) throw new Refusal(500, '');
  const ids = await git.revList(start, excluded === null ? [] : [excluded]);
  const { page, headers } = paged(call, ids, `/api/v1/repos/${slugOf(repo)}/commits`);
  const rows: Json[] = [];
  for (const id of page) {
    const commit = await git.mustCommit(id);
    const files = call.query.get('files') === 'false' ? null : await listFiles(git, commit);
    rows.push({ ...convertCommit(world, repo, commit), files });
  }
  return ok(rows, { ...headers, 'X-Total': String(ids.length) });
}

/** Git's own id of it. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Against the first parent, without renames, and without files that became links. */
async function listFiles(git: Repository, { id, parents }: CommitObject): Promise<Json[]> {
  const names = await git.diff(parents[0] ?? EMPTY_TREE, id, [
    '--name-only',
    '--no-renames',
    '--diff-filter=AMD',
    '-z',
  ]);
  return names.split('\0').flatMap((filename) => (filename === '' ? [] : [{ filename, status: 'modified' }]));
}

async function compare(call: Call) {
  const { world, repo } = call;
  const git = gitOf(world, repo);
  const [from = '', to = ''] = (call.params.range ?? '').split('...');
  const [base, head] = [await git.resolve(from), await git.resolve(to)];
  if (base === null || head === null) throw new Refusal(404, "The target couldn't be found.");
  const fork = (await git.mergeBase(base, head)) ?? base;
  const ids = await git.revList(head, [fork]);
  const commits: Json[] = [];
  for (const id of ids) commits.push(convertCommit(world, repo, await git.mustCommit(id)));
  const names = await git.diff(fork, head, ['--name-only', '-z']);
  const files = names.split('\0').filter((name) => name !== '');
  return ok({
    total_commits: ids.length,
    commits,
    files: files.map((filename) => ({ filename, status: 'changed' })),
  });
}

/** Every reference whose name begins so; one that has exactly this name stands alone. */
async function listRefs(call: Call) {
  const { world, repo } = call;
  const filter = `refs/${call.params.ref ?? ''}`;
  const refs = (await gitOf(world, repo).refs.list()).filter(({ name }) => name.startsWith(filter));
  if (refs.length === 0) throw new Refusal(404, "The target couldn't be found.");
  const rows = refs.map(({ name, sha }) => ({
    ref: name,
    url: `${world.rootUrl()}/api/v1/repos/${slugOf(repo)}/git/${name}`,
    object: { type: 'commit', sha, url: '' },
  }));
  return ok(rows.length === 1 && rows[0]?.ref === filter ? rows[0] : rows);
}

async function getBlob(call: Call) {
  const id = call.params.sha ?? '';
  const object = /^[0-9a-f]{40}$/.test(id) ? await gitOf(call.world, call.repo).objects.read(id) : null;
  if (object?.type !== 'blob') throw new Refusal(400, `blob not found: ${id}`);
  // Above its limit the forge answers as for any other, without the content.
  const isHeldBack = object.data.length > BLOB_BYTES_MAX;
  return ok({
    sha: id,
    size: object.data.length,
    encoding: 'base64',
    content: isHeldBack ? '' : object.data.toString('base64'),
  });
}

export const GIT_ROUTES: readonly Route[] = [
  route('GET', `${REPO}/branches`, listBranches),
  route('POST', `${REPO}/branches`, createBranch),
  route('GET', `${REPO}/branches/*branch`, getBranch),
  route('DELETE', `${REPO}/branches/*branch`, deleteBranch),
  route('PUT', `${REPO}/branches/*branch`, updateBranch),
  route('GET', `${REPO}/tags/*tag`, getTag),
  route('POST', `${REPO}/tags`, createTag),
  route('GET', `${REPO}/git/trees/:sha`, getTree),
  route('GET', `${REPO}/git/commits/:sha`, getCommit),
  route('GET', `${REPO}/git/blobs/:sha`, getBlob),
  route('GET', `${REPO}/git/refs/*ref`, listRefs),
  route('GET', `${REPO}/commits`, listCommits),
  route('GET', `${REPO}/compare/*range`, compare),
];
