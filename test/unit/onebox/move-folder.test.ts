import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { repoKey } from '#core/adapters/dynamo/rows/keys.ts';
import type { OneboxConfig } from '../../../onebox/config.ts';
import { startDatabase } from '../../../onebox/database.ts';
import { openFolder } from '../../../onebox/move/place.ts';
import { openTable, TABLE_NAME } from '../../../onebox/table.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergeyard-move-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (isNew: boolean) =>
  openFolder(
    {
      data_dir: folder,
      tenants: 'installation',
      service_name: 'mq',
      forge: { url: 'https://git.example.org' },
    } as OneboxConfig,
    {},
    isNew,
  );

describe('a folder that an export or an import opens', () => {
  test('is refused where its table is gone, and no empty one is made', async () => {
    writeFileSync(join(folder, 'keys.json'), '{}');
    writeFileSync(join(folder, 'sessions.json'), '{"key":"a2V5","used":true,"sessions":{}}');
    await expect(open(false)).rejects.toThrow(/^table\.sqlite is gone/);
    expect(existsSync(join(folder, 'table.sqlite'))).toBe(false);
  });

  test('is refused where its keys are gone, and no new ones are made', async () => {
    const database = await startDatabase({ dataFile: join(folder, 'table.sqlite'), env: {} });
    const clients = await openTable(database.endpoint);
    const Item = repoKey('tenant-1', 'repo-1');
    await clients.documents.send(new PutCommand({ TableName: TABLE_NAME, Item }));
    clients.close();
    await database.stop();
    await expect(open(true)).rejects.toThrow(/^keys\.json is gone/);
    expect(existsSync(join(folder, 'keys.json'))).toBe(false);
  });
});
