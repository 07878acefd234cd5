import {
  clearImport,
  giveBackLease,
  markImport,
  putHeldLease,
  readStandingStill,
} from '#core/adapters/dynamo/move/marks.ts';
import { findOccupied, putRow, readConnection, readRepoId } from '#core/adapters/dynamo/move/moved-table.ts';
import { renameTenant } from '#core/adapters/dynamo/move/scope.ts';
import { sealRow } from '#core/adapters/dynamo/move/secrets.ts';
import { MoveError, openSealedReader } from '#core/adapters/move-file/sealed-lines.ts';
import type { HeldConnection } from '../own-rows.ts';
import { Counts, type KindCounts, Meta, Rows, type Say } from './contents.ts';
import type { Place } from './place.ts';

export const FORCE_WORDS = 'the source does not run';

export interface ImportOptions {
  readonly place: Place;
  readonly file: string;
  readonly passphrase: string;
  /** Confirmation; `FORCE_WORDS` takes a file whose source was not stopped by the export. */
  readonly force?: string;
  readonly say: Say;
}

interface Looked {
  readonly meta: Meta;
  readonly counts: KindCounts;
  readonly repoIds: readonly string[];
  readonly connections: readonly HeldConnection[];
}

export interface Imported {
  readonly rows: number;
  /** Number of rows that were left out, because they cannot belong to a tenant of another id. */
  readonly left: number;
}

/**
 * Imports a file into an empty installation. The file is read to its end before the first row is written. Every
 * repository's lease is held until the last row is stored, so that no reconcile runs on half of them. An import that
 * failed may be started again. Throws `MoveError`.
 */
export async function importInstallation(options: ImportOptions): Promise<Imported> {
  const { place, say } = options;
  const reader = await openSealedReader(options.file, options.passphrase);
  const looked = await lookThrough(reader.values());
  const { meta, repoIds } = looked;
  refuseFile(meta, options);
  const tenantId = chooseTenant(meta, place);
  refuseLost(looked.connections, tenantId, place);
  await refuseTarget(place, meta);
  await markImport(place.table, meta.id);
  for (const repoId of repoIds) await putHeldLease(place.table, repoId, meta.fences[repoId] ?? 0);
  say(`writing the rows; repositories: ${repoIds.length}`);
  let [rows, left] = [0, 0];
  for await (const value of reader.values()) {
    const parsed = Rows.safeParse(value);
    for (const row of parsed.success ? parsed.data.rows : []) {
      const named = tenantId === null ? row : renameTenant(row, meta.tenants[0] ?? '', tenantId);
      if (named === null) left += 1;
      else {
        await putRow(place.table, await sealRow(place.keys, named));
        rows += 1;
      }
    }
  }
  for (const repoId of repoIds) await giveBackLease(place.table, repoId, 'import');
  await clearImport(place.table);
  return { rows, left };
}

/**
 * Reads the whole file once: proves that it is complete, and collects what has to be known before the first row is
 * written.
 */
async function lookThrough(values: AsyncGenerator<unknown>): Promise<Looked> {
  const first = Meta.safeParse((await values.next()).value);
  if (!first.success) throw new MoveError('The file is of a release that this one does not know.');
  const [repoIds, connections]: [string[], HeldConnection[]] = [[], []];
  let [found, counts]: [number, KindCounts | null] = [0, null];
  for await (const value of values) {
    const [rows, end] = [Rows.safeParse(value), Counts.safeParse(value)];
    if (end.success) counts = end.data.counts;
    for (const row of rows.success ? rows.data.rows : []) {
      found += 1;
      const repoId = readRepoId(row);
      if (repoId !== null) repoIds.push(repoId);
      const connection = readConnection(row);
      if (connection !== null) connections.push(connection);
    }
  }
  const expected = Object.values(counts ?? {}).reduce((sum, each) => sum + each, 0);
  if (counts === null || expected !== found) throw new MoveError('The file has not the rows that it names.');
  return { meta: first.data, counts, repoIds, connections };
}

function refuseFile({ stopped, queue_name: queueName }: Meta, { place, force }: ImportOptions): void {
  if (!stopped && force !== FORCE_WORDS) {
    throw new MoveError(
      `The source was not stopped when this file was made, and two queues on one branch undo each other. Export it again without --keep-running, or give --force "${FORCE_WORDS}".`,
    );
  }
  if (queueName !== place.queueName) {
    throw new MoveError(
      `The queue is called ${queueName} in the file and ${place.queueName} here: its branches and its status would be left behind. Give both the same name (service_name, --queue-name).`,
    );
  }
}

/** Id of the tenant under which rows are stored; null: they keep their own. */
function chooseTenant({ tenants }: Meta, { tenantId }: Place): string | null {
  if (tenantId === null) return null;
  if (tenants.length > 1)
    throw new MoveError(
      `The file holds ${tenants.length} tenants: export the one that moves, with --tenant.`,
    );
  return tenantId;
}

/**
 * Throws `MoveError` where rows would be imported that no person could see, pause or delete, although their queues go
 * on.
 */
function refuseLost(connections: readonly HeldConnection[], tenantId: string | null, place: Place): void {
  const held = connections.map(({ instanceUrl, ...former }) => ({
    instanceUrl,
    tenantId: tenantId ?? former.tenantId,
  }));
  const lost = place.findLost?.(held) ?? null;
  if (lost !== null) throw new MoveError(`Nothing was written. ${lost.words}`);
}

async function refuseTarget({ table }: Place, { id }: Meta): Promise<void> {
  const still = await readStandingStill(table);
  if (still?.why === 'moved')
    throw new MoveError('This installation was exported, and holds what it held: import into an empty one.');
  // The same import, started again: each row is written as before.
  if (still?.why === 'import' && still.fileId === id) return;
  const occupied = await findOccupied(table);
  if (occupied !== null)
    throw new MoveError(`The target is not empty (${occupied}): import into an empty installation.`);
}
