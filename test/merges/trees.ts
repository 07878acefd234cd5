import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import { hashDirectory, sortEntries } from '../../engine-container/src/staging/hash-directory.ts';
import {
  computeAtHand,
  DIRECTORY_MODE,
  type Directory,
  type DirectoryEntry,
  hashBlob,
  type ObjectView,
} from '../../engine-container/src/staging/objects.ts';

/** A file of a case; for a submodule `content` is the commit id. */
export interface CaseFile {
  readonly mode: string;
  readonly content: string;
}
export type CaseTree = ReadonlyMap<string, CaseFile>;
export interface MergeCase {
  readonly base: CaseTree;
  readonly ours: CaseTree;
  readonly theirs: CaseTree;
}

/** Drops what git could not hold beside the new path: a file where a directory is needed, and the other way round. */
export function place(tree: Map<string, CaseFile>, path: string, file: CaseFile): void {
  for (const other of [...tree.keys()]) {
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) tree.delete(other);
  }
  tree.set(path, file);
}

/** Whole trees in memory, under the ids that git gives them. */
export class MemoryObjects implements ObjectView {
  readonly #directories = new Map<TreeHash, Directory>();
  readonly #blobs = new Map<BlobId, Buffer>();

  directory(id: TreeHash): Directory | undefined {
    return this.#directories.get(id);
  }

  blob(id: BlobId): Buffer | undefined {
    return this.#blobs.get(id);
  }

  putDirectory(id: TreeHash, directory: Directory): void {
    this.#directories.set(id, directory);
  }

  putBlob(id: BlobId, content: Buffer): void {
    this.#blobs.set(id, content);
  }

  putTree(files: CaseTree): TreeHash {
    const entries: DirectoryEntry[] = [];
    const below = new Map<string, Map<string, CaseFile>>();
    for (const [path, file] of files) {
      const slash = path.indexOf('/');
      if (slash === -1) entries.push(this.#putFile(path, file));
      else {
        const inner = below.get(path.slice(0, slash)) ?? new Map<string, CaseFile>();
        below.set(path.slice(0, slash), inner.set(path.slice(slash + 1), file));
      }
    }
    for (const [name, inner] of below) {
      entries.push({ name, mode: DIRECTORY_MODE, id: this.putTree(inner), size: null });
    }
    const sorted = computeAtHand(sortEntries(entries));
    const id = computeAtHand(hashDirectory(sorted, 'sha1'));
    this.putDirectory(id, sorted);
    return id;
  }

  #putFile(name: string, { mode, content }: CaseFile): DirectoryEntry {
    if (mode === '160000') return { name, mode, id: content, size: null };
    const bytes = Buffer.from(content);
    const id = hashBlob(bytes, 'sha1');
    this.putBlob(id, bytes);
    return { name, mode, id, size: bytes.length };
  }
}
