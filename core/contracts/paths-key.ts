import { createHash } from 'node:crypto';

/** Equal for the same set of paths, in whatever order: a commit may change thousands, and histories are kept. */
export function keyOfPaths(paths: readonly string[]): string {
  return createHash('sha256').update(paths.toSorted().join('\0')).digest('base64');
}
