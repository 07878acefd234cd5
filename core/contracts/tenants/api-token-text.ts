import { createHash, randomBytes } from 'node:crypto';
import type { TenantId } from '../../domain/ids.ts';
import { canonicalId } from '../../domain/ids.ts';

/** A token is known by its beginning, also to programs that look for leaked secrets. */
const PREFIX = 'mgy_';
/** The tenant's id, then the secret. */
const TENANT_BYTES = 16;
const SECRET_BYTES = 32;
/** 48 bytes in base64url, which needs no padding. */
const BODY = /^[\w-]{64}$/;

/** Whether a credential claims to be a token, right or wrong: no identity provider may be asked about it. */
export const isApiToken = (text: string): boolean => text.startsWith(PREFIX);

/** 256 random bits behind the id of the tenant, which says where the hash is stored. Throws for an id that is no UUID. */
export function makeApiToken(tenantId: TenantId): string {
  if (canonicalId(tenantId) === null) throw new TypeError('the id of a tenant is a UUID');
  const tenant = Buffer.from(tenantId.replaceAll('-', ''), 'hex');
  return PREFIX + Buffer.concat([tenant, randomBytes(SECRET_BYTES)]).toString('base64url');
}

/** The tenant that a token claims, and the stored part of the token. Null for a text that is none. */
export function parseApiToken(text: string): { readonly tenantId: TenantId; readonly hash: string } | null {
  const body = text.slice(PREFIX.length);
  if (!isApiToken(text) || !BODY.test(body)) return null;
  const hex = Buffer.from(body, 'base64url').subarray(0, TENANT_BYTES).toString('hex');
  const tenantId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { tenantId, hash: hashApiToken(text) };
}

export function hashApiToken(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
