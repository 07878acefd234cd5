import { type IndexPartition, type Partition, PHASE_ATTRIBUTES } from '../core/contracts/internal/table.ts';
import type { BundleName } from './functions.ts';

export const ROW_ACTIONS = [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'BatchWriteItem',
  // A transaction needs the right of each of its parts.
  'ConditionCheckItem',
] as const;
export type RowAction = (typeof ROW_ACTIONS)[number];

/** Partitions of the table by what may be done with their rows, and partitions of the indexes that may be queried. */
export type TableAccess = { readonly [action in RowAction]?: readonly Partition[] } & {
  readonly indexes?: readonly IndexPartition[];
  /** Attributes that `BatchGetItem` may ask for. @default all */
  readonly attributes?: readonly string[];
};

/** Rows that go with a repository, a connection or a tenant; a tenant that leaves is erased by either of two functions. */
const ERASED: readonly Partition[] = [
  'tenant',
  'repo',
  'identities',
  'addresses',
  'windDowns',
  'hooks',
  'customers',
  'authorLogins',
];

/**
 * The rights of each function and of the engine to the table: exactly what the calls of the store in its bundle need
 * (`test/architecture/grants.ci.test.ts`). What is not here may do nothing.
 */
export const TABLE_ACCESS: { readonly [bundle in BundleName]?: TableAccess } = {
  tick: {
    GetItem: ['tenant', 'repo', 'health'],
    BatchGetItem: ['repo'],
    Query: ['tenant', 'batches', 'events', 'repo'],
    PutItem: ['notices', 'repo', 'health'],
    UpdateItem: ['tenant', 'repo'],
    DeleteItem: ['notices'],
    ConditionCheckItem: ['repo'],
    indexes: ['due', 'watched', 'retries'],
  },
  worker: {
    GetItem: ['tenant', 'repo', 'identities', 'addresses', 'runs'],
    BatchGetItem: ['tenant', 'batches', 'repo'],
    Query: ['tenant', 'batches', 'events', 'audit', 'mailboxes', 'authors', 'tokens', 'repo', 'windDowns'],
    PutItem: ['batches', 'keptNotes', 'repo', 'addresses', 'windDowns', 'hooks', 'health', 'runs'],
    UpdateItem: ['tenant', 'repo', 'leases', 'runs'],
    DeleteItem: ERASED,
    BatchWriteItem: ['batches', 'events', 'audit', 'mailboxes', 'authors', 'tokens', 'repo'],
    ConditionCheckItem: ['tenant', 'repo'],
    indexes: ['phase'],
  },
  'wake-forward': {
    GetItem: ['tenant', 'repo'],
    UpdateItem: ['repo'],
  },
  'webhooks-forge': {
    GetItem: ['tenant', 'leases', 'addresses', 'hooks', 'deliveries'],
    BatchGetItem: ['tenant', 'repo'],
    Query: ['tenant'],
    PutItem: ['deliveries'],
    UpdateItem: ['repo', 'rates'],
  },
  'webhooks-payments': {
    GetItem: ['tenant', 'customers', 'paymentEvents'],
    PutItem: ['tenant', 'notices', 'customers', 'paymentEvents'],
    DeleteItem: ['notices'],
    ConditionCheckItem: ['tenant'],
  },
  billing: {
    GetItem: ['tenant', 'repo', 'leases', 'identities', 'addresses'],
    BatchGetItem: ['tenant', 'batches', 'repo'],
    Query: ['tenant', 'batches', 'events', 'audit', 'mailboxes', 'authors', 'tokens', 'repo'],
    PutItem: [
      'tenant',
      'batches',
      'audit',
      'addresses',
      'windDowns',
      'hooks',
      'keptNotes',
      'customers',
      'paymentEvents',
    ],
    UpdateItem: ['tenant', 'repo', 'leases', 'rates'],
    DeleteItem: ERASED,
    BatchWriteItem: ['batches', 'events', 'audit', 'mailboxes', 'authors', 'tokens', 'repo'],
    ConditionCheckItem: ['tenant'],
    indexes: ['phase'],
  },
  public: {
    GetItem: ['health'],
    BatchGetItem: ['batches'],
    // Of a batch, how long it waits, and nothing else.
    attributes: PHASE_ATTRIBUTES,
    UpdateItem: ['rates', 'mailboxes'],
    indexes: ['due', 'phase', 'allTenants', 'allBatches'],
  },
  api: {
    GetItem: ['tenant', 'tokens', 'repo', 'leases', 'identities', 'addresses', 'authors', 'authorLogins'],
    BatchGetItem: ['tenant', 'batches', 'mailboxes', 'repo'],
    Query: ['tenant', 'batches', 'events', 'audit', 'tokens', 'repo', 'windDowns', 'authors'],
    PutItem: [
      'tenant',
      'batches',
      'notices',
      'audit',
      'tokens',
      'addresses',
      'windDowns',
      'hooks',
      'tickets',
    ],
    UpdateItem: ['tenant', 'tokens', 'repo', 'leases', 'rates'],
    DeleteItem: ['tenant', 'tokens', 'repo', 'notices', 'identities', 'addresses', 'windDowns', 'hooks'],
    BatchWriteItem: ['repo'],
    ConditionCheckItem: ['tenant'],
    indexes: ['phase'],
  },
  evidence: {
    GetItem: ['tenant', 'tokens', 'repo'],
    Query: ['batches'],
    UpdateItem: ['tokens', 'rates'],
  },
  advice: {
    GetItem: ['tenant', 'tokens', 'repo'],
    Query: ['batches', 'events'],
    UpdateItem: ['tokens', 'rates'],
  },
  connections: {
    GetItem: ['tenant', 'identities', 'addresses', 'authors', 'authorLogins'],
    BatchGetItem: ['tenant', 'repo', 'mailboxes'],
    Query: ['tenant', 'authors'],
    PutItem: [
      'tenant',
      'notices',
      'audit',
      'authors',
      'authorLogins',
      'identities',
      'addresses',
      'windDowns',
      'hooks',
    ],
    UpdateItem: ['tenant', 'repo', 'rates'],
    DeleteItem: ['tenant', 'notices', 'authors', 'authorLogins', 'identities', 'addresses', 'hooks'],
    ConditionCheckItem: ['tenant'],
  },
  'forge-ops': {
    GetItem: ['tenant', 'tokens', 'repo', 'addresses'],
    BatchGetItem: ['tenant', 'batches', 'repo'],
    Query: ['tenant', 'batches', 'events', 'windDowns'],
    PutItem: [
      'tenant',
      'notices',
      'audit',
      'repo',
      'identities',
      'deliveries',
      'addresses',
      'windDowns',
      'hooks',
    ],
    UpdateItem: ['tenant', 'tokens', 'repo', 'leases', 'rates'],
    DeleteItem: ['notices', 'identities', 'addresses', 'hooks'],
    ConditionCheckItem: ['tenant'],
    indexes: ['phase'],
  },
  admin: {
    GetItem: ['tenant', 'leases'],
    BatchGetItem: ['tenant', 'repo'],
    Query: ['tenant'],
    UpdateItem: ['rates'],
    indexes: ['allRepos', 'allConnections', 'allTenants'],
  },
  'container-health': {
    UpdateItem: ['rates'],
  },
  'socket-connect': {
    Query: ['tenantSockets'],
    PutItem: ['tenantSockets', 'sockets'],
    UpdateItem: ['rates'],
    DeleteItem: ['tickets'],
    ConditionCheckItem: ['tenant'],
  },
  'socket-disconnect': {
    DeleteItem: ['tenantSockets', 'sockets'],
  },
  'socket-push': {
    Query: ['tenantSockets'],
    DeleteItem: ['tenantSockets', 'sockets'],
  },
  notify: {
    GetItem: ['tenant', 'events', 'notices', 'repo', 'authors', 'authorLogins', 'mailboxes'],
    BatchGetItem: ['repo'],
    Query: ['tenant', 'batches', 'authors'],
    PutItem: ['repo', 'mailboxes'],
    UpdateItem: ['rates', 'mailboxes'],
    DeleteItem: ['notices'],
    ConditionCheckItem: ['tenant', 'repo'],
  },
  engine: {
    GetItem: ['repo', 'leases', 'addresses'],
    BatchGetItem: ['tenant', 'repo'],
    Query: ['batches', 'events', 'windDowns'],
    PutItem: ['batches', 'events', 'repo'],
    DeleteItem: ['repo'],
    ConditionCheckItem: ['repo', 'leases'],
  },
};
