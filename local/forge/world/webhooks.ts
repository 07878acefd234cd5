import { createHash, createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { convertPull, convertRepo, convertUser, type Json } from '../convert/entities.ts';
import { compileGlob } from '../globs.ts';
import type { HookRecord, PullRecord, RepoRecord } from '../model.ts';
import { takeId, type World } from '../world.ts';

/** The forge's own `DELIVER_TIMEOUT`. */
const DELIVER_TIMEOUT_MS = 5000;
/** Enough to look back in a demo without growing the state file. */
const DELIVERIES_KEPT_MAX = 50;

export interface HookEvent {
  /** Coarse name, `X-Forgejo-Event`. */
  readonly event: string;
  /** Fine name, `X-Forgejo-Event-Type`. */
  readonly type: string;
  /** Names in a hook's event list that select it. */
  readonly selectedBy: readonly string[];
  readonly branch: string | null;
  readonly payload: Json;
}

const ALL_PULL_EVENTS = ['pull_request'];

export function pullEvent(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  action: string,
  sender: string,
  more: Json = {},
): HookEvent {
  const isSync = action === 'synchronized';
  const type = isSync ? 'pull_request_sync' : 'pull_request';
  return {
    event: 'pull_request',
    type,
    selectedBy: [...ALL_PULL_EVENTS, isSync ? 'pull_request_sync' : 'pull_request_only'],
    branch: pull.base,
    payload: {
      action,
      number: pull.index,
      pull_request: convertPull(world, repo, pull, null),
      requested_reviewer: null,
      repository: convertRepo(world, repo, null),
      sender: convertUser(world, sender),
      commit_id: '',
      review: null,
      ...more,
    },
  };
}

export function reviewEvent(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  verdict: 'approved' | 'rejected' | 'comment',
  sender: string,
  content: string,
): HookEvent {
  const event = `pull_request_${verdict}`;
  const type = `pull_request_review_${verdict}`;
  return {
    ...pullEvent(world, repo, pull, 'reviewed', sender, { review: { type, content } }),
    event,
    type,
    selectedBy: [...ALL_PULL_EVENTS, 'pull_request_review'],
  };
}

export function commentEvent(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  comment: Json,
  sender: string,
): HookEvent {
  const issue = {
    id: pull.id,
    number: pull.index,
    title: pull.title,
    state: pull.state,
    user: convertUser(world, pull.author),
    pull_request: { merged: pull.merged },
  };
  return {
    event: 'issue_comment',
    type: 'pull_request_comment',
    selectedBy: [...ALL_PULL_EVENTS, 'issue_comment', 'pull_request_comment'],
    branch: null,
    payload: {
      action: 'created',
      issue,
      comment,
      is_pull: true,
      repository: convertRepo(world, repo, null),
      sender: convertUser(world, sender),
    },
  };
}

/** One receiver gets its events in order; receivers do not wait for each other. */
const depthLeft = new WeakMap<HookRecord, Promise<number | null>>();

/** Queues one delivery per hook that asked for the event. */
export function sendWebhooks(world: World, repo: RepoRecord, event: HookEvent): void {
  for (const hook of repo.hooks) {
    if (!hook.active || !wants(hook, event)) continue;
    if (world.knobs.dropWebhook(event.event, hook.url)) continue;
    const body = JSON.stringify(event.payload, null, 2);
    const id = deliveryId(takeId(world));
    world.background.enqueue(
      world.knobs.webhookDelayMs,
      async () => {
        const before = depthLeft.get(hook);
        const answer = (async () => {
          await before;
          return post(hook.url, headersOf(world, hook, event, id, body), body);
        })();
        depthLeft.set(hook, answer);
        const status = await answer;
        hook.deliveries.push({ id, event: event.type, at: world.timers.now(), status });
        hook.deliveries.splice(0, hook.deliveries.length - DELIVERIES_KEPT_MAX);
        world.store.changed();
      },
      { detached: true },
    );
  }
}

function wants(hook: HookRecord, event: HookEvent): boolean {
  if (!event.selectedBy.some((name) => hook.events.includes(name))) return false;
  if (event.branch === null || hook.branchFilter === '' || hook.branchFilter === '*') return true;
  return compileGlob(hook.branchFilter, { separator: true }).test(event.branch);
}

/** Same shape as a UUID, reproducible in a run with virtual time. */
function deliveryId(id: number): string {
  const hex = createHash('sha256').update(`delivery ${id}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/** Without a secret the value is `sha256=` and nothing. */
function headersOf(
  world: World,
  hook: HookRecord,
  event: HookEvent,
  delivery: string,
  body: string,
): Record<string, string> {
  const sign = (algorithm: string): string =>
    hook.secret === '' ? '' : createHmac(algorithm, hook.secret).update(body).digest('hex');
  const sha256 = sign('sha256');
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'User-Agent': 'Go-http-client/1.1',
    'X-GitHub-Event': event.event,
    'X-GitHub-Event-Type': event.type,
    'X-GitHub-Delivery': delivery,
    'X-Hub-Signature': `sha1=${sign('sha1')}`,
    'X-Hub-Signature-256': `sha256=${sha256}`,
  };
  for (const brand of ['Gitea', 'Gogs', ...(world.profile.kind === 'forgejo' ? ['Forgejo'] : [])]) {
    headers[`X-${brand}-Event`] = event.event;
    headers[`X-${brand}-Event-Type`] = event.type;
    headers[`X-${brand}-Delivery`] = delivery;
    headers[`X-${brand}-Signature`] = sha256;
  }
  return headers;
}

/** One attempt, no retry. The certificate is not checked: receivers in a local setup sign their own. */
function post(url: string, headers: Record<string, string>, body: string): Promise<number | null> {
  return new Promise((resolve) => {
    let send: typeof httpRequest;
    try {
      send = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest;
    } catch {
      resolve(null);
      return;
    }
    const options = {
      method: 'POST',
      headers,
      agent: false,
      timeout: DELIVER_TIMEOUT_MS,
      rejectUnauthorized: false,
    };
    const request = send(url, options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? null));
      response.on('error', () => resolve(null));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(null));
    request.on('close', () => resolve(null));
    request.end(body);
  });
}
