import type { BlobId } from '#core/domain/ids.ts';

export interface FileVersion {
  /** As git writes it: 100644, 100755, 120000, 160000. */
  readonly mode: string;
  readonly id: BlobId;
  /** Bytes, where the forge told them. */
  readonly size?: number | null;
}

/** One path that changes. `from` is what stands there, null for a new path; `to` is what it becomes, null for a deletion. */
export interface PathChange {
  readonly path: string;
  readonly from: FileVersion | null;
  readonly to: FileVersion | null;
}

export const SUBMODULE_MODE = '160000';
/** Of a file that is no executable: a forge gives it to each new file that is sent whole. */
export const NEW_FILE_MODE = '100644';

/** Files of both modes are one type to git; symlinks and submodules are types of their own. */
export function isRegularFile({ mode }: Pick<FileVersion, 'mode'>): boolean {
  return mode === '100644' || mode === '100755';
}

export function isSameVersion(a: FileVersion | null | undefined, b: FileVersion | null | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

/** Surrogates sort below U+E000..U+FFFF in UTF-16 and above them in UTF-8. */
const [SURROGATES, BEHIND_SURROGATES] = [0xd800, 0xe000];

function rankOf(unit: number): number {
  if (unit < SURROGATES) return unit;
  return unit < BEHIND_SURROGATES ? unit + 0x2000 : unit - 0x800;
}

/** Git's order of paths: by UTF-8 bytes. Sorting asks this a million times for names that a stranger chose, so nothing is made of them. */
export function comparePaths(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rankOf(left) - rankOf(right);
  }
  return a.length - b.length;
}

export function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return comparePaths(a.path, b.path);
}
