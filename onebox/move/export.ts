import { randomUUID } from 'node:crypto';
import {
  clearMoved,
  giveBackLease,
  holdLease,
  markMoved,
  readStandingStill,
} from '#core/adapters/dynamo/move/marks.ts';
import { readFence, readRepoId, readTenantId, scanRows } from '#core/adapters/dynamo/move/moved-table.ts';
import { isOf, lastingKind, nameRows, type TenantRows } from '#core/adapters/dynamo/move/scope.ts';
import { unsealRow } from '#core/adapters/dynamo/move/secrets.ts';
import { MoveError, openSealedWriter } from '#core/adapters/move-file/sealed-lines.ts';
import { type KindCounts, type Meta, ROWS_PER_LINE, type Say } from './contents.ts';
import type { Place } from './place.ts';

export interface ExportOptions {
  readonly place: Place;
  readonly file: string;
  readonly passphrase: string;
  /** Whether the installation runs on. The file is for inspection then, and an import takes it only when it is forced. */
  readonly keepRunning?: boolean;
  readonly say: Say;
  /** Cost parameter N of scrypt. @default that of the file format */
  readonly cost?: number;
}

interface Outline {
  readonly scope: TenantRows | null;
  readonly repoIds: readonly string[];
  readonly fences: Readonly<Record<string, number>>;
  readonly tenants: readonly string[];
}

/**
 * Writes an installation into one sealed file and returns the rows of each kind. Unless `keepRunning`, the installation
 * is marked as moved before the first row is read, and each repository's lease is taken for good, so that nothing of it
 * runs from then on. Throws `MoveError`.
 */
export async function exportInstallation(options: ExportOptions): Promise<KindCounts> {
  const { place, file, passphrase, keepRunning = false, say } = options;
  if ((await readStandingStill(place.table))?.why === 'import')
    throw new MoveError('An import into this installation did not end: start that import again first.');
  const writer = await openSealedWriter(file, passphrase, options.cost);
  try {
    if (!keepRunning) await stopQueues(place, say);
    const outline = await readOutline(place);
    const meta: Meta = {
      id: randomUUID(),
      made_at: place.table.clock.now(),
      stopped: !keepRunning,
      queue_name: place.queueName,
      tenants: [...outline.tenants],
      fences: outline.fences,
    };
    writer.write(meta);
    const counts = await writeRows(place, outline, (rows) => writer.write({ rows }), say);
    writer.end({ counts });
    return counts;
  } catch (error) {
    writer.abort();
    throw error;
  }
}

/**
 * Undoes an export: gives the held leases back and removes the mark, so that the installation may run again. The
 * imported one must not run then.
 */
export async function takeBack(place: Place): Promise<void> {
  const { table } = place;
  const scope = await readScope(place);
  for await (const row of scanRows(table)) {
    const held = readFence(row);
    if (held === null || (scope !== null && !isOf(scope, row))) continue;
    await giveBackLease(table, held.repoId, 'moved');
  }
  await clearMoved(table);
}

async function stopQueues(place: Place, say: Say): Promise<void> {
  // In a table of many tenants the others go on.
  if (!place.isShared || place.tenantId === null) await markMoved(place.table);
  for (const repoId of (await readOutline(place)).repoIds) {
    say(`stopping the queue of ${repoId}`);
    if (!(await holdLease(place.table, repoId, 'moved')))
      throw new MoveError(`A look at the queue of ${repoId} does not end. Start the same command again.`);
  }
}

async function readScope({ table, tenantId, isShared }: Place): Promise<TenantRows | null> {
  return tenantId === null || !isShared ? null : nameRows(tenantId, scanRows(table));
}

async function readOutline(place: Place): Promise<Outline> {
  const { table } = place;
  const scope = await readScope(place);
  const [repoIds, tenants]: [string[], string[]] = [[], []];
  const fences: Record<string, number> = {};
  for await (const row of scanRows(table)) {
    if (scope !== null && !isOf(scope, row)) continue;
    const [repoId, lease, tenant] = [readRepoId(row), readFence(row), readTenantId(row)];
    if (repoId !== null) repoIds.push(repoId);
    if (lease !== null) fences[lease.repoId] = lease.fence;
    if (tenant !== null) tenants.push(tenant);
  }
  return { scope, repoIds, fences, tenants };
}

async function writeRows(
  { table, keys }: Place,
  { scope }: Outline,
  write: (rows: readonly unknown[]) => void,
  say: Say,
): Promise<KindCounts> {
  const counts: Record<string, number> = {};
  let [line, damaged]: [unknown[], number] = [[], 0];
  for await (const row of scanRows(table)) {
    const kind = lastingKind(row, table.clock.now());
    if (kind === null || (scope !== null && !isOf(scope, row))) continue;
    const open = await unsealRow(keys, row);
    damaged += open.damaged;
    counts[kind] = (counts[kind] ?? 0) + 1;
    line.push(open.row);
    if (line.length === ROWS_PER_LINE) {
      write(line);
      line = [];
    }
  }
  if (line.length > 0) write(line);
  if (damaged > 0)
    say(`Secrets that do not open here, and will not open there: ${damaged}. Store them again.`);
  return counts;
}
