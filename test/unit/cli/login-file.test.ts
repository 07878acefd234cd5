import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callCli } from '../../support/call-cli.ts';

const TOKEN = 'mgy_stored-for-one-service';
const SERVICE = 'https://q.example.org';
const STATUS = { 'queue/status': { repos: [] } };
let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'login-'));
  file = join(folder, 'mergeyard', 'login.json');
  mkdirSync(join(folder, 'mergeyard'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const store = (login: unknown): void => writeFileSync(file, JSON.stringify(login));
const call = (env: Record<string, string> = {}, ...argv: string[]) =>
  callCli(argv.length === 0 ? ['status'] : argv, {
    env: { XDG_CONFIG_HOME: folder, ...env },
    answers: STATUS,
    stdin: TOKEN,
  });

describe('a stored token belongs to the service that it was stored for', () => {
  test.each(['https://other.example.org', 'https://q.example.org:8443', 'http://localhost'])(
    'it is not sent to %s in MERGEYARD_URL, and the words say how to log in there',
    async (url) => {
      store({ url: SERVICE, token: TOKEN });
      expect(await call({ MERGEYARD_URL: url })).toEqual({
        code: 64,
        out: [],
        sent: [],
        complaint: `The stored login is for ${SERVICE}, and MERGEYARD_URL names ${url}: set MERGEYARD_TOKEN to a token of that service, or log in there with mergeyard login ${url}.`,
      });
    },
  );

  test.each([SERVICE, `${SERVICE}/`, 'HTTPS://Q.example.org:443'])(
    'it is sent to %s, which is the same service',
    async (url) => {
      store({ url: SERVICE, token: TOKEN });
      const { code, sent } = await call({ MERGEYARD_URL: url });
      expect([code, sent.map(({ authorization }) => authorization)]).toEqual([0, [`Bearer ${TOKEN}`]]);
    },
  );

  test('another service gets the token that MERGEYARD_TOKEN names for it', async () => {
    store({ url: SERVICE, token: TOKEN });
    const { sent } = await call({ MERGEYARD_URL: 'https://other.example.org', MERGEYARD_TOKEN: 'mgy_own' });
    expect(sent).toEqual([
      { origin: 'https://other.example.org', path: 'queue/status', authorization: 'Bearer mgy_own' },
    ]);
  });
});

describe('a login that cannot be used is told in one sentence, with the next step', () => {
  test.each([
    ['null', 'null'],
    ['a list', '["mgy_x"]'],
    ['a token of a wrong type', '{"url":"https://q.example.org","token":7}'],
    ['an address of a wrong type', '{"url":{},"token":"mgy_x"}'],
    ['no address', '{"token":"mgy_x"}'],
    ['an address that is none', '{"url":"q","token":"mgy_x"}'],
    ['no JSON', '{"url":"https://q.exam'],
    ['nothing', ''],
  ])('of %s', async (_what, text) => {
    writeFileSync(file, text);
    for (const env of [{}, { MERGEYARD_URL: SERVICE }, { MERGEYARD_TOKEN: 'mgy_own' }] as const)
      expect(await call(env)).toEqual({
        code: 64,
        out: [],
        sent: [],
        complaint: `${file} holds no login: log in again with mergeyard login ADDRESS and the token on standard input, or set MERGEYARD_URL and MERGEYARD_TOKEN.`,
      });
  });

  test('of a file that cannot be read', async () => {
    mkdirSync(file);
    expect(await call()).toMatchObject({
      code: 64,
      sent: [],
      complaint: `${file} cannot be read (EISDIR): give yourself the right to read it, log in again, or set MERGEYARD_URL and MERGEYARD_TOKEN.`,
    });
  });

  test('and stands in the way of no new login, no help, and no login in the environment', async () => {
    writeFileSync(file, 'null');
    expect((await call({}, '--help')).code).toBe(0);
    expect((await call({ MERGEYARD_URL: SERVICE, MERGEYARD_TOKEN: 'mgy_own' })).code).toBe(0);
    expect((await call({}, 'login', SERVICE)).code).toBe(0);
    expect((await call()).code).toBe(0);
  });
});

test.each([
  'https://ada:secret-word@q.example.org',
  'https://q.example.org/?page=1',
  'https://q.example.org/#/queue',
])('%s is told as no address of a service, and not as a service that is away', async (url) => {
  const complaint = 'The address must have no user, no password, no query and no fragment.';
  const env = { MERGEYARD_URL: url, MERGEYARD_TOKEN: 'mgy_own' };
  expect(await call(env)).toMatchObject({ code: 64, sent: [], complaint });
  expect(await call({}, 'login', url)).toMatchObject({ code: 64, sent: [], complaint });
});

test.each([
  ['MERGEYARD_TOKEN', '', 'an API token'],
  ['MERGEYARD_TOKEN', ' \n', 'an API token'],
  ['MERGEYARD_URL', '', 'the address of the service'],
])('%s that is set to %j is told as that, and sends nothing', async (name, value, wanted) => {
  store({ url: SERVICE, token: TOKEN });
  const complaint = `${name} is set and empty, as in a CI job that is given no secret: give it ${wanted}, or unset it.`;
  expect(await call({ [name]: value })).toEqual({ code: 64, out: [], sent: [], complaint });
});

test('the address of a page of the service is the address of the service, also in the environment', async () => {
  const { code, sent } = await call({ MERGEYARD_URL: `${SERVICE}/repos/1`, MERGEYARD_TOKEN: 'mgy_own' });
  expect([code, sent.map(({ origin, path }) => [origin, path])]).toEqual([0, [[SERVICE, 'queue/status']]]);
});

test('a login that was cut short stands in the way of no other one, and nothing of it is left', async () => {
  const left = `${file}.${process.pid}.next`;
  writeFileSync(left, '{"url":"https://q.exam', { mode: 0o644 });
  expect((await call({}, 'login', SERVICE)).code).toBe(0);
  expect([existsSync(left), statSync(file).mode & 0o777]).toEqual([false, 0o600]);
});

describe('no login is taken from the folder that a command is called in', () => {
  const before = process.cwd();
  beforeEach(() => {
    process.chdir(folder);
    mkdirSync('.config/mergeyard', { recursive: true });
    for (const file of ['mergeyard/login.json', '.config/mergeyard/login.json'])
      writeFileSync(file, JSON.stringify({ url: 'https://stranger.example', token: 'mgy_x' }));
  });
  afterEach(() => process.chdir(before));

  test.each([
    ['an empty HOME', { XDG_CONFIG_HOME: '', HOME: '' }],
    ['a HOME that is no full path', { XDG_CONFIG_HOME: '', HOME: '.' }],
    ['a XDG_CONFIG_HOME that is none', { XDG_CONFIG_HOME: '.', HOME: '/nowhere' }],
  ])('with %s', async (_what, env) => {
    const { sent } = await call({ ...env, MERGEYARD_TOKEN: 'mgy_own' });
    expect(sent.map(({ origin }) => origin)).not.toContain('https://stranger.example');
  });
});

describe('a token that no header carries is told as that, and not as a service that is away', () => {
  const complaint =
    'The token holds a character that no token can have: give it as one line of plain text (UTF-8, without a byte order mark).';
  const utf16 = Buffer.from('\ufeffmgy_own-token', 'utf16le').toString();

  test.each([
    ['of two lines', 'mgy_own\nmgy_other'],
    ['in UTF-16, as a shell of Windows writes a file', utf16],
    ['with letters of no token', 'mgy_ówn'],
  ])('%s', async (_what, token) => {
    const env = { MERGEYARD_URL: SERVICE, MERGEYARD_TOKEN: token };
    expect(await call(env)).toMatchObject({ code: 64, sent: [], complaint });
    const stdin = await callCli(['login', SERVICE], { env: { XDG_CONFIG_HOME: folder }, stdin: token });
    expect(stdin).toMatchObject({ code: 64, sent: [], complaint });
    const forge = { MERGEYARD_URL: SERVICE, MERGEYARD_TOKEN: 'mgy_own', MERGEYARD_FORGE_TOKEN: token };
    const argv = ['enqueue', '1', '--head', 'a'.repeat(40), '--repo', 'acme/app'];
    const answers = { repos: [{ id: 'r', name: 'acme/app', base_branch: 'main' }] };
    const asked = await callCli(argv, { env: forge, answers });
    expect([asked.code, asked.complaint]).toEqual([64, complaint]);
  });

  test('the line end of Windows belongs to the file and not to the token', async () => {
    const { sent } = await call({ MERGEYARD_URL: SERVICE, MERGEYARD_TOKEN: 'mgy_own\r\n' });
    expect(sent.map(({ authorization }) => authorization)).toEqual(['Bearer mgy_own']);
  });
});

test('what a login prints is JSON where that is asked for', async () => {
  const { code, out } = await call({}, 'login', SERVICE, '--json');
  expect([code, out.map((line) => JSON.parse(line))]).toEqual([0, [{ stored: file }]]);
});
