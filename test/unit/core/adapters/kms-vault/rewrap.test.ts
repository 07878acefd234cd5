import type { KeyService } from '#core/adapters/kms-vault/data-key.ts';
import { createKmsRewrapper } from '#core/adapters/kms-vault/rewrap.ts';
import { givenConnection } from '../../../../builders/managed-repo.ts';

const OWNER = { tenantId: 'tenant-1', connectionId: 'connection-1', instanceUrl: 'https://git.example.org' };

test.each(['', 'AAA', '!AAA'])('a wrapped data key %j is damaged, and is not sent', async (encryptedDek) => {
  const sent: unknown[] = [];
  const send = async (command: unknown) => {
    sent.push(command);
    throw Object.assign(new Error('1 validation error detected'), { name: 'ValidationException' });
  };
  const client = { send } as unknown as KeyService;
  const { rewrap } = createKmsRewrapper({ client, keyId: 'key-2', keyVersion: 2 });
  const sealed = { ...givenConnection().credential, format: 'v3', encryptedDek };
  await expect(rewrap(OWNER, sealed)).rejects.toMatchObject({ kind: 'undecryptable' });
  expect(sent).toEqual([]);
});
