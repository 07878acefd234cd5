import { createForgeAdmin } from '#core/adapters/forge-http/admin.ts';
import { createBackportForge } from '#core/adapters/forge-http/backport.ts';
import { createForgeLog } from '#core/adapters/forge-http/gate/run-log.ts';
import { createForgePersonOpener } from '#core/adapters/forge-http/person.ts';
import { createForgeReader } from '#core/adapters/forge-http/reader.ts';
import { createForgeTransport } from '#core/adapters/forge-http/wire/transport.ts';
import { Secret } from '#core/secret.ts';
import { scriptForge } from '../../../../support/scripted-forge.ts';

const PLACE = { instanceUrl: 'https://forge.test', slug: 'acme/app' };
const token = new Secret('t');

test('each client of the forge asks for the id of the repository that has the name', async () => {
  const row = { id: 7, full_name: 'acme/app', default_branch: 'main' };
  const { send, seen } = scriptForge(() => ({ status: 200, json: row }));
  const clock = { now: () => 0 };
  const transport = createForgeTransport({ ...PLACE, token, send, clock });
  const clients = [
    createForgeReader(transport),
    createForgeAdmin(transport),
    createBackportForge(transport),
    createForgeLog(transport, token),
    createForgePersonOpener({ send, clock })(PLACE, token),
  ];
  expect(await Promise.all(clients.map((client) => client.readRepoId()))).toEqual(clients.map(() => 7));
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual(clients.map(() => 'GET '));
});
