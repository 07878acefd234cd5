import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ForgePerson, ForgeSignIn } from '#core/adapters/identity-forge/forge-oauth.ts';
import { createForgeIdentity } from '#core/adapters/identity-forge/identity.ts';
import {
  createSessions,
  SESSIONS_PER_PERSON_MAX,
  type SessionPerson,
} from '#core/adapters/identity-forge/sessions.ts';
import { FORGE_RIGHTS_MS } from '#core/domain/api-limits.ts';
import { Secret } from '#core/secret.ts';

const HOUR_MS = 3_600_000;
const TENANT = '3f2b8a1c-5d4e-4f60-8a7b-9c0d1e2f3a4b';
const REFRESH = new Secret('refresh-token-of-the-forge');
const seal = {
  seal: (text: string) => Buffer.from(text).toString('base64'),
  open: (sealed: string) => Buffer.from(sealed, 'base64').toString(),
};
let dir: string;
let now = Date.UTC(2026, 0, 1);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'mergeyard-sessions-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const clock = { now: () => now };
const open = () => createSessions({ file: join(dir, 'sessions.json'), clock, seal });
const personOf = (login: string): SessionPerson => ({ tenantId: TENANT, login, email: null, isAdmin: true });

test('a session that is ended while the disk is full stays ended after a restart', async () => {
  const sessions = open();
  const begin = async (login: string) => (await sessions.begin(personOf(login), REFRESH)).access_token;
  const [ada, ben, locked] = [await begin('ada'), await begin('ben'), await begin('eve')];
  const lockedId = (await sessions.readPerson(locked))?.session.id ?? '';
  const fillDisk = () => symlinkSync('/dev/full', join(dir, 'sessions.json.next'));
  fillDisk();
  await sessions.end(ada, 'this');
  fillDisk();
  sessions.endById(lockedId);
  expect(readdirSync(dir)).toEqual(['sessions.json']);
  const isOpen = async (token: string) => (await open().readPerson(token)) !== null;
  expect([await isOpen(ada), await isOpen(ben), await isOpen(locked)]).toEqual([false, true, false]);
});

test('a session of the forge’s sign-in ends those of its person beside it, and itself goes on', async () => {
  const sessions = open();
  const begin = async (login: string) => (await sessions.begin(personOf(login), REFRESH)).access_token;
  const [mine, other, foreign] = [await begin('ada'), await begin('ada'), await begin('ben')];
  await sessions.end(mine, 'others');
  const isOpen = async (token: string) => (await sessions.readPerson(token)) !== null;
  expect([await isOpen(mine), await isOpen(other), await isOpen(foreign)]).toEqual([true, false, true]);
});

test('a token that has run out ends no other session, and that is told', async () => {
  const sessions = open();
  const begin = async (login: string) => sessions.begin(personOf(login), REFRESH);
  const [mine, other] = [await begin('ada'), await begin('ada')];
  now += 2 * HOUR_MS;
  expect(await sessions.end(mine.access_token, 'all')).toBe(false);
  const renewed = await sessions.renew(other.refresh_token);
  expect(renewed).not.toBeNull();
  expect(await sessions.end(renewed?.access_token ?? '', 'all')).toBe(true);
  expect(await sessions.renew(mine.refresh_token)).toBeNull();
});

test('a token that has run out ends its own session', async () => {
  const sessions = open();
  const mine = await sessions.begin(personOf('ada'), REFRESH);
  const other = await sessions.begin(personOf('ada'), REFRESH);
  now += 2 * HOUR_MS;
  expect(await sessions.readPerson(mine.access_token)).toBeNull();
  expect(await sessions.end(mine.access_token, 'this')).toBe(true);
  expect(await sessions.renew(mine.refresh_token)).toBeNull();
  expect(await sessions.renew(other.refresh_token)).not.toBeNull();
  expect(await sessions.end(mine.access_token, 'this')).toBe(false);
});

test('a person has so many sessions at most: the oldest one goes, and those of other people stay', async () => {
  const sessions = open();
  const begin = async (login: string) => (await sessions.begin(personOf(login), REFRESH)).access_token;
  const isOpen = async (token: string) => (await sessions.readPerson(token)) !== null;
  const foreign = await begin('ben');
  const mine = [];
  for (let nth = 0; nth <= SESSIONS_PER_PERSON_MAX; nth += 1) mine.push(await begin('ada'));
  const [oldest = '', next = ''] = mine;
  expect([await isOpen(foreign), await isOpen(oldest), await isOpen(next)]).toEqual([true, false, true]);
});

test('whose sessions are whose is known by the account: a login may be given up, and taken by another one', async () => {
  const sessions = open();
  const begin = async (login: string, account: number) =>
    (await sessions.begin({ ...personOf(login), account }, REFRESH)).access_token;
  const [mine, renamed, stranger] = [
    await begin('ada', 7),
    await begin('lovelace', 7),
    await begin('ada', 8),
  ];
  await sessions.end(mine, 'all');
  const isOpen = async (token: string) => (await sessions.readPerson(token)) !== null;
  expect([await isOpen(mine), await isOpen(renamed), await isOpen(stranger)]).toEqual([false, false, true]);
});

describe('two sessions of one account, of which the forge takes the newest token alone', () => {
  const ACCOUNT = 7;
  const person = { ...personOf('ada'), account: ACCOUNT };
  const sessionsOf = () => {
    const sessions = open();
    const forge = createStrictForge();
    const identity = createForgeIdentity({
      instanceUrl: 'https://git.example.org',
      sessions,
      forge,
      admit: () => person,
      clock,
    });
    const signIn = async () => {
      const token = forge.give();
      sessions.keepTokenOf(ACCOUNT, token);
      return new Secret((await sessions.begin(person, token)).access_token);
    };
    return { sessions, forge, signIn, verify: identity.verify };
  };
  /** Forgejo as it is set up by default, and Gitea with `INVALIDATE_REFRESH_TOKENS`. */
  function createStrictForge() {
    const state = { newest: '', given: 0, asked: 0, isSilent: false, meanwhile: async () => {} };
    const give = (): Secret<string> => {
      state.given += 1;
      state.newest = `token ${state.given}`;
      return new Secret(state.newest);
    };
    const readAgain = async (
      token: Secret<string>,
      keep: (next: Secret<string>) => void,
    ): Promise<ForgeSignIn> => {
      state.asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      await state.meanwhile();
      if (token.reveal() !== state.newest) return 'refused';
      const refreshToken = give();
      keep(refreshToken);
      if (state.isSilent) return 'unreachable';
      return {
        kind: 'person',
        person: { account: ACCOUNT, login: 'ada', email: null, groups: [] },
        refreshToken,
      };
    };
    return Object.assign(state, { give, readAgain, isReachable: async () => true });
  }

  test('both go on, also after a restart, and are read with one call', async () => {
    const { forge, signIn, verify } = sessionsOf();
    const [one, two] = [await signIn(), await signIn()];
    for (let nth = 1; nth <= 3; nth += 1) {
      now += FORGE_RIGHTS_MS;
      const answers = await Promise.all([verify(one), verify(two)]);
      expect(answers.map(({ kind }) => kind)).toEqual(['user', 'user']);
      expect(forge.asked).toBe(nth);
    }
    const admit = () => person;
    const again = createForgeIdentity({ instanceUrl: 'https://f', sessions: open(), forge, admit, clock });
    now += FORGE_RIGHTS_MS;
    expect([await again.verify(two), await again.verify(one)]).toMatchObject([
      { kind: 'user' },
      { kind: 'user' },
    ]);
  });

  test('of two sign-ins at once that end in the other order, both go on', async () => {
    const { sessions, forge, verify } = sessionsOf();
    const tokens = [forge.give(), forge.give()];
    for (const token of tokens) sessions.keepTokenOf(ACCOUNT, token);
    const begun = [];
    for (const token of tokens.toReversed()) begun.push((await sessions.begin(person, token)).access_token);
    now += FORGE_RIGHTS_MS;
    for (const token of begun.toReversed())
      expect(await verify(new Secret(token))).toMatchObject({ kind: 'user' });
  });

  test('a sign-in that is given up, or comes while rights are read, ends none', async () => {
    const { sessions, forge, signIn, verify } = sessionsOf();
    const one = await signIn();
    sessions.keepTokenOf(ACCOUNT, forge.give());
    now += FORGE_RIGHTS_MS;
    expect(await verify(one)).toMatchObject({ kind: 'user' });
    now += FORGE_RIGHTS_MS;
    forge.meanwhile = async () => {
      forge.meanwhile = async () => {};
      sessions.keepTokenOf(ACCOUNT, forge.give());
    };
    expect(await verify(one)).toMatchObject({ kind: 'user' });
  });

  test('one that ends while rights are read leaves the other its token, and the rights that were read', async () => {
    const { sessions, forge, signIn, verify } = sessionsOf();
    const [one, two] = [await signIn(), await signIn()];
    now += FORGE_RIGHTS_MS;
    forge.meanwhile = async () => void (await sessions.end(one.reveal(), 'this'));
    expect(await verify(one)).toEqual({ kind: 'invalid' });
    forge.meanwhile = async () => {};
    expect(await verify(two)).toMatchObject({ kind: 'user' });
    expect(forge.asked).toBe(1);
  });

  test('a forge that is away once it has given the next token ends none', async () => {
    const { forge, signIn, verify } = sessionsOf();
    const one = await signIn();
    now += FORGE_RIGHTS_MS;
    forge.isSilent = true;
    expect(await verify(one)).toMatchObject({ kind: 'unavailable' });
    forge.isSilent = false;
    expect(await verify(one)).toMatchObject({ kind: 'user' });
  });

  test('both end where the account is refused, and those of others stay', async () => {
    const { sessions, forge, signIn, verify } = sessionsOf();
    const [one, two] = [await signIn(), await signIn()];
    const other = await sessions.begin({ ...personOf('ben'), account: 8 }, REFRESH);
    now += FORGE_RIGHTS_MS;
    forge.newest = 'none';
    expect([await verify(one), await verify(two)]).toEqual([{ kind: 'invalid' }, { kind: 'invalid' }]);
    expect(await sessions.readPerson(other.access_token)).not.toBeNull();
  });
});

describe('the rights of a person', () => {
  /** The forge's next answers; each call takes one, and is told with the token that it brought. */
  let answers: (ForgeSignIn | Promise<ForgeSignIn>)[];
  let brought: string[];
  const told = (person: Partial<ForgePerson>, refresh = 'the next one'): ForgeSignIn => ({
    kind: 'person',
    person: { account: 7, login: 'ada', email: null, groups: ['owners'], ...person },
    refreshToken: new Secret(refresh),
  });
  const AT = { instanceUrl: 'https://git.example.org' };
  const admit = ({ login, groups }: ForgePerson): SessionPerson | null =>
    groups.length === 0 ? null : { ...personOf(login), isAdmin: groups.includes('owners') };
  beforeEach(() => {
    [answers, brought] = [[], []];
  });

  async function begin() {
    const sessions = open();
    const forge = {
      isReachable: async () => true,
      readAgain: async (token: Secret<string>, keep: (next: Secret<string>) => void) => {
        brought.push(token.reveal());
        const answer = (await answers.shift()) ?? 'unreachable';
        if (typeof answer === 'object') keep(answer.refreshToken);
        return answer;
      },
    };
    const issued = await sessions.begin(personOf('ada'), REFRESH);
    const identity = createForgeIdentity({ ...AT, sessions, forge, admit, clock });
    return { sessions, issued, verify: () => identity.verify(new Secret(issued.access_token)) };
  }

  test('keep a session’s id and its beginning through a renewed token', async () => {
    const begun = now;
    const { sessions, issued, verify } = await begin();
    const before = await verify();
    now += HOUR_MS / 2;
    answers = [told({})];
    const renewed = await sessions.renew(issued.refresh_token);
    const again = createForgeIdentity({
      ...AT,
      sessions,
      admit,
      clock,
      forge: { isReachable: async () => true, readAgain: async () => told({}) },
    });
    const after = await again.verify(new Secret(renewed?.access_token ?? ''));
    expect(before).toMatchObject({ kind: 'user', person: 'ada', session: { startedAt: begun } });
    // The forge itself says whose pull requests these are.
    expect(before).toMatchObject({ forge: { ...AT, login: 'ada' } });
    expect(after).toEqual(before);
  });

  test('are read again after five minutes, once for calls that come together, and with the newest token', async () => {
    const { verify } = await begin();
    now += FORGE_RIGHTS_MS - 1;
    expect(await verify()).toMatchObject({ kind: 'user', mayChange: true });
    expect(brought).toEqual([]);
    now += 1;
    answers = [told({ groups: ['readers'] })];
    expect(await Promise.all([verify(), verify()])).toEqual([
      expect.objectContaining({ kind: 'user', mayChange: false, isAdmin: false }),
      expect.objectContaining({ kind: 'user', mayChange: false, isAdmin: false }),
    ]);
    now += FORGE_RIGHTS_MS;
    answers = [told({})];
    expect(await verify()).toMatchObject({ mayChange: true });
    expect(brought).toEqual(['refresh-token-of-the-forge', 'the next one']);
  });

  test('are read again where they seem to have been read in the future, by a clock that was set back', async () => {
    const { verify } = await begin();
    now -= 6 * 3_600_000;
    answers = [told({ groups: ['readers'] })];
    expect(await verify()).toMatchObject({ kind: 'user', mayChange: false });
  });

  test.each<[string, ForgeSignIn]>([
    ['the forge refuses the account', 'refused'],
    ['the person is in no group any more', { ...(told({ groups: [] }) as object) } as ForgeSignIn],
  ])('are gone where %s, and the session with them', async (_why, answer) => {
    const { sessions, issued, verify } = await begin();
    now += FORGE_RIGHTS_MS;
    answers = [answer];
    expect(await verify()).toEqual({ kind: 'invalid' });
    expect(await sessions.renew(issued.refresh_token)).toBeNull();
  });

  test('that cannot be read open nothing, and end no session', async () => {
    const { verify } = await begin();
    now += FORGE_RIGHTS_MS;
    expect(await verify()).toEqual({ kind: 'unavailable', status: null });
    answers = [told({})];
    expect(await verify()).toMatchObject({ kind: 'user' });
  });

  test('of a session of before, which the forge cannot be asked about, are gone at once', async () => {
    const { issued } = await begin();
    const file = join(dir, 'sessions.json');
    const stored = JSON.parse(readFileSync(file, 'utf8'));
    for (const session of Object.values<Record<string, unknown>>(stored.sessions)) {
      delete session.forge;
      delete session.readAt;
    }
    writeFileSync(file, JSON.stringify(stored));
    const forge = { isReachable: async () => true, readAgain: async () => told({}) };
    const identity = createForgeIdentity({ ...AT, sessions: open(), forge, admit, clock });
    expect(await identity.verify(new Secret(issued.access_token))).toEqual({ kind: 'invalid' });
  });

  test('are read by a token that does not stand in the file as it is', async () => {
    await begin();
    expect(readFileSync(join(dir, 'sessions.json'), 'utf8')).not.toContain(REFRESH.reveal());
  });
});
