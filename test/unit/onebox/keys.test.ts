import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '#core/secret.ts';
import { openKeys } from '../../../onebox/keys.ts';

test('a token that lost keys sealed is to be stored again: no repetition opens it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'onebox-keys-'));
  const owner = { tenantId: 't', connectionId: 'c', instanceUrl: 'https://git.example.org' };
  const sealed = await openKeys(folder).vault.seal(owner, new Secret('gto_token'));
  expect((await openKeys(folder).vault.open(owner, sealed)).reveal()).toBe('gto_token');
  // The way out that a start names where no copy has the keys.
  writeFileSync(join(folder, 'keys.json'), '{"keys":{}}');
  await expect(openKeys(folder).vault.open(owner, sealed)).rejects.toMatchObject({
    kind: 'undecryptable',
    keyFault: null,
  });
  rmSync(folder, { recursive: true });
});
