import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ApiRequest, answerApi } from './api.ts';
import { Deliveries } from './deliveries.ts';
import { emptyState, ProviderError, type ProviderEvent, type State } from './model.ts';
import { checkoutPage, portalPage } from './pages.ts';
import { PaymentsWorld } from './world.ts';

/** Keys of the stand-in: of the form of test keys, so that they are not taken for real ones. */
export const LOCAL_PAYMENTS = {
  key: 'sk_test_local_writes_at_the_stand_in',
  readKey: 'rk_test_local_reads_at_the_stand_in',
  signingSecret: 'whsec_local_signs_events_of_the_stand_in',
  prices: 'pro.flat=price_local_pro,team.flat=price_local_team',
  catalogue: {
    price_local_pro: { nickname: 'Pro', amount: 2_900 },
    price_local_team: { nickname: 'Team', amount: 9_900 },
  },
} as const;

export interface LocalPaymentsOptions {
  /** The folder of the state that outlives a restart. @default nowhere */
  readonly file?: string;
  readonly port?: number;
  /** Where events go; may be told later by `listenAt`. */
  readonly webhookUrl?: string;
  /** Epoch ms. @default Date.now */
  readonly now?: () => number;
  /** @default LOCAL_PAYMENTS.catalogue */
  readonly catalogue?: Readonly<Record<string, { readonly nickname: string; readonly amount: number }>>;
}

/** `lost`: the next call has its effect, and its answer never arrives. */
export type Behaviour = 'normal' | 'silent' | 'failing' | 'garbage' | 'lost' | 'refusing';

/** The payment provider on loopback: API, pages that a person can click, signed events. */
export interface LocalPayments {
  readonly url: string;
  readonly world: PaymentsWorld;
  readonly deliveries: Deliveries;
  /** Everything that has happened, oldest first. */
  readonly events: readonly ProviderEvent[];
  /** `POST /v1/customers` … in the order they came, refused ones too. */
  readonly calls: readonly string[];
  listenAt(webhookUrl: string): void;
  behave(as: Behaviour): void;
  stop(): Promise<void>;
}

const BODY_BYTES_MAX = 256 * 1024;

interface Kept {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: object;
}

export async function startLocalPayments(options: LocalPaymentsOptions = {}): Promise<LocalPayments> {
  const now = options.now ?? Date.now;
  const state = load(options.file);
  let webhookUrl = options.webhookUrl ?? null;
  let behaviour: Behaviour = 'normal';
  let url = '';
  const calls: string[] = [];
  const events: ProviderEvent[] = [];
  const { signingSecret, catalogue } = LOCAL_PAYMENTS;
  const deliveries = new Deliveries({ webhookUrl: () => webhookUrl, signingSecret, now });
  const world = new PaymentsWorld({
    prices: options.catalogue ?? catalogue,
    now,
    state,
    baseUrl: () => url,
    onEvent: (event) => {
      events.push(event);
      deliveries.take(event);
    },
    onChange: () => save(options.file, state),
  });
  const kept = new Map<string, Kept>();
  const server = createServer((request, response) => {
    const isApi = request.url?.startsWith('/v1/') === true;
    if (isApi) calls.push(`${request.method} ${request.url?.split('?')[0]}`);
    if (behaviour === 'silent') return;
    if (behaviour === 'failing') return send(response, 500, { error: { type: 'api_error' } });
    if (behaviour === 'garbage') return sendPage(response, 200, '<html>');
    if (behaviour === 'refusing') {
      return send(response, 403, {
        error: { type: 'invalid_request_error', message: 'canary-upstream-words' },
      });
    }
    const isLost = behaviour === 'lost';
    if (isLost) behaviour = 'normal';
    const work = isApi ? answer(world, kept, request) : answerPage(world, request, response);
    work
      .then((result) => {
        if (result === undefined) return;
        if (isLost) response.destroy();
        else send(response, result.status, result.body);
      })
      .catch(() => send(response, 500, { error: { type: 'api_error' } }));
  });
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(options.port ?? 0, '127.0.0.1', done);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    world,
    deliveries,
    events,
    calls,
    listenAt: (address) => {
      webhookUrl = address;
    },
    behave: (as) => {
      behaviour = as;
    },
    stop: () =>
      new Promise((done) => {
        deliveries.stop();
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

interface Result {
  readonly status: number;
  readonly body: object;
}

async function answer(
  world: PaymentsWorld,
  kept: Map<string, Kept>,
  request: IncomingMessage,
): Promise<Result> {
  const url = new URL(request.url ?? '/', 'http://payments');
  const method = request.method ?? 'GET';
  const body = await readBody(request);
  const key = request.headers['idempotency-key'];
  try {
    checkKey(request, method);
    const call: ApiRequest = { method, path: url.pathname, query: url.searchParams, body };
    if (typeof key !== 'string' || method !== 'POST') return { status: 200, body: answerApi(world, call) };
    return answerOnce(world, kept, key, call);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { status, type, code, message } = error;
    return { status, body: { error: { type, code, message } } };
  }
}

/** A repeated key gets the first answer again; with other parameters it is refused, as the provider does. */
function answerOnce(world: PaymentsWorld, kept: Map<string, Kept>, key: string, call: ApiRequest): Result {
  const fingerprint = `${call.path} ${call.body}`;
  const known = kept.get(key);
  if (known !== undefined) {
    if (known.fingerprint === fingerprint) return { status: known.status, body: known.body };
    throw new ProviderError(
      400,
      'idempotency_error',
      // `idempotency_key_in_use` is another case, with 409: two calls at once (https://docs.stripe.com/error-codes).
      null,
      'The key has other parameters.',
    );
  }
  const body = structuredClone(answerApi(world, call));
  kept.set(key, { fingerprint, status: 200, body });
  return { status: 200, body };
}

/** The restricted key reads subscriptions and nothing else. */
function checkKey(request: IncomingMessage, method: string): void {
  const given = /^bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (given === LOCAL_PAYMENTS.key) return;
  if (given === LOCAL_PAYMENTS.readKey) {
    if (method === 'GET' && request.url?.startsWith('/v1/subscriptions') === true) return;
    throw new ProviderError(403, 'invalid_request_error', 'permission_error', 'The key may not do this.');
  }
  throw new ProviderError(401, 'invalid_request_error', 'invalid_api_key', 'Invalid API Key provided.');
}

async function answerPage(
  world: PaymentsWorld,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<undefined> {
  const { pathname } = new URL(request.url ?? '/', 'http://payments');
  const [, sessionId] = /^\/c\/pay\/([^/]+)$/.exec(pathname) ?? [];
  const [, portalId] = /^\/p\/session\/([^/]+)$/.exec(pathname) ?? [];
  const session = world.state.sessions[sessionId ?? ''];
  const portal = world.state.portals[portalId ?? ''];
  const isPost = request.method === 'POST';
  const form = new URLSearchParams(isPost ? await readBody(request) : '');
  const card = (form.get('card') ?? '').replace(/\s/g, '');
  if (session !== undefined) {
    if (session.status === 'expired') sendPage(response, 410, 'This page has expired.');
    else if (!isPost) sendPage(response, 200, checkoutPage(world, session, false));
    else if (form.get('act') === 'back') redirect(response, session.cancel_url);
    else if (world.pay(session.id, card) === 'paid') redirect(response, session.success_url);
    else sendPage(response, 402, checkoutPage(world, session, true));
    return;
  }
  if (portal === undefined) return sendPage(response, 404, 'Not found');
  if (isPost) {
    const message = act(world, portal.customer, form, card);
    return redirect(response, `${portal.url}?said=${encodeURIComponent(message)}`);
  }
  const said = new URL(request.url ?? '/', 'http://payments').searchParams.get('said') ?? '';
  sendPage(response, 200, portalPage(world, portal, said));
}

/** One button of the portal, in a sentence. */
function act(world: PaymentsWorld, customer: string, form: URLSearchParams, card: string): string {
  const id = form.get('subscription') ?? '';
  const what = form.get('act');
  if (what === 'card') {
    return world.replaceCard(customer, card) === 'stored' ? 'The card is on file.' : 'The card was declined.';
  }
  if (what === 'pay') {
    return world.payOpen(customer) === 'paid' ? 'The open invoice is paid.' : 'The card was declined.';
  }
  if (world.state.subscriptions[id]?.customer !== customer) return 'There is no such subscription.';
  if (what === 'cancel') return `The subscription is ${world.cancel(id).status}.`;
  if (what === 'end' || what === 'keep') {
    world.setCancelAtPeriodEnd(id, what === 'end');
    return what === 'end' ? 'It ends with this period.' : 'It goes on.';
  }
  return `The invoice fell due; the subscription is ${world.renew(id).status}.`;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > BODY_BYTES_MAX) return '';
  }
  return text;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_local' });
  response.end(JSON.stringify(body));
}

function sendPage(response: ServerResponse, status: number, html: string): undefined {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  });
  response.end(html);
}

function redirect(response: ServerResponse, to: string): undefined {
  response.writeHead(303, { location: to }).end();
}

function load(file: string | undefined): State {
  if (file !== undefined && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as State;
  return emptyState();
}

function save(file: string | undefined, state: State): void {
  if (file === undefined) return;
  writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
