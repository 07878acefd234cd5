import { createHash } from 'node:crypto';

/**
 * Equal for the same set of paths, in whatever order: a commit may change thousands, and histories are kept. White space in
 * them does not count, as it does not for git where it compares patches.
 */
export function keyOfPaths(paths: readonly string[]): string {
  const names = paths.map((path) => path.replace(/\s+/g, ''));
  return createHash('sha256').update(names.sort().join('\0')).digest('base64');
}
