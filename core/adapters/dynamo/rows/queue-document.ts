import { gunzipSync, gzipSync } from 'node:zlib';
import {
  QUEUE_DOCUMENT_JSON_BYTES_MAX,
  QUEUE_DOCUMENT_PLAIN_BYTES_MAX,
  QUEUE_DOCUMENT_STORED_BYTES_MAX,
} from '../../../domain/limits.ts';
import { StoreError } from '../../../ports/store.ts';

export interface EncodedDocument {
  readonly json: string;
  /** The stored form: the JSON itself, or its gzip above the size where that pays. */
  readonly stored: string | Uint8Array;
}

/** Encodes a document. Throws `too_large` for one that no row can hold. */
export function encodeDocument(document: unknown, operation: string): EncodedDocument {
  const json = JSON.stringify(document ?? null);
  const bytes = Buffer.byteLength(json);
  if (bytes <= QUEUE_DOCUMENT_PLAIN_BYTES_MAX) return { json, stored: json };
  if (bytes > QUEUE_DOCUMENT_JSON_BYTES_MAX) throw new StoreError('too_large', operation);
  const packed = gzipSync(json);
  if (packed.byteLength > QUEUE_DOCUMENT_STORED_BYTES_MAX) throw new StoreError('too_large', operation);
  return { json, stored: new Uint8Array(packed) };
}

/** Decodes a document. Throws `unreadable` for anything that `encodeDocument` did not make. */
export function decodeDocument(stored: unknown, operation: string): unknown {
  try {
    if (typeof stored === 'string') return JSON.parse(stored);
    if (stored instanceof Uint8Array) {
      const json = gunzipSync(stored, { maxOutputLength: QUEUE_DOCUMENT_JSON_BYTES_MAX });
      return JSON.parse(json.toString('utf8'));
    }
  } catch {
    // The parser's message quotes the text it choked on, so it is not passed on.
  }
  throw new StoreError('unreadable', operation);
}
