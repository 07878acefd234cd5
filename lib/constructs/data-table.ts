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
  INDEX_PARTITIONS,
  PARTITIONS,
  type Partition,
  STREAM_VIEW,
  TABLE_KEYS,
  TTL_ATTRIBUTE,
} from '../../core/contracts/internal/table.ts';
import type { BundleName } from '../functions.ts';
import { ROW_ACTIONS, type RowAction, TABLE_ACCESS } from '../table-access.ts';
import type { ServiceFunction } from './service-function.ts';

export interface DataTableProps {
  /** Whether table and stream survive every update and `cdk destroy`, but not a first deployment that fails. */
  readonly retain: boolean;
  readonly refusesDeletion: boolean;
}

/** A function or a container that may be told its environment and given rights. */
export interface Grantee {
  setEnv(key: string, value: string): void;
  allow(statement: PolicyStatement): void;
}

export interface ChangeDelivery {
  readonly partitions: readonly Partition[];
  /** @default all */
  readonly kinds?: readonly ('INSERT' | 'MODIFY' | 'REMOVE')[];
  readonly batchSize: number;
  /** Deliveries of one shard at the same time; changes of one row stay in order. @default 1 */
  readonly atOnce?: number;
  /** How long changes are gathered before a delivery. */
  readonly window: Duration;
  readonly retries: number;
  /** Age beyond which a change is dropped. */
  readonly maxAge: Duration;
  readonly reportsFailures: boolean;
  /** Queue that gets a note of each batch of changes that was given up. @default no note is sent */
  readonly deadLetters?: IQueue;
}

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

  /** Rows of the partitions that its bundle asks for, of any tenant or repo, and no others (`TABLE_ACCESS`). */
  grant(grantee: Grantee, bundle: BundleName): void {
    const { indexes = [], attributes, ...rows } = TABLE_ACCESS[bundle] ?? fail(bundle);
    grantee.setEnv('TABLE_NAME', this.table.tableName);
    for (const [partitions, actions] of groupActions(rows)) {
      const begins = partitions.map((each) => PARTITIONS[each]);
      const isLimited = attributes !== undefined && actions.includes('BatchGetItem');
      this.#allow(grantee, actions, this.table.tableArn, begins, isLimited ? attributes : undefined);
    }
    for (const { name } of [GSI1, GSI2]) {
      const begins = indexes.map((each) => INDEX_PARTITIONS[each]).filter(({ index }) => index === name);
      if (begins.length === 0) continue;
      const arn = `${this.table.tableArn}/index/${name}`;
      this.#allow(
        grantee,
        ['Query'],
        arn,
        begins.map(({ begin }) => begin),
      );
    }
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
      ...(spec.atOnce === undefined ? {} : { parallelizationFactor: spec.atOnce }),
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

  #allow(
    grantee: Grantee,
    actions: readonly RowAction[],
    resource: string,
    begins: readonly string[],
    attributes?: readonly string[],
  ): void {
    grantee.allow(
      new PolicyStatement({
        actions: actions.map((action) => `dynamodb:${action}`),
        resources: [resource],
        conditions: {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': begins.map((begin) => `${begin}*`) },
          ...(attributes === undefined
            ? {}
            : {
                'ForAllValues:StringEquals': { 'dynamodb:Attributes': [...attributes] },
                StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
              }),
        },
      }),
    );
  }
}

function fail(bundle: BundleName): never {
  throw new Error(`${bundle} has no access to the table (table-access.ts)`);
}

/** One statement for all actions that are granted on the same partitions. */
function groupActions(
  rows: Readonly<Partial<Record<RowAction, readonly Partition[]>>>,
): readonly (readonly [readonly Partition[], readonly RowAction[]])[] {
  const groups = new Map<string, [readonly Partition[], RowAction[]]>();
  for (const action of ROW_ACTIONS) {
    const partitions = rows[action];
    if (partitions === undefined) continue;
    const group = groups.get(partitions.join()) ?? [partitions, []];
    group[1].push(action);
    groups.set(partitions.join(), group);
  }
  return [...groups.values()];
}
