import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  checkOutboundTarget,
  createDnsLookup,
  type ResolveHost,
  resolverFor,
} from '#core/adapters/http-guard/resolve.ts';

const RULES = { allowed: new Set<string>(), denied: new Set<string>() };
const A = 1;
const AAAA = 28;
const RECORDS: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>> = {
  'one.example': { [A]: [8, 8, 4, 4] },
  'both.example': {
    [A]: [8, 8, 4, 4],
    [AAAA]: [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11],
  },
  'inside.example': { [A]: [10, 0, 0, 5] },
};

let server: Socket;
let resolve: ResolveHost;

/** Answers names of its table, knows no others, and says nothing about those of `silent.example`. */
function answer(query: Buffer, peer: RemoteInfo): void {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const name = labels.join('.');
  if (name.endsWith('silent.example')) return;
  const question = query.subarray(12, at + 5);
  const type = query.readUInt16BE(at + 1);
  const data = RECORDS[name]?.[type];
  const isUnknown = RECORDS[name] === undefined;
  const head = Buffer.from([0, 0, 0x81, isUnknown ? 0x83 : 0x80, 0, 1, 0, data ? 1 : 0, 0, 0, 0, 0]);
  query.copy(head, 0, 0, 2);
  const record = data ? [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data] : [];
  server.send(Buffer.concat([head, question, Buffer.from(record)]), peer.port, peer.address);
}

beforeAll(async () => {
  server = createSocket('udp4').on('message', answer);
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  resolve = createDnsLookup({ servers: [`127.0.0.1:${server.address().port}`], limitMs: 1_000 });
});

afterAll(() => {
  server.close();
});

describe('names of strangers', () => {
  test('whose servers say nothing hold up the look at no other name', async () => {
    const silent = Array.from({ length: 32 }, (_, at) => resolve(`a${at}.silent.example`));
    const ends = Promise.allSettled(silent);
    const since = performance.now();
    expect(await resolve('one.example')).toEqual([{ address: '8.8.4.4', family: 4 }]);
    expect(performance.now() - since).toBeLessThan(500);
    expect((await ends).map(({ status }) => status)).toEqual(silent.map(() => 'rejected'));
  });

  test('are looked up by the resolver that holds no thread, and those of the operator by the system', async () => {
    expect(resolverFor(false)).not.toBe(resolverFor(true));
    const known = await resolverFor(true)('localhost');
    expect(known.map(({ address }) => address)).toContain('127.0.0.1');
  });

  test('give addresses of both families', async () => {
    const found = await resolve('both.example');
    expect(found.map(({ family }) => family).sort()).toEqual([4, 6]);
    expect(found.map(({ address }) => address).sort()).toEqual(['2606:4700::1111', '8.8.4.4']);
  });

  test('that no server knows have no address', async () => {
    await expect(resolve('unknown.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});

describe('the look at an address that is set', () => {
  test.each([
    ['https://one.example', 'allowed'],
    ['https://inside.example', 'refused'],
    ['https://unknown.example', 'unresolvable'],
    ['https://a.silent.example', 'unresolvable'],
  ])('%s is %s', async (url, expected) => {
    expect(await checkOutboundTarget(url, RULES, resolve)).toBe(expected);
  });

  test('ends also where the resolver never does', async () => {
    const stuck: ResolveHost = () => new Promise(() => {});
    expect(await checkOutboundTarget('https://one.example', RULES, stuck, 50)).toBe('unresolvable');
  });
});
