import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { ALL_CONNECTIONS_QUERY } from '#core/adapters/dynamo/all-connections.ts';
import { externalEndpoint, requireBinary, sayFailed } from './database.ts';
import { findTableLoss, TABLE_FILE } from './own-files.ts';
import type { HeldConnection } from './own-rows.ts';
import { TABLE_NAME } from './table.ts';
import { callTool, readJson } from './table-tool.ts';

const WITHIN_MS = 60_000;
/** Error of a database without a table, as in a folder that was made and never served. */
const NO_TABLE = /ResourceNotFound/;

const Text = z.object({ S: z.string() });
const Found = z.object({ Items: z.array(z.object({ tenant_id: Text, instance_url: Text })) });

export interface TableLook {
  /** Message of a start that would be refused; null: it would not be. */
  readonly fault: string | null;
  readonly connections: readonly HeldConnection[];
}

/** Opens the table's file as a start does, also while a service runs, and changes no row. Null: there is none in this folder. */
export async function lookAtTable(dataDir: string, env: NodeJS.ProcessEnv): Promise<TableLook | null> {
  const file = join(dataDir, TABLE_FILE);
  if (externalEndpoint(env) !== null) return null;
  const loss = findTableLoss(dataDir);
  if (loss !== null) return { fault: loss, connections: [] };
  if (!existsSync(file) || statSync(file).size === 0) return null;
  const { text, complaint } = await callTool({
    binary: requireBinary(env),
    file,
    tool: 'query',
    arguments: { table_name: TABLE_NAME, ...ALL_CONNECTIONS_QUERY },
    withinMs: WITHIN_MS,
    isReadOnly: true,
  });
  const found = Found.safeParse(readJson(text ?? ''));
  if (found.success) return { fault: null, connections: found.data.Items.map(toHeld) };
  if (NO_TABLE.test(complaint)) return { fault: null, connections: [] };
  return { fault: sayFailed(complaint), connections: [] };
}

const toHeld = ({ tenant_id, instance_url }: z.infer<typeof Found>['Items'][number]): HeldConnection => ({
  tenantId: tenant_id.S,
  instanceUrl: instance_url.S,
});
