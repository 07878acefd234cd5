import { convertCommit } from '../convert/entities.ts';
import type { Signature } from '../git/objects.ts';
import { signatureOf } from '../world/merge.ts';
import { areUnprotected, mayPush } from '../world/protection.ts';
import { pushBranch } from '../world/pushes.ts';
import { gitOf, hasAccess, slugOf } from '../world.ts';
import { isHalfMade, mayNameBranch } from './api-git.ts';
import { type Call, callerOf, flagField, ok, REPO, Refusal, type Route, route, textField } from './router.ts';

interface CommitTarget {
  /** Branch the commit lands on. */
  readonly branch: string;
  readonly parent: string;
  /** The content that the branch holds now; null: it is new. */
  readonly before: string | null;
  /** It changes files alone that the rule of the branch lets be pushed past it. */
  readonly isUnprotected: boolean;
}

/** `branch` and `new_branch` of diffpatch and contents, with their refusals; `ruledStatus`: that to a new branch which a rule covers. */
function targetOf(call: Call, paths: readonly string[] = [], ruledStatus: 403 | 500 = 403): CommitTarget {
  const { world, repo } = call;
  const git = gitOf(world, repo);
  const source = textField(call, 'branch') || repo.defaultBranch;
  if (!mayNameBranch(source)) throw new Refusal(422, '[]: BranchName');
  const parent = git.tip(source);
  if (parent === null) throw new Refusal(404, `branch does not exist [name: ${source}]`);
  const branch = textField(call, 'new_branch') || source;
  if (!mayNameBranch(branch)) throw new Refusal(422, '[]: NewBranchName');
  // Its push is out of date then, for a reason that no answer names.
  const before = isHalfMade(repo, branch) ? null : git.tip(branch);
  const force = world.profile.contentsForceField;
  const mayOverwrite = force !== null && flagField(call, force);
  if (branch !== source && before !== null && !mayOverwrite) {
    throw new Refusal(422, `branch already exists [name: ${branch}]`);
  }
  const isUnprotected =
    paths.length > 0 &&
    hasAccess(world, repo, callerOf(call), 'write') &&
    areUnprotected(world, repo, branch, paths);
  if (!isUnprotected && !mayPush(world, repo, branch, callerOf(call))) {
    throw new Refusal(branch === source ? 403 : ruledStatus, `branch is protected [name: ${branch}]`);
  }
  return { branch, parent, before, isUnprotected };
}

function personOf(call: Call, field: string): Signature {
  const fallback = signatureOf(call.world, callerOf(call));
  const given = call.body[field];
  const dates = call.body.dates;
  const read = (from: unknown, name: string): string => {
    const value =
      from !== null && typeof from === 'object' ? (from as Record<string, unknown>)[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  const date = Date.parse(read(dates, field));
  return {
    name: read(given, 'name') || fallback.name,
    email: read(given, 'email') || fallback.email,
    at: Number.isNaN(date) ? fallback.at : date,
  };
}

async function commitTree(call: Call, target: CommitTarget, tree: string, standardMessage: string) {
  const { world, repo } = call;
  const git = gitOf(world, repo);
  const sha = git.objects.writeCommit({
    tree,
    parents: [target.parent],
    author: personOf(call, 'author'),
    committer: personOf(call, 'committer'),
    message: textField(call, 'message') || standardMessage,
  });
  const result = await pushBranch(
    world,
    repo,
    { branch: target.branch, before: target.before, after: sha, pusher: callerOf(call) },
    { force: target.before !== null && target.before !== target.parent, bypassRule: target.isUnprotected },
  );
  if (result === 'protected') throw new Refusal(403, `branch is protected [name: ${target.branch}]`);
  if (result !== 'pushed') throw new Refusal(500, 'push rejected');
  const { commit, ...rest } = convertCommit(world, repo, await git.mustCommit(sha)) as {
    commit: { tree: object };
  };
  // The one answer that names the tree itself.
  return { ...rest, ...commit, sha, tree: { ...commit.tree, sha: tree } };
}

async function applyDiffPatch(call: Call) {
  const { world, repo } = call;
  if (world.profile.patchNeedsSha && textField(call, 'sha') === '') throw new Refusal(422, '[SHA]: Required');
  if (typeof call.body.content !== 'string') throw new Refusal(422, '[Content]: Required');
  const target = targetOf(call, [], world.profile.ruledPatchStatusCode);
  const tree = await gitOf(world, repo).applyPatch(target.parent, textField(call, 'content'));
  // Conflict, damaged patch and missing blob all end here; only a site administrator is told why.
  if (tree === null) throw new Refusal(500, 'git apply failed');
  const commit = await commitTree(call, target, tree, 'Apply patch');
  return {
    status: 201,
    json: { content: null, commit, verification: { verified: false, reason: 'gpg.error.not_signed_commit' } },
  };
}

function cleanPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length === 0 || parts.some((part) => part === '.' || part === '..' || part === '.git')) {
    throw new Refusal(422, `path contains a malformed path component [path: ${path}]`);
  }
  return parts.join('/');
}

interface FileOperation {
  readonly operation: 'create' | 'update' | 'delete';
  readonly path: string;
  readonly content: string;
  readonly sha: string;
  readonly fromPath: string;
}

async function changeFiles(call: Call, operations: readonly FileOperation[], status: number) {
  const { world, repo } = call;
  const git = gitOf(world, repo);
  const target = targetOf(
    call,
    operations.flatMap(({ path, fromPath }) => (fromPath === '' ? [path] : [fromPath, path])),
  );
  const files = await git.objects.readFlat(target.parent);
  const changes: { path: string; content: Buffer | null }[] = [];
  for (const { operation, path, content, sha, fromPath } of operations) {
    const old = files.get(fromPath || path);
    const isDirectory = [...files.keys()].some((other) => other.startsWith(`${path}/`));
    if (operation === 'create' && (old !== undefined || isDirectory)) {
      throw new Refusal(422, `repository file already exists [path: ${path}]`);
    }
    if (operation !== 'create') {
      if (old === undefined)
        throw new Refusal(operation === 'delete' ? 404 : 422, `file does not exist [path: ${path}]`);
      if (sha === '') throw new Refusal(422, '[SHA]: Required');
      if (sha !== old.id) {
        const words = `sha does not match [given: ${sha}, expected: ${old.id}]`;
        throw new Refusal(world.profile.otherBlobStatusCode, words);
      }
      if (old.mode === '120000') throw new Refusal(422, 'path is a symbolic link');
    }
    if (fromPath !== '' && fromPath !== path) changes.push({ path: fromPath, content: null });
    changes.push({ path, content: operation === 'delete' ? null : Buffer.from(content, 'base64') });
  }
  const tree = await git.changeTree(target.parent, changes);
  const first = operations[0];
  const commit = await commitTree(call, target, tree, `Update ${first?.path ?? 'files'}`);
  const view =
    first === undefined || first.operation === 'delete' ? null : await fileView(call, commit.sha, first.path);
  return { status, json: { content: view, commit, verification: null } };
}

function operationOf(raw: Readonly<Record<string, unknown>>, path: string, operation: string): FileOperation {
  if (operation !== 'create' && operation !== 'update' && operation !== 'delete') {
    throw new Refusal(422, '[Operation]: In');
  }
  const text = (name: string): string => {
    const value = raw[name];
    return typeof value === 'string' ? value : '';
  };
  const fromPath = text('from_path');
  return {
    operation,
    path: cleanPath(path),
    content: text('content'),
    sha: text('sha'),
    fromPath: fromPath === '' ? '' : cleanPath(fromPath),
  };
}

function changeOne(operation: string, status: number): Route['run'] {
  return (call) => changeFiles(call, [operationOf(call.body, call.params.path ?? '', operation)], status);
}

/** In the list of `POST contents` alone: elsewhere the path is part of the address. */
const LISTED_PATH_CHARS_MAX = 500;

function changeMany(call: Call) {
  const raw = call.body.files;
  if (!Array.isArray(raw) || raw.length === 0) throw new Refusal(422, '[Files]: Required');
  const operations = raw.map((file: Record<string, unknown>) => {
    const path = String(file.path ?? '');
    if (path.length > LISTED_PATH_CHARS_MAX) throw new Refusal(422, '[Path]: MaxSize');
    return operationOf(file, path, String(file.operation ?? ''));
  });
  return changeFiles(call, operations, 201);
}

async function fileView(call: Call, commit: string, path: string) {
  const { world, repo } = call;
  const git = gitOf(world, repo);
  const entry = (await git.objects.readFlat(commit)).get(path);
  if (entry === undefined) return null;
  const data = (await git.objects.read(entry.id))?.data ?? Buffer.alloc(0);
  const types: Record<string, string> = { '120000': 'symlink', '160000': 'submodule' };
  const url = `${world.rootUrl()}/${slugOf(repo)}`;
  return {
    name: path.split('/').pop() ?? path,
    path,
    sha: entry.id,
    last_commit_sha: (await git.lastChange(commit, path)) ?? commit,
    type: types[entry.mode] ?? 'file',
    size: data.length,
    encoding: 'base64',
    content: data.toString('base64'),
    target: entry.mode === '120000' ? data.toString('utf8') : null,
    url: `${world.rootUrl()}/api/v1/repos/${slugOf(repo)}/contents/${path}`,
    html_url: `${url}/src/commit/${commit}/${path}`,
    git_url: '',
    download_url: null,
    submodule_git_url: null,
  };
}

async function getContents(call: Call) {
  const { world, repo } = call;
  const git = gitOf(world, repo);
  const commit = await git.resolve(call.query.get('ref') || repo.defaultBranch);
  if (commit === null) throw new Refusal(404, "The target couldn't be found.");
  const path = (call.params.path ?? '').replace(/^\/+|\/+$/g, '');
  if (path !== '') {
    const file = await fileView(call, commit, path);
    if (file !== null) return ok(file);
  }
  const prefix = path === '' ? '' : `${path}/`;
  const all = (await git.listTree(commit, true)) ?? [];
  const inside = all.filter(
    (entry) => entry.path.startsWith(prefix) && !entry.path.slice(prefix.length).includes('/'),
  );
  if (inside.length === 0) throw new Refusal(404, "The target couldn't be found.");
  const types: Record<string, string> = { tree: 'dir', commit: 'submodule' };
  return ok(
    inside.map((entry) => ({
      name: entry.path.slice(prefix.length),
      path: entry.path,
      sha: entry.sha,
      type: entry.mode === '120000' ? 'symlink' : (types[entry.type] ?? 'file'),
      size: entry.size,
      encoding: null,
      content: null,
    })),
  );
}

export const FILE_ROUTES: readonly Route[] = [
  route('POST', `${REPO}/diffpatch`, applyDiffPatch),
  route('GET', `${REPO}/contents`, getContents),
  route('GET', `${REPO}/contents/*path`, getContents),
  route('POST', `${REPO}/contents`, changeMany),
  route('POST', `${REPO}/contents/*path`, changeOne('create', 201)),
  route('PUT', `${REPO}/contents/*path`, changeOne('update', 200)),
  route('DELETE', `${REPO}/contents/*path`, changeOne('delete', 200)),
];
