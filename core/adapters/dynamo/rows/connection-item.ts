import type { Connection, SealedCredential } from '../../../domain/repos/repo.ts';
import { defaulted, flag, nullable, record, text, whole } from './codec.ts';

const credential = record<SealedCredential>({
  format: ['format', text],
  keyVersion: ['key_version', whole],
  encryptedToken: ['encrypted_token', text],
  tokenNonce: ['token_nonce', text],
  encryptedDek: ['encrypted_dek', nullable(text)],
});

export const connection = record<Connection>({
  id: ['connection_id', text],
  tenantId: ['tenant_id', text],
  instanceUrl: ['instance_url', text],
  botUsername: ['bot_username', text],
  // One attribute: a rotation swaps the whole map, so a reader sees the old or the new credential, never a mix (A59).
  credential: ['credential', credential],
  verifiedAt: ['verified_at', defaulted(nullable(whole), null)],
  createdAt: ['created_at', whole],
  updatedAt: ['updated_at', whole],
  deleting: ['deleting', flag],
});
