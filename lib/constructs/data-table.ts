import { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { GSI1, GSI2, STREAM_VIEW, TABLE_KEYS, TTL_ATTRIBUTE } from '../../core/contracts/table.ts';

export interface DataTableProps {
  /** Survive `cdk destroy`, and refuse deletion. */
  readonly retain: boolean;
}

/** A function or a container that may be told its environment and given rights. */
export interface Grantee {
  setEnv(key: string, value: string): void;
  allow(statement: PolicyStatement): void;
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
      deletionProtection: props.retain,
      removalPolicy: props.retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
  }

  grantRead(grantee: Grantee): void {
    this.#grant(grantee, READ_ACTIONS);
  }

  grantReadWrite(grantee: Grantee): void {
    this.#grant(grantee, [...READ_ACTIONS, ...WRITE_ACTIONS]);
  }

  #grant(grantee: Grantee, actions: string[]): void {
    grantee.setEnv('TABLE_NAME', this.table.tableName);
    grantee.allow(new PolicyStatement({ actions, resources: [this.table.tableArn] }));
    // Indexes are named one by one: `index/*` would cover one that is added later for somebody else.
    grantee.allow(
      new PolicyStatement({
        actions: ['dynamodb:Query'],
        resources: [GSI1, GSI2].map((index) => `${this.table.tableArn}/index/${index.name}`),
      }),
    );
  }
}
