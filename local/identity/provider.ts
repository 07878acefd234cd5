import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Claims, readToken, signToken } from './session-token.ts';

/** Identity as GoTrue serves it: users, password sign-in, sessions that end, `app_metadata.role`. Loopback only. */
export interface LocalIdentity {
  readonly url: string;
  /** Made at the first start and kept; found again by e-mail. */
  addUser(user: NewUser): LocalUser;
  /** A new session of this user. */
  signIn(userId: string, lifeSeconds?: number): string;
  /** Ends all sessions of a user: their tokens are refused from now on. */
  signOut(userId: string): void;
  /** The behaviour of the provider to every request: for tests of outages. */
  behave(as: 'normal' | 'silent' | 'failing' | 'garbage'): void;
  stop(): Promise<void>;
}

export interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly isAdmin?: boolean;
  readonly id?: string;
}

export interface LocalUser {
  readonly id: string;
  readonly email: string;
}

interface StoredUser extends LocalUser {
  readonly password: string;
  readonly role: string | null;
}

interface State {
  readonly secret: string;
  readonly users: StoredUser[];
  /** Session ids that are alive, with their user. */
  readonly sessions: Record<string, string>;
}

const SESSION_SECONDS = 3600;
const BODY_BYTES_MAX = 64 * 1024;

export async function startLocalIdentity(options: {
  /** Users and sessions are kept here. @default nowhere */
  readonly file?: string;
  readonly port?: number;
  /** Life of a session from the password form. @default one hour */
  readonly sessionSeconds?: number;
}): Promise<LocalIdentity> {
  const state = load(options.file);
  const save = (): void => store(options.file, state);
  let behaviour: Parameters<LocalIdentity['behave']>[0] = 'normal';
  const signIn = (userId: string, lifeSeconds = options.sessionSeconds ?? SESSION_SECONDS): string => {
    const sessionId = randomUUID();
    state.sessions[sessionId] = userId;
    save();
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      sub: userId,
      session_id: sessionId,
      role: 'authenticated',
      iat,
      exp: iat + lifeSeconds,
      amr: [{ method: 'password', timestamp: iat }],
    };
    return signToken(state.secret, claims);
  };
  const server = createServer((request, response) => {
    if (behaviour === 'silent') return;
    if (behaviour === 'failing') return send(response, 500, { msg: 'internal error' });
    if (behaviour === 'garbage') return sendText(response, 200, '<html>');
    answer({ state, save, signIn }, request, response).catch(() => send(response, 500, {}));
  });
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(options.port ?? 0, '127.0.0.1', done);
  });
  save();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    addUser: (user) => {
      const known = state.users.find((each) => each.email === user.email);
      if (known !== undefined) return { id: known.id, email: known.email };
      const made = { id: user.id ?? randomUUID(), email: user.email };
      state.users.push({ ...made, password: user.password, role: user.isAdmin === true ? 'admin' : null });
      save();
      return made;
    },
    signIn,
    signOut: (userId) => {
      for (const [id, owner] of Object.entries(state.sessions)) {
        if (owner === userId) delete state.sessions[id];
      }
      save();
    },
    behave: (as) => {
      behaviour = as;
    },
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

interface Provider {
  readonly state: State;
  readonly save: () => void;
  readonly signIn: (userId: string, lifeSeconds?: number) => string;
}

async function answer(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://identity');
  const route = `${request.method} ${url.pathname}`;
  if (route === 'GET /auth/v1/health') return send(response, 200, { name: 'GoTrue', version: 'local' });
  if (route === 'GET /auth/v1/user') return sendUser(provider, request, response);
  if (route === 'POST /auth/v1/token' && url.searchParams.get('grant_type') === 'password') {
    return sendSession(provider, await readJson(request), response);
  }
  if (route === 'POST /auth/v1/logout') {
    const claims = claimsOf(provider, request);
    if (claims !== null) endSessions(provider.state, claims, url.searchParams.get('scope'));
    provider.save();
    response.writeHead(204).end();
    return;
  }
  send(response, 404, { code: 404, msg: 'not found' });
}

/** As GoTrue does: `local` this session, `others` those beside it, else all of the user. */
function endSessions(state: Provider['state'], { sub, session_id }: Claims, scope: string | null): void {
  for (const [id, userId] of Object.entries(state.sessions)) {
    const isMeant = id === session_id ? scope !== 'others' : userId === sub && scope !== 'local';
    if (isMeant) delete state.sessions[id];
  }
}

function claimsOf({ state }: Provider, request: IncomingMessage) {
  const token = /^bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const claims = token === undefined ? null : readToken(state.secret, token, Date.now());
  return claims !== null && state.sessions[claims.session_id] === claims.sub ? claims : null;
}

function sendUser(provider: Provider, request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.authorization === undefined) {
    return send(response, 401, { code: 401, msg: 'This endpoint requires a Bearer token' });
  }
  const claims = claimsOf(provider, request);
  const user = provider.state.users.find((each) => each.id === claims?.sub);
  if (user === undefined) return send(response, 403, { code: 403, msg: 'invalid JWT' });
  // Sentinel: an outage that one account alone sees.
  if (user.email.startsWith('unverifiable@')) return send(response, 500, { msg: 'internal error' });
  send(response, 200, describe(user));
}

function sendSession(provider: Provider, body: unknown, response: ServerResponse): void {
  const given = typeof body === 'object' && body !== null ? { ...body } : {};
  const user = provider.state.users.find(
    (each) =>
      'email' in given &&
      'password' in given &&
      each.email === given.email &&
      each.password === given.password,
  );
  if (user === undefined) return send(response, 400, { code: 400, msg: 'Invalid login credentials' });
  // Sentinel: a session that is over before it is used.
  const token = user.email.startsWith('expired@') ? provider.signIn(user.id, -1) : provider.signIn(user.id);
  send(response, 200, {
    access_token: token,
    token_type: 'bearer',
    expires_in: SESSION_SECONDS,
    user: describe(user),
  });
}

/** `user_metadata` is the user's own to write: the trap that a role there must not be believed. */
function describe(user: StoredUser): Record<string, unknown> {
  return {
    id: user.id,
    aud: 'authenticated',
    role: 'authenticated',
    email: user.email,
    app_metadata: { provider: 'email', ...(user.role === null ? {} : { role: user.role }) },
    user_metadata: { role: 'admin' },
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > BODY_BYTES_MAX) return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendText(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end(body);
}

function load(file: string | undefined): State {
  if (file !== undefined && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as State;
  return { secret: randomBytes(32).toString('hex'), users: [], sessions: {} };
}

function store(file: string | undefined, state: State): void {
  if (file === undefined) return;
  writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
