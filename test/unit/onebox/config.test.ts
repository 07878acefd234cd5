import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, isAmong, readConfig } from '../../../onebox/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GOOD = {
  public_url: 'https://mergeyard.example.org',
  forge: { url: 'https://git.example.org' },
  sign_in: { client_id: 'id', client_secret: 'secret', administrators: { users: ['alice'] } },
};

/** JSON is YAML. */
function read(changes: object) {
  const file = join(folder, 'mergeyard.yml');
  writeFileSync(file, JSON.stringify({ ...GOOD, ...changes }));
  return readConfig(file);
}

describe('mergeyard.yml', () => {
  test('needs few keys; paths are beside the file', () => {
    expect(read({})).toMatchObject({
      listen: { host: '127.0.0.1', port: 8480 },
      data_dir: join(folder, 'mergeyard-data'),
      service_name: 'mq',
      clientSecret: 'secret',
      caPem: null,
      workers: 4,
    });
  });

  test.each([
    ['an unknown key', { listens: '127.0.0.1:1' }, /listens/],
    ['a forge without TLS', { forge: { url: 'http://git.example.org' } }, /forge\.url/],
    ['an address without a port', { listen: '127.0.0.1' }, /listen: has to be address:port/],
    ['a team without its organization', { sign_in: { ...GOOD.sign_in, allow: { teams: ['x'] } } }, /teams/],
    ['no secret', { sign_in: { ...GOOD.sign_in, client_secret: undefined } }, /client_secret/],
    ['an authority that is not there', { forge: { ...GOOD.forge, ca_file: 'none.pem' } }, /forge\.ca_file/],
  ])('%s is named', (_what, changes, words) => {
    expect(() => read(changes)).toThrow(words);
    expect(() => read(changes)).toThrow(ConfigError);
  });
});

describe('people', () => {
  const person = { login: 'Alice', email: null, groups: ['acme', 'acme:release'] };
  const none = { users: [], organizations: [], teams: [] };

  test.each([
    ['by login, in any case', { ...none, users: ['alice'] }, true],
    ['by organization', { ...none, organizations: ['ACME'] }, true],
    ['by team', { ...none, teams: ['acme/release'] }, true],
    ['not by another team', { ...none, teams: ['acme/owners'] }, false],
    ['not by nothing', none, false],
  ])('are told %s', (_how, people, expected) => {
    expect(isAmong(people, person)).toBe(expected);
  });
});
