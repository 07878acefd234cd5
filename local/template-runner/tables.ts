import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { isObject } from '../../core/ports/invocable.ts';
import type { Resolver } from './resolver.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from './resolver.ts';
import { asObject, asText, type Resource, type Template } from './template.ts';

/** Creates every table of the template, named by `prefix` and its id; one that is there already keeps its data. */
export async function createTables(
  template: Template,
  resolver: Resolver,
  client: DynamoDBClient,
  prefix: string,
): Promise<void> {
  for (const resource of template.ofType('AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table')) {
    const name = `${prefix}-${resource.id}`;
    await createTable(client, name, resource, resolver);
    const arn = `arn:aws:dynamodb:${LOCAL_REGION}:${LOCAL_ACCOUNT}:table/${name}`;
    resolver.define(resource.id, { ref: name, attributes: { Arn: arn, StreamArn: `${arn}/stream/local` } });
  }
}

async function createTable(
  client: DynamoDBClient,
  name: string,
  resource: Resource,
  resolver: Resolver,
): Promise<void> {
  const given = asObject(resolver.resolve(resource.properties, resource.id), resource.id);
  const stream = given.StreamSpecification;
  // The template's names for these four are the API's own, so they are handed over as they are.
  const shape = {
    AttributeDefinitions: given.AttributeDefinitions,
    KeySchema: given.KeySchema,
    GlobalSecondaryIndexes: given.GlobalSecondaryIndexes,
    BillingMode: given.BillingMode,
  } as unknown as Pick<
    CreateTableCommandInput,
    'AttributeDefinitions' | 'KeySchema' | 'GlobalSecondaryIndexes' | 'BillingMode'
  >;
  try {
    await client.send(
      new CreateTableCommand({
        ...shape,
        TableName: name,
        ...(isObject(stream)
          ? {
              StreamSpecification: {
                StreamEnabled: true,
                StreamViewType: asText(stream.StreamViewType, name) as 'KEYS_ONLY',
              },
            }
          : {}),
      }),
    );
  } catch (error) {
    if (error instanceof ResourceInUseException) return;
    throw error;
  }
  const ttl = given.TimeToLiveSpecification;
  if (!isObject(ttl)) return;
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: name,
      TimeToLiveSpecification: { AttributeName: asText(ttl.AttributeName, name), Enabled: true },
    }),
  );
}
