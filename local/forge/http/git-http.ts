import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runCommand } from '../git/command-shell.ts';
import { gitEnv } from '../git/process.ts';
import { ZERO_ID } from '../git/refs.ts';
import type { RepoRecord } from '../model.ts';
import { mayPush, ruleFor } from '../world/protection.ts';
import { announcePush } from '../world/pushes.ts';
import { accessOf, findRepo, findUser, gitOf, hasAccess, type World } from '../world.ts';
import { readToken } from './auth.ts';
import { Refusal } from './router.ts';
import { readBody } from './server.ts';

const GIT_PATH = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

export function isGitPath(path: string): boolean {
  return GIT_PATH.test(path);
}

interface RefCommand {
  readonly old: string;
  readonly new: string;
  readonly ref: string;
}

/** Clone, fetch and push over HTTP through git's own backend. A push is announced like any other. */
export async function serveGit(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const [, owner = '', name = '', service = ''] = GIT_PATH.exec(url.pathname) ?? [];
  const isPush = service === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack';
  const repo = findRepo(world, decodeURIComponent(owner), decodeURIComponent(name));
  let login: string | null;
  try {
    login = readToken(world, request)?.login ?? null;
  } catch {
    return refuse(response, 401, 'wrong user or token');
  }
  if (login === null && (isPush || repo === undefined || repo.private))
    return refuse(response, 401, 'sign in');
  if (repo === undefined || accessOf(world, repo, login) === 'none')
    return refuse(response, 404, 'not found');
  if (isPush && !hasAccess(world, repo, login, 'write')) return refuse(response, 403, 'no write access');
  if (isPush && repo.archived) return refuse(response, 403, 'repository is archived');
  const raw = await readBody(request);
  const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
  const backend = { world, repo, request, url, service, body, login };
  if (service !== 'git-receive-pack') return respond(response, await runBackend(backend, {}));
  await world.background.exclusive(async () => {
    respond(response, await receivePush(backend, login ?? ''));
  });
}

function refuse(response: ServerResponse, status: number, text: string): void {
  const ask = status === 401 ? { 'WWW-Authenticate': 'Basic realm="forge"' } : {};
  response.writeHead(status, { 'Content-Type': 'text/plain', ...ask }).end(`${text}\n`);
}

interface Backend {
  readonly world: World;
  readonly repo: RepoRecord;
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly service: string;
  readonly body: Buffer;
  readonly login: string | null;
}

/** The rules are decided here, from the commands at the head of the body; the hook in the repository enforces them. */
async function receivePush(backend: Backend, pusher: string): Promise<Buffer> {
  const { world, repo, body } = backend;
  const git = gitOf(world, repo);
  const commands = readCommands(body);
  const denied: string[] = [];
  const notForced: string[] = [];
  for (const command of commands) {
    const branch = branchOf(command.ref);
    if (branch === null) continue;
    const guarded = ruleFor(world, repo, branch) !== null;
    const deletes = command.new === ZERO_ID;
    if (!mayPush(world, repo, branch, pusher) || (deletes && (guarded || branch === repo.defaultBranch))) {
      denied.push(command.ref);
    } else if (guarded && !deletes && command.old !== ZERO_ID) notForced.push(command.ref);
  }
  const answer = await runBackend(backend, {
    FAKE_FORGE_DENY: denied.join(' '),
    FAKE_FORGE_NO_FORCE: notForced.join(' '),
  });
  for (const command of commands) {
    const branch = branchOf(command.ref);
    const after = command.new === ZERO_ID ? null : command.new;
    if (branch === null || git.tip(branch) !== after || command.old === command.new) continue;
    announcePush(world, repo, {
      branch,
      before: command.old === ZERO_ID ? null : command.old,
      after,
      pusher,
    });
  }
  return answer;
}

function branchOf(ref: string): string | null {
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null;
}

/** `old new ref`, the first with capabilities after a NUL, up to the flush packet. */
function readCommands(body: Buffer): RefCommand[] {
  const commands: RefCommand[] = [];
  for (let at = 0; at + 4 <= body.length; ) {
    const length = Number.parseInt(body.subarray(at, at + 4).toString('latin1'), 16);
    if (!(length > 4)) break;
    const line = body
      .subarray(at + 4, at + length)
      .toString('utf8')
      .split('\0')[0]
      ?.trimEnd();
    const match = /^([0-9a-f]{40}) ([0-9a-f]{40}) (.+)$/.exec(line ?? '');
    if (match !== null) commands.push({ old: match[1] ?? '', new: match[2] ?? '', ref: match[3] ?? '' });
    at += length;
  }
  return commands;
}

async function runBackend(backend: Backend, extra: Readonly<Record<string, string>>): Promise<Buffer> {
  const { request, url, service, body, login, repo, world } = backend;
  const root = dirname(gitOf(world, repo).dir);
  const user = login === null ? undefined : findUser(world, login);
  const protocol = request.headers['git-protocol'];
  const env = gitEnv({
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: `/${repo.id}.git/${service}`,
    REQUEST_METHOD: request.method ?? 'GET',
    QUERY_STRING: url.search.slice(1),
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    CONTENT_LENGTH: String(body.length),
    REMOTE_ADDR: '127.0.0.1',
    ...(login === null ? {} : { REMOTE_USER: login }),
    GIT_COMMITTER_NAME: login ?? 'nobody',
    GIT_COMMITTER_EMAIL: user?.email ?? 'nobody@localhost',
    ...(typeof protocol === 'string' ? { GIT_PROTOCOL: protocol } : {}),
    ...extra,
  });
  // `git http-backend` finds the program in git's own exec path.
  const answer = await runCommand({ words: ['git', 'http-backend'], cwd: root, env, input: body });
  return answer.stdout;
}

/** CGI answer: headers, empty line, body. */
function respond(response: ServerResponse, answer: Buffer): void {
  const end = answer.indexOf('\r\n\r\n');
  if (end < 0) throw new Refusal(500, 'git http-backend gave no answer');
  let status = 200;
  for (const line of answer.subarray(0, end).toString('latin1').split('\r\n')) {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).trim();
    if (line.slice(0, colon).toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(line.slice(0, colon), value);
  }
  response.writeHead(status).end(answer.subarray(end + 4));
}
