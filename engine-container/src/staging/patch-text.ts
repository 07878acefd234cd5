import { Effort, EffortSpent } from '#core/domain/effort.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import { MERGE_BYTES_MAX, MERGE_FILE_BYTES_MAX, MERGE_STEPS_MAX } from '#core/domain/limits.ts';
import { type ObjectView, type Reading, readBlobs } from './objects.ts';
import { type FileVersion, type PathChange, SUBMODULE_MODE } from './path-change.ts';
import { type Change, listChanges, settleGroups } from './text/change-groups.ts';
import { DiffGivenUp, hasMoreLines, pairLines, splitLines } from './text/lines.ts';
import { MERGE_LINES_MAX } from './text/merge-text.ts';
import { diffByMyers } from './text/myers.ts';
import { diffTrees } from './tree-walk.ts';

/** Unchanged lines around a change that belong to a patch. */
const CONTEXT_LINES = 3;

/**
 * The text by which `git patch-id` compares: names, kinds of change and lines with those around them, without white space and without
 * their places, so that the same lines at another place are the same patch. Null: too much to be compared, or not readable.
 */
export function* readPatchText(view: ObjectView, from: TreeHash, to: TreeHash): Reading<string | null> {
  const { changes } = yield* diffTrees(view, from, to, 'head');
  const files = changes.flatMap((change) => [change.from, change.to].flatMap(withContents));
  const bytes = files.reduce((sum, { size }) => sum + (size ?? 0), 0);
  if (bytes > MERGE_BYTES_MAX || files.some(({ size }) => (size ?? 0) > MERGE_FILE_BYTES_MAX)) return null;
  const blobs = yield* readBlobs(view, files);
  const effort = new Effort(MERGE_STEPS_MAX);
  const textOf = (version: FileVersion | null): Buffer | null => {
    if (version === null) return Buffer.alloc(0);
    if (version.mode === SUBMODULE_MODE) return Buffer.from(`Subproject commit ${version.id}\n`);
    const content = blobs.get(version.id);
    return Buffer.isBuffer(content) ? content : null;
  };
  const parts: string[] = [];
  for (const change of changes) {
    const [before, after] = [textOf(change.from), textOf(change.to)];
    if (before === null || after === null) return null;
    if ([before, after].some((text) => hasMoreLines(text, MERGE_LINES_MAX))) return null;
    parts.push(headOf(change));
    if (before.equals(after)) continue;
    try {
      parts.push(linesOf(before, after, effort));
    } catch (error) {
      if (error instanceof DiffGivenUp || error instanceof EffortSpent) return null;
      throw error;
    }
  }
  return parts.map((part) => part.replace(/\s+/g, '')).join('\n');
}

function withContents(version: FileVersion | null): readonly FileVersion[] {
  return version === null || version.mode === SUBMODULE_MODE ? [] : [version];
}

function headOf({ path, from, to }: PathChange): string {
  return `${path}:${from?.mode === to?.mode ? '' : `${from?.mode ?? 'new'}:${to?.mode ?? 'deleted'}`}`;
}

function linesOf(before: Buffer, after: Buffer, effort: Effort): string {
  const texts = { before: splitLines(before), after: splitLines(after) };
  const pair = pairLines(texts.before, texts.after);
  const marks = diffByMyers(pair, effort);
  settleGroups(pair, marks, false, effort);
  const out: string[] = [];
  let shown = 0;
  const showUnchanged = (start: number, end: number): void => {
    for (const line of texts.before.slice(Math.max(start, shown), end)) out.push(' ', line);
    shown = Math.max(shown, end);
  };
  const changes = listChanges(marks);
  changes.forEach(({ start, end, newStart, newEnd }: Change, at) => {
    showUnchanged(start - CONTEXT_LINES, start);
    for (const line of texts.before.slice(start, end)) out.push('-', line);
    for (const line of texts.after.slice(newStart, newEnd)) out.push('+', line);
    shown = Math.max(shown, end);
    showUnchanged(end, Math.min(end + CONTEXT_LINES, changes[at + 1]?.start ?? texts.before.length));
  });
  return out.join('');
}
