import { ReconcileBody, toReconcileRequest } from '#core/contracts/internal/reconcile.ts';
import type { ReconcileRequest } from '#core/ports/system.ts';

export type DecodedRequest =
  | { readonly kind: 'request'; readonly request: ReconcileRequest }
  | { readonly kind: 'malformed'; readonly reason: string };

const KNOWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(ReconcileBody.shape));

/** Names a fault by our own field names only: neither a value nor an unknown key is ever echoed. */
function describeFault(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'body is not a JSON object';
  const keys = Object.keys(value);
  if (keys.some((key) => !KNOWN_FIELDS.has(key))) return 'unknown field';
  const missing = [...KNOWN_FIELDS].find((field) => !keys.includes(field));
  if (missing !== undefined) return `missing field: ${missing}`;
  const faulty = ReconcileBody.safeParse(value).error?.issues[0]?.path[0];
  return typeof faulty === 'string' ? `invalid field: ${faulty}` : 'body is not valid';
}

/** Strict: UTF-8, one JSON object, exactly the six known keys, all of them non-empty strings. */
export function decodeReconcileBody(bytes: Uint8Array): DecodedRequest {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return { kind: 'malformed', reason: 'body is not valid JSON' };
  }
  const parsed = ReconcileBody.safeParse(value);
  if (!parsed.success) return { kind: 'malformed', reason: describeFault(value) };
  return { kind: 'request', request: toReconcileRequest(parsed.data) };
}
