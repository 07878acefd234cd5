import type { TreeEntry } from '#core/domain/forge.ts';
import { byPath, indexByPath, isSameVersion, type PathChange } from './path-change.ts';

/** The changes that turn tree `from` into tree `to` exactly: a staged prefix becomes one commit again. */
export function diffTrees(from: readonly TreeEntry[], to: readonly TreeEntry[]): readonly PathChange[] {
  const before = indexByPath(from);
  const after = indexByPath(to);
  const changes: PathChange[] = [];
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(path), after.get(path)];
    if (isSameVersion(old, now)) continue;
    changes.push({
      path,
      from: old === undefined ? null : { mode: old.mode, id: old.id },
      to: now === undefined ? null : { mode: now.mode, id: now.id },
    });
  }
  return changes.sort(byPath);
}
