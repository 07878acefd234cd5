import { randomBytes } from 'node:crypto';
import { FORGE_TIMEOUT_MS } from '#core/domain/limits.ts';
import { parseUrl } from '#core/domain/parse-url.ts';
import type { HeldLease } from '#core/domain/wakes/lease.ts';
import { AnswerTooLarge, ForgeError, type ForgeErrorKind, ReadNotBegun } from '#core/ports/forge.ts';
import type { Clock } from '#core/ports/system.ts';
import type { Secret } from '#core/secret.ts';
import {
  type HttpRequest,
  type HttpResponse,
  type HttpSend,
  HttpSendError,
  type HttpSendErrorKind,
} from '../../http-guard/http-send.ts';
import { isAccountLocked } from './account-locked.ts';
import { answerBytesMax, answerCut, answerValuesMax, isBoundedJson } from './answer-limits.ts';
import { ForgeBudget } from './forge-budget.ts';
import { isForgesOwn } from './forges-own.ts';
import { readMissingScopes } from './missing-scopes.ts';
import { isOverQuota } from './over-quota.ts';
import { parseRetryAfterMs } from './retry-after.ts';

export interface ForgeTransportConfig {
  /** Address of the instance as the user typed it; it may have a path (`https://host/git`). */
  readonly instanceUrl: string;
  /** `owner/name`. */
  readonly slug: string;
  readonly token: Secret<string>;
  readonly send: HttpSend;
  readonly clock: Pick<Clock, 'now'>;
  /** Called with the static label of every request that is sent, retries and pages included. */
  readonly onCall?: (label: string) => void;
  /**
   * Whether requests may be sent, asked before each one. False: nothing is sent any more, because another worker may
   * take the lease over (A41).
   */
  readonly mayCall?: () => boolean;
  /**
   * Whether reads may be sent, asked before each one as well. False: the reconcile has spent its time, and only writes
   * are sent.
   */
  readonly mayRead?: () => boolean;
  /** Time limit of a call, in ms. @default FORGE_TIMEOUT_MS */
  readonly timeoutMs?: number;
}

export interface ForgeCall {
  readonly method: HttpRequest['method'];
  /** Static name of the call such as `GET pulls/{n}`; the only description that errors and counters see. */
  readonly label: string;
  /** Path segments below `/api/v1`, each still to be encoded. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  /** Bytes that the answer to this call may have. @default the limit of its label, which holds beside this one */
  readonly answerBytesMax?: number;
  /** Asks for a text, and for at most so many bytes of its end. */
  readonly tailBytes?: number;
}

/**
 * The forge's answer, whatever its status. A page of HTML, a truncated body and a refusal in JSON that is none of the forge's are
 * `isJson: false`, value undefined.
 */
export interface ForgeAnswer {
  readonly status: number;
  readonly isJson: boolean;
  readonly value: unknown;
  readonly headers: HttpResponse['headers'];
  /** Answer to a call with `tailBytes`: the end of the body as text, and whether more came before it. */
  readonly tail?: { readonly text: string; readonly isCut: boolean };
  /** Body as it came. */
  readonly body: Buffer;
}

export interface ForgeTransport {
  /** Origin and path of the instance, without trailing slash. */
  readonly instanceBase: string;
  /** Segments of `/repos/{owner}/{name}`. */
  readonly repoPath: readonly string[];
  /** Sends one call and hands back any answer of the forge. Throws `ForgeError` only when there is none, or it is too large. */
  exchange(call: ForgeCall): Promise<ForgeAnswer>;
  /** Sends one call and demands success and, unless 204, JSON. Throws `ForgeError`. */
  request(call: ForgeCall): Promise<ForgeAnswer>;
  /** The error that an answer stands for. */
  failure(call: ForgeCall, answer: ForgeAnswer): ForgeError;
}

/** Kinds of errors after which nothing was accepted, so that the effect cannot have happened. */
const UNSENT: readonly HttpSendErrorKind[] = ['refused', 'connect', 'withheld'];
/**
 * Kinds of errors after which a read is tried again. A time-out is none: the forge is slow, and a second wait could
 * outlive the lease.
 */
const RETRIED: readonly HttpSendErrorKind[] = ['connect', 'broken'];

/**
 * A transport that sends nothing once its lease may be taken over (A41). All that the engine writes to a forge is made from
 * one, so that no such write can be made without a held lease.
 */
export interface LeasedTransport extends ForgeTransport {
  readonly held: HeldLease;
}

export function createLeasedTransport(
  held: HeldLease,
  config: Omit<ForgeTransportConfig, 'mayCall'>,
): LeasedTransport {
  return { ...createForgeTransport({ ...config, mayCall: () => !held.isPastDeadline() }), held };
}

export function createForgeTransport(config: ForgeTransportConfig): ForgeTransport {
  const instanceBase = parseInstanceBase(config.instanceUrl);
  const repoPath = ['repos', ...parseSlug(config.slug)];
  const budget = new ForgeBudget(config.mayRead);

  async function exchange(call: ForgeCall): Promise<ForgeAnswer> {
    const response = await sendWithRetry(config, budget, instanceBase, call);
    const isTyped = isJsonType(response.headers['content-type']);
    const isBounded = !isTyped || isBoundedJson(response.body, answerValuesMax(call.label));
    const parsed = isTyped && isBounded ? parseJson(response.body) : undefined;
    budget.count(response.body.length, parsed?.value);
    // A smaller page of a listing may have few enough.
    if (!isBounded && response.status === 200) throw new AnswerTooLarge(call.label, isWrite(call));
    const isJson = parsed !== undefined && isForgesOwn(response.status, parsed.value);
    const tail = call.tailBytes === undefined ? {} : { tail: tailOf(response, call.tailBytes) };
    return { ...response, isJson, value: isJson ? parsed.value : undefined, ...tail };
  }

  function failure(call: ForgeCall, answer: ForgeAnswer): ForgeError {
    const retryAfterMs = parseRetryAfterMs(answer.headers['retry-after'], config.clock.now());
    const moved = isMoved(instanceBase, answer);
    const kind = moved ? 'denied' : classifyStatus(answer, retryAfterMs);
    const effectUnknown = isWrite(call) && answer.status >= 500;
    const missingScopes = kind === 'denied' ? readMissingScopes(answer) : [];
    const isLocked = kind === 'denied' && isAccountLocked(answer);
    const { label } = call;
    return new ForgeError(kind, label, answer.status, retryAfterMs, effectUnknown, missingScopes, isLocked);
  }

  async function request(call: ForgeCall): Promise<ForgeAnswer> {
    const answer = await exchange(call);
    if (answer.status < 200 || answer.status > 299) throw failure(call, answer);
    if (!answer.isJson && answer.status !== 204) throw unusable(call, answer.status);
    return answer;
  }

  return { instanceBase, repoPath, exchange, request, failure };
}

/** The error for an answer that came but cannot be the forge's. */
export function unusable(call: ForgeCall, status: number | null): ForgeError {
  return new ForgeError('unreachable', call.label, status, null, isWrite(call));
}

/** Whether an answer has a body that is none of the forge's, as the page of a proxy that asks to sign in with 200. */
export function isPage({ isJson, body }: ForgeAnswer): boolean {
  return !isJson && body.length > 0;
}

function isWrite(call: ForgeCall): boolean {
  return call.method !== 'GET';
}

const REDIRECTS: readonly number[] = [301, 302, 307, 308];

/**
 * Whether the forge says that the repository has another name by now: a redirect to another of its repositories. The
 * redirect is not followed, by reads either, because under another name it may be another owner's. Any other redirect
 * is one of a proxy.
 */
function isMoved(instanceBase: string, answer: ForgeAnswer): boolean {
  const { location } = answer.headers;
  if (!REDIRECTS.includes(answer.status) || location === undefined) return false;
  const repos = `${instanceBase}/api/v1/repos/`;
  try {
    return new URL(location, repos).href.startsWith(repos);
  } catch {
    return false;
  }
}

/**
 * Kind of error of a status. The page of a firewall or a proxy may carry 401, 403 or 404; only JSON of the forge itself
 * counts as a refused token or as something that does not exist.
 */
function classifyStatus(answer: ForgeAnswer, retryAfterMs: number | null): ForgeErrorKind {
  if (answer.status === 429) return 'rate_limited';
  if (answer.status === 503 && retryAfterMs !== null) return 'rate_limited';
  if (!answer.isJson) return 'unreachable';
  if (isOverQuota(answer)) return 'denied';
  switch (answer.status) {
    case 401:
    case 403:
      return 'denied';
    case 404:
      return 'missing';
    case 400:
    case 409:
    case 422:
      return 'rejected';
    case 423:
      return 'archived';
    default:
      return 'unreachable';
  }
}

async function sendWithRetry(
  config: ForgeTransportConfig,
  budget: ForgeBudget,
  instanceBase: string,
  call: ForgeCall,
): Promise<HttpResponse> {
  const first = await trySend(config, budget, instanceBase, call);
  if (!(first instanceof HttpSendError)) return first;
  // Writes are never repeated here: the first one may have been carried out.
  const retried = !isWrite(call) && RETRIED.includes(first.kind);
  const last = retried ? await trySend(config, budget, instanceBase, call) : first;
  if (!(last instanceof HttpSendError)) return last;
  const effectUnknown = isWrite(call) && !UNSENT.includes(last.kind);
  if (last.kind === 'withheld') throw new ReadNotBegun(call.label);
  if (last.kind === 'too_large') throw new AnswerTooLarge(call.label, effectUnknown);
  throw new ForgeError('unreachable', call.label, null, null, effectUnknown);
}

async function trySend(
  config: ForgeTransportConfig,
  budget: ForgeBudget,
  instanceBase: string,
  call: ForgeCall,
): Promise<HttpResponse | HttpSendError> {
  const url = buildUrl(instanceBase, call);
  if (config.mayCall !== undefined && !config.mayCall()) {
    throw new ForgeError('unreachable', call.label, null);
  }
  if (!isWrite(call) && !budget.beginRead()) throw new ReadNotBegun(call.label);
  config.onCall?.(call.label);
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const cut = answerCut(call.label);
  try {
    return await config.send({
      method: call.method,
      url,
      headers: {
        accept: call.tailBytes === undefined ? 'application/json' : 'text/plain, application/json',
        ...(call.tailBytes === undefined ? {} : { range: `bytes=-${call.tailBytes}` }),
        authorization: `token ${config.token.reveal()}`,
        ...(isWrite(call) ? {} : { 'cache-control': 'no-cache' }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      timeoutMs: config.timeoutMs ?? FORGE_TIMEOUT_MS,
      bodyBytesMax: Math.min(answerBytesMax(call.label), call.answerBytesMax ?? Number.POSITIVE_INFINITY),
      ...(cut === undefined ? {} : { cut }),
    });
  } catch (error) {
    // Whatever else was thrown is dropped on purpose: its text may quote the request (A95).
    return error instanceof HttpSendError ? error : new HttpSendError('broken');
  }
}

/** The end of a body. A forge may obey the range, or send everything. */
function tailOf({ body, headers }: HttpResponse, bytes: number): NonNullable<ForgeAnswer['tail']> {
  const begin = /^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1] ?? '0';
  const text = body.subarray(Math.max(0, body.length - bytes)).toString('utf8');
  return { text, isCut: begin !== '0' || body.length > bytes };
}

/**
 * Parameter that makes the address of each read another one; forges read no such parameter. A cache before the forge that was told to
 * keep answers whatever the forge says of them would else tell of a base or a schedule that is no more (decision 0346).
 */
const UNCACHED = '_';
const UNCACHED_BYTES = 6;

function buildUrl(instanceBase: string, call: ForgeCall): string {
  const path = call.path.map((segment) => encodeSegment(segment, call.label)).join('/');
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) query.set(name, String(value));
  if (!isWrite(call)) query.set(UNCACHED, randomBytes(UNCACHED_BYTES).toString('hex'));
  const search = query.toString();
  return `${instanceBase}/api/v1/${path}${search === '' ? '' : `?${search}`}`;
}

/**
 * Encodes a path segment. Throws for an empty one, `.` and `..`, which would lead to another endpoint once the URL is
 * parsed; no branch, owner or commit has such a name.
 */
function encodeSegment(segment: string, label: string): string {
  if (segment === '' || segment === '.' || segment === '..') throw new ForgeError('rejected', label, null);
  return encodeURIComponent(segment);
}

/** A branch name as path segments: its slashes stay slashes, which every version routes and no proxy rewrites. */
export function splitBranch(branch: string): readonly string[] {
  return branch.split('/');
}

function parseInstanceBase(instanceUrl: string): string {
  const url = parseUrl(instanceUrl);
  if (url === null) throw new ForgeError('rejected', 'instance_url', null);
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`;
}

function parseSlug(slug: string): readonly string[] {
  const parts = slug.split('/');
  if (parts.length !== 2) throw new ForgeError('rejected', 'repo_slug', null);
  return parts;
}

function isJsonType(contentType: string | undefined): boolean {
  return /^application\/(?:[a-z0-9.+-]*\+)?json\b/i.test(contentType?.trim() ?? '');
}

function parseJson(body: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body.toString('utf8')) };
  } catch {
    return undefined;
  }
}
