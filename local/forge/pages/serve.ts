import type { IncomingMessage, ServerResponse } from 'node:http';
import { finishRun } from '../actions/runs.ts';
import { readBody } from '../http/server.ts';
import { MERGE_STYLES, type MergeStyle, type PullRecord, type RepoRecord } from '../model.ts';
import { cancelSchedule, scheduleMerge } from '../world/automerge.ts';
import { checkMergeable } from '../world/merge.ts';
import { closePull, commentOnPull, openPull, reopenPull } from '../world/pulls.ts';
import { submitReview } from '../world/reviews.ts';
import { findPull, findRepo, findUser, gitOf, hasAccess, slugOf, type World } from '../world.ts';
import { html, page, STYLE } from './html.ts';
import { commitPage, homePage, pullPage, repoPage, runPage } from './views.ts';

const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** The outcome of a form button: null is done, text is the reason it was not. */
type Outcome = string | null;

/** The pages have no sign-in, so only this machine's own pages may press their buttons. */
export async function servePage(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const host = request.headers.host ?? '';
  if (!isLocalHost(host)) return send(response, 421, 'text/plain', 'Unknown host.\n');
  if (url.pathname === '/-/forge.css') return send(response, 200, 'text/css', STYLE);
  if (request.method === 'POST') return servePost(world, request, response, url, host);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return send(response, 405, 'text/plain', 'Method not allowed.\n');
  }
  const text = await world.background.exclusive(() => render(world, url.pathname, `http://${host}`));
  if (typeof text === 'string') return send(response, 200, 'text/html', text);
  if (text !== null) return send(response, 200, 'text/plain', text.plain);
  send(response, 404, 'text/html', page('Not found', null, html`<p>There is nothing at this address.</p>`));
}

/** A name that a foreign page could have pointed here is refused. */
function isLocalHost(host: string): boolean {
  const name = host.replace(/:\d+$/, '');
  return (
    name === 'localhost' || name.endsWith('.localhost') || /^(\d+\.){3}\d+$/.test(name) || name === '[::1]'
  );
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'Content-Type': `${type}; charset=utf-8`, ...SECURITY_HEADERS }).end(text);
}

async function render(
  world: World,
  path: string,
  origin: string,
): Promise<string | { plain: string } | null> {
  const [owner, name, kind, ...rest] = path.split('/').slice(1).map(decodeURIComponent);
  if (owner === '' || owner === undefined) return homePage(world);
  const repo = findRepo(world, owner, name ?? '');
  if (repo === undefined) return null;
  if (kind === undefined || kind === '') return repoPage(world, repo, origin);
  if (kind === 'pulls') return renderPull(world, repo, rest[0] ?? '');
  if (kind === 'commit') return commitPage(world, repo, rest[0] ?? '');
  const run = kind === 'actions' ? repo.runs.find((each) => each.index === Number(rest[1])) : undefined;
  return run === undefined ? null : runPage(repo, run);
}

async function renderPull(world: World, repo: RepoRecord, name: string) {
  const pull = findPull(repo, Number(name.replace(/\.diff$/, '')));
  if (pull === undefined) return null;
  if (!name.endsWith('.diff')) return pullPage(world, repo, pull);
  return { plain: await gitOf(world, repo).diff(pull.mergeBase ?? pull.headSha, pull.headSha) };
}

async function servePost(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  host: string,
): Promise<void> {
  const origin = request.headers.origin;
  const site = request.headers['sec-fetch-site'];
  const own =
    origin === undefined
      ? site === 'same-origin'
      : /^https?:\/\//.test(origin) && origin.endsWith(`://${host}`);
  if (!own) return send(response, 403, 'text/plain', 'This form was not sent by this site.\n');
  const form = new URLSearchParams((await readBody(request)).toString('utf8'));
  const result = await world.background.exclusive(() => act(world, url.pathname, form));
  if (result === undefined) return send(response, 404, 'text/plain', 'Not found.\n');
  if (result.refused !== null) {
    const back = html`<p>${result.refused}</p><p><a href="${result.to}">Back</a></p>`;
    return send(response, 409, 'text/html', page('Not done', null, back));
  }
  world.store.changed();
  response.writeHead(303, { Location: result.to, ...SECURITY_HEADERS }).end();
}

async function act(
  world: World,
  path: string,
  form: URLSearchParams,
): Promise<{ to: string; refused: Outcome } | undefined> {
  const [owner = '', name = '', kind, second, third, fourth] = path
    .split('/')
    .slice(1)
    .map(decodeURIComponent);
  const repo = findRepo(world, owner, name);
  if (repo === undefined) return undefined;
  const home = `/${slugOf(repo)}`;
  if (kind === 'actions' && second === 'runs' && fourth === 'cancel') {
    const run = repo.runs.find((each) => each.index === Number(third));
    if (run === undefined) return undefined;
    finishRun(world, repo, run, 'cancelled');
    return { to: `${home}/actions/runs/${run.index}`, refused: null };
  }
  const user = findUser(world, form.get('user') ?? '')?.login;
  if (kind !== 'pulls') return undefined;
  if (user === undefined) return { to: home, refused: 'Choose a user.' };
  if (second === undefined) {
    const opened = await openPull(world, repo, {
      headRepo: repo,
      headBranch: form.get('head') ?? '',
      base: form.get('base') ?? '',
      title: (form.get('title') ?? '').trim() || 'Untitled',
      body: '',
      author: user,
    });
    if (opened.ok) return { to: `${home}/pulls/${opened.pull.index}`, refused: null };
    return { to: home, refused: `The pull request was not opened: ${opened.reason}.` };
  }
  const pull = findPull(repo, Number(second));
  if (pull === undefined) return undefined;
  return {
    to: `${home}/pulls/${pull.index}`,
    refused: await actOnPull(world, repo, pull, third ?? '', user, form),
  };
}

const REFUSALS = {
  merged: 'It is merged already.',
  closed: 'It is closed.',
  not_allowed: 'This user may not merge.',
  draft: 'It is a draft.',
  not_mergeable: 'The forge still checks for conflicts, or there are some.',
} as const;

async function actOnPull(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  action: string,
  user: string,
  form: URLSearchParams,
): Promise<Outcome> {
  const mayEdit = pull.author === user || hasAccess(world, repo, user, 'write');
  switch (action) {
    case 'schedule': {
      const why = checkMergeable(world, repo, pull, user, 'schedule');
      if (why !== null) return typeof why === 'string' ? REFUSALS[why] : why.blocked;
      const style = form.get('style') as MergeStyle;
      if (!MERGE_STYLES.includes(style)) return 'Choose a style.';
      // The page replaces an older row without a word.
      pull.schedule = null;
      scheduleMerge(world, repo, pull, { doer: user, style, title: '', message: '', deleteBranch: false });
      return null;
    }
    case 'cancel': {
      const result = cancelSchedule(world, repo, pull, user);
      return result === 'cancelled'
        ? null
        : result === 'none'
          ? 'It is not scheduled.'
          : 'This user may not cancel.';
    }
    case 'close':
      if (!mayEdit) return 'This user may not close it.';
      closePull(world, repo, pull, user);
      return null;
    case 'reopen':
      if (!mayEdit) return 'This user may not reopen it.';
      return (await reopenPull(world, repo, pull, user)) ? null : 'Its branch or base is gone.';
    case 'approve':
    case 'reject':
      return submitReview(world, repo, pull, user, action, '') === null
        ? 'Authors cannot review themselves.'
        : null;
    case 'comment':
      commentOnPull(world, repo, pull, user, form.get('body') ?? '');
      return null;
    default:
      return 'Unknown action.';
  }
}
