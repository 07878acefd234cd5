import type { ActivityEvent, NodeRow } from '#core/domain/queue/batch.ts';

const CREATED_AT = Date.UTC(2026, 0, 1);

export function givenNodeRow(changes: Partial<NodeRow> = {}): NodeRow {
  return {
    id: 'batch-1',
    tenantId: 'tenant-1',
    repoId: 'repo-1',
    repoSlug: 'acme/web',
    instanceUrl: 'https://forge.example.org',
    parentId: null,
    batchId: 'run-1',
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
