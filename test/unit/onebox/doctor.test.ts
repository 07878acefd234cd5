import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import type { SmtpAnswer } from '#core/adapters/smtp/smtp.ts';
import { readConfig } from '../../../onebox/config.ts';
import { createMailCheck, examine } from '../../../onebox/doctor.ts';
import { MAIL_LOGIN, startMailServer } from '../../support/mail-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-doctor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NOW = Date.UTC(2026, 10, 22, 12);

function givenConfig(publicUrl = 'https://mergeyard.example.org') {
  const file = join(folder, 'mergeyard.yml');
  writeFileSync(
    file,
    JSON.stringify({
      public_url: publicUrl,
      forge: { url: 'https://git.example.org' },
      sign_in: { client_id: 'id', client_secret: 'a-text-of-its-own', administrators: {} },
    }),
  );
  return readConfig(file);
}

/** A forge whose addresses answer so. */
function givenForge({ status = 200, aheadMs = 0, discovery = 200, application = ACCEPTED } = {}): HttpSend {
  return async ({ url }) =>
    url.endsWith('/access_token')
      ? { status: 400, headers: {}, body: Buffer.from(JSON.stringify(application)) }
      : {
          status: url.endsWith('/version') ? status : discovery,
          headers: { date: new Date(NOW + aheadMs).toUTCString() },
          body: Buffer.from('{"version":"15.0.3"}'),
        };
}

const refusal = (error: string, error_description: string) => ({ application: { error, error_description } });
/** The last thing that both forges look at is the code. */
const ACCEPTED = refusal('unauthorized_client', 'client is not authorized').application;

const fixesOf = async (send: HttpSend, publicUrl?: string): Promise<readonly string[]> =>
  (await examine(givenConfig(publicUrl), send, () => NOW)).flatMap(({ what, fix }) =>
    fix === undefined ? [] : [`${what}: ${fix}`],
  );

describe('the doctor', () => {
  test('finds nothing where all is right, and names the version of the forge', async () => {
    expect(await fixesOf(givenForge())).toEqual([]);
    const seen = await examine(givenConfig(), givenForge(), () => NOW);
    expect(seen.map(({ what }) => what)).toContain('forge 15.0.3');
  });

  test.each([
    ['a forge that does not answer', givenForge({ status: 502 }), /^forge: .* forge\.ca_file/],
    ['a clock that is a minute away', givenForge({ aheadMs: 60_000 }), /^clock: .* 60 s away/],
    [
      'an application that is not there',
      givenForge(refusal('invalid_client', "cannot load client with client id: 'id'")),
      /^OAuth2 application: .*no application with this client_id/,
    ],
    [
      'a wrong client secret',
      givenForge(refusal('unauthorized_client', 'invalid client secret')),
      /^OAuth2 application: .*refuses the client secret/,
    ],
    [
      'a redirect URI that the application does not name',
      givenForge(refusal('unauthorized_client', 'unexpected redirect URI')),
      /^OAuth2 application: .*has to be https:\/\/mergeyard\.example\.org\/auth\/v1\/callback$/,
    ],
    ['a forge that signs no people in', givenForge({ discovery: 404 }), /^sign-in: .*\[oauth2\]/],
  ])('says how to mend %s', async (_what, send, words) => {
    expect(await fixesOf(send)).toEqual([expect.stringMatching(words)]);
  });

  test('names the page of the forge where an application is mended, and no secret and no path of the machine', async () => {
    const wrong = givenForge(refusal('unauthorized_client', 'invalid client secret'));
    const seen = await examine(givenConfig(), wrong, () => NOW);
    expect(seen.find(({ fix }) => fix !== undefined)?.link).toBe(
      'https://git.example.org/user/settings/applications',
    );
    expect(JSON.stringify(seen)).not.toContain(folder);
    expect(JSON.stringify(seen)).not.toContain(givenConfig().clientSecret);
  });

  test.each(['mergeyard.example.org', 'localhost.example.org', '127.0.0.1.example.org', '127.example.org'])(
    'says so where sessions would travel in the clear: to %s',
    async (host) => {
      expect(await fixesOf(givenForge(), `http://${host}`)).toEqual([
        expect.stringMatching(/^public_url: Sessions/),
      ]);
    },
  );

  test.each(['localhost:8080', '127.0.0.1', '127.1.2.3:8080', '[::1]'])(
    'finds nothing where they stay on the machine: at %s',
    async (host) => {
      expect(await fixesOf(givenForge(), `http://${host}`)).toEqual([]);
    },
  );
});

describe('the doctor looks at each file of the data folder', () => {
  const KEY = { enabled: true, createdAtSeconds: 1, secrets: [Buffer.alloc(32).toString('base64')] };
  const KEYS = JSON.stringify({ keys: { '0198f3a2-7c1d-4e55-9c3b-1f2a3b4c5d6e': KEY } });

  const SESSIONS = JSON.stringify({ key: 'a', used: true, sessions: {} });

  async function fixesFor(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const data = join(folder, 'mergeyard-data');
    mkdirSync(data);
    try {
      for (const [name, text] of Object.entries(files))
        writeFileSync(join(data, name), text, { mode: 0o600 });
      return await fixesOf(givenForge());
    } finally {
      rmSync(data, { recursive: true });
    }
  }

  test('and makes none, also no folder', async () => {
    expect(await fixesOf(givenForge())).toEqual([]);
    expect(existsSync(join(folder, 'mergeyard-data'))).toBe(false);
    const files = { 'keys.json': KEYS, 'sessions.json': SESSIONS, 'table.sqlite': '' };
    expect(await fixesFor(files)).toEqual([]);
  });

  test.each([
    ['cut keys', { 'keys.json': '{"keys":' }, /^keys: keys\.json .* is damaged: put it back/],
    ['no keys in it', { 'keys.json': 'null' }, /^keys: keys\.json .* is damaged/],
    ['a short key', { 'keys.json': KEYS.replace(/AAAA/g, '') }, /^keys: keys\.json .* is damaged/],
    ['keys that are gone', { 'sessions.json': '{}' }, /^keys: keys\.json is gone .* put it back/],
    ['a wrong key of statements', { 'evidence-key.pem': 'x' }, /^keys: evidence-key\.pem .* remove it/],
    ['cut sessions', { 'keys.json': KEYS, 'sessions.json': '{' }, /^keys: sessions\.json .* sign in again/],
    [
      'no sessions in it',
      { 'keys.json': KEYS, 'sessions.json': '{}' },
      /^keys: sessions\.json .* sign in again/,
    ],
    [
      'a file that is no table',
      { 'table.sqlite': 'no table'.repeat(9) },
      /^table: table\.sqlite .* put it back/,
    ],
  ])('%s', async (_what, files, words) => {
    expect(await fixesFor(files as Readonly<Record<string, string>>)).toEqual([expect.stringMatching(words)]);
  });
});

describe('the line of the doctor about mail', () => {
  const lineOf = async (mail: object | undefined) => {
    const file = join(folder, 'mail.yml');
    writeFileSync(
      file,
      JSON.stringify({
        public_url: 'https://mergeyard.example.org',
        forge: { url: 'https://git.example.org' },
        sign_in: { client_id: 'id', client_secret: 'a-text-of-its-own', administrators: {} },
        ...(mail === undefined ? {} : { mail }),
      }),
    );
    const found = await examine(readConfig(file), givenForge(), () => NOW);
    return found.find(({ what }) => what === 'mail');
  };

  test('says that none is set up, which is no fault', async () => {
    expect(await lineOf(undefined)).toEqual({ what: 'mail', note: 'not set up: no mail is sent' });
  });

  test('logs in at the server and sends nothing; says what is wrong without the password', async () => {
    const server = await startMailServer();
    try {
      writeFileSync(join(folder, 'ca.pem'), server.caPem);
      writeFileSync(join(folder, 'right.txt'), MAIL_LOGIN.password);
      writeFileSync(join(folder, 'wrong.txt'), 'an-old-password');
      const mail = { host: '127.0.0.1', port: server.port, from: 'mq@example.org', ca_file: 'ca.pem' };
      const login = { user: MAIL_LOGIN.user, password_file: 'right.txt' };
      const note = `127.0.0.1:${server.port}, from mq@example.org`;
      expect(await lineOf({ ...mail, ...login })).toEqual({ what: 'mail', note });
      const wrong = await lineOf({ ...mail, ...login, password_file: 'wrong.txt' });
      expect(wrong?.fix).toMatch(/refuses the login/);
      expect(JSON.stringify(wrong)).not.toContain('an-old-password');
      expect(server.taken).toEqual([]);
      const strange = await lineOf({ ...mail, ...login, ca_file: undefined });
      expect(strange?.fix).toMatch(/certificate .* is not trusted here.* mail\.ca_file/);
      await server.close();
      expect((await lineOf({ ...mail, ...login }))?.fix).toMatch(/does not answer/);
    } finally {
      await server.close();
    }
  });
});

describe('the login at the mail server, as a visitor of the first page makes it', () => {
  const MINUTE = 60_000;
  const given = (answer: () => SmtpAnswer) => {
    let now = NOW;
    const logins: number[] = [];
    const tryLogin = async () => {
      logins.push(now);
      return answer();
    };
    const ask = createMailCheck({ tryLogin, now: () => now });
    return { logins, ask, pass: (ms: number) => (now += ms) };
  };

  test('is made once in ten minutes while it is right', async () => {
    const { logins, ask, pass } = given(() => 'sent');
    for (let minute = 0; minute < 30; minute += 0.25) {
      expect(await ask()).toBe('sent');
      pass(MINUTE / 4);
    }
    expect(logins).toEqual([NOW, NOW + 10 * MINUTE, NOW + 20 * MINUTE]);
  });

  test('that failed is made again after a minute, so that no server locks the account', async () => {
    let answer: SmtpAnswer = 'login_refused';
    const { logins, ask, pass } = given(() => answer);
    expect(await ask()).toBe('login_refused');
    pass(MINUTE - 1);
    answer = 'sent';
    expect([await ask(), logins.length]).toEqual(['login_refused', 1]);
    pass(1);
    expect([await ask(), logins.length]).toEqual(['sent', 2]);
  });

  test('is one for visitors who ask at the same time', async () => {
    const { logins, ask } = given(() => 'sent');
    await Promise.all([ask(), ask(), ask()]);
    expect(logins).toHaveLength(1);
  });
});
