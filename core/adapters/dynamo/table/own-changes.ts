import { setTimeout as wait } from 'node:timers/promises';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Json, LogSink, Stoppable } from '../../../ports/invocable.ts';
import { type Delivery, deliver } from './deliver-changes.ts';

type Kind = 'INSERT' | 'MODIFY' | 'REMOVE';
type Row = Readonly<Record<string, unknown>> | undefined;
type Change = readonly [kind: Kind, row: Row];

/** The writes of this process to its table, as records of a change stream that has keys alone. */
export interface OwnChanges {
  /** Delivers each change from now on, in order, gathered for the window. What waits at the stop is not delivered. */
  follow(delivery: Delivery, log: LogSink): Stoppable;
}

/**
 * Tells of every write that goes through this client, for a table that no other process writes to. A put is told as INSERT
 * and an update as MODIFY, whether the row was there or not. A write whose answer was lost is told of too, because it may have
 * been carried out: those who are told read the row first, and claim what they send.
 */
export function watchOwnChanges(client: DynamoDBDocumentClient): OwnChanges {
  const followers = new Set<(records: readonly Json[]) => void>();
  let told = 0;
  const tell = (changes: readonly Change[]): void => {
    const at = Math.floor(Date.now() / 1000);
    const records = changes.map(([kind, row]): Json => {
      told += 1;
      return toRecord(kind, row, at, String(told));
    });
    for (const follower of followers) follower(records);
  };
  const send = client.send.bind(client) as (...call: readonly unknown[]) => Promise<unknown>;
  const telling = async (command: unknown, ...rest: readonly unknown[]): Promise<unknown> => {
    const changes = changesOf(command);
    try {
      const answer = await send(command, ...rest);
      tell(changes);
      return answer;
    } catch (error) {
      if (!isRefusal(error)) tell(changes);
      throw error;
    }
  };
  Object.assign(client, { send: telling });
  return {
    follow: (delivery, log) => {
      const follower = startFollower(delivery, log);
      followers.add(follower.take);
      return {
        stop: async () => {
          followers.delete(follower.take);
          await follower.stop();
        },
      };
    },
  };
}

function startFollower(delivery: Delivery, log: LogSink) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const gathered: Json[] = [];
  let isRunning = false;
  let run = Promise.resolve();
  const deliverAll = async (): Promise<void> => {
    while (gathered.length > 0 && !signal.aborted) {
      if (gathered.length < delivery.batchSize)
        await wait(delivery.windowMs, undefined, { signal }).catch(() => undefined);
      await deliver(delivery, gathered.splice(0, delivery.batchSize), 0, log, signal);
    }
    isRunning = false;
  };
  return {
    take: (records: readonly Json[]): void => {
      gathered.push(...records);
      if (isRunning) return;
      isRunning = true;
      run = deliverAll();
    },
    stop: async (): Promise<void> => {
      stopping.abort();
      await run;
    },
  };
}

/** Whether the database said that it did not carry the write out. */
function isRefusal(error: unknown): boolean {
  return error instanceof DynamoDBServiceException && error.$fault === 'client';
}

function changesOf(command: unknown): readonly Change[] {
  if (command instanceof PutCommand) return [['INSERT', command.input.Item]];
  if (command instanceof UpdateCommand) return [['MODIFY', command.input.Key]];
  if (command instanceof DeleteCommand) return [['REMOVE', command.input.Key]];
  if (command instanceof TransactWriteCommand)
    return (command.input.TransactItems ?? []).flatMap(changeOfStep);
  if (!(command instanceof BatchWriteCommand)) return [];
  return Object.values(command.input.RequestItems ?? {})
    .flat()
    .map((each) => [each.PutRequest ? 'INSERT' : 'REMOVE', each.PutRequest?.Item ?? each.DeleteRequest?.Key]);
}

type Step = NonNullable<TransactWriteCommand['input']['TransactItems']>[number];

function changeOfStep({ Put, Update, Delete }: Step): readonly Change[] {
  if (Put !== undefined) return [['INSERT', Put.Item]];
  if (Update !== undefined) return [['MODIFY', Update.Key]];
  return Delete === undefined ? [] : [['REMOVE', Delete.Key]];
}

function toRecord(kind: Kind, row: Row, atSeconds: number, sequence: string): Json {
  return {
    eventName: kind,
    dynamodb: {
      ApproximateCreationDateTime: atSeconds,
      Keys: { pk: { S: String(row?.pk) }, sk: { S: String(row?.sk) } },
      SequenceNumber: sequence,
    },
  };
}
