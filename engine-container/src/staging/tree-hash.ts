import { createHash } from 'node:crypto';
import type { TreeEntry } from '#core/domain/forge.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import { byPath } from './path-change.ts';

export type ObjectFormat = 'sha1' | 'sha256';

/**
 * The id git gives a tree, computed from its flat recursive listing in any order, so that the answer of a forge can be
 * checked without asking it again. Hashing whole paths in byte order visits every directory where git sorts it: as if
 * its name ended in a slash.
 */
export function hashTree(entries: readonly TreeEntry[], format: ObjectFormat = 'sha1'): TreeHash {
  const sorted = [...entries].sort(byPath);
  return hashRange(sorted, 0, sorted.length, 0, format).toString('hex');
}

/** Hashes `sorted[start..end)`, all below one directory whose path (with its slash) has `prefixLength` characters. */
function hashRange(
  sorted: readonly TreeEntry[],
  start: number,
  end: number,
  prefixLength: number,
  format: ObjectFormat,
): Buffer {
  const parts: Buffer[] = [];
  for (let at = start; at < end; ) {
    const entry = sorted[at];
    if (entry === undefined) break;
    const slash = entry.path.indexOf('/', prefixLength);
    if (slash === -1) {
      parts.push(
        Buffer.from(`${entry.mode} ${entry.path.slice(prefixLength)}\0`),
        Buffer.from(entry.id, 'hex'),
      );
      at += 1;
      continue;
    }
    const directory = entry.path.slice(0, slash + 1);
    let next = at + 1;
    while (next < end && sorted[next]?.path.startsWith(directory)) next += 1;
    parts.push(
      Buffer.from(`40000 ${entry.path.slice(prefixLength, slash)}\0`),
      hashRange(sorted, at, next, slash + 1, format),
    );
    at = next;
  }
  const body = Buffer.concat(parts);
  return createHash(format).update(`tree ${body.length}\0`).update(body).digest();
}

export function formatOf(commit: { readonly sha: string }): 'sha1' | 'sha256' {
  return commit.sha.length === 64 ? 'sha256' : 'sha1';
}
