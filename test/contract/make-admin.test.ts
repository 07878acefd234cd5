import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  inviteToCognito,
  inviteToGoTrue,
  makeCognitoAdmin,
  makeGoTrueAdmin,
} from '#core/adapters/identity-http/make-admin.ts';
import { signAwsPost } from '#core/adapters/identity-http/sign-aws-request.ts';
import { Secret } from '#core/secret.ts';
import { runProgram } from '../support/run-program.ts';

const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};

type Reply = readonly [status: number, body: unknown];
type Answer = (request: IncomingMessage, body: Record<string, unknown>) => Reply;

let server: Server | undefined;
afterEach(() => new Promise((done) => (server === undefined ? done(null) : server.close(done))));

async function listen(answer: Answer): Promise<string> {
  const started = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString('utf8');
      const [status, body] = answer(request, raw === '' ? {} : JSON.parse(raw));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server = started;
  await new Promise<void>((done) => started.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

/** Users and groups of one pool; the signature is checked against an independent computation in its own test. */
function cognito() {
  const users = new Map<string, Set<string>>();
  /** Who has chosen a password. */
  const used = new Set<string>();
  const mailed: string[] = [];
  const answer: Answer = (request, body) => {
    const name = String(body.Username);
    const signed = String(request.headers.authorization);
    if (
      !/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/cognito-idp\/aws4_request, /.test(signed)
    ) {
      return [400, { __type: 'IncompleteSignatureException' }];
    }
    if (body.UserPoolId !== 'eu-west-1_pool') return [400, { __type: 'ResourceNotFoundException' }];
    switch (String(request.headers['x-amz-target']).split('.')[1]) {
      case 'AdminCreateUser':
        if (body.MessageAction === 'RESEND') {
          if (used.has(name)) return [400, { __type: 'UnsupportedUserStateException' }];
        } else if (users.has(name)) return [400, { __type: 'UsernameExistsException' }];
        else users.set(name, new Set());
        mailed.push(name);
        return [200, { User: { Username: name } }];
      case 'AdminAddUserToGroup':
        users.get(name)?.add(String(body.GroupName));
        return [200, {}];
      default:
        return [400, { __type: 'UnknownOperationException' }];
    }
  };
  return { users, used, mailed, answer };
}

/** Users with their metadata, in pages, for a caller that has the service key. */
function goTrue(count: number) {
  const users = Array.from({ length: count }, (_, index) => ({
    id: `id-${index}`,
    email: `user-${index}@example.org`,
    app_metadata: {} as Record<string, unknown>,
  }));
  const answer: Answer = (request, body) => {
    if (request.headers.authorization !== 'Bearer service-key') return [401, {}];
    const url = new URL(request.url ?? '/', 'http://provider');
    if (request.method === 'GET') {
      const size = Number(url.searchParams.get('per_page'));
      const start = (Number(url.searchParams.get('page')) - 1) * size;
      return [200, { users: users.slice(start, start + size) }];
    }
    if (request.method === 'POST' && url.pathname === '/auth/v1/invite') {
      const user = { id: `id-${users.length}`, email: String(body.email), app_metadata: {} };
      users.push(user);
      return [200, user];
    }
    const user = users.find((each) => url.pathname === `/auth/v1/admin/users/${each.id}`);
    if (request.method !== 'PUT' || user === undefined) return [404, {}];
    user.app_metadata = { ...user.app_metadata, ...(body.app_metadata as Record<string, unknown>) };
    return [200, user];
  };
  return { users, answer };
}

describe('in a user pool', () => {
  const config = (endpoint: string, userPoolId = 'eu-west-1_pool') => ({
    endpoint,
    userPoolId,
    region: 'eu-west-1',
    credentials: CREDENTIALS,
    now: Date.now,
  });

  test('an address without an account is invited and becomes an administrator; again it stays one', async () => {
    const pool = cognito();
    const endpoint = await listen(pool.answer);
    expect(await makeCognitoAdmin(config(endpoint), 'ada@example.org')).toBe('invited');
    pool.used.add('ada@example.org');
    expect(await makeCognitoAdmin(config(endpoint), 'ada@example.org')).toBe('promoted');
    expect(pool.users).toEqual(new Map([['ada@example.org', new Set(['admin'])]]));
  });

  test('an invitation makes an account without rights over others, once', async () => {
    const pool = cognito();
    const endpoint = await listen(pool.answer);
    expect(await inviteToCognito(config(endpoint), 'ben@example.org')).toBe(true);
    pool.used.add('ben@example.org');
    expect(await inviteToCognito(config(endpoint), 'ben@example.org')).toBe(false);
    expect(pool.users).toEqual(new Map([['ben@example.org', new Set()]]));
    expect(pool.mailed).toEqual(['ben@example.org']);
  });

  /**
   * "When this time expires, the user can't sign in with their temporary password. To reset the account after that time limit, you must
   * call AdminCreateUser again, specifying RESEND for the MessageAction parameter. The default value for this parameter is 7" days
   * (AWS, "AdminCreateUserConfigType").
   */
  test('who has not used an invitation gets another one, because its password ends', async () => {
    const pool = cognito();
    const endpoint = await listen(pool.answer);
    expect(await inviteToCognito(config(endpoint), 'ben@example.org')).toBe(true);
    expect(await inviteToCognito(config(endpoint), 'ben@example.org')).toBe(true);
    expect(await makeCognitoAdmin(config(endpoint), 'ben@example.org')).toBe('invited');
    expect(pool.mailed).toHaveLength(3);
    expect(pool.users).toEqual(new Map([['ben@example.org', new Set(['admin'])]]));
  });

  test('a pool that is not there is told by its code', async () => {
    const endpoint = await listen(cognito().answer);
    await expect(makeCognitoAdmin(config(endpoint, 'other'), 'ada@example.org')).rejects.toThrow(
      'AdminCreateUser: ResourceNotFoundException',
    );
  });
});

describe('at a provider with the GoTrue contract', () => {
  test('a user on the third page is found and promoted, and keeps all other metadata', async () => {
    const provider = goTrue(250);
    const [user] = provider.users.slice(-1);
    Object.assign(user?.app_metadata ?? {}, { provider: 'email' });
    const url = await listen(provider.answer);
    const serviceKey = new Secret('service-key');
    expect(await makeGoTrueAdmin({ url, serviceKey }, 'User-249@example.org')).toBe('promoted');
    expect(user?.app_metadata).toEqual({ provider: 'email', role: 'admin' });
    expect(provider.users).toHaveLength(250);
  });

  test('a new address is invited', async () => {
    const provider = goTrue(1);
    const url = await listen(provider.answer);
    expect(await makeGoTrueAdmin({ url, serviceKey: new Secret('service-key') }, 'new@example.org')).toBe(
      'invited',
    );
    expect(provider.users.at(-1)).toMatchObject({
      email: 'new@example.org',
      app_metadata: { role: 'admin' },
    });
  });

  test('an invitation makes an account without rights over others, once', async () => {
    const provider = goTrue(1);
    const target = { url: await listen(provider.answer), serviceKey: new Secret('service-key') };
    expect(await inviteToGoTrue(target, 'new@example.org')).toBe(true);
    expect(await inviteToGoTrue(target, 'New@example.org')).toBe(false);
    expect(provider.users).toHaveLength(2);
    expect(provider.users.at(-1)?.app_metadata).toEqual({});
  });

  test('a wrong key changes nothing', async () => {
    const provider = goTrue(1);
    const url = await listen(provider.answer);
    await expect(
      makeGoTrueAdmin({ url, serviceKey: new Secret('wrong') }, 'user-0@example.org'),
    ).rejects.toThrow('list users: HTTP 401');
    expect(provider.users[0]?.app_metadata).toEqual({});
  });
});

test('a signature is the one that AWS publishes for its example', () => {
  // The "post-vanilla" case of AWS's own test suite for Signature Version 4.
  const headers = signAwsPost(
    {
      host: 'example.amazonaws.com',
      region: 'us-east-1',
      service: 'service',
      headers: {},
      body: '',
      now: Date.UTC(2015, 7, 30, 12, 36, 0),
    },
    CREDENTIALS,
  );
  expect(headers.authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  );
});

describe('npm run admin', () => {
  const run = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { code, output } = await runProgram('bin/admin.ts', args, {
      PATH: process.env.PATH,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      ...env,
    });
    return { code, output: output.trim() };
  };

  test('finds its credentials where every tool of AWS does', async () => {
    const pool = cognito();
    const env = {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: await listen(pool.answer),
    };
    expect(await run(['--email', 'ada@example.org', '--user-pool', 'eu-west-1_pool'], env)).toEqual({
      code: 0,
      output: 'ada@example.org: invited',
    });
    expect(pool.users.get('ada@example.org')).toEqual(new Set(['admin']));
  });

  test('reads the service key from a file, never from an argument', async () => {
    const provider = goTrue(1);
    const folder = mkdtempSync(join(tmpdir(), 'mergeyard-admin-'));
    try {
      const file = join(folder, 'key.txt');
      writeFileSync(file, 'service-key\n');
      const url = await listen(provider.answer);
      const args = ['--email', 'user-0@example.org', '--identity', url, '--service-key-file', file];
      expect(await run(args)).toEqual({ code: 0, output: 'user-0@example.org: promoted' });
      expect(provider.users[0]?.app_metadata).toEqual({ role: 'admin' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('says how it is used when something is missing', async () => {
    expect(await run(['--email', 'operator'])).toEqual({
      code: 2,
      output: expect.stringContaining('npm run admin'),
    });
  });
});
