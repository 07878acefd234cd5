import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { HttpSendError } from '#core/adapters/http-guard/http-send.ts';
import { checkOutboundUrl, compileOutboundPolicy } from '#core/adapters/http-guard/outbound-url.ts';
import { isPublicAddress } from '#core/adapters/http-guard/public-address.ts';
import {
  checkOutboundTarget,
  createGuardedLookup,
  resolveGuarded,
} from '#core/adapters/http-guard/resolve.ts';

const none = compileOutboundPolicy({
  allowHosts: [],
  denyHosts: ['queue.example.org', 'engine.example.org'],
});

/** An address of each special block of IPv4. */
const SPECIAL_V4: readonly string[] = [
  '0.0.0.1',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.19.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '255.255.255.255',
];

/** Spellings that are hostile whatever a resolver says (testing goals, D.3). */
const HOSTILE_URLS: readonly string[] = [
  'http://git.example.com',
  'http://git.example.com:443',
  'ftp://git.example.com',
  'file:///etc/passwd',
  'gopher://git.example.com/_x',
  'javascript:alert(1)',
  'data:text/html,x',
  'ws://git.example.com',
  'wss://git.example.com',
  '//git.example.com',
  'git.example.com',
  '',
  'https://',
  'https:///git.example.com',
  'https:git.example.com',
  'https:/git.example.com',
  'https://127.0.0.1',
  'https://127.1',
  'https://0',
  'https://0.0.0.0',
  'https://2130706433',
  'https://0x7f.1',
  'https://0x7f000001',
  'https://017700000001',
  'https://0177.0.0.1',
  'https://localhost',
  'https://LOCALHOST',
  'https://localhost.',
  'https://a.localhost',
  'https://[::1]',
  'https://[::]',
  'https://[::ffff:127.0.0.1]',
  'https://[::ffff:7f00:1]',
  'https://[::ffff:8.8.8.8]',
  'https://[::127.0.0.1]',
  'https://[64:ff9b::7f00:1]',
  'https://[64:ff9b::10.0.0.1]',
  'https://[64:ff9b::a9fe:a9fe]',
  'https://[64:ff9b::]',
  'https://[64:ff9b:1::1]',
  'https://[fe80::1]',
  'https://[fe80::1%25eth0]',
  'https://[fec0::1]',
  'https://[fc00::1]',
  'https://[fd00:ec2::254]',
  'https://[ff02::1]',
  'https://[100::1]',
  'https://[2001::1]',
  'https://[2001:0:7f00:1::]',
  'https://[2001:db8::1]',
  'https://[2002:7f00:1::]',
  'https://[3fff::1]',
  'https://10.0.0.1',
  'https://10.255.255.255',
  'https://172.16.0.1',
  'https://172.31.255.255',
  'https://192.168.1.1',
  'https://100.64.0.1',
  'https://100.127.255.255',
  'https://169.254.169.254',
  'https://169.254.170.2',
  'https://192.0.0.1',
  'https://192.0.2.1',
  'https://192.88.99.1',
  'https://198.18.0.1',
  'https://198.19.255.255',
  'https://198.51.100.7',
  'https://203.0.113.9',
  'https://224.0.0.1',
  'https://239.255.255.255',
  'https://240.0.0.1',
  'https://255.255.255.255',
  'https://good@127.0.0.1',
  'https://good@git.example.com',
  'https://good:pass@git.example.com',
  'https://@git.example.com',
  'https://127.0.0.1#good',
  'https://127.0.0.1?good',
  'https://good%2f@127.0.0.1',
  'https://127%2e0%2e0%2e1',
  'https://git%2eexample.com',
  'https://git.example.com\\@127.0.0.1',
  'https:\\\\git.example.com',
  'https://git.example.com\\.evil',
  'https://127.0.0.1\t',
  'https://git.exa\tmple.com',
  'https://git.exa\nmple.com',
  'https://git.example.com/\r\nHost: x',
  ' https://git.example.com',
  'https://git.example.com ',
  'https://127\u30020\u30020\u30021',
  'https://\uff11\uff12\uff17.0.0.1',
  'https://g\u0456t.example.com',
  'https://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3',
  'https://git.example.com.',
  'https://git.example.com:22',
  'https://git.example.com:25',
  'https://git.example.com:80',
  'https://git.example.com:6379',
  'https://git.example.com:8443',
  'https://git.example.com:9200',
  'https://git.example.com:0',
  'https://git.example.com:65536',
  'https://db.internal',
  'https://metadata.google.internal',
  'https://ip-10-0-0-1.ec2.internal',
  'https://vpce-1.execute-api.us-east-1.vpce.amazonaws.com',
  'https://ec2-1-2-3-4.compute.amazonaws.com',
  'https://d111111abcdef8.cloudfront.net',
  'https://kms.us-east-1.api.aws',
  'https://abc123.lambda-url.us-east-1.on.aws',
  'https://printer.local',
  'https://router.lan',
  'https://intranet',
  'https://nas.home.arpa',
  'https://queue.example.org',
  'https://QUEUE.example.org/path',
  'https://engine.example.org',
  `https://git.example.com/${'a'.repeat(2048)}`,
];

const HONEST_URLS: readonly string[] = [
  'https://codeberg.org',
  'https://codeberg.org/',
  'https://codeberg.org:443/',
  'HTTPS://Git.Example.com/forge',
  'https://git.example.com/forge/?q=1#top',
  'https://xn--bcher-kva.example',
  'https://8.8.8.8',
  'https://[2606:4700::1111]',
];

const PRIVATE_ADDRESSES = [
  '127.0.0.1',
  '10.1.2.3',
  '169.254.169.254',
  '::1',
  'fd00:ec2::254',
  '::ffff:10.0.0.1',
];

async function sendTo(url: string, addresses: readonly string[] = ['8.8.8.8']): Promise<unknown> {
  const http = createGuardedHttp({
    allowHosts: [],
    denyHosts: ['queue.example.org', 'engine.example.org'],
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });
  try {
    return await http.send({ method: 'GET', url, headers: {}, timeoutMs: 1000, bodyBytesMax: 10 });
  } catch (error) {
    return error;
  } finally {
    http.close();
  }
}

describe('hostile URLs', () => {
  test('the table is as long as promised', () => {
    expect(new Set(HOSTILE_URLS).size).toBeGreaterThanOrEqual(100);
  });

  test.each(HOSTILE_URLS.map((url) => [url]))('%j is refused at write time', async (url) => {
    const resolved: string[] = [];
    const target = await checkOutboundTarget(url, none, async (host) => {
      resolved.push(host);
      return [{ address: '8.8.8.8', family: 4 }];
    });
    expect(target).toBe('refused');
    expect(resolved).toEqual([]);
  });

  test.each(HOSTILE_URLS.map((url) => [url]))('%j is refused at connect time', async (url) => {
    const error = await sendTo(url);
    expect(error).toBeInstanceOf(HttpSendError);
    expect(error).toMatchObject({ kind: 'refused', message: 'http: refused' });
  });

  test.each(HONEST_URLS.map((url) => [url]))('%j passes', (url) => {
    expect(checkOutboundUrl(url, none)).toMatchObject({ ok: true, vouchedFor: false });
  });
});

describe('names', () => {
  const resolver = (addresses: readonly string[]) => async () =>
    addresses.map((address) => ({ address, family: 4 }));

  test.each(PRIVATE_ADDRESSES)('a name of %s is refused', async (address) => {
    const url = 'https://git.example.com';
    expect(await checkOutboundTarget(url, none, resolver([address]))).toBe('refused');
    expect(await sendTo(url, [address])).toMatchObject({ kind: 'refused' });
  });

  test.each(PRIVATE_ADDRESSES)('one public record does not excuse %s', async (address) => {
    const url = 'https://git.example.com';
    expect(await checkOutboundTarget(url, none, resolver(['8.8.8.8', address]))).toBe('refused');
    expect(await checkOutboundTarget(url, none, resolver([address, '8.8.8.8']))).toBe('refused');
    expect(await sendTo(url, ['8.8.8.8', address])).toMatchObject({ kind: 'refused' });
  });

  test('a name without addresses cannot be stored', async () => {
    const url = 'https://git.example.com';
    expect(await checkOutboundTarget(url, none, resolver([]))).toBe('unresolvable');
    const failing = async () => Promise.reject(new Error('ENOTFOUND git.example.com'));
    expect(await checkOutboundTarget(url, none, failing)).toBe('unresolvable');
    await expect(resolveGuarded(failing, 'git.example.com', false)).rejects.toMatchObject({
      kind: 'connect',
      message: 'http: connect',
    });
  });

  test('the socket gets exactly the checked addresses, in either form that node asks for', async () => {
    const answers = [['8.8.8.8', '1.1.1.1'], ['127.0.0.1']];
    const lookup = createGuardedLookup(async () => {
      const next = answers.shift() ?? [];
      return next.map((address) => ({ address, family: 4 }));
    }, false);
    const all = await new Promise((resolve) =>
      lookup('git.example.com', { all: true }, (error, found) => resolve(error ?? found)),
    );
    expect(all).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '1.1.1.1', family: 4 },
    ]);
    // The name changes its mind: the next connection asks and checks again.
    const one = await new Promise((resolve) =>
      lookup('git.example.com', {}, (error, address) => resolve(error ?? address)),
    );
    expect(one).toMatchObject({ kind: 'refused' });
  });
});

describe('addresses', () => {
  test.each([
    ['9.255.255.255', true],
    ['11.0.0.0', true],
    ['100.63.255.255', true],
    ['100.128.0.0', true],
    ['172.15.255.255', true],
    ['172.32.0.0', true],
    ['198.17.255.255', true],
    ['198.20.0.0', true],
    ['223.255.255.255', true],
    ['2606:4700::1111', true],
    ['2a00:1450:4001::1', true],
    ['2001:200::1', true],
    ['2001:1ff::1', false],
    ['fe80::1%eth0', false],
    ['2606:4700::1111%eth0', false],
    ['4000::1', false],
    ['not an address', false],
    ['', false],
  ])('%s public: %s', (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });

  test.each(SPECIAL_V4)('through NAT64 as without it: %s', (address) => {
    expect([isPublicAddress(address), isPublicAddress(`64:ff9b::${address}`)]).toEqual([false, false]);
  });

  test('a network without IPv4 tells a host of the internet by the prefix of NAT64', async () => {
    const resolve = async () => [{ address: '64:ff9b::5db8:d822', family: 6 }];
    expect(await resolveGuarded(resolve, 'git.example.com', false)).toHaveLength(1);
  });
});

describe('the operator list', () => {
  const rules = compileOutboundPolicy({
    allowHosts: ['forge.lan:8443', 'git.internal', '127.0.0.1:3000', '[::1]:3000', 'localhost'],
    denyHosts: ['own.internal'],
  });

  test.each([
    ['https://forge.lan:8443', true],
    ['https://FORGE.lan:8443/x', true],
    ['https://forge.lan', false],
    ['https://forge.lan:8444', false],
    ['https://a.forge.lan:8443', false],
    ['https://git.internal', true],
    ['https://git.internal:443', true],
    ['https://git.internal:444', false],
    ['https://127.0.0.1:3000', true],
    ['https://127.1:3000', true],
    ['https://127.0.0.1', false],
    ['https://[::1]:3000', true],
    ['https://localhost', true],
    ['https://localhost:1', false],
    ['http://git.internal', false],
    ['https://u@git.internal', false],
    ['https://own.internal', false],
  ])('%s allowed: %s', (url, expected) => {
    expect(checkOutboundUrl(url, rules).ok).toBe(expected);
  });

  test('lifts the address check for its hosts only', async () => {
    const inside = async () => [{ address: '10.0.0.5', family: 4 }];
    expect(await checkOutboundTarget('https://git.internal', rules, inside)).toBe('allowed');
    expect(await checkOutboundTarget('https://git.example.com', rules, inside)).toBe('refused');
  });

  test('own names win over the list', () => {
    const both = compileOutboundPolicy({ allowHosts: ['own.internal'], denyHosts: ['own.internal'] });
    expect(checkOutboundUrl('https://own.internal', both).ok).toBe(false);
  });

  test.each([
    'https://forge.lan',
    'forge.lan/path',
    '*.lan',
    'a b',
    '',
    'u@forge.lan',
    'forge.lan:99999',
    'forge.lan,git.lan',
  ])('an entry %j stops the start', (entry) => {
    expect(() => compileOutboundPolicy({ allowHosts: [entry] })).toThrow('not host or host:port');
  });
});
