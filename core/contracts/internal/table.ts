/** Shape of the single table, shared by the adapters that use it and the stack that creates it. */
export const TABLE_KEYS = { partition: 'pk', sort: 'sk' } as const;

/** Sparse. Due repos, and batches that wait for a gate or a merge. Reads of it are hints (E8). */
export const GSI1 = {
  name: 'gsi1',
  partition: 'gsi1pk',
  sort: 'gsi1sk',
  projected: ['tenant_id', 'phase'],
} as const;

/** Sparse. Operator listings. Credentials and webhook secrets are left out on purpose: an index is a second copy. */
export const GSI2 = {
  name: 'gsi2',
  partition: 'gsi2pk',
  sort: 'gsi2sk',
  projected: [
    'tenant_id',
    'repo_id',
    'connection_id',
    'instance_url',
    'slug',
    'base_branch',
    'bot_username',
    'credential_format',
    'key_version',
    'outcome',
    'created_at',
    'updated_at',
  ],
} as const;

/** Epoch seconds. Rows outlive it by days, so every reader compares the time itself (trap 10). */
export const TTL_ATTRIBUTE = 'ttl';

/** Change stream of the table; consumers load what they need by key. */
export const STREAM_VIEW = 'KEYS_ONLY';

/**
 * The due index is spread over this many partitions. A partition takes 1,000 writes a second, and each look
 * moves its repository in the index. More may be added: marks in the first ones are still read. Fewer would leave marks where no tick reads them.
 */
export const DUE_SHARDS = 16;

/**
 * Beginnings of all partition keys. The adapter builds its keys of them; the stack names them in rights and in filters of
 * the change stream. No other code knows them.
 */
export const PARTITIONS = {
  /** Tenant, connections, repos, outcomes and plan. */
  tenant: 'T#',
  batches: 'TB#',
  events: 'TE#',
  notices: 'TN#',
  /** Mailboxes that notices go to. */
  mailboxes: 'TM#',
  /** Wishes of people to be mailed of their own pull requests. */
  authors: 'TP#',
  audit: 'TA#',
  /** Notes of tenants that have left, under the hash of the tenant. */
  keptNotes: 'KA#',
  /** API tokens, by their hashes. */
  tokens: 'TT#',
  /** Record, view, wake state, reports and claims of one repo. */
  repo: 'R#',
  leases: 'L#',
  /** One row for each login of a forge over all tenants, and one for each address of a repo. */
  identities: 'UQ#CONN#',
  addresses: 'UQ#REPO#',
  /** One row for each proven login of a forge over all tenants. */
  authorLogins: 'UQ#AUTHOR#',
  windDowns: 'WD#',
  hooks: 'HK#',
  deliveries: 'DV#',
  tickets: 'TK#',
  tenantSockets: 'TW#',
  sockets: 'W#',
  customers: 'PC#',
  paymentEvents: 'PE#',
  rates: 'RL#',
  /** Last tick, and when the engine was needed. */
  health: 'G#HEALTH',
  runs: 'G#RUNS',
} as const;
export type Partition = keyof typeof PARTITIONS;

/** Beginnings of the partition keys of both indexes. */
export const INDEX_PARTITIONS = {
  due: { index: GSI1.name, begin: 'DUE#' },
  phase: { index: GSI1.name, begin: 'PHASE' },
  watched: { index: GSI1.name, begin: 'WATCH' },
  retries: { index: GSI1.name, begin: 'RETRY' },
  allRepos: { index: GSI2.name, begin: 'ALL#REPO' },
  allConnections: { index: GSI2.name, begin: 'ALL#CONN' },
  allTenants: { index: GSI2.name, begin: 'ALL#TENANT' },
  allBatches: { index: GSI2.name, begin: 'ALL#BATCH' },
} as const;
export type IndexPartition = keyof typeof INDEX_PARTITIONS;

/** All that the health of the queue asks of the row of a batch: its key, and since when it waits. */
export const PHASE_ATTRIBUTES = ['pk', 'sk', 'phase_since'] as const;

/** A dashboard shows something of these rows. */
export const SHOWN_PARTITIONS = ['tenant', 'batches', 'events'] as const satisfies readonly Partition[];
