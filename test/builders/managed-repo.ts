import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { Connection, ManagedRepo } from '#core/domain/repos/repo.ts';
import { DEFAULT_SETTINGS } from '#core/domain/repos/repo-settings.ts';
import { UNPROVISIONED } from '#core/domain/set-up/provisioning.ts';

/** A repo that is valid by default; tests name only what they are about. */
export function givenRepo(changes: Partial<ManagedRepo> = {}): ManagedRepo {
  return {
    id: 'repo-1',
    tenantId: 'tenant-1',
    connectionId: 'connection-1',
    instanceUrl: 'https://forge.example',
    slug: 'acme/app',
    baseBranch: 'main',
    statusContext: DEFAULT_SERVICE_NAME,
    mergeStyle: 'squash',
    automerge: false,
    ...DEFAULT_SETTINGS,
    enabledAt: 0,
    webhookSecret: null,
    hookId: null,
    ...UNPROVISIONED,
    notification: null,
    pause: null,
    wakeSeq: 0,
    dueAt: 0,
    createdAt: 0,
    updatedAt: 0,
    version: 1,
    tombstone: false,
    ...changes,
  };
}

export function givenConnection(changes: Partial<Connection> = {}): Connection {
  return {
    id: 'connection-1',
    tenantId: 'tenant-1',
    instanceUrl: 'https://forge.example',
    botUsername: 'mq-bot',
    credential: {
      format: 'v3',
      keyVersion: 1,
      encryptedToken: 'AA==',
      tokenNonce: 'AA==',
      encryptedDek: 'AA==',
    },
    verifiedAt: null,
    createdAt: 0,
    updatedAt: 0,
    deleting: false,
    ...changes,
  };
}
