import { byPath, type FileVersion, type PathChange, SUBMODULE_MODE } from './path-change.ts';

/**
 * The content-free patch for the forge's `git apply --index --binary -3`: paths, modes and full object ids only. Git
 * takes the new contents from the object store by their id, so no source text passes through us, and there is no text
 * that the forge's `--whitespace=fix` could alter (forge facts, 6.2). Ends in a newline; empty for no changes, which
 * git refuses: do not send that.
 */
export function renderPatch(changes: readonly PathChange[]): string {
  const sorted = changes.flatMap(splitTypeChange).sort(byPath);
  const deletions = sorted.filter((change) => change.to === null);
  const others = sorted.filter((change) => change.to !== null);
  return [...deletions, ...others].map(renderSection).join('');
}

/** Git knows no change of type, only the removal of one thing and the creation of another. */
function splitTypeChange(change: PathChange): readonly PathChange[] {
  const { from, to, path } = change;
  if (from === null || to === null || typeOf(from) === typeOf(to)) return [change];
  return [
    { path, from, to: null },
    { path, from: null, to },
  ];
}

/** The file-type bits of a mode: 100 regular, 120 symlink, 160 submodule. */
function typeOf(version: FileVersion): string {
  return version.mode.slice(0, 3);
}

function renderSection(change: PathChange): string {
  const { from, to, path } = change;
  const oldName = quoteName(`a/${path}`);
  const newName = quoteName(`b/${path}`);
  const lines = [`diff --git ${oldName} ${newName}`];
  if (from === null && to !== null) lines.push(`new file mode ${to.mode}`);
  else if (to === null && from !== null) lines.push(`deleted file mode ${from.mode}`);
  else if (from !== null && to !== null && from.mode !== to.mode) {
    lines.push(`old mode ${from.mode}`, `new mode ${to.mode}`);
  }
  if (from?.id !== to?.id) {
    lines.push(renderIndexLine(from, to));
    const left = from === null ? '/dev/null' : oldName;
    const right = to === null ? '/dev/null' : newName;
    if ((from ?? to)?.mode === SUBMODULE_MODE) lines.push(...renderSubmoduleHunk(left, right, from, to));
    else lines.push(`Binary files ${left} and ${right} differ`);
  }
  return `${lines.join('\n')}\n`;
}

function renderIndexLine(from: FileVersion | null, to: FileVersion | null): string {
  const absent = '0'.repeat((from ?? to)?.id.length ?? 0);
  const mode = from !== null && to !== null && from.mode === to.mode ? ` ${to.mode}` : '';
  return `index ${from?.id ?? absent}..${to?.id ?? absent}${mode}`;
}

/** A submodule has no blob: git takes its commit from the text of the hunk. */
function renderSubmoduleHunk(
  left: string,
  right: string,
  from: FileVersion | null,
  to: FileVersion | null,
): readonly string[] {
  return [
    `--- ${left}`,
    `+++ ${right}`,
    `@@ -${from === null ? '0,0' : '1'} +${to === null ? '0,0' : '1'} @@`,
    ...(from === null ? [] : [`-Subproject commit ${from.id}`]),
    ...(to === null ? [] : [`+Subproject commit ${to.id}`]),
  ];
}

const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};

/** Git's c-style quoting, byte by byte. A space needs it too here: git splits an unquoted header line at spaces. */
export function quoteName(name: string): string {
  if (/^[\x21\x23-\x5b\x5d-\x7e]*$/.test(name)) return name;
  const quoted = [...Buffer.from(name)].map((byte) => {
    const char = String.fromCharCode(byte);
    const named = NAMED_ESCAPES[char];
    if (named !== undefined) return named;
    return byte < 0x20 || byte >= 0x7f ? `\\${byte.toString(8).padStart(3, '0')}` : char;
  });
  return `"${quoted.join('')}"`;
}
