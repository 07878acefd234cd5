import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleCli } from '../../../lib/bundle-cli.ts';
import { startSlowPort } from '../../support/slow-port.ts';

/** Tells two addresses for each name; no service is at the second one. */
const TWO_ADDRESSES = `require('node:dns').lookup = (host, options, callback) =>
  callback(null, [{ address: '127.0.0.1', family: 4 }, { address: '127.0.0.2', family: 4 }]);`;

test('a service that is slow to take the connection is reached, though its other address is out of reach', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'far-service-'));
  const [program, addresses] = [join(folder, 'cli.mjs'), join(folder, 'addresses.cjs')];
  await bundleCli(program);
  writeFileSync(addresses, TWO_ADDRESSES);
  const service = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ repos: [] }));
  });
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
  const slow = await startSlowPort((service.address() as AddressInfo).port, 1_300);
  const env = {
    ...process.env,
    MERGEYARD_URL: `http://localhost:${slow.port}`,
    MERGEYARD_TOKEN: 'mgy_secret',
  };
  try {
    const run = promisify(execFile)(process.execPath, ['-r', addresses, program, 'status', '--json'], {
      env,
    });
    expect((await run).stdout).toBe('[]\n');
  } finally {
    slow.stop();
    service.closeAllConnections();
    await new Promise((done) => service.close(done));
    rmSync(folder, { recursive: true, force: true });
  }
});
