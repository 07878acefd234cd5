import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { jwtVerify, SignJWT } from 'jose';
import * as z from 'zod';
import type { TenantId } from '../../domain/ids.ts';
import type { SessionFacts } from '../../ports/identity.ts';
import type { Clock } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';
import { overwriteFile, replaceFile } from '../system/replace-file.ts';

/** Person of a session, with the rights that the forge told last. */
export interface SessionPerson {
  readonly tenantId: TenantId;
  /** Number of the account on the forge. @default not known: a session of an earlier release */
  readonly account?: number | undefined;
  readonly login: string;
  readonly email: string | null;
  /** Whether the person is an operator of the installation. */
  readonly isAdmin: boolean;
  /**
   * Tenants that the person may choose from; `tenantId` is the chosen one.
   * @default `tenantId` alone, for administrators to change
   */
  readonly tenants?: readonly SessionTenant[] | undefined;
}

export interface SessionTenant {
  readonly id: TenantId;
  /** Name of the organization. */
  readonly name: string;
  readonly mayChange: boolean;
}

/** A person as a token names them: in the tenant that was chosen when it was issued. */
export interface TokenPerson extends SessionPerson {
  readonly mayChange: boolean;
  readonly session: SessionFacts;
}

/** The session as the page is given it, in the words of a GoTrue provider. */
export interface IssuedSession {
  readonly access_token: string;
  readonly token_type: 'bearer';
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly user: {
    readonly id: TenantId;
    readonly email: string;
    readonly app_metadata: {
      readonly role?: 'admin';
      readonly tenants?: readonly { readonly id: TenantId; readonly name: string }[];
    };
  };
}

export interface SessionsConfig {
  /** JSON file (mode 0600) of the sessions and their signing key, which is replaced whole. */
  readonly file: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Seals the forge tokens that read a person again. */
  readonly seal: TextSeal;
}

/** Seals a short text for this purpose. `open` is null for one that does not open. */
export interface TextSeal {
  seal(text: string): string;
  open(sealed: string): string | null;
}

/** Rights of a session: when they were read, and the token that reads them again. */
export interface KnownRights {
  /** Epoch ms. */
  readonly readAt: number;
  readonly account: number | null;
  /** Token that reads the rights again; null: a session from before rights were read again. */
  readonly refreshToken: Secret<string> | null;
}

/** Life of an access token, in seconds. The page renews it; the session ends by its own time. */
const ACCESS_SECONDS = 3_600;
const SESSION_MS = 12 * 3_600_000;
const SESSIONS_MAX = 10_000;
/**
 * Sessions of one person. Any account of the forge may sign in; one that does so without end must end no other person's
 * session.
 */
export const SESSIONS_PER_PERSON_MAX = 50;

const Stored = z.object({
  key: z.string().min(1),
  /** Whether a person has ever signed in here; older files do not tell. */
  used: z.boolean().default(true),
  sessions: z.record(
    z.string(),
    z.object({
      person: z.object({
        tenantId: z.string(),
        account: z.int().optional(),
        login: z.string(),
        email: z.string().nullable(),
        isAdmin: z.boolean(),
        tenants: z
          .array(z.object({ id: z.string(), name: z.string(), mayChange: z.boolean() }))
          .readonly()
          .optional(),
      }),
      endsAt: z.number(),
      /** SHA-256 of the refresh token, in hex. */
      refresh: z.string(),
      /** Sealed forge token; older sessions have none. */
      forge: z.string().nullable().default(null),
      readAt: z.number().default(0),
    }),
  ),
});
type State = z.infer<typeof Stored>;

/** Reads the file of sessions. Throws where it is damaged. */
export function readSessions(file: string): State {
  return Stored.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** Sessions of one process, which survive it in a file. Tokens are signed (HS256) and name a session that must be there. */
export function createSessions({ file, clock, seal }: SessionsConfig) {
  const state: State = existsSync(file)
    ? readSessions(file)
    : { key: randomBytes(32).toString('base64'), used: false, sessions: {} };
  const key = Buffer.from(state.key, 'base64');
  const save = (): void => {
    const now = clock.now();
    for (const [id, { endsAt }] of Object.entries(state.sessions))
      if (endsAt <= now) delete state.sessions[id];
    for (const id of Object.keys(state.sessions).slice(0, -SESSIONS_MAX)) delete state.sessions[id];
    replaceFile(file, JSON.stringify(state));
  };
  /**
   * Saves that sessions ended: a restart would undo an end that is not in the file, and a damaged file opens none.
   */
  const saveEnds = (): void => {
    try {
      save();
    } catch (error) {
      if (!overwriteFile(file, JSON.stringify(state))) throw error;
    }
  };
  save();

  const issue = async (
    id: string,
    { person, endsAt, forge, readAt }: Omit<State['sessions'][string], 'refresh'>,
  ): Promise<IssuedSession> => {
    const refreshToken = `${id}.${randomBytes(32).toString('base64url')}`;
    state.sessions[id] = { person, endsAt, forge, readAt, refresh: digest(refreshToken) };
    save();
    const issuedAt = Math.floor(clock.now() / 1000);
    const seconds = Math.min(ACCESS_SECONDS, Math.floor(endsAt / 1000) - issuedAt);
    const token = await new SignJWT({ session_id: id })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(person.tenantId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + seconds)
      .sign(key);
    return {
      access_token: token,
      token_type: 'bearer',
      expires_in: seconds,
      refresh_token: refreshToken,
      user: {
        id: person.tenantId,
        email: person.email ?? person.login,
        app_metadata: {
          ...(person.isAdmin ? { role: 'admin' } : {}),
          ...(person.tenants === undefined
            ? {}
            : { tenants: person.tenants.map(({ id: tenant, name }) => ({ id: tenant, name })) }),
        },
      },
    };
  };
  const readSession = async (token: string, clockTolerance = 0) => {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['HS256'],
        clockTolerance,
        currentDate: new Date(clock.now()),
      });
      const id = String(payload.session_id);
      const session = state.sessions[id];
      if (session === undefined || session.endsAt <= clock.now()) return null;
      return { id, ...session, sub: String(payload.sub) };
    } catch {
      return null;
    }
  };
  /**
   * Newest sealed forge token of each account. A forge gives one grant for all sessions of an account, and may let each
   * of its tokens end with the next one, whichever session that is for (`INVALIDATE_REFRESH_TOKENS`, on in Forgejo).
   */
  const newest = new Map<number, string>();
  const sessionsOf = (account: number | undefined) =>
    Object.values(state.sessions).filter(({ person }) => account !== undefined && person.account === account);
  const keepTokenOf = (account: number, refreshToken: Secret<string>): void => {
    const forge = seal.seal(refreshToken.reveal());
    newest.delete(account);
    newest.set(account, forge);
    const [oldest] = newest.keys();
    if (newest.size > SESSIONS_MAX && oldest !== undefined) newest.delete(oldest);
    const own = sessionsOf(account);
    for (const session of own) session.forge = forge;
    if (own.length > 0) save();
  };
  const makeRoom = (person: SessionPerson): void => {
    const own = Object.entries(state.sessions).filter(([, other]) => isSamePerson(other.person, person));
    for (const [id] of own.slice(0, Math.max(0, own.length + 1 - SESSIONS_PER_PERSON_MAX)))
      delete state.sessions[id];
  };
  return {
    begin: (person: SessionPerson, refreshToken: Secret<string>) => {
      makeRoom(person);
      state.used = true;
      return issue(randomUUID(), {
        person,
        endsAt: clock.now() + SESSION_MS,
        forge: newest.get(person.account ?? Number.NaN) ?? seal.seal(refreshToken.reveal()),
        readAt: clock.now(),
      });
    },
    /** Keeps the newest forge token of an account, for all of its sessions. */
    keepTokenOf,
    /** Keeps the newest forge token of this session, and of those of its account. */
    keepToken(id: string, refreshToken: Secret<string>): void {
      const session = state.sessions[id];
      if (session === undefined) return;
      if (session.person.account !== undefined) return keepTokenOf(session.person.account, refreshToken);
      session.forge = seal.seal(refreshToken.reveal());
      save();
    },
    /** Whether a person has ever signed in here. */
    wereUsed: (): boolean => state.used,
    /** Rights of a session; null: it has ended. */
    readRights(id: string): KnownRights | null {
      const session = state.sessions[id];
      if (session === undefined) return null;
      const token = session.forge === null ? null : seal.open(session.forge);
      const account = session.person.account ?? null;
      return { readAt: session.readAt, account, refreshToken: token === null ? null : new Secret(token) };
    },
    /**
     * Stores the person as the forge has them now, in all sessions of the account. One that has ended meanwhile, also
     * this one, stays ended.
     */
    keepRights(id: string, person: SessionPerson): void {
      const session = state.sessions[id];
      const own = sessionsOf(session?.person.account ?? person.account);
      for (const each of new Set(session === undefined ? own : [session, ...own])) {
        const chosen = each.person.tenantId;
        const isStillIn = person.tenants?.some((tenant) => tenant.id === chosen) === true;
        each.person = isStillIn ? { ...person, tenantId: chosen } : person;
        each.readAt = clock.now();
      }
      save();
    },
    /** Ends a session, and all of its account, because the forge answers the same for each of them. */
    endById(id: string): void {
      const ended = new Set([state.sessions[id], ...sessionsOf(state.sessions[id]?.person.account)]);
      for (const [other, session] of Object.entries(state.sessions))
        if (ended.has(session)) delete state.sessions[other];
      saveEnds();
    },
    /** Exchanges a refresh token, which works once, for new tokens. Null: used, ended or never issued. */
    async renew(refreshToken: string): Promise<IssuedSession | null> {
      const id = refreshToken.split('.')[0] ?? '';
      const session = state.sessions[id];
      if (session === undefined || session.endsAt <= clock.now()) return null;
      if (session.refresh !== digest(refreshToken)) return null;
      return issue(id, session);
    },
    /** Person of an access token; null: no session, or none in the tenant that the token names. */
    async readPerson(token: string): Promise<TokenPerson | null> {
      const found = await readSession(token);
      if (found === null) return null;
      const tenant = tenantsOf(found.person).find(({ id }) => id === found.sub);
      if (tenant === undefined) return null;
      const session = { id: found.id, startedAt: found.endsAt - SESSION_MS };
      return { ...found.person, tenantId: tenant.id, mayChange: tenant.mayChange, session };
    },
    /**
     * Issues tokens of the session for another of its tenants; null: it has no such tenant. Tokens issued before keep
     * their tenant.
     */
    async choose(token: string, tenantId: TenantId): Promise<IssuedSession | null> {
      const found = await readSession(token);
      if (found === null || !tenantsOf(found.person).some(({ id }) => id === tenantId)) return null;
      const { id, person, endsAt, forge, readAt } = found;
      return issue(id, { person: { ...person, tenantId }, endsAt, forge, readAt });
    },
    /**
     * Ends this session, all sessions of its person, or all but this one. An expired token ends its own session all the
     * same: a tab that slept would leave its refresh token valid. False: a token of no session.
     */
    async end(token: string, scope: 'this' | 'all' | 'others'): Promise<boolean> {
      const session = await readSession(token, scope === 'this' ? SESSION_MS / 1000 : 0);
      if (session === null) return false;
      for (const [id, { person }] of Object.entries(state.sessions)) {
        const isThis = id === session.id;
        const isBeside = !isThis && isSamePerson(person, session.person);
        if (isThis ? scope !== 'others' : isBeside && scope !== 'this') delete state.sessions[id];
      }
      saveEnds();
      return true;
    },
  };
}

export type Sessions = ReturnType<typeof createSessions>;

/** Whether two sessions are of one person. A login may have been given up and taken by another account. */
function isSamePerson(one: SessionPerson, other: SessionPerson): boolean {
  const areKnown = one.account !== undefined && other.account !== undefined;
  return areKnown ? one.account === other.account : one.login === other.login;
}

function tenantsOf({ tenants, tenantId, login, isAdmin }: SessionPerson): readonly SessionTenant[] {
  return tenants ?? [{ id: tenantId, name: login, mayChange: isAdmin }];
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
