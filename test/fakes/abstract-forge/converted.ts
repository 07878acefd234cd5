import type { ObjectStore, StoredTree } from './object-store.ts';

/**
 * Whether git, once it has checked a file out, reads another one back from disk. Of the rules of `.gitattributes` only those of
 * the root, by the whole name or by the end of it; real git is asked in the tests over a forge with real repositories.
 */
export function isConverted(objects: ObjectStore, tree: StoredTree, path: string): boolean {
  const [rules, file] = [tree.byPath.get('.gitattributes'), tree.byPath.get(path)];
  if (rules === undefined || file === undefined) return false;
  let isText = false;
  for (const line of (objects.blob(rules.id) ?? '').split('\n')) {
    const [pattern = '', ...words] = line.split(' ');
    const isRuled = pattern.startsWith('*') ? path.endsWith(pattern.slice(1)) : pattern === path;
    if (!isRuled) continue;
    if (words.includes('text') || words.some((word) => word.startsWith('eol='))) isText = true;
    if (words.includes('-text') || words.includes('text=auto')) isText = false;
  }
  return isText && (objects.blob(file.id) ?? '').includes('\r\n');
}
