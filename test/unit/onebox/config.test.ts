import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, isAmong, readConfig } from '../../../onebox/config.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-config-'));
writeFileSync(join(folder, 'empty.txt'), '\n');
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
    [
      'a forge without TLS',
      { forge: { url: 'http://git.example.org' } },
      /forge\.url: has to begin with https:\/\//,
    ],
    [
      'a forge without a scheme',
      { forge: { url: 'git.example.org' } },
      /forge\.url: has to be the address of/,
    ],
    ['a forge without slashes', { forge: { url: 'https:git.example.org' } }, /forge\.url: has to begin with/],
    ['a forge with a space', { forge: { url: 'https://git.example.org/a b' } }, /forge\.url: has to be the/],
    ['an address without a port', { listen: '127.0.0.1' }, /listen: has to be address:port/],
    [
      'an own address with a password',
      { public_url: 'https://a:b@m.example.org' },
      /public_url: must be an address/,
    ],
    [
      'an own address with a query',
      { public_url: 'https://m.example.org/?a=b' },
      /public_url: must be an address/,
    ],
    [
      'an own address with a path, below which no page works',
      { public_url: 'https://m.example.org/queue' },
      /public_url: has to be without a path/,
    ],
    ['a port that no host has', { listen: '127.0.0.1:99999' }, /listen: has a port beyond 65535/],
    ['a name in brackets', { listen: '[localhost]:8480' }, /listen: has to be address:port/],
    ['a team without its organization', { sign_in: { ...GOOD.sign_in, allow: { teams: ['x'] } } }, /teams/],
    ['no secret', { sign_in: { ...GOOD.sign_in, client_secret: undefined } }, /client_secret/],
    [
      'an address without a port, in one line',
      { listen: '127.0.0.1' },
      /right:\n {2}listen: has to be address:port$/,
    ],
    [
      'a name in capitals',
      { service_name: 'MQ' },
      /service_name: has to be 1 to 20 of a-z, 0-9 and "-", and to begin/,
    ],
    [
      'a file of the secret that is empty',
      { sign_in: { ...GOOD.sign_in, client_secret: undefined, client_secret_file: 'empty.txt' } },
      /^sign_in\.client_secret_file: .*empty\.txt is empty: it has to hold the secret alone\.$/,
    ],
    ['an authority that is not there', { forge: { ...GOOD.forge, ca_file: 'none.pem' } }, /forge\.ca_file/],
  ])('%s is named', (_what, changes, words) => {
    expect(() => read(changes)).toThrow(words);
    expect(() => read(changes)).toThrow(ConfigError);
  });

  test.each([
    ['is empty', ''],
    ['is in UTF-16', Buffer.from('\ufefflisten: 127.0.0.1:1', 'utf16le')],
    ['is a list', '- a'],
  ])('that %s is told to need keys', (_what, content) => {
    const file = join(folder, 'no-keys.yml');
    writeFileSync(file, content);
    expect(() => readConfig(file)).toThrow(
      '(file): has to be text in UTF-8 with a key and its value on each line; onebox/mergeyard.example.yml shows them',
    );
  });
});

describe('a file that is no YAML', () => {
  const SECRET = 'gto_topsecret';
  const signIn = (line: string): string =>
    `public_url: https://m.example.org\nforge: { url: https://git.example.org }\nsign_in:\n  client_id: id\n${line}\n  administrators: { users: [alice] }\n`;

  test.each([
    [
      'a character of YAML',
      `  client_secret: @${SECRET}`,
      'line 5, column 18: a value begins with a character',
    ],
    ['a tag', `  client_secret: !${SECRET} x`, 'line 5, column 18: a value begins with "!"'],
    ['an alias', `  client_secret: *${SECRET}`, 'line 5, column 18: a value begins with "*"'],
    ['a wrong indent behind it', `  client_secret: ${SECRET}\n     x: y`, 'line 5, column 18: '],
    ['a tab behind it', `  client_secret: ${SECRET}\n\tx: y`, 'line 6, column 1: a tab'],
    ['a quote without its end', `  client_secret: "${SECRET}`, 'line 7, column 1: a colon, a quote'],
    ['the key a second time', `  client_secret: a\n  client_secret: ${SECRET}`, 'line 6, column 3: this key'],
    ['a block', `  client_secret: |${SECRET}`, 'line 5, column 1'],
  ])('is told by its place alone: %s', (_what, line, says) => {
    const file = join(folder, 'broken.yml');
    writeFileSync(file, signIn(line));
    const [printed, warned] = [jest.spyOn(console, 'warn'), jest.spyOn(process, 'emitWarning')];
    let message = '';
    try {
      readConfig(file);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      message = error.message;
    }
    expect(message).toContain(`cannot be read: ${says}`);
    expect(message).not.toContain(SECRET);
    expect([printed.mock.calls, warned.mock.calls]).toEqual([[], []]);
  });

  test('is told without the value also where that has become a part of its key', () => {
    const file = join(folder, 'broken.yml');
    writeFileSync(
      file,
      `public_url: https://m.example.org\nforge: { url: https://git.example.org }\nsign_in: { client_id: id, client_secret:${SECRET}, administrators: {} }\n`,
    );
    expect(() => readConfig(file)).toThrow(
      'sign_in: Unrecognized key: "client_secret:" without a space behind the colon',
    );
    expect(() => readConfig(file)).not.toThrow(SECRET);
  });

  test('may name a part of itself twice', () => {
    const file = join(folder, 'alias.yml');
    writeFileSync(
      file,
      'public_url: https://m.example.org\nforge: { url: https://git.example.org }\nsign_in:\n  client_id: id\n  client_secret: x\n  allow: &us { users: [alice] }\n  administrators: *us\n',
    );
    expect(readConfig(file).sign_in.administrators.users).toEqual(['alice']);
  });
});

test.each([
  ['[::1]:8480', '::1'],
  ['[::]:8480', '::'],
  ['::1:8480', '::1'],
  ['localhost:8480', 'localhost'],
])('%s is listened on at %s', (listen, host) => {
  expect(read({ listen })).toMatchObject({ listen: { host, port: 8480 } });
});

describe('an address that every visitor can read', () => {
  const SECRET = 'topsecret';

  test.each([
    ['forge.url', { forge: { url: `https://user:${SECRET}@git.example.org` } }],
    ['forge.url', { forge: { url: `https://${SECRET}@git.example.org/` } }],
    ['forge.url', { forge: { url: `https://git.example.org/?token=${SECRET}` } }],
    ['forge.url', { forge: { url: `https://git.example.org/#${SECRET}` } }],
    ['public_url', { public_url: `https://user:${SECRET}@m.example.org` }],
    ['public_url', { public_url: `https://m.example.org/?x=${SECRET}` }],
    ['mail.host', { mail: { host: `user:${SECRET}@mail.example.org`, from: 'mq@example.org' } }],
    ['mail.host', { mail: { host: `smtp://mail.example.org/${SECRET}`, from: 'mq@example.org' } }],
  ])('has no credentials, no query and no fragment, and none is told: %s', (key, changes) => {
    expect(() => read(changes)).toThrow(`${key}: `);
    expect(() => read(changes)).toThrow(/without|alone/);
    expect(() => read(changes)).not.toThrow(SECRET);
  });

  test('may have a port and a path', () => {
    const url = 'https://git.example.org:8443/forge';
    expect(read({ forge: { url } }).forge.url).toBe(url);
  });
});

describe('the PEM of a private authority', () => {
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return name;
  };
  const { cert: certificate, key } = makeSelfSigned(['git.example.org']);
  const mail = { host: 'mail.example.org', from: 'mq@example.org' };

  test('is taken, one or several of them, with words between', () => {
    const pem = `# ours\n${certificate}\n# and theirs\n${certificate}`;
    const ca_file = write('ca.pem', pem);
    expect(read({ forge: { ...GOOD.forge, ca_file }, mail: { ...mail, ca_file } })).toMatchObject({
      caPem: pem,
      mail: { caPem: pem },
    });
  });

  test.each([
    ['a text', 'garbage'],
    ['nothing', ''],
    ['the key instead', key],
    ['one that is cut', certificate.replace(/[^\n]{20}\n-----END/, '\n-----END')],
    [
      'a second one that is cut',
      `${certificate}\n${certificate.replace(/[^\n]{20}\n-----END/, '\n-----END')}`,
    ],
  ])('is refused where it is %s', (_what, text) => {
    const ca_file = write('no-ca.pem', text);
    expect(() => read({ forge: { ...GOOD.forge, ca_file } })).toThrow(
      `forge.ca_file: ${join(folder, ca_file)} is no certificate, or a damaged one. It has to be the PEM of the authority, which begins with -----BEGIN CERTIFICATE-----.`,
    );
    expect(() => read({ mail: { ...mail, ca_file } })).toThrow('mail.ca_file: ');
  });
});

describe('people', () => {
  const person = { account: 2, login: 'Alice', email: null, groups: ['acme', 'acme:release'] };
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

describe('the mail server of mergeyard.yml', () => {
  const mail = { host: 'mail.example.org', from: 'mq@example.org' };

  test('is none where nothing is said, and TLS is asked for where one is', () => {
    expect(read({}).mail).toBeNull();
    expect(read({ mail })).toMatchObject({ mail: { ...mail, port: 587, tls: 'required', login: null } });
  });

  test('speaks TLS from the first byte at port 465, and at another one where that is said', () => {
    expect(read({ mail: { ...mail, port: 465 } }).mail?.tls).toBe('implicit');
    expect(read({ mail: { ...mail, port: 2465, tls: 'implicit' } }).mail?.tls).toBe('implicit');
  });

  test.each(['localhost', '127.0.0.1', '::1', '10.0.0.7', '192.168.1.9', 'fd00::1', 'mail', 'mx.home.arpa'])(
    'without TLS it may be on this machine or in a private network: %s',
    (host) => {
      expect(read({ mail: { ...mail, host, tls: 'none' } }).mail).toMatchObject({ host, tls: 'none' });
    },
  );

  test.each(['mail.example.org', '8.8.8.8', '2001:4860:4860::8888', 'email-smtp.eu-west-1.amazonaws.com'])(
    'without TLS a public one is refused, because mails would travel in the clear: %s',
    (host) => {
      const open = { ...mail, host, tls: 'none' };
      expect(() => read({ mail: open })).toThrow(
        `mail.tls: mails would travel in the clear to ${host}, which is not on this machine or in a private network.`,
      );
      expect(read({ mail: { ...open, allow_clear_text: true } }).mail).toMatchObject({ host, tls: 'none' });
    },
  );

  test('takes the password from a file alone, and does not print it', () => {
    writeFileSync(join(folder, 'mail-password.txt'), 'a-mail-password\n');
    const config = read({ mail: { ...mail, user: 'mq', password_file: 'mail-password.txt' } });
    expect(config.mail?.login?.password.reveal()).toBe('a-mail-password');
    expect(JSON.stringify(config)).not.toContain('a-mail-password');
    expect(() => read({ mail: { ...mail, password: 'a-mail-password' } })).toThrow(ConfigError);
  });

  test.each([
    ['a user without a password', { user: 'mq' }, /both of user and password_file/],
    [
      'a password in the clear, whatever is allowed',
      { user: 'mq', password_file: 'x.txt', tls: 'none', allow_clear_text: true },
      /the password would travel in the clear/,
    ],
    ['clear text beside TLS', { allow_clear_text: true }, /mail\.allow_clear_text: .* tls: none/],
    [
      'a file that is not there',
      { user: 'mq', password_file: 'no.txt' },
      /mail\.password_file: .*cannot be read/,
    ],
    ['a sender with a second header', { from: 'mq@example.org\r\nBcc: eve@example.org' }, /mail\.from/],
  ])('refuses %s', (_name, changes, words) => {
    expect(() => read({ mail: { ...mail, ...changes } })).toThrow(words);
  });
});
