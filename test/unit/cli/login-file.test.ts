import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
