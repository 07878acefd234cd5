import { inflateSync } from 'node:zlib';
import type { TreeEntry } from '#core/domain/forge/forge.ts';
import type { ObjectStore, StoredTree } from './object-store.ts';
import { clashes, type TreeMerger } from './tree-merge.ts';

interface Section {
  readonly path: string;
  mode: { old: string | null; new: string | null };
  created: boolean;
  deleted: boolean;
  ids: { readonly old: string; readonly new: string } | null;
  /** Seen the line that says the content is not in the patch, the hunk of a submodule, or a whole literal. */
  complete: boolean;
  /** Lines of a literal, while it is read. */
  literal: { readonly size: number; readonly packed: Buffer[] } | null;
  content: Buffer | null;
}

/**
 * The result of `git apply --index --binary -3` for a patch by ids, with a literal where the forge does not have the content.
 * Null = it does not apply. A line that is not of such a patch makes it fail as a whole: no text hunk may ever be sent.
 */
export function applyPatchByIds(
  objects: ObjectStore,
  merger: TreeMerger,
  tree: StoredTree,
  patch: string,
): StoredTree | null {
  const sections = readSections(patch);
  if (sections === null || sections.length === 0) return null;
  const edits = new Map<string, TreeEntry | undefined>();
  for (const section of sections) {
    const current = edits.has(section.path) ? edits.get(section.path) : tree.byPath.get(section.path);
    if (section.content !== null && objects.putBlob(section.content.toString()) !== section.ids?.new)
      return null;
    const next = applySection(objects, section, current);
    if (next === null) return null;
    edits.set(section.path, next === 'gone' ? undefined : next);
  }
  return clashes(tree, edits) ? null : merger.applyEdits(tree, edits);
}

function applySection(
  objects: ObjectStore,
  section: Section,
  current: TreeEntry | undefined,
): TreeEntry | 'gone' | null {
  const { path, ids, mode } = section;
  if (section.deleted) return current !== undefined && current.id === ids?.old ? 'gone' : null;
  const target = mode.new ?? current?.mode;
  if (target === undefined) return null;
  const isSubmodule = target === '160000';
  if (ids !== null && !isSubmodule && objects.blob(ids.new) === undefined) return null;
  if (section.created)
    return current === undefined && ids !== null ? { path, mode: target, id: ids.new } : null;
  if (current === undefined || current.mode.slice(0, 3) !== target.slice(0, 3)) return null;
  if (ids === null) return { ...current, mode: target };
  // Git would merge the contents here, in its own way: nothing of ours may ask for that.
  return current.id === ids.old ? { path, mode: target, id: ids.new } : null;
}

const INDEX_LINE = /^index ([0-9a-f]{40}|[0-9a-f]{64})\.\.([0-9a-f]{40}|[0-9a-f]{64})(?: (\d{6}))?$/;
const MODE_LINE = /^(old mode|new mode|new file mode|deleted file mode) (\d{6})$/;
const SUBMODULE_LINE = /^([-+])Subproject commit ([0-9a-f]+)$/;

function readSections(patch: string): readonly Section[] | null {
  if (!patch.endsWith('\n')) return null;
  const sections: Section[] = [];
  for (const line of patch.slice(0, -1).split('\n')) {
    if (line.startsWith('diff --git ')) {
      const path = readHeader(line.slice('diff --git '.length));
      if (path === null) return null;
      sections.push({
        path,
        mode: { old: null, new: null },
        created: false,
        deleted: false,
        ids: null,
        complete: false,
        literal: null,
        content: null,
      });
      continue;
    }
    const section = sections.at(-1);
    if (section === undefined || !readLine(section, line)) return null;
  }
  return sections.every((section) => section.complete || section.ids === null) ? sections : null;
}

function readLine(section: Section, line: string): boolean {
  if (section.literal !== null) return readLiteral(section, section.literal, line);
  if (line === 'GIT binary patch') return section.ids !== null && section.content === null;
  const size = /^literal (\d+)$/.exec(line)?.[1];
  if (size !== undefined) {
    section.literal = { size: Number(size), packed: [] };
    return true;
  }
  const mode = MODE_LINE.exec(line);
  if (mode !== null) {
    const [, kind, value = ''] = mode;
    if (kind === 'old mode' || kind === 'deleted file mode') section.mode.old = value;
    else section.mode.new = value;
    section.created ||= kind === 'new file mode';
    section.deleted ||= kind === 'deleted file mode';
    return true;
  }
  const index = INDEX_LINE.exec(line);
  if (index !== null) {
    const [, old = '', id = '', indexMode] = index;
    section.ids = { old, new: id };
    section.mode.new ??= indexMode ?? null;
    return true;
  }
  if (line.startsWith('Binary files ') && line.endsWith(' differ')) {
    section.complete = true;
    return section.ids !== null;
  }
  const submodule = SUBMODULE_LINE.exec(line);
  if (submodule !== null) {
    section.complete = true;
    const [, sign, id] = submodule;
    return id === (sign === '-' ? section.ids?.old : section.ids?.new);
  }
  return /^(---|\+\+\+) \S/.test(line) || /^@@ -[01](,0)? \+[01](,0)? @@$/.test(line);
}

const BASE85 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';

function readLiteral(
  section: Section,
  { size, packed }: NonNullable<Section['literal']>,
  line: string,
): boolean {
  if (line === '') {
    section.literal = null;
    section.content = inflateSync(Buffer.concat(packed));
    section.complete = true;
    return section.content.length === size;
  }
  const letter = line.charCodeAt(0);
  const length = letter >= 97 ? letter - 96 + 26 : letter - 64;
  const bytes: number[] = [];
  for (let at = 1; at < line.length; at += 5) {
    let value = 0;
    for (const digit of line.slice(at, at + 5)) value = value * 85 + BASE85.indexOf(digit);
    for (const shift of [24, 16, 8, 0]) bytes.push(Math.floor(value / 2 ** shift) % 256);
  }
  packed.push(Buffer.from(bytes.slice(0, length)));
  return bytes.length >= length;
}

/** Both names of a `diff --git` line, which must be the same path below `a/` and `b/`. */
function readHeader(names: string): string | null {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(names);
  const [left, right] = [quoted?.[1], quoted?.[2]].map((name) =>
    name === undefined ? null : unquoteName(name),
  );
  if (left === undefined || left === null || right === undefined || right === null) return null;
  if (!left.startsWith('a/') || !right.startsWith('b/') || left.slice(2) !== right.slice(2)) return null;
  return left.slice(2);
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
};

function unquoteName(name: string): string {
  if (!name.startsWith('"')) return name;
  const bytes: number[] = [];
  for (const token of name.slice(1, -1).match(/\\[0-7]{3}|\\.|[^\\]/g) ?? []) {
    if (/^\\[0-7]{3}$/.test(token)) bytes.push(Number.parseInt(token.slice(1), 8));
    else bytes.push((ESCAPES[token.slice(1)] ?? token.at(-1) ?? '').charCodeAt(0));
  }
  return Buffer.from(bytes).toString();
}
