/** Replacement of the base lines [start, end). */
interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/**
 * Three-way merge of texts by lines; null = conflict. Like git, changes of the two sides that touch are a conflict,
 * unless both made the same, and binary contents never merge.
 */
export function mergeLines(base: string, ours: string, theirs: string): string | null {
  if (ours === theirs || base === theirs) return ours;
  if (base === ours) return theirs;
  if (`${base}${ours}${theirs}`.includes('\0')) return null;
  const baseLines = splitLines(base);
  const [left, right] = [diffLines(baseLines, splitLines(ours)), diffLines(baseLines, splitLines(theirs))];
  const merged: string[] = [];
  let at = 0;
  while (left.length > 0 || right.length > 0) {
    const group = takeGroup(left, right);
    const lines = mergeGroup(baseLines, group);
    if (lines === null) return null;
    merged.push(...baseLines.slice(at, group.start), ...lines);
    at = group.end;
  }
  return [...merged, ...baseLines.slice(at)].join('');
}

interface Group {
  readonly start: number;
  readonly end: number;
  readonly left: readonly Hunk[];
  readonly right: readonly Hunk[];
}

/** Takes the first hunk and every hunk that touches it, directly or through others. */
function takeGroup(left: Hunk[], right: Hunk[]): Group {
  const group = { left: [] as Hunk[], right: [] as Hunk[] };
  const start = Math.min(left[0]?.start ?? Infinity, right[0]?.start ?? Infinity);
  let end = start;
  for (let grown = true; grown; ) {
    grown = false;
    for (const [queue, taken] of [
      [left, group.left],
      [right, group.right],
    ] as const) {
      const hunk = queue[0];
      if (hunk === undefined || hunk.start > end) continue;
      queue.shift();
      taken.push(hunk);
      end = Math.max(end, hunk.end);
      grown = true;
    }
  }
  return { start, end, ...group };
}

function mergeGroup(base: readonly string[], group: Group): readonly string[] | null {
  const left = renderSide(base, group, group.left);
  if (group.right.length === 0) return left;
  const right = renderSide(base, group, group.right);
  if (group.left.length === 0 || left.join('') === right.join('')) return right;
  return null;
}

function renderSide(base: readonly string[], group: Group, hunks: readonly Hunk[]): readonly string[] {
  const lines: string[] = [];
  let at = group.start;
  for (const hunk of hunks) {
    lines.push(...base.slice(at, hunk.start), ...hunk.lines);
    at = hunk.end;
  }
  return [...lines, ...base.slice(at, group.end)];
}

/** Lines with their ends, so that a missing last newline is a difference like any other. */
function splitLines(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** Hunks that turn `from` into `to`, by a longest common subsequence between the common first and last lines. */
function diffLines(from: readonly string[], to: readonly string[]): Hunk[] {
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]) head += 1;
  let tail = 0;
  while (
    tail < from.length - head &&
    tail < to.length - head &&
    from[from.length - 1 - tail] === to[to.length - 1 - tail]
  ) {
    tail += 1;
  }
  const a = from.slice(head, from.length - tail);
  const b = to.slice(head, to.length - tail);
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? 1 + (lengths[(i + 1) * width + j + 1] ?? 0)
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
    }
  }
  return readHunks(a, b, lengths, head);
}

function readHunks(a: readonly string[], b: readonly string[], lengths: Uint32Array, offset: number): Hunk[] {
  const width = b.length + 1;
  const hunks: Hunk[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i += 1;
      j += 1;
      continue;
    }
    const [startA, startB] = [i, j];
    while ((i < a.length || j < b.length) && !(i < a.length && j < b.length && a[i] === b[j])) {
      const down = i < a.length ? (lengths[(i + 1) * width + j] ?? 0) : -1;
      const right = j < b.length ? (lengths[i * width + j + 1] ?? 0) : -1;
      if (down >= right) i += 1;
      else j += 1;
    }
    hunks.push({ start: offset + startA, end: offset + i, lines: b.slice(startB, j) });
  }
  return hunks;
}
