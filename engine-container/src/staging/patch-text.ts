import { EffortSpent, PacedEffort } from '#core/domain/effort.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import { MERGE_BYTES_MAX, MERGE_FILE_BYTES_MAX, MERGE_STEPS_MAX } from '#core/domain/limits.ts';
import { type Computation, type ObjectView, readBlobs, TURN } from './objects.ts';
import { type FileVersion, type PathChange, SUBMODULE_MODE } from './path-change.ts';
import { listChanges, settleGroups } from './text/change-groups.ts';
import { DiffGivenUp, hasMoreLines, LINE_STEPS, pairLines, splitLines } from './text/lines.ts';
import { MERGE_LINES_MAX } from './text/merge-text.ts';
import { diffByMyers } from './text/myers.ts';
import { diffTrees } from './tree-walk.ts';

/** Whether the commits of submodules are part of a patch. */
export type Submodules = 'compared' | 'ignored';

/** Unchanged lines around a change that belong to a patch. */
const CONTEXT_LINES = 3;

/**
 * The text by which `git patch-id` compares: names, what is new or gone, and lines with those around them, without white space and
 * without their places, so that the same lines at another place are the same patch. Null: too much to be compared, or not readable.
 *
 * @param submodules `ignored`: as git compares where `.gitmodules` says `ignore = all`
 */
export function* readPatchText(
  view: ObjectView,
  from: TreeHash,
  to: TreeHash,
  submodules: Submodules = 'compared',
): Computation<string | null> {
  const diff = yield* diffTrees(view, from, to, 'head');
  const changes = diff.changes.filter((change) => submodules === 'compared' || !isOfSubmodule(change));
  const files = changes.flatMap((change) => [change.from, change.to].flatMap(withContents));
  const bytes = files.reduce((sum, { size }) => sum + (size ?? 0), 0);
  if (bytes > MERGE_BYTES_MAX || files.some(({ size }) => (size ?? 0) > MERGE_FILE_BYTES_MAX)) return null;
  const blobs = yield* readBlobs(view, files);
  const effort = new PacedEffort(MERGE_STEPS_MAX);
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
    parts.push(withoutSpace(headOf(change)));
    if (before.equals(after)) continue;
    try {
      parts.push(yield* linesOf(before, after, effort));
    } catch (error) {
      if (error instanceof DiffGivenUp || error instanceof EffortSpent) return null;
      throw error;
    }
  }
  return parts.join('\n');
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

/** Not where a file or a link becomes a submodule, or a submodule becomes one of these. */
export function isOfSubmodule({ from, to }: PathChange): boolean {
  return [from, to].every((version) => version === null || version.mode === SUBMODULE_MODE);
}

function withContents(version: FileVersion | null): readonly FileVersion[] {
  return version === null || version.mode === SUBMODULE_MODE ? [] : [version];
}

/** Git before 2.39 takes no notice of a mode that changes, so that two patches which differ in it alone may be the same. */
function headOf({ path, from, to }: PathChange): string {
  return `${path}:${from === null ? `new:${to?.mode}` : to === null ? `deleted:${from.mode}` : ''}`;
}

function* linesOf(before: Buffer, after: Buffer, effort: PacedEffort): Computation<string> {
  const texts = { before: yield* splitLines(before, effort), after: yield* splitLines(after, effort) };
  const pair = yield* pairLines(texts.before, texts.after, effort);
  const marks = yield* diffByMyers(pair, effort);
  yield* settleGroups(pair, marks, false, effort);
  const out: string[] = [];
  const show = function* (mark: string, lines: readonly string[]): Computation<void> {
    for (const line of lines) {
      out.push(mark, withoutSpace(line));
      effort.walk(LINE_STEPS);
      if (effort.isTurnDue()) yield TURN;
    }
  };
  let shown = 0;
  const showUnchanged = function* (start: number, end: number): Computation<void> {
    yield* show('', texts.before.slice(Math.max(start, shown), end));
    shown = Math.max(shown, end);
  };
  const changes = listChanges(marks);
  for (const [at, { start, end, newStart, newEnd }] of changes.entries()) {
    yield* showUnchanged(start - CONTEXT_LINES, start);
    yield* show('-', texts.before.slice(start, end));
    yield* show('+', texts.after.slice(newStart, newEnd));
    shown = Math.max(shown, end);
    yield* showUnchanged(end, Math.min(end + CONTEXT_LINES, changes[at + 1]?.start ?? texts.before.length));
  }
  return out.join('');
}
