import { createHash } from 'node:crypto';
import type { BlobId } from '#core/domain/ids.ts';
import { readBody } from './wire/read-body.ts';
import { BlobRow } from './wire/schema.ts';
import { type ForgeTransport, unusable } from './wire/transport.ts';

/** Bytes of an answer with a blob beside its contents: ids, links and names of fields. */
const AROUND_BYTES_MAX = 16 * 1024;

/** Reads the bytes of a file; null where it is larger than the forge returns. Throws a `ForgeError` where they are more than `bytesMax`. */
export async function readBlob(
  transport: ForgeTransport,
  id: BlobId,
  bytesMax: number,
): Promise<Buffer | null> {
  const call = {
    method: 'GET',
    label: 'GET git/blobs/{sha}',
    path: [...transport.repoPath, 'git', 'blobs', id],
    answerBytesMax: Math.ceil(bytesMax / 3) * 4 + AROUND_BYTES_MAX,
  } as const;
  const answer = await transport.request(call);
  const { content, size } = readBody(BlobRow, call, answer);
  const bytes = Buffer.from(content, 'base64');
  if (bytes.length === 0 && size > 0) return null;
  // The contents that are merged and staged must be those that the tree names.
  const hash = createHash(id.length === 64 ? 'sha256' : 'sha1');
  if (hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex') !== id) {
    throw unusable(call, answer.status);
  }
  return bytes;
}
