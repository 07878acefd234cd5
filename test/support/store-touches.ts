import { AsyncLocalStorage } from 'node:async_hooks';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { INDEX_PARTITIONS, PARTITIONS } from '#core/contracts/internal/table.ts';

/** `GetItem tenant`, `Query gsi1 due`: an action of the service, and the partition whose rows it is for. */
export type Touch = string;

/** Which rows each method of a store touches, seen at the client below it. */
export class StoreTouches {
  readonly #seen = new Map<string, Set<Touch>>();
  readonly #method = new AsyncLocalStorage<string>();

  /** A client that writes down what it sends. */
  client(client: DynamoDBDocumentClient): DynamoDBDocumentClient {
    const send = (command: Sent): unknown => {
      const method = this.#method.getStore();
      if (method !== undefined) for (const touch of touchesOf(command)) this.#of(method).add(touch);
      return (client.send as (command: Sent) => unknown)(command);
    };
    return Object.assign(Object.create(client), { send });
  }

  /** The store whose methods are told apart. */
  store<S extends object>(store: S): S {
    const named = Object.entries(store).map(([name, method]) => {
      if (typeof method !== 'function') return [name, method];
      return [name, (...given: unknown[]) => this.#method.run(name, () => method(...given))];
    });
    return Object.fromEntries(named) as S;
  }

  all(): Readonly<Record<string, readonly Touch[]>> {
    const sorted = [...this.#seen].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([method, touches]) => [method, [...touches].sort()]));
  }

  #of(method: string): Set<Touch> {
    const known = this.#seen.get(method) ?? new Set();
    this.#seen.set(method, known);
    return known;
  }
}

interface Keyed {
  readonly Key?: { readonly pk: string };
  readonly Item?: { readonly pk: string };
}

interface Sent {
  readonly constructor: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: the input of any command
  readonly input: any;
}

const TRANSACTION_ACTIONS = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
} as const;

/** A transaction needs the right of each of its parts (AWS, "Using IAM with DynamoDB transactions"). */
function touchesOf(command: Sent): Touch[] {
  const { input } = command;
  const name = command.constructor.name;
  const at = (action: string, { Key, Item }: Keyed): Touch => `${action} ${partitionOf((Key ?? Item)?.pk)}`;
  switch (name) {
    case 'GetCommand':
      return [at('GetItem', input)];
    case 'PutCommand':
      return [at('PutItem', input)];
    case 'UpdateCommand':
      return [at('UpdateItem', input)];
    case 'DeleteCommand':
      return [at('DeleteItem', input)];
    case 'QueryCommand':
      return [queryOf(input)];
    case 'BatchGetCommand':
      return Object.values<{ Keys: { pk: string }[] }>(input.RequestItems).flatMap(({ Keys }) =>
        Keys.map((Key) => at('BatchGetItem', { Key })),
      );
    case 'BatchWriteCommand':
      return Object.values<{ DeleteRequest: Keyed }[]>(input.RequestItems).flatMap((writes) =>
        writes.map(({ DeleteRequest }) => at('BatchWriteItem', DeleteRequest)),
      );
    case 'TransactWriteCommand':
      return (input.TransactItems as Record<keyof typeof TRANSACTION_ACTIONS, Keyed>[]).flatMap((step) =>
        (Object.keys(TRANSACTION_ACTIONS) as (keyof typeof TRANSACTION_ACTIONS)[]).flatMap((kind) =>
          step[kind] === undefined ? [] : [at(TRANSACTION_ACTIONS[kind], step[kind])],
        ),
      );
    default:
      throw new Error(`${name} is a command that no grant names`);
  }
}

function queryOf(input: {
  readonly IndexName?: string;
  readonly KeyConditionExpression: string;
  readonly ExpressionAttributeValues: Readonly<Record<string, string>>;
}): Touch {
  const value = /^\w*pk = (:\w+)/.exec(input.KeyConditionExpression)?.[1] ?? '';
  const key = input.ExpressionAttributeValues[value];
  if (input.IndexName === undefined) return `Query ${partitionOf(key)}`;
  const found = Object.entries(INDEX_PARTITIONS).find(
    ([, { index, begin }]) => index === input.IndexName && key?.startsWith(begin),
  );
  if (found === undefined) throw new Error(`no partition of ${input.IndexName} begins ${key}`);
  return `Query ${input.IndexName} ${found[0]}`;
}

function partitionOf(key: string | undefined): string {
  const found = Object.entries(PARTITIONS).find(([, begin]) => key?.startsWith(begin));
  if (found === undefined) throw new Error(`no partition begins ${key}`);
  return found[0];
}
