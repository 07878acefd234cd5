import type { ActivityEvent, BatchRow } from '#core/domain/batch.ts';
import { UNPROVISIONED } from '#core/domain/provisioning.ts';
import type { Connection, ManagedRepo } from '#core/domain/repo.ts';
import { Secret } from '#core/secret.ts';

const CREATED_AT = Date.UTC(2026, 0, 1);

export function givenConnection(changes: Partial<Connection> = {}): Connection {
  return {
    id: 'connection-1',
    tenantId: 'tenant-1',
    instanceUrl: 'https://forge.example.org',
    botUsername: 'queue-bot',
    credential: {
      format: 'v3',
      keyVersion: 1,
      encryptedToken: 'dG9rZW4=',
      tokenNonce: 'bm9uY2U=',
      encryptedDek: 'ZGVr',
    },
    verifiedAt: null,
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    deleting: false,
    ...changes,
  };
}

export function givenRepo(changes: Partial<ManagedRepo> = {}): ManagedRepo {
  return {
    id: 'repo-1',
    tenantId: 'tenant-1',
    connectionId: 'connection-1',
    instanceUrl: 'https://forge.example.org',
    slug: 'acme/web',
    baseBranch: 'main',
    statusContext: 'mergeyard',
    mergeStyle: 'squash',
    automerge: false,
    wakeupMode: 'poll',
    queueEnabled: true,
    enabledAt: CREATED_AT,
    batchLingerSeconds: 0,
    batchTarget: 0,
    bisectFanout: 2,
    webhookSecret: new Secret('hook-secret-0001'),
    hookId: null,
    ...UNPROVISIONED,
    notification: null,
    wakeSeq: 0,
    dueAt: CREATED_AT,
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    version: 1,
    tombstone: false,
    ...changes,
  };
}

export function givenBatch(changes: Partial<BatchRow> = {}): BatchRow {
  return {
    id: 'batch-1',
    tenantId: 'tenant-1',
    repoId: 'repo-1',
    repoSlug: 'acme/web',
    instanceUrl: 'https://forge.example.org',
    parentId: null,
    runId: 'run-1',
    nodeId: 'r',
    parentNodeId: null,
    attempt: 1,
    stagingSha: 'a'.repeat(40),
    stagingTree: 'b'.repeat(40),
    stagingBranch: 'mergeyard/main/r',
    gateVerdict: 'none',
    gateSource: null,
    runUrl: null,
    prs: [1, 2],
    outcome: 'running',
    phase: 'waiting_gate',
    terminalReason: null,
    actions: [],
    createdAt: CREATED_AT,
    resolvedAt: null,
    ...changes,
  };
}

export function givenEvent(changes: Partial<ActivityEvent> = {}): ActivityEvent {
  return {
    tenantId: 'tenant-1',
    repoId: 'repo-1',
    repoSlug: 'acme/web',
    at: CREATED_AT,
    event: 'pr_landed',
    pr: 1,
    head: 'c'.repeat(40),
    title: 'Add a page',
    reason: null,
    ...changes,
  };
}
