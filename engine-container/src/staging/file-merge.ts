import { Effort, PacedEffort, Turns } from '#core/domain/effort.ts';
import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import { MERGE_BYTES_MAX, MERGE_FILE_BYTES_MAX, MERGE_STEPS_MAX } from '#core/domain/limits.ts';
import type { MergeRefusal } from '#core/domain/pulls/merge-refusal.ts';
import { MERGE_WORDS, MergeRules } from './merge-rules.ts';
import { type Computation, formatOf, hashBlob, type ObjectView, readBlobs, TURN } from './objects.ts';
import { type FileVersion, isRegularFile } from './path-change.ts';
import { Refused } from './refusal.ts';
import { mergeText, type TextMerge } from './text/merge-text.ts';

/** Steps of comparing that all files of one merge may take together. */
const MERGE_ALL_STEPS_MAX = 2 * MERGE_STEPS_MAX;

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
): Computation<ReadonlyMap<string, FileVersion>> {
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
  const blobs = yield* readBlobs(view, versions);
  const merged = new Map<string, FileVersion>();
  const rules = new MergeRules(view, trees, MERGE_WORDS);
  const effort = new Effort(MERGE_ALL_STEPS_MAX);
  const turns = new Turns(() => effort.left + rules.stepsLeft);
  for (const merge of merges) {
    const mode = mergeModes(merge);
    if (isDecidedByIds(merge)) {
      merged.set(merge.path, { ...decideByIds(merge), mode });
      continue;
    }
    if (turns.isDue()) yield TURN;
    yield* rules.refuse(merge.path);
    const content = yield* mergeContents(merge, blobs, new PacedEffort(MERGE_STEPS_MAX, effort));
    const id = hashBlob(content, formatOf(merge.ours.id));
    if (!versionsOf(merge).some((version) => version.id === id)) view.putBlob(id, content);
    merged.set(merge.path, { mode, id, size: content.length });
  }
  return merged;
}

const REFUSAL_OF = {
  conflict: 'conflict',
  unsure: 'merge_unsure',
  too_long: 'file_too_large',
} as const satisfies Readonly<Record<Exclude<TextMerge['kind'], 'merged'>, MergeRefusal>>;

function versionsOf({ base, ours, theirs }: FileMerge): readonly FileVersion[] {
  return base === null ? [ours, theirs] : [base, ours, theirs];
}

function* mergeContents(
  merge: FileMerge,
  blobs: ReadonlyMap<BlobId, Buffer | 'withheld'>,
  effort: PacedEffort,
): Computation<Buffer> {
  const contents = [merge.base, merge.ours, merge.theirs].map((version) => {
    const content = version === null ? Buffer.alloc(0) : blobs.get(version.id);
    if (!Buffer.isBuffer(content)) throw new Refused('file_too_large');
    return content;
  });
  const [base, ours, theirs] = contents as [Buffer, Buffer, Buffer];
  const outcome = yield* mergeText(base, ours, theirs, effort);
  if (outcome.kind === 'merged') return outcome.content;
  throw new Refused(REFUSAL_OF[outcome.kind]);
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
