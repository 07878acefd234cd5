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

/** The due index is spread over this many partitions. */
export const DUE_SHARDS = 4;

/** Beginnings of partition keys that consumers of the stream ask for, in the filters of their mappings and in code. */
export const STREAM_PREFIXES = {
  /** Tenant, connections, repos, outcomes and plan; batches; events: what a dashboard shows. */
  shown: ['T#', 'TB#', 'TE#'],
  events: 'TE#',
  notices: 'TN#',
} as const;
