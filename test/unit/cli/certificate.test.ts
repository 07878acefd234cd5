import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { run } from '../../../cli/run.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

/** Calls `status --json` by this way to the service. */
async function call(url: string, fetch: typeof globalThis.fetch) {
  const complaints: string[] = [];
  const code = await run(
    ['wait', '1', '--repo', 'acme/app', '--timeout', '30m', '--json'],
    {
      env: { MERGEYARD_URL: url, MERGEYARD_TOKEN: 'mgy_secret', HTTPS_PROXY: 'http://proxy.example.org' },
      cwd: '/',
      fetch,
      print: () => {},
      isTerminal: false,
      readGit: async () => null,
      now: () => 0,
      sleep: async () => {
        throw new Error('it must not wait');
      },
    },
    async () => '',
    (line) => complaints.push(line),
  );
  return { code, error: JSON.parse(complaints.join('\n')).error };
}

const failing =
  (code: string): typeof globalThis.fetch =>
  async () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code }) });
  };

describe('a certificate that is not trusted is told as that with the next step, and no time is waited for it', () => {
  test('as Node tells it of a service that vouches for itself', async () => {
    const server = createServer(makeSelfSigned(['127.0.0.1']), (_request, response) => response.end('[]'));
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    expect(await call(`https://127.0.0.1:${port}`, globalThis.fetch)).toEqual({
      code: 69,
      error: {
        code: 'unreachable',
        message: 'The certificate of the service is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT).',
        next: 'Where a private authority signs it, set NODE_EXTRA_CA_CERTS to the file with its PEM. Else check the address, and that no proxy answers in its place.',
      },
    });
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  test.each([
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /^Where a private authority signs it, set NODE_EXTRA_CA_CERTS/],
    ['CERT_HAS_EXPIRED', /^Check the clock of this machine\. Where it is right, who runs the service/],
    ['CERT_NOT_YET_VALID', /^Check the clock of this machine: it is before the first day/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /^Check the address: the certificate is for another host\.$/],
  ])('with the code %s', async (code, next) => {
    const { error } = await call('https://q.example.org', failing(code));
    expect(error).toMatchObject({ code: 'unreachable', next: expect.stringMatching(next) });
  });
});
