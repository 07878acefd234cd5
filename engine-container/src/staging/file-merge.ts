import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import { MERGE_BYTES_MAX, MERGE_FILE_BYTES_MAX } from '#core/domain/limits.ts';
import { refuseMergeRules } from './attributes.ts';
import { formatOf, hashBlob, type ObjectView, type Reading, readBlobs } from './objects.ts';
import { type FileVersion, isRegularFile } from './path-change.ts';
import { Refused } from './refusal.ts';
import { mergeText } from './text/merge-text.ts';

/** One file that both sides have, as they left it; `base` is null where both added it. */
export interface FileMerge {
  readonly path: string;
  readonly base: FileVersion | null;
  readonly ours: FileVersion;
  readonly theirs: FileVersion;
}

/**
 * Merges files and puts new contents into the view. `trees` are all that may hold rules for it. Throws `Refused`.
 */
export function* mergeFiles(
  view: ObjectView,
  merges: readonly FileMerge[],
  trees: readonly TreeHash[],
): Reading<ReadonlyMap<string, FileVersion>> {
  const withContents = merges.filter((merge) => !isDecidedByIds(merge));
  for (const merge of withContents) {
    for (const version of versionsOf(merge)) {
      if (!isRegularFile(version)) throw new Refused('conflict');
      if ((version.size ?? 0) > MERGE_FILE_BYTES_MAX) throw new Refused('file_too_large');
    }
  }
  const versions = withContents.flatMap(versionsOf);
  const bytes = versions.reduce((sum, { size }) => sum + (size ?? 0), 0);
  if (bytes > MERGE_BYTES_MAX) throw new Refused('file_too_large');
  const blobs = yield* readBlobs(
    view,
    versions.map(({ id }) => id),
  );
  const merged = new Map<string, FileVersion>();
  for (const merge of merges) {
    const mode = mergeModes(merge);
    if (isDecidedByIds(merge)) {
      merged.set(merge.path, { ...decideByIds(merge), mode });
      continue;
    }
    yield* refuseMergeRules(view, trees, merge.path);
    const content = mergeContents(merge, blobs);
    const id = hashBlob(content, formatOf(merge.ours.id));
    if (!versionsOf(merge).some((version) => version.id === id)) view.putBlob(id, content);
    merged.set(merge.path, { mode, id, size: content.length });
  }
  return merged;
}

function versionsOf({ base, ours, theirs }: FileMerge): readonly FileVersion[] {
  return base === null ? [ours, theirs] : [base, ours, theirs];
}

function mergeContents(merge: FileMerge, blobs: ReadonlyMap<BlobId, Buffer | 'withheld'>): Buffer {
  const contents = [merge.base, merge.ours, merge.theirs].map((version) => {
    const content = version === null ? Buffer.alloc(0) : blobs.get(version.id);
    if (!Buffer.isBuffer(content)) throw new Refused('file_too_large');
    return content;
  });
  const [base, ours, theirs] = contents as [Buffer, Buffer, Buffer];
  const outcome = mergeText(base, ours, theirs);
  if (outcome.kind === 'merged') return outcome.content;
  throw new Refused(outcome.kind === 'conflict' ? 'conflict' : 'merge_unsure');
}

function isDecidedByIds({ base, ours, theirs }: FileMerge): boolean {
  return ours.id === theirs.id || base?.id === ours.id || base?.id === theirs.id;
}

function decideByIds({ base, ours, theirs }: FileMerge): FileVersion {
  return theirs.id === base?.id ? ours : theirs;
}

/** The side that changed the mode wins. Throws `Refused` where the sides disagree. */
function mergeModes({ base, ours, theirs }: FileMerge): string {
  if (ours.mode === theirs.mode || ours.mode === base?.mode) return theirs.mode;
  if (theirs.mode === base?.mode) return ours.mode;
  throw new Refused('conflict');
}
