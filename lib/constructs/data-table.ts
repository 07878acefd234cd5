import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  GSI1,
  GSI2,
  PARTITIONS,
  type Partition,
  STREAM_VIEW,
  TABLE_KEYS,
  TTL_ATTRIBUTE,
} from '../../core/contracts/table.ts';
import type { ServiceFunction } from './service-function.ts';

export interface DataTableProps {
  /** Survive every update and `cdk destroy`, but not a first deployment that fails. */
  readonly retain: boolean;
  readonly refusesDeletion: boolean;
}

/** A function or a container that may be told its environment and given rights. */
export interface Grantee {
  setEnv(key: string, value: string): void;
  allow(statement: PolicyStatement): void;
}

export type RowAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

export interface ChangeDelivery {
  readonly partitions: readonly Partition[];
  /** @default all */
  readonly kinds?: readonly ('INSERT' | 'MODIFY' | 'REMOVE')[];
  readonly batchSize: number;
  /** How long changes are gathered before a delivery. */
  readonly window: Duration;
  readonly retries: number;
  /** Older changes are dropped. */
  readonly maxAge: Duration;
  readonly reportsFailures: boolean;
  /** Gets a note of each batch that was given up. @default no note is sent */
  readonly deadLetters?: IQueue;
}

const READ_ACTIONS = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'];
const WRITE_ACTIONS = [
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
  'dynamodb:DeleteItem',
  'dynamodb:BatchWriteItem',
  // A transaction needs the right of each of its parts.
  'dynamodb:ConditionCheckItem',
];

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** The single table: keys and indexes from the contract that the adapters read too. */
export class DataTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, props: DataTableProps) {
    super(scope, id);
    this.table = new TableV2(this, 'Table', {
      partitionKey: text(TABLE_KEYS.partition),
      sortKey: text(TABLE_KEYS.sort),
      billing: Billing.onDemand(),
      // The owned key: a customer key would need its decrypt right in every function, and only the worker may decrypt.
      encryption: TableEncryptionV2.dynamoOwnedKey(),
      globalSecondaryIndexes: [GSI1, GSI2].map((index) => ({
        indexName: index.name,
        partitionKey: text(index.partition),
        sortKey: text(index.sort),
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: [...index.projected],
      })),
      timeToLiveAttribute: TTL_ATTRIBUTE,
      dynamoStream: StreamViewType[STREAM_VIEW],
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: props.refusesDeletion,
      removalPolicy: props.retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    });
  }

  grantRead(grantee: Grantee): void {
    this.#grant(grantee, READ_ACTIONS);
  }

  grantReadWrite(grantee: Grantee): void {
    this.#grant(grantee, [...READ_ACTIONS, ...WRITE_ACTIONS]);
  }

  /** Only rows of these partitions, of any tenant or repo; no index. */
  grantRows(grantee: Grantee, actions: readonly RowAction[], partitions: readonly Partition[]): void {
    grantee.setEnv('TABLE_NAME', this.table.tableName);
    grantee.allow(
      new PolicyStatement({
        actions: actions.map((action) => `dynamodb:${action}`),
        resources: [this.table.tableArn],
        conditions: {
          'ForAllValues:StringLike': {
            'dynamodb:LeadingKeys': partitions.map((each) => `${PARTITIONS[each]}*`),
          },
        },
      }),
    );
  }

  /** Counts callers, and reads or writes nothing else. */
  grantRates(grantee: Grantee): void {
    this.grantRows(grantee, ['UpdateItem'], ['rates']);
  }

  /** Delivers the changes of rows of these partitions. At most two consumers per stream. */
  deliverChanges(consumer: ServiceFunction, spec: ChangeDelivery): void {
    const streamArn = this.table.tableStreamArn ?? '';
    consumer.allow(
      new PolicyStatement({
        actions: [
          'dynamodb:DescribeStream',
          'dynamodb:GetRecords',
          'dynamodb:GetShardIterator',
          'dynamodb:ListStreams',
        ],
        resources: [streamArn],
      }),
    );
    const pattern = {
      ...(spec.kinds === undefined ? {} : { eventName: [...spec.kinds] }),
      dynamodb: {
        Keys: {
          [TABLE_KEYS.partition]: { S: spec.partitions.map((each) => ({ prefix: PARTITIONS[each] })) },
        },
      },
    };
    const mapping = new CfnEventSourceMapping(this, `${consumer.node.id}Changes`, {
      eventSourceArn: streamArn,
      functionName: consumer.fn.functionName,
      startingPosition: 'LATEST',
      batchSize: spec.batchSize,
      maximumBatchingWindowInSeconds: spec.window.toSeconds(),
      // Without both limits one bad record would block its shard for a day.
      maximumRetryAttempts: spec.retries,
      maximumRecordAgeInSeconds: spec.maxAge.toSeconds(),
      bisectBatchOnFunctionError: true,
      filterCriteria: { filters: [{ pattern: JSON.stringify(pattern) }] },
      ...(spec.reportsFailures ? { functionResponseTypes: ['ReportBatchItemFailures'] } : {}),
      ...(spec.deadLetters === undefined
        ? {}
        : { destinationConfig: { onFailure: { destination: spec.deadLetters.queueArn } } }),
    });
    // The service checks the right to read when the mapping is made.
    mapping.node.addDependency(consumer.role);
  }

  #grant(grantee: Grantee, actions: string[]): void {
    grantee.setEnv('TABLE_NAME', this.table.tableName);
    grantee.allow(new PolicyStatement({ actions, resources: [this.table.tableArn] }));
    // Indexes are named one by one: `index/*` would cover an index that is added later for another function.
    grantee.allow(
      new PolicyStatement({
        actions: ['dynamodb:Query'],
        resources: [GSI1, GSI2].map((index) => `${this.table.tableArn}/index/${index.name}`),
      }),
    );
  }
}
