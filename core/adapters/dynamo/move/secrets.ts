import {
  type NotificationTargets,
  SECRET_WAYS,
  secretOf,
  withSecret,
} from '../../../domain/notices/notice-ways.ts';
import { chatOwner, isSealed, webhookSecretOwner } from '../../../domain/sealed-text.ts';
import type { SecretBox } from '../../../ports/secret-box.ts';
import { type Vault, VaultError } from '../../../ports/system.ts';
import { Secret } from '../../../secret.ts';
import { connection } from '../rows/connection-item.ts';
import { CONNECTION_SORT_PREFIX, REPO_SORT_PREFIX } from '../rows/keys.ts';
import { readRow } from '../rows/read-row.ts';
import { repoSettings } from '../rows/repo-item.ts';
import { kindOf } from '../table/copy-back.ts';
import type { Row } from '../table/table.ts';

export interface Keys {
  readonly vault: Vault;
  readonly secrets: SecretBox;
}

/** Plain credential of a connection, as it stands only inside a sealed file. */
interface OpenCredential {
  readonly token: string;
}

/**
 * The row with its secrets in the open, for a file that is sealed. A secret that does not open here stays as it is, and is
 * counted: it opens nowhere. Rejects with `VaultError` where the keys do not answer.
 */
export async function unsealRow(
  { vault, secrets }: Keys,
  row: Row,
): Promise<{ readonly row: Row; readonly damaged: number }> {
  if (isConnection(row)) {
    const { id: connectionId, tenantId, instanceUrl, credential } = readRow(connection, row, 'export');
    const token = await orNull(() => vault.open({ tenantId, connectionId, instanceUrl }, credential));
    if (token === null) return { row, damaged: 1 };
    const open: OpenCredential = { token: token.reveal() };
    return { row: { ...row, credential: open }, damaged: 0 };
  }
  return changeTexts(row, async (owner, text) => {
    const opened = await orNull(() => secrets.open(owner, text));
    return opened?.reveal() ?? text;
  });
}

/** The row as the target stores it: sealed with its key, for its tenant. */
export async function sealRow({ vault, secrets }: Keys, row: Row): Promise<Row> {
  if (isConnection(row)) {
    const { token } = row.credential as Partial<OpenCredential>;
    if (token === undefined) return row;
    const owner = {
      tenantId: String(row.tenant_id),
      connectionId: String(row.connection_id),
      instanceUrl: String(row.instance_url),
    };
    const credential = await vault.seal(owner, new Secret(token));
    const { credential: stored } = connection.write({
      ...readRow(connection, { ...row, credential: EMPTY }, 'import'),
      credential,
    });
    const heads = { credential_format: credential.format, key_version: credential.keyVersion };
    return { ...row, ...heads, credential: stored };
  }
  return (await changeTexts(row, (owner, text) => secrets.seal(owner, text))).row;
}

const EMPTY = { format: 'v3', key_version: 0, encrypted_token: '', token_nonce: '', encrypted_dek: null };

type Owner = ReturnType<typeof webhookSecretOwner> | ReturnType<typeof chatOwner>;

/** Webhook secret and addresses of chats of a repository's row; any other row is returned as it is. */
async function changeTexts(
  row: Row,
  change: (owner: Owner, text: string) => Promise<string>,
): Promise<{ readonly row: Row; readonly damaged: number }> {
  if (kindOf(row.pk) !== 'tenant' || !String(row.sk).startsWith(REPO_SORT_PREFIX)) return { row, damaged: 0 };
  const repo = readRow(repoSettings, row, 'move');
  const names = { id: repo.id, tenantId: repo.tenantId, webhookSecretOf: repo.webhookSecretOf };
  let webhookSecret = repo.webhookSecret;
  if (webhookSecret !== null)
    webhookSecret = new Secret(await change(webhookSecretOwner(names), webhookSecret.reveal()));
  let notification: NotificationTargets | null = repo.notification;
  for (const way of SECRET_WAYS) {
    const target = notification?.[way] ?? null;
    if (notification === null || target === null) continue;
    const text = await change(chatOwner(names), secretOf(way, target));
    notification = { ...notification, [way]: withSecret(way, target, text) };
  }
  const written = repoSettings.write({ ...repo, webhookSecret, notification });
  const stored = { webhook_secret: written.webhook_secret, notification: written.notification };
  const texts = SECRET_WAYS.map((way) => secretOf(way, notification?.[way] ?? ''));
  const left = [webhookSecret?.reveal(), ...texts];
  return { row: { ...row, ...stored }, damaged: left.filter((text) => isSealed(text ?? '')).length };
}

function isConnection(row: Row): boolean {
  return kindOf(row.pk) === 'tenant' && String(row.sk).startsWith(CONNECTION_SORT_PREFIX);
}

async function orNull<T>(open: () => Promise<T>): Promise<T | null> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof VaultError && error.kind === 'undecryptable') return null;
    throw error;
  }
}
