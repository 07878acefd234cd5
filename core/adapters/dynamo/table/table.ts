import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type {
  DynamoDBDocumentClient,
  QueryCommandInput,
  TransactWriteCommandInput,
  UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../../ports/system.ts';
import type { Key } from '../rows/keys.ts';
import { toStoreError } from './store-errors.ts';

export interface TableConfig {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

export type Row = Readonly<Record<string, unknown>>;
type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
type PutWrite = Omit<NonNullable<Write['Put']>, 'TableName'>;
type UpdateWrite = Omit<NonNullable<Write['Update']>, 'TableName'>;
type DeleteWrite = Omit<NonNullable<Write['Delete']>, 'TableName'>;
type CheckWrite = Omit<NonNullable<Write['ConditionCheck']>, 'TableName'>;

/** One step of a transaction. `name`: by which the caller asks whether its condition failed. */
export type Step = { readonly name: string } & (
  | { readonly put: PutWrite }
  | { readonly update: UpdateWrite }
  | { readonly delete: DeleteWrite }
  | { readonly check: CheckWrite }
);

/** The row that stood in the way, as the service returns it: attribute values with their type letters. */
export type BlockingRow = Readonly<
  Record<string, { readonly S?: string; readonly N?: string; readonly BOOL?: boolean }>
>;

/** Names of the steps whose condition failed, with the rows that failed them. Empty: everything is stored. */
export type Refusals = ReadonlyMap<string, BlockingRow>;

export type UpdateResult =
  | { readonly ok: true; readonly row: Row }
  | { readonly ok: false; readonly blocking: BlockingRow };

/**
 * Waits between tries, in ms. Contention clears within milliseconds; seven tries take about three seconds, well inside
 * a lease.
 */
const RETRY_BACKOFF_MS: readonly number[] = [20, 50, 120, 300, 700, 1500];
const BATCH_GET_MAX = 100;
const BATCH_WRITE_MAX = 25;

/** Codes of temporary errors, as errors of their own or as reasons of a cancelled transaction. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  'TransactionConflict',
  'TransactionConflictException',
  'TransactionInProgressException',
  'ThrottlingError',
  'ThrottlingException',
  'ProvisionedThroughputExceeded',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'InternalServerError',
]);

class Contention extends Error {}

/** Calls of one table. Conditions that failed are values; everything else ends as a `StoreError`. */
export class Table {
  readonly name: string;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly #client: DynamoDBDocumentClient;

  constructor(config: TableConfig) {
    this.name = config.tableName;
    this.clock = config.clock;
    this.#client = config.client;
  }

  /** Reads one row, strongly consistent; null: there is none. */
  async get(key: Key, operation: string): Promise<Row | null> {
    return this.#retry(operation, async () => {
      const answer = await this.#client.send(
        new GetCommand({ TableName: this.name, Key: key, ConsistentRead: true }),
      );
      return answer.Item ?? null;
    });
  }

  /**
   * Reads rows by key, strongly consistent and in no order; absent rows are left out. `attributes`: only these, where
   * named.
   */
  async getMany(
    keys: readonly Key[],
    operation: string,
    attributes?: readonly string[],
  ): Promise<readonly Row[]> {
    const rows: Row[] = [];
    const how = { ConsistentRead: true, ProjectionExpression: attributes?.join() };
    for (let start = 0; start < keys.length; start += BATCH_GET_MAX) {
      let wanted: Record<string, unknown>[] = keys
        .slice(start, start + BATCH_GET_MAX)
        .map((key) => ({ ...key }));
      await this.#retry(operation, async () => {
        const answer = await this.#client.send(
          new BatchGetCommand({ RequestItems: { [this.name]: { Keys: wanted, ...how } } }),
        );
        rows.push(...(answer.Responses?.[this.name] ?? []));
        wanted = answer.UnprocessedKeys?.[this.name]?.Keys ?? [];
        if (wanted.length > 0) throw new Contention();
      });
    }
    return rows;
  }

  /** Reads pages until there are `limit` rows. Strongly consistent unless an index is named. */
  async query(
    input: Omit<QueryCommandInput, 'TableName'>,
    limit: number,
    operation: string,
  ): Promise<readonly Row[]> {
    const rows: Row[] = [];
    let from: QueryCommandInput['ExclusiveStartKey'];
    do {
      const rest = Number.isFinite(limit) ? { Limit: limit - rows.length } : {};
      const answer = await this.#page({ ...input, ...rest }, from, operation);
      rows.push(...(answer.Items ?? []));
      from = answer.LastEvaluatedKey;
    } while (from !== undefined && rows.length < limit);
    return rows;
  }

  /** As `query`, with a filter: it also ends after so many rows that were looked at. */
  async queryFiltered(
    input: Omit<QueryCommandInput, 'TableName' | 'Limit'>,
    ends: { readonly rowsMax: number; readonly scannedMax: number },
    operation: string,
  ): Promise<readonly Row[]> {
    const rows: Row[] = [];
    await this.walkFiltered(input, ends.scannedMax, (row) => rows.push(row) < ends.rowsMax, operation);
    return rows.slice(0, ends.rowsMax);
  }

  /**
   * As `queryFiltered`, row by row, until `visit` says that it is enough.
   * @returns sort key of the last row that was looked at where `scannedMax` ended it; undefined: there are no more, or it was enough
   */
  async walkFiltered(
    input: Omit<QueryCommandInput, 'TableName' | 'Limit'>,
    scannedMax: number,
    visit: (row: Row) => boolean,
    operation: string,
  ): Promise<string | undefined> {
    let scanned = 0;
    let from: QueryCommandInput['ExclusiveStartKey'];
    do {
      const answer = await this.#page({ ...input, Limit: scannedMax - scanned }, from, operation);
      for (const row of answer.Items ?? []) if (!visit(row)) return undefined;
      scanned += answer.ScannedCount ?? 0;
      from = answer.LastEvaluatedKey;
    } while (from !== undefined && scanned < scannedMax);
    return typeof from?.sk === 'string' ? from.sk : undefined;
  }

  #page(
    input: Omit<QueryCommandInput, 'TableName'>,
    from: QueryCommandInput['ExclusiveStartKey'],
    operation: string,
  ) {
    return this.#retry(operation, () =>
      this.#client.send(
        new QueryCommand({
          ...input,
          TableName: this.name,
          ConsistentRead: input.IndexName === undefined,
          ExclusiveStartKey: from,
        }),
      ),
    );
  }

  /** Puts one row; false: the condition failed. */
  async put(
    input: Omit<PutWrite, 'ReturnValuesOnConditionCheckFailure'>,
    operation: string,
  ): Promise<boolean> {
    return this.#retry(operation, async () => {
      try {
        await this.#client.send(new PutCommand({ ...input, TableName: this.name }));
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      }
    });
  }

  async update(input: Omit<UpdateCommandInput, 'TableName'>, operation: string): Promise<UpdateResult> {
    return this.#retry<UpdateResult>(operation, async () => {
      try {
        const answer = await this.#client.send(
          new UpdateCommand({
            ...input,
            TableName: this.name,
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return { ok: true, row: answer.Attributes ?? {} };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return { ok: false, blocking: (error.Item ?? {}) as BlockingRow };
      }
    });
  }

  /** Deletes one row under a condition. Returns the row as it was; null: the condition failed. */
  async remove(
    input: Omit<DeleteWrite, 'ReturnValuesOnConditionCheckFailure'>,
    operation: string,
  ): Promise<Row | null> {
    return this.#retry(operation, async () => {
      try {
        const answer = await this.#client.send(
          new DeleteCommand({ ...input, TableName: this.name, ReturnValues: 'ALL_OLD' }),
        );
        return answer.Attributes ?? null;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return null;
        throw error;
      }
    });
  }

  /** Counts the rows of a query without reading them. */
  async count(input: Omit<QueryCommandInput, 'TableName' | 'Select'>, operation: string): Promise<number> {
    let total = 0;
    let from: QueryCommandInput['ExclusiveStartKey'];
    do {
      const answer = await this.#retry(operation, () =>
        this.#client.send(
          new QueryCommand({ ...input, TableName: this.name, Select: 'COUNT', ExclusiveStartKey: from }),
        ),
      );
      total += answer.Count ?? 0;
      from = answer.LastEvaluatedKey;
    } while (from !== undefined);
    return total;
  }

  /** Runs a transaction: all steps or none. Returns the steps that refused; empty: everything is stored. */
  async transact(steps: readonly Step[], operation: string): Promise<Refusals> {
    // One token for every try: an attempt whose answer was lost is not carried out a second time.
    const token = randomUUID();
    return this.#retry<Refusals>(operation, async () => {
      try {
        await this.#client.send(
          new TransactWriteCommand({
            TransactItems: steps.map((step) => this.#toWrite(step)),
            ClientRequestToken: token,
          }),
        );
        return new Map();
      } catch (error) {
        if (!(error instanceof TransactionCanceledException)) throw error;
        return readRefusals(steps, error);
      }
    });
  }

  /** Deletes rows without a condition, for sweeps. */
  async deleteMany(keys: readonly Key[], operation: string): Promise<void> {
    for (let start = 0; start < keys.length; start += BATCH_WRITE_MAX) {
      let writes: { DeleteRequest: { Key: Record<string, unknown> } }[] = keys
        .slice(start, start + BATCH_WRITE_MAX)
        .map((key) => ({ DeleteRequest: { Key: { ...key } } }));
      await this.#retry(operation, async () => {
        const answer = await this.#client.send(
          new BatchWriteCommand({ RequestItems: { [this.name]: writes } }),
        );
        writes = (answer.UnprocessedItems?.[this.name] ?? []).flatMap((left) =>
          left.DeleteRequest?.Key === undefined ? [] : [{ DeleteRequest: { Key: left.DeleteRequest.Key } }],
        );
        if (writes.length > 0) throw new Contention();
      });
    }
  }

  #toWrite(step: Step): Write {
    const TableName = this.name;
    const returning = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
    if ('put' in step) return { Put: { ...step.put, ...returning, TableName } };
    if ('update' in step) return { Update: { ...step.update, ...returning, TableName } };
    if ('delete' in step) return { Delete: { ...step.delete, ...returning, TableName } };
    return { ConditionCheck: { ...step.check, ...returning, TableName } };
  }

  async #retry<T>(operation: string, attempt: () => Promise<T>): Promise<T> {
    for (const backoffMs of RETRY_BACKOFF_MS) {
      try {
        return await attempt();
      } catch (error) {
        if (!isPassing(error)) throw toStoreError(error, operation);
      }
      // Half fixed, half random: competitors that collided once must not meet again.
      await this.clock.sleep(backoffMs * (0.5 + Math.random() / 2));
    }
    try {
      return await attempt();
    } catch (error) {
      throw toStoreError(error, operation);
    }
  }
}

/**
 * The steps that refused. A failed condition is final whatever else happened; a cancellation without one is contention.
 */
function readRefusals(steps: readonly Step[], error: TransactionCanceledException): Refusals {
  const refusals = new Map<string, BlockingRow>();
  const codes: string[] = [];
  (error.CancellationReasons ?? []).forEach((reason, index) => {
    const code = reason.Code ?? 'None';
    if (code !== 'None') codes.push(code);
    const step = steps[index];
    if (code === 'ConditionalCheckFailed' && step !== undefined) {
      refusals.set(step.name, (reason.Item ?? {}) as BlockingRow);
    }
  });
  if (refusals.size > 0) return refusals;
  if (codes.length > 0 && codes.every((code) => PASSING_CODES.has(code))) throw new Contention();
  throw error;
}

function isPassing(error: unknown): boolean {
  return error instanceof Contention || (error instanceof Error && PASSING_CODES.has(error.name));
}
